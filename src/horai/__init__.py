"""Horai, a stream reasoner: rules over event streams, answered as maximal intervals."""

__version__ = "0.1.0"
