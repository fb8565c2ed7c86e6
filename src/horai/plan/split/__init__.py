"""How a plan is split into buckets: keys, stages, joins between entities."""
