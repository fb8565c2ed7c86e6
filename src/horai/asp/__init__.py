"""LARS by answer set solving and by truth maintenance."""
