"""What the tests of tests share: a command line in a folder of its own."""

from tests.cli.conftest import horai

__all__ = ["horai"]
