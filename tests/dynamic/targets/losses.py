"""A function that a program imports."""


def loss(output, target):
    error = (output - target).pow(2).mean()
    if error > 1:  # breaks
        error = error / 2
    return error
