"""The reference engine for the Event Calculus: the definitions, slow and obvious."""
