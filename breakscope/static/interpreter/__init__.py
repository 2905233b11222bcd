"""Steps through source: statements, control flow, expressions, calls. Values are reached by their behaviour only."""
