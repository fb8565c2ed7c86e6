"""Queries, patterns and formulas of related languages as LARS programs: CQL, ETALIS, past LTL."""
