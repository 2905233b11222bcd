"""Objects of the checked source: construction, attributes, operators, what they hold."""
