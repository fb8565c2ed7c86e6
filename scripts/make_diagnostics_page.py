"""Write docs/diagnostics.md from src/horai/lang/codes.toml.

Run it after changing a code, a message or an example: `python scripts/make_diagnostics_page.py`.
With `--check` it writes nothing and fails when the page is out of date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from horai import load
from horai.lang.core.diagnostics import CodeInfo, Diagnostic, all_codes
from horai.lang.core.source import SourceText
from horai.lang.ec.reader import read_text
from horai.lang.lars.clock import Clock
from horai.lang.lars.reader import read_text as read_lars
from horai.lang.translate.languages import translated
from horai.plan.check import check
from horai.plan.combined.check import check as check_between
from horai.plan.combined.stages import exchange
from horai.plan.ec.entities import find_entities
from horai.plan.lars.check import check as check_lars
from horai.runtime.findings import BORDER as STREAM

BORDER = "% program.lars\n"
"""Parts the description of an example from its program."""
PAGE = Path(__file__).resolve().parent.parent / "docs" / "diagnostics.md"
FAMILIES = {
    "H0": ("The text", "What the reader cannot make sense of."),
    "H1": ("Rules and conditions", "Clauses that read well and yet are no rule."),
    "H2": ("Names", "Names, numbers of arguments and values that do not fit together."),
    "H3": ("Variables", "Variables that nothing gives a value to."),
    "H4": ("Cycles and delayed effects", "What depends on itself, and delays that never act."),
    "H5": ("Doubts", "Legal, and probably not meant."),
    "H6": ("LARS: the text", "What only LARS programs can get wrong; they share H001 to H028."),
    "H7": ("LARS: the program", "Rules that do not fit together, or to the clock (here 2 s)."),
    "H8": ("Related languages", "Queries, patterns and formulas for `horai translate`."),
    "H9": ("Both languages", "A description and a program that do not fit together."),
}
INTRODUCTION = """\
# Diagnostics

Every finding about a rules file has a code, a place and a remedy. Errors stop a run, warnings do
not. All findings are reported at once. `horai rule CODE` shows an entry of this page.

You choose how bad a finding is: `horai run --severity H309=off --severity H502=error`, or in
`horai.toml`

```toml
[severity]
H309 = "off"
H502 = "error"
```

Each code can be an `error`, a `warning` or `off`. Most errors stay errors, for rules have no
meaning with them. H200, H201, H203, H204, H205, H209 and H551 can be lowered: what they speak of
never holds, and a run is possible. In Python, `horai.load(..., severity={"H309": "off"})` does the
same. H550 to H553 are findings of a run: `Result.warnings` has them.

<!-- scripts/make_diagnostics_page.py makes this page of src/horai/lang/codes.toml: change that. -->
"""


def page() -> str:
    """The whole page."""
    codes = all_codes()
    parts = [INTRODUCTION]
    for prefix, (title, text) in FAMILIES.items():
        family = [info for code, info in codes.items() if code.startswith(prefix)]
        parts.append(f"## {title}\n\n{text}\n\n{_table(family)}")
        parts.extend(_entry(info) for info in family)
    return "\n".join(parts)


def _table(family: list[CodeInfo]) -> str:
    rows = [f"| [{i.code}](#{i.code.lower()}) | {i.severity} | {i.title} |" for i in family]
    return "\n".join(["| code | | what |", "|---|---|---|", *rows, ""])


def _entry(info: CodeInfo) -> str:
    lines = [
        f"### {info.code} {{ #{info.code.lower()} }}",
        "",
        f"**{info.title}** ({info.severity})",
    ]
    lines += ["", info.explanation, "", *_block(info.example), *_message(info)]
    return "\n".join([*lines, ""])


def _block(text: str) -> Iterator[str]:
    yield "```prolog"
    yield from text.rstrip("\n").split("\n")
    yield "```"


def _message(info: CodeInfo) -> Iterator[str]:
    """What a person sees: the message, where it points, what to do."""
    first = next((f for f in _findings(info) if f.code == info.code), None)
    if first is not None:
        yield from ["", "```text", first.render(), "```"]


def _findings(info: CodeInfo) -> list[Diagnostic]:
    if info.code >= "H9":
        return example_findings(*info.example.split(BORDER))
    if info.language is not None:
        return translated(SourceText("text", info.example), info.language)[1]
    if info.code >= "H6":
        program, findings = read_lars(info.example, "rules.lars")
        return [*findings, *check_lars(program, Clock(2, "s"))]
    if STREAM in info.example:
        rules, _, rows = info.example.partition(STREAM)
        return _of_run(rules, rows)
    description, findings = read_text(info.example, "rules.ec")
    return [*findings, *check(description, (), findings)]


def example_findings(events: str, windows: str) -> list[Diagnostic]:
    """The findings between a description and a program, without a clock."""
    description, _ = read_text(events, "rules.ec")
    program, _ = read_lars(windows, "program.lars")
    entities = find_entities(description)
    passing = exchange(entities, program)
    return check_between(description, entities, program, passing, has_clock=False)


def _of_run(rules: str, rows: str) -> list[Diagnostic]:
    with TemporaryDirectory() as folder, chdir(folder):
        Path("rules.ec").write_text(rules, encoding="utf-8")
        Path("day.txt").write_text(rows, encoding="utf-8")
        return load("rules.ec").run("day.txt").warnings


def main() -> int:
    """Write the page, or compare it."""
    text = page()
    if "--check" in sys.argv[1:]:
        up_to_date = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
        if not up_to_date:
            print("docs/diagnostics.md is out of date: run scripts/make_diagnostics_page.py")
        return 0 if up_to_date else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
