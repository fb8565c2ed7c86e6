"""LARS programs without choices, for all query times at once.

An atom of a stream is known at a point of time, and at query times: a signal from when it arrives,
what a rule derives at the query times at which its body holds. So every relation is a table of
rows with spans of query times, window atoms stretch and shrink them, and a rule is a join.
"""
