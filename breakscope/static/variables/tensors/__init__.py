"""What becomes of tensors: their creation, their items, the results of their methods."""
