"""The memory setting is taken where there is a C library that has it."""

import ctypes
import sys

import pytest

from horai.cli import workload


def test_the_setting_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[int, int]] = []

    class Library:
        @staticmethod
        def mallopt(what: int, value: int) -> int:
            taken.append((what, value))
            return 1

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: Library())
    assert workload.keep_memory()
    assert [what for what, _ in taken] == [workload.MMAP_MAX, workload.TRIM_THRESHOLD]


def test_elsewhere_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    assert not workload.keep_memory()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not workload.keep_memory()
