"""Answers as rows and columns, and their way into files."""
