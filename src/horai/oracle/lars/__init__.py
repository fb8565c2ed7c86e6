"""LARS straight from its definitions: streams, windows, entailment, answer streams.

Slow and obvious, for small inputs. `run.answers_at` is the way in.
"""
