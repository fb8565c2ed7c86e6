"""Algorithms on points and spans of many keys at once, as integer columns; they know no rules."""
