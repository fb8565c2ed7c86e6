"""Work by change: what late items, retractions and a new step touch, and nothing else.

Everything here is a cache beside the memories of a session: without it the next answer is worked
out from the last cut, and is the same.
"""
