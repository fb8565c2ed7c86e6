"""Runs and streams on Spark: whatever imports pyspark."""
