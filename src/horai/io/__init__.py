"""Streams in and out: narratives, CSV, Parquet, Arrow, JSON lines."""
