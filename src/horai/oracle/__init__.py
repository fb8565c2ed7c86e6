"""The reference engine: a slow, obvious interpreter written straight from the definitions."""
