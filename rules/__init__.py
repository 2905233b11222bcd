"""The rules: one file each, discovered by breakscope.rulekit.loader."""
