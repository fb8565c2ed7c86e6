"""The compiled engine: tuple at a time, incremental by nature."""
