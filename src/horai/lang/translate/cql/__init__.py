"""Queries of CQL, the continuous query language: text to typed syntax trees."""
