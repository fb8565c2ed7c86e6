"""The page on input says what is true: its examples are run, its tables are compared."""

import doctest
import re
from pathlib import Path

import pytest

from horai.io import CODES, UNITS
from horai.io.items.read import COMPRESSED, FORMATS, SUFFIXES
from horai.io.items.rows import ALIASES

PAGE = (Path(__file__).parents[2] / "docs" / "input.md").read_text(encoding="utf-8")
FILES = re.findall(r'^```text title="([^"]+)"\n(.*?)^```', PAGE, re.MULTILINE | re.DOTALL)
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES:
        Path(name).write_text(text, encoding="utf-8")
    source = "\n".join(EXAMPLES)
    test = doctest.DocTestParser().get_doctest(source, {}, "docs/input.md", None, 0)
    said: list[str] = []
    flags = doctest.NORMALIZE_WHITESPACE
    doctest.DocTestRunner(verbose=False, optionflags=flags).run(test, out=said.append)
    assert "".join(said) == ""
    assert len(test.examples) > 20


def test_the_table_of_codes() -> None:
    table = dict(re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", PAGE.split("## Bad rows")[1], re.M))
    assert table == CODES


def test_every_name_is_mentioned() -> None:
    aliases = [alias for names in ALIASES.values() for alias in names]
    named = [*FORMATS, *SUFFIXES, *COMPRESSED, *UNITS, *aliases]
    assert [name for name in named if f"`{name}`" not in PAGE] == []
