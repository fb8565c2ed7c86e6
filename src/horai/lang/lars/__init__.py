"""LARS programs: text to typed syntax trees, and back."""
