"""Programs in other languages that do what ours does, and what writes their types."""
