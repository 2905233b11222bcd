"""The kinds of abstract values: one class for each carries what operations on it mean: a call, an
attribute, an item, its truth, an operator, iteration."""
