"""The Event Calculus language: grammar, syntax tree, parser."""
