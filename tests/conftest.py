"""Settings of all tests: how many examples there are.

And what tests of several packages need: a Kafka broker.
"""

import re
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.brokers import Broker, broker
from tests.browsers import Browser, chromium
from tests.weights import register_profiles
from xdist.scheduler import LoadScopeScheduling

register_profiles()


# What runs in the background of a shell ignores Ctrl-C, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "conformance"


def pytest_report_header() -> str:
    """Tests over cases that several projects share exist where these are at hand: say so."""
    found = ", ".join(sorted(path.name for path in SHARED.glob("*.json")))
    return f"shared cases: {found or f'none, since there is no {SHARED}'}"


class StartedOnce(LoadScopeScheduling):  # type: ignore[misc]
    """Files that need Spark or Kafka go to one process, so that each of them starts once.

    So do those that need a browser.

    They are the largest piece of work and so begin first; all other tests go one by one to
    whichever process is free. (The mark `xdist_group` has no effect with this pytest.)
    """

    def _split_scope(self, nodeid: str) -> str:
        return _shared(nodeid.partition("::")[0]) or nodeid


@cache
def _shared(file: str) -> str:
    """What the tests of a file share with those of others, and is started once; nothing if none."""
    text = (ROOT / file).read_text(encoding="utf-8")
    if re.search(r"\b(grid: SparkGrid|kafka: Broker)\b", text):
        return "java"
    return "browser" if "browser: Browser" in text else ""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> StartedOnce:
    """How tests are handed out to processes."""
    return StartedOnce(config, log)


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A real broker, started when the first test asks for it."""
    with broker(tmp_path_factory.mktemp("kafka")) as started:
        yield started


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A real browser, started when the first test asks for it."""
    with chromium(tmp_path_factory.getbasetemp() / "browser") as started:
        yield started
