"""The VMIs of this node: followed, brought about, told of."""
