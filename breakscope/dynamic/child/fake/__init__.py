"""A run without memory for the model and without its hardware: tensors are torch's fake tensors, and
what the program asks of their values is answered by stand-ins."""
