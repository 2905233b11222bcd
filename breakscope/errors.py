"""The one exception that a user is meant to see."""


class UserError(Exception):
    """Wrong use or bad configuration. The message is one line that says what to change; the exit
    code is 2."""
