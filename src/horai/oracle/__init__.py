"""Slow, obvious interpreters, straight from the definitions."""
