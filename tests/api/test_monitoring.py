"""Numbers of a stream, as Prometheus reads them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from horai.errors import UsageError
from horai.runtime.prometheus import Monitor
from horai.runtime.spark.streaming import Progress
from horai.runtime.streams import StepReport

TOTALS = {"items": 70, "changes": 12, "dead_letters": 3, "on_time": 60, "late": 5, "too_late": 3}


def report(step: int, seconds: float = 2.0) -> StepReport:
    return StepReport(step, step // 2, 3, 60, 4, 1, 5_000, 2, seconds, 0.5, TOTALS)


def numbers(text: str) -> dict[tuple[str, str], float]:
    """Name, and the label beside that of the stream."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            assert sample.labels.pop("stream") == "kept"
            found[sample.name, "".join(sample.labels.values())] = sample.value
    return found


@pytest.fixture
def monitor(tmp_path: Path) -> Iterator[Monitor]:
    monitor = Monitor("kept", tmp_path / "numbers.prom", 0)
    yield monitor
    monitor.close()


def test_before_the_first_step_there_is_nothing(monitor: Monitor) -> None:
    found = numbers(monitor.text())
    assert found["horai_items_total", ""] == 0
    assert ("horai_query_time", "") not in found


def test_totals_are_those_of_the_stream_and_times_those_of_the_process(monitor: Monitor) -> None:
    monitor.step(report(2))
    monitor.step(report(4, 1.0))
    found = numbers(monitor.text())
    assert found["horai_items_total", ""] == 70
    assert found["horai_changes_total", ""] == 12
    assert found["horai_items_judged_total", "late"] == 5
    assert found["horai_items_judged_total", "too_late"] == 3
    assert found["horai_items_judged_total", "retracted"] == 0
    assert found["horai_state_bytes", ""] == 5_000
    assert found["horai_query_time", ""] == 60
    assert found["horai_step_seconds", ""] == 1.0
    assert found["horai_steps_seconds_total", ""] == 3.0
    assert found["horai_engine_seconds_total", ""] == 1.0


def test_what_spark_says_adds_up(monitor: Monitor) -> None:
    monitor.progress(Progress(0, 100, {"addBatch": 1.5, "triggerExecution": 2.0}))
    monitor.progress(Progress(1, 50, {"addBatch": 0.5, "triggerExecution": 1.0}))
    found = numbers(monitor.text())
    assert found["horai_spark_rows_total", ""] == 150
    assert found["horai_spark_seconds_total", "addBatch"] == 2.0
    assert found["horai_spark_seconds_total", "triggerExecution"] == 3.0


def test_file_and_page_say_the_same(monitor: Monitor, tmp_path: Path) -> None:
    monitor.step(report(2))
    with urlopen(f"http://127.0.0.1:{monitor.port}/metrics", timeout=10) as answer:
        page = answer.read().decode()
    assert numbers(page) == numbers((tmp_path / "numbers.prom").read_text())
    assert numbers(page)["horai_step", ""] == 2


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(UsageError, match=rf"port {port} of 127\.0\.0\.1 cannot be listened at"):
            Monitor("kept", port=port)


def test_every_number_is_documented(monitor: Monitor) -> None:
    monitor.step(report(2))
    monitor.progress(Progress(0, 1, {"addBatch": 1.0}))
    page = (Path(__file__).parents[2] / "docs" / "streaming.md").read_text(encoding="utf-8")
    assert [name for name, _ in numbers(monitor.text()) if name not in page] == []


def asked(monitor: Monitor, token: str | None = None) -> int:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        with urlopen(Request(f"http://127.0.0.1:{monitor.port}/metrics", headers=headers)) as page:
            return int(page.status)
    except HTTPError as error:
        error.close()
        return error.code


def test_the_page_is_for_this_machine_only(monitor: Monitor) -> None:
    assert monitor._server.server_address[0] == "127.0.0.1"
    assert asked(monitor) == 200


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_other_machines_need_a_token(address: str) -> None:
    with pytest.raises(UsageError, match="a token is needed"):
        Monitor("kept", port=0, address=address)


def test_who_does_not_know_the_token_reads_nothing() -> None:
    monitor = Monitor("kept", port=0, address="0.0.0.0", token="a secret")
    try:
        assert [asked(monitor, token) for token in (None, "", "another", "a secret")] == [
            *(401, 401, 401, 200)
        ]
    finally:
        monitor.close()
