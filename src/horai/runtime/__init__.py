"""Runs of a plan: engines by name, buckets, exchange, steps, checkpoints; knows no Spark."""
