"""From events to findings: rules are matched, places chosen, suppressions honoured."""
