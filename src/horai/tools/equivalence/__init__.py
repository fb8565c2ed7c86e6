"""Do two LARS programs say the same? Ordinary, data, uniform and strong equivalence."""
