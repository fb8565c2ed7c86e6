"""Interval and point kernels over sorted integer columns; they know nothing of rules."""
