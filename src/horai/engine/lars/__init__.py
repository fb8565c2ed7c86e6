"""LARS programs on compiled tables: lowering, windows, runs; `engine/views` is what is compiled."""
