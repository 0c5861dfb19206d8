"""Pure decisions, data in and data out: where the product thinks. Nothing here touches the world."""
