"""Starts and watches the processes whose trace is captured."""
