"""Modules of torch.nn: layers, containers, what they hold, and their hooks."""
