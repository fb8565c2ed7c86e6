"""Formulas of temporal logic about the past: text to typed syntax trees."""
