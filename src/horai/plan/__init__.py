"""Syntax trees to the plan: names, types, dependencies, strata; one pass per file."""
