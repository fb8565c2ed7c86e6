"""Text to typed syntax trees with source spans, and the diagnostics about them."""
