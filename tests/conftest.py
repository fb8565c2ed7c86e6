"""Settings of all tests: how long an example takes is no test result."""

from hypothesis import settings

settings.register_profile("horai", deadline=None, print_blob=True)
settings.load_profile("horai")
