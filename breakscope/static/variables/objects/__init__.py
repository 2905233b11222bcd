"""Objects of the checked source: construction, attributes, hooks, what they hold."""
