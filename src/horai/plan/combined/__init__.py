"""A description and a program that read each other: what passes between them, in which order."""
