"""The passes that make the plan of an event description, one file each."""
