"""Checks and analyses of LARS programs: fragment, dependencies, reach."""
