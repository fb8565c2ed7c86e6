"""Event patterns of ETALIS: text to typed syntax trees."""
