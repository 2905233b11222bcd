"""From facts to findings in the rules' words."""
