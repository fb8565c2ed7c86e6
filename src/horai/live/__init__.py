"""A run without an end and its page: lines in, query times, what is still known, who may look."""
