"""What the checked source defines: names, classes, fields, annotations, and how arguments are bound."""
