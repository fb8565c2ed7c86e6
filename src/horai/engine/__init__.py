"""Engines: the items, columns and answers of all, and the compiled one in `core`."""
