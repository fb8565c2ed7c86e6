"""Pages, timelines and graphs for people."""
