"""Syntax trees to one plan: `pipeline` is the ordered list of passes, `ec` and `lars` have them.

`split` says how the work is split into buckets and stages, `combined` in which order a description
and a program are worked out, `check` what is wrong or doubtful.
"""

from horai.lang.ec.syntax import EventDescription

__all__ = ["EventDescription"]
