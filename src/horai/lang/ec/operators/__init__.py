"""Operators on interval lists: each is a file that says everything about it."""
