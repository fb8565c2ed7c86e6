"""Runs of LARS programs: engines, sessions, answers."""
