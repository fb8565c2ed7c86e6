"""The columnar engine: runs a plan over windows, for all entities at once."""
