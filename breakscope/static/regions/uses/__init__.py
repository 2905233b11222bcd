"""How functions use what they are given."""
