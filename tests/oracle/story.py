"""Short ways to write a stream and to read an answer, for tests of the reference engine.

A story is a text such as `a(x) 5; b(x) 8 arrives 13; i(x)=true 5-15; -a(x) 5 arrives 9`: an event
with its time, an input fluent with its interval, `-` for a retraction. An item arrives when it
happens (an interval: when it starts) unless the story says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from horai.lang.core.diagnostics import Severity
from horai.lang.core.terms import Compound, Constant, Float, Int, ListTerm, Str, Term, Var
from horai.lang.ec.reader import read_text
from horai.lang.ec.syntax import EventDescription
from horai.oracle.ec.intervals import INF, Intervals
from horai.oracle.ec.session import OracleAnswer, OracleItem, OracleSession

_PIECE = re.compile(
    r"(?P<minus>-)?(?P<what>\S.*?)\s+(?P<start>-?\d+)(?:-(?P<end>\d+|inf))?"
    r"(?:\s+arrives\s+(?P<arrival>-?\d+))?$"
)

Held = dict[str, list[tuple[int, float]]]


def describe(rules: str) -> EventDescription:
    """The description a text says; a test with a mistake in its rules must not pass."""
    description, findings = read_text(rules)
    wrong = [finding.message for finding in findings if finding.severity is Severity.ERROR]
    assert not wrong, f"{wrong} in {rules}"
    return description


@cache
def term(text: str) -> Term:
    """A term from its text.

    >>> show(term("go(x, 'New York')"))
    'go(x,New York)'
    """
    description = describe(f"the({text}).")
    ((fact,),) = [facts.rows for facts in description.facts.values()] or [[_head(description)]]
    return fact[0]


def _head(description: EventDescription) -> tuple[Term, ...]:
    head = description.rules[0].clause.head
    assert isinstance(head, Compound)
    return head.args


def pair(text: str) -> tuple[Term, Term]:
    """Fluent and value of `F=V`."""
    read = term(text)
    assert isinstance(read, Compound) and read.name == "="
    return read.args[0], read.args[1]


def story(text: str) -> list[OracleItem]:
    """The items of a story.

    >>> [item.start for item in story("a(x) 5; b(x) 8 arrives 13")]
    [5, 8]
    """
    return [_item(piece.strip()) for piece in re.split(r"[;\n]", text) if piece.strip()]


def _item(piece: str) -> OracleItem:
    match = _PIECE.match(piece)
    assert match, f"not an item: {piece}"
    start = int(match["start"])
    arrival = start if match["arrival"] is None else int(match["arrival"])
    retract = match["minus"] is not None
    if match["end"] is None:
        return OracleItem(term(match["what"]), None, start, start, arrival, retract)
    fluent, value = pair(match["what"])
    end = INF if match["end"] == "inf" else int(match["end"])
    return OracleItem(fluent, value, start, end, arrival, retract)


def show(shown: Term) -> str:
    """A term as short text; atoms are never quoted."""
    match shown:
        case Constant(name=name) | Var(name=name):
            return name
        case Int(value=number) | Float(value=number):
            return str(number)
        case Str(value=text):
            return f'"{text}"'
        case Compound(name="=", args=(left, right)):
            return f"{show(left)}={show(right)}"
        case Compound(name=name, args=args):
            return f"{name}({','.join(show(arg) for arg in args)})"
        case ListTerm(items=items, tail=tail):
            rest = "" if tail is None else f"|{show(tail)}"
            return f"[{','.join(show(item) for item in items)}{rest}]"


def held(spans: dict[tuple[Term, Term], Intervals]) -> Held:
    """Intervals by the text of their pair."""
    return {f"{show(fluent)}={show(value)}": spans[fluent, value] for fluent, value in spans}


def happened(events: dict[Term, list[int]]) -> dict[str, list[int]]:
    """Times by the text of their event."""
    return {show(event): times for event, times in events.items()}


def queries(
    rules: str | EventDescription,
    items: str | Iterable[OracleItem],
    *,
    until: int,
    step: int | None = None,
    start: int = 0,
    **settings: Any,
) -> Iterator[OracleAnswer]:
    """The answers at every query time; all items are given at once, each counts when it arrives."""
    description = describe(rules) if isinstance(rules, str) else rules
    waiting = story(items) if isinstance(items, str) else list(items)
    session = OracleSession(description, start=start, **settings)
    for query in range(start + (step or until - start), until + 1, step or until - start):
        yield session.advance(query, waiting)
        waiting = []


def run(
    rules: str | EventDescription,
    items: str | Iterable[OracleItem],
    until: int = 30,
    **settings: Any,
) -> Held:
    """What holds in one window over everything; pairs that come in with the stream are left out."""
    return outputs(rules, items, until=until, **settings)[-1]


def outputs(
    rules: str | EventDescription, items: str | Iterable[OracleItem], *, until: int, **settings: Any
) -> list[Held]:
    """The pairs that rules define, query by query, as the window sees them."""
    description = describe(rules) if isinstance(rules, str) else rules
    session = OracleSession(description)
    return [
        held({p: spans for p, spans in answer.spans.items() if session.is_output(p[0], True)})
        for answer in queries(description, items, until=until, **settings)
    ]


def events(
    rules: str | EventDescription,
    items: str | Iterable[OracleItem],
    until: int = 30,
    **settings: Any,
) -> dict[str, list[int]]:
    """The output events of one window over everything."""
    description = describe(rules) if isinstance(rules, str) else rules
    session = OracleSession(description)
    *_, answer = queries(description, items, until=until, **settings)
    return happened({e: ts for e, ts in answer.events.items() if session.is_output(e, False)})
