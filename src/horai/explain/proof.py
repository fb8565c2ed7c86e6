"""A proof: a small tree of statements, from what was asked down to rows of the input; its course.

`docs/why.md` documents the form that `to_dict` gives; pages and other programs rely on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from horai.io.times import Unit, format_time

if TYPE_CHECKING:
    from rich.tree import Tree


ProofKind = Literal[
    # what is concluded
    "holds",  # a fluent has a value, or an atom holds, at a time
    "happens",  # an event that rules derive
    "initiated",
    "terminated",
    "starts",
    "ends",
    "delayed",  # an earlier initiation takes effect
    # what carries a conclusion
    "item",  # a row of the input
    "fact",
    "relation",  # background knowledge that rules derive
    "initially",
    "unbroken",  # nothing has ended it since
    "not",  # something is not so
    "computed",  # arithmetic, a comparison, a built-in or Python predicate
    "aggregate",
    "intervals",  # an operation on lists of intervals
    "window",
    "formula",
    "chosen",  # a choice of an answer stream
    # why not, and what has changed
    "fails",  # what was asked does not hold
    "rule",  # a rule that could have given it
    "unmet",  # a condition that does not hold
    "revised",
]
KINDS: tuple[ProofKind, ...] = get_args(ProofKind)
Interval = tuple[int, int | None]
"""From when until when, the end not included; None: still open."""
Time = Callable[[int], str]


def time_in(unit: Unit | None) -> Time:
    """How times are told: dates and times of day where a time-point has a length.

    >>> time_in(None)(90), time_in("min")(90)
    ('90', '1970-01-01T01:30:00Z')
    """
    return str if unit is None else partial(format_time, unit=unit)


class Place(NamedTuple):
    """A rule, or a row of the input: where it stands, and its text."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class RowChange(NamedTuple):
    """A row to add (`+`) or to leave out (`-`); a run with it has shown what comes of it."""

    op: Literal["+", "-"]
    row: str


@dataclass(frozen=True, slots=True)
class Proof:
    """A statement with what it follows from.

    `text` is what it is about, `claim` the whole statement as rules would say it. A statement that
    is not `met` does not hold: such are the conditions that answer why not.
    """

    kind: ProofKind
    text: str
    at: int | None = None
    interval: Interval | None = None
    rule: Place | None = None
    row: Place | None = None
    bindings: tuple[tuple[str, str], ...] = ()
    premises: tuple[Proof, ...] = ()
    claim: str = ""
    note: str = ""
    met: bool = True
    changes: tuple[RowChange, ...] = ()
    times: frozenset[str] = frozenset()  # the variables that stand for times
    time: Time = field(default=str, compare=False, repr=False)

    def walk(self) -> Iterator[Proof]:
        """The statement and all below it."""
        yield self
        for premise in self.premises:
            yield from premise.walk()

    @property
    def leaves(self) -> list[Proof]:
        """What the proof rests on in the end."""
        return [node for node in self.walk() if not node.premises]

    @property
    def rows(self) -> list[Place]:
        """The rows of the input that the proof uses, each once."""
        return list(dict.fromkeys(node.row for node in self.walk() if node.row is not None))

    # --- how it looks ----------------------------------------------------------------------------

    @property
    def says(self) -> str:
        """The statement as a sentence."""
        return _sentence(self)

    def to_dict(self) -> dict[str, Any]:
        """The tree as plain values, in the form that is documented."""
        found: dict[str, Any] = {"kind": self.kind, "text": self.text, "says": self.says}
        if self.claim:
            found["claim"] = self.claim
        if self.at is not None:
            found["at"] = self.at
        if self.interval is not None:
            found["interval"] = list(self.interval)
        for name, place in (("rule", self.rule), ("row", self.row)):
            if place is not None:
                found[name] = place._asdict()
        if self.bindings:
            found["bindings"] = dict(self.bindings)
        if not self.met:
            found["met"] = False
        if self.note:
            found["note"] = self.note
        if self.changes:
            found["changes"] = [change._asdict() for change in self.changes]
        found["premises"] = [premise.to_dict() for premise in self.premises]
        return found

    def to_json(self) -> str:
        """The tree as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def tree(self) -> Tree:
        """The tree for a terminal."""
        from rich.tree import Tree

        root = Tree(_line(self), guide_style="dim")
        _grow(root, self)
        return root

    def __str__(self) -> str:
        return "\n".join(_lines(self, "", ""))

    def _repr_html_(self) -> str:
        return f'<div class="horai-proof">{_html(self, True)}</div>'


# --- sentences -----------------------------------------------------------------------------------


def _sentence(node: Proof) -> str:
    time = "" if node.at is None else f" at {node.time(node.at)}"
    match node.kind:
        case "holds":
            during = f", {_during(node)}" if node.interval is not None else ""
            return f"{node.text} holds{time}{during}"
        case "happens":
            return f"{node.text} happens{time}"
        case "initiated" | "terminated":
            return f"{node.text} is {node.kind}{time}"
        case "starts" | "ends":
            return f"{node.text} {node.kind}{time}"
        case "delayed":
            return f"{node.text} takes effect{time}"
        case "item":
            during = f" {_during(node)}" if node.interval is not None else time
            return f"{node.text}{during}"
        case "initially":
            return f"{node.text} holds from the start of the run"
        case "unbroken":
            return f"nothing ends {node.text} {_between(node)}"
        case "fails":
            return f"{node.text}{time}"
        case _:
            return node.text + (time if node.at is not None else "")


def _during(node: Proof) -> str:
    assert node.interval is not None
    start, end = node.interval
    return f"from {node.time(start)} " + ("on" if end is None else f"until {node.time(end)}")


def _between(node: Proof) -> str:
    assert node.interval is not None
    start, end = node.interval
    return f"between {node.time(start)} and {'now' if end is None else node.time(end)}"


def _tail(node: Proof) -> list[tuple[str, str]]:
    """What stands after the sentence, each with a style."""
    found: list[tuple[str, str]] = []
    if node.note:
        found.append((node.note, "italic"))
    if node.row is not None:
        found.append((f"{node.row}", "green"))
    if node.rule is not None:
        found.append((f"{node.rule}", "cyan"))
    if node.bindings and node.rule is not None:
        found.append((", ".join(f"{n}={_value(node, n, v)}" for n, v in node.bindings), "dim"))
    return found


def _value(node: Proof, name: str, value: str) -> str:
    """What a variable stands for; of a time, as people read it."""
    is_time = name in node.times and value.removeprefix("-").isdigit()
    return node.time(int(value)) if is_time else value


def _wish(change: RowChange) -> str:
    verb = "with the row" if change.op == "+" else "without the row"
    return f"{verb} {change.row} it would hold"


_STYLES: dict[str, str] = {"item": "green", "fact": "green", "unmet": "red", "fails": "bold red"}


def _line(node: Proof) -> Any:
    from rich.text import Text

    from horai.io.shown import printable

    line = Text(printable(node.says), style=_STYLES.get(node.kind, "" if node.met else "red"))
    for text, style in _tail(node):
        line.append("  ")
        line.append(printable(text), style=style)
    for change in node.changes:
        line.append("  ")
        line.append(printable(_wish(change)), style="yellow")
    return line


def _grow(tree: Tree, node: Proof) -> None:
    for premise in node.premises:
        _grow(tree.add(_line(premise)), premise)


def _lines(node: Proof, first: str, rest: str) -> Iterator[str]:
    tail = [text for text, _ in _tail(node)] + [_wish(change) for change in node.changes]
    yield first + "  ".join([node.says, *tail])
    for place, premise in enumerate(node.premises):
        last = place == len(node.premises) - 1
        yield from _lines(
            premise, rest + ("└── " if last else "├── "), rest + ("    " if last else "│   ")
        )


def _html(node: Proof, is_open: bool) -> str:
    tail = "".join(f" <small>{escape(text)}</small>" for text, _ in _tail(node))
    tail += "".join(f" <em>{escape(_wish(change))}</em>" for change in node.changes)
    line = escape(node.says) + tail
    if not node.premises:
        return f"<div>{line}</div>"
    inside = "".join(_html(premise, is_open) for premise in node.premises)
    opened = " open" if is_open else ""
    return (
        f"<details{opened}><summary>{line}</summary>"
        f'<div style="margin-left:1.2em">{inside}</div></details>'
    )


DEEPEST = 12
"""How many statements follow from each other before a proof ends with a remark."""
GOES_ON = "the proof goes on: ask about this, or with a greater depth"
AS_ABOVE = "as proved above"


class Course:
    """All provers that take part in a proof share it."""

    def __init__(self) -> None:
        self.proved: set[object] = set()
        self._level, self._deepest = 0, DEEPEST

    def begin(self, depth: int) -> None:
        """Start a proof in which nothing is proved yet."""
        self._level, self._deepest = 0, depth
        self.proved.clear()

    @property
    def is_deep(self) -> bool:
        """Has the proof come as deep as it may?"""
        return self._level >= self._deepest

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Prove what a statement follows from."""
        self._level += 1
        try:
            yield
        finally:
            self._level -= 1

    def forget_after(self, before: set[object]) -> None:
        """Only what was proved before is, for what came after is not part of the proof."""
        self.proved &= before
