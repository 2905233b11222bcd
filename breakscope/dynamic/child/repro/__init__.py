"""The smallest program that shows one finding of a run."""
