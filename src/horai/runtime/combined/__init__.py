"""Runs of combined rules: stages of both languages that read each other."""
