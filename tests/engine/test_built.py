"""A machine that was compiled from other sources than those beside it is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import horai
from horai.engine.core import built
from horai.errors import UsageError

RULES = "initiatedAt(f(X)=true, T) :- happensAt(a(X), T).\n"


def test_the_sources_are_there_and_were_compiled() -> None:
    assert all(source.is_file() for source in built.SOURCES)
    assert built.STAMP.read_text(encoding="utf-8").split()[0] == built.digest()


def test_sources_that_have_changed_since_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, stamp = tmp_path / "source", tmp_path / "stamp"
    source.write_text("one")
    monkeypatch.setattr(built, "SOURCES", (source,))
    monkeypatch.setattr(built, "STAMP", stamp)
    assert not built.is_outdated(), "an installed package has no stamp"
    stamp.write_text(f"{built.digest()}\ntools\n")
    os.utime(source, (stamp.stat().st_mtime + 9,) * 2)
    assert not built.is_outdated(), "newer, but the same"
    source.write_text("two")
    os.utime(source, (stamp.stat().st_mtime - 9,) * 2)
    assert not built.is_outdated(), "older ones are not read"
    os.utime(source, (stamp.stat().st_mtime + 9,) * 2)
    assert built.is_outdated()


@pytest.mark.parametrize("engine", ["auto", "compiled"])
def test_it_is_refused_whoever_chose_it(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built, "_is_outdated", lambda: True)
    with pytest.raises(UsageError, match="from other sources") as refused:
        horai.loads(RULES).run(["a|1|1|x"], engine=engine)
    assert refused.value.hint == "run `make install`"
    assert horai.loads(RULES).run(["a|1|1|x"], engine="reference").rows()
