"""A plan for people and for machines.

People get a tree of lines, numbers on the left, with guides and colours where wanted, and what a
profile says of each part. The keys of the JSON form are stable: new ones may come, none goes or
changes its meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from horai.engine.deltas.reasons import Update
from horai.engine.profile import Profile, Stats, Windows
from horai.plan.ec.outline import (
    ComponentOutline,
    GroundingOutline,
    OperatorOutline,
    PartOutline,
    PlanOutline,
    RuleOutline,
)
from horai.plan.ec.settling import WORDS


@dataclass(frozen=True, slots=True)
class PlanNumbers:
    """The numbers of a run beside its plan."""

    profile: Profile

    def operator(self, outline: OperatorOutline) -> Stats | None:
        """Rows and time of an operator, None if it never ran."""
        return self.profile.operators.get(outline.path)

    def rule(self, outline: RuleOutline) -> Stats:
        """The points or intervals that a rule gave; its time is that of its operators, and more."""
        found = self.profile.rules.get(outline.id, Stats())
        loose = sum(self.profile.loose.get(root, 0.0) for root in outline.roots)
        return Stats(found.calls, found.rows_in, found.rows_out, found.seconds + loose)

    def component(self, outline: ComponentOutline) -> Stats:
        """The time of a component, that of settling it included."""
        return self.profile.components.get(outline.id, Stats())

    def windows(self, outline: ComponentOutline) -> Windows:
        """How often a component was computed incrementally, and how often from scratch."""
        return self.profile.windows.get(outline.id, Windows())

    def settling(self, outline: ComponentOutline) -> float:
        """The seconds that go beyond the rules of a component."""
        inside = sum(self.rule(rule).seconds for rule in outline.rules)
        return max(0.0, self.component(outline).seconds - inside)

    @property
    def elsewhere(self) -> float:
        """The seconds of queries that belong to no component: taking items in, giving answers."""
        inside = sum(stats.seconds for stats in self.profile.components.values())
        return max(0.0, self.profile.seconds - inside)

    def share(self, seconds: float) -> float:
        """A part of the time of all queries."""
        return seconds / self.profile.seconds if self.profile.seconds else 0.0


_PLAIN, _TREE = ("  ", "  ", "  ", "  "), ("├─ ", "└─ ", "│  ", "   ")
_STYLES = {"component": "bold", "rule": "cyan", "note": "dim", "part": "italic", "operator": ""}
Columns = tuple[str, ...]
Updates = Mapping[int, Update]  # of components, by their `id`


@dataclass(frozen=True, slots=True)
class TreeLine:
    """A line of the tree with what hangs below it."""

    kind: str
    text: str
    columns: Columns = ()
    below: tuple[TreeLine, ...] = ()
    word: str = ""
    after: str = ""


def plan_lines(
    plan: PlanOutline,
    numbers: PlanNumbers | None = None,
    tree: bool = False,
    updates: Updates | None = None,
) -> Iterator[Text]:
    """The lines of a plan; `tree` draws guides and has colours."""
    writer = _Writer(numbers, updates or {})
    tops = [writer.component(one) for one in plan.components]
    if plan.groundings:
        tops.append(writer.groundings(plan))
    yield Text(_basis(plan), style="dim" if tree else "")
    if numbers is not None:
        yield Text(_total(numbers), style="dim" if tree else "")
    width = [max(map(len, column)) for column in zip(writer.titles, *_columns(tops), strict=True)]
    for top in tops:
        yield Text()
        yield from _header(writer.titles, width, tree) if top is tops[0] else ()
        yield from _drawn(top, width, "", "", _TREE if tree else _PLAIN, tree)


def _basis(plan: PlanOutline) -> str:
    names = ", ".join(f"{one.name}/{one.arity}" for one in plan.inputs)
    if plan.counted and not any(one.rows for one in plan.inputs):
        return f"The given input has no items that the rules read, which are: {names or 'none'}."
    if plan.counted:
        items = ", ".join(f"{one.rows:,} {one.name}/{one.arity}" for one in plan.inputs)
        return f"Estimated rows are for the given input: {items}."
    return f"Estimated rows are for 1,000 items of each input type: {names or 'none'}."


def _total(numbers: PlanNumbers) -> str:
    profile = numbers.profile
    if not profile.queries:
        return "There was no query time, so nothing was run."
    count = "1 query time"
    if profile.queries != 1:
        count = f"{profile.queries:,} query times, whose rows are added up"
    rest = f"{_time(numbers.elsewhere)} of it went into taking in items and giving answers"
    return f"The run took {_time(profile.seconds)} for {count}; {rest}."


def _windows(found: Windows) -> str:
    """How a component was worked out over several query times."""
    scratch = f"{found.from_scratch:,} from scratch"
    if found.from_scratch:
        scratch += f" (the last in {_time(found.last)})"
    if not found.by_change:
        return f"windows: none incremental, {scratch}"
    each = _time(found.seconds / found.by_change)
    looked = f"{found.rows:,} rows looked at, {found.asked_again:,} of them again; {each} each"
    return f"windows: {found.by_change:,} incremental ({looked}), {scratch}"


class _Writer:
    """Makes lines; with numbers, there are more columns."""

    def __init__(self, numbers: PlanNumbers | None, updates: Updates) -> None:
        self.numbers = numbers
        self.updates = updates
        self.titles: Columns = ("estimate",)
        if numbers is not None:
            self.titles = ("estimate", "in", "out", "time")

    def component(self, one: ComponentOutline) -> TreeLine:
        """A component with its rules, those of one entity together."""
        title = f"component {one.number}, level {one.level}: {', '.join(one.names)}"
        below = [TreeLine("note", note, self._blank) for note in self._notes(one)]
        for name in one.names:
            rules = tuple(self._rule(rule) for rule in one.rules if rule.defines == name)
            if len(one.names) == 1:
                below += rules
            elif rules:
                below.append(TreeLine("part", name, self._blank, rules))
        columns = self._blank
        if self.numbers is not None:
            columns = ("", "", "", _time(self.numbers.component(one).seconds))
        return TreeLine("component", title, columns, tuple(below))

    def _notes(self, one: ComponentOutline) -> Iterator[str]:
        strategy = WORDS[one.settling.strategy] + (", in a cycle" if one.cyclic else "")
        yield f"{strategy}: {one.settling.reason}" if one.settling.reason else strategy
        if one.id in self.updates:
            found = self.updates[one.id]
            by = "not incremental" if found.kind is None else "incremental"
            yield f"{by}: {found.kind or found.reason}"
        if self.numbers is not None and self.numbers.profile.queries:
            stats, profile = self.numbers.component(one), self.numbers.profile
            took = f"{self.numbers.share(stats.seconds):.0%} of the run"
            actual = profile.strategies.get(one.id, one.settling.strategy)
            other = "" if actual == one.settling.strategy else f"; settled as {WORDS[actual]}"
            yield f"{took}, {_time(self.numbers.settling(one))} of it outside its rules{other}"
            if profile.queries > 1:
                yield _windows(self.numbers.windows(one))
        if one.key is not None:
            yield f"can be split by {one.key}"
        elif one.no_key is not None:
            yield f"cannot be split: {one.no_key}"

    def _rule(self, one: RuleOutline) -> TreeLine:
        notes = [one.effect] if one.effect else []
        if one.grounded:
            notes.append(f"from the grounding: {', '.join(one.grounded)}")
        if one.looks.words:
            notes.append(one.looks.words)
        below = [TreeLine("note", note, self._blank) for note in notes]
        stats = None if self.numbers is None else self.numbers.rule(one)
        columns = self._columns(one.estimate, stats, rule=True)
        for part in one.parts:
            below += self._part(part)
        return TreeLine("rule", one.head, columns, tuple(below), after=one.place)

    def _part(self, part: PartOutline) -> list[TreeLine]:
        lines = [self._operator(one) for one in part.operators]
        return [TreeLine("part", part.label, self._blank, tuple(lines))] if part.label else lines

    def _operator(self, one: OperatorOutline) -> TreeLine:
        below = [line for part in one.inside for line in self._part(part)]
        stats = None if self.numbers is None else self.numbers.operator(one)
        binds = f"binds {', '.join(one.binds)}" if one.binds else ""
        after = "; ".join(note for note in (binds, one.note) if note)
        columns = self._columns(one.estimate, stats)
        return TreeLine("operator", one.text, columns, tuple(below), one.operator, after)

    def groundings(self, plan: PlanOutline) -> TreeLine:
        """All groundings, each with the chain that lists it."""
        below = [
            TreeLine(
                "rule",
                one.entity,
                (_rows(one.estimate), *self._blank[1:]),
                tuple(self._listing(step) for step in one.operators),
                after=one.place,
            )
            for one in plan.groundings
        ]
        return TreeLine("component", "groundings", self._blank, tuple(below))

    def _listing(self, one: OperatorOutline) -> TreeLine:
        columns = (_rows(one.estimate), *self._blank[1:])
        binds = f"binds {', '.join(one.binds)}" if one.binds else ""
        return TreeLine("operator", one.text, columns, (), one.operator, binds)

    @property
    def _blank(self) -> Columns:
        return ("",) * len(self.titles)

    def _columns(self, estimate: float, stats: Stats | None, rule: bool = False) -> Columns:
        if self.numbers is None:
            return (_rows(estimate),)
        if stats is None or (rule and not stats.calls and not stats.seconds):
            return (_rows(estimate), "-", "-", "-")
        came = "" if rule else f"{stats.rows_in:,}"
        went = f"{stats.rows_out:,}" if stats.calls else "-"
        return (_rows(estimate), came, went, _time(stats.seconds))


# --- drawing -----------------------------------------------------------------------------------


def _columns(lines: list[TreeLine] | tuple[TreeLine, ...]) -> Iterator[Columns]:
    for line in lines:
        yield line.columns
        yield from _columns(line.below)


def _header(titles: Columns, width: list[int], tree: bool) -> Iterator[Text]:
    yield Text(_aligned(titles, width).rstrip(), style="dim" if tree else "")


def _aligned(columns: Columns, width: list[int]) -> str:
    return "  ".join(text.rjust(size) for text, size in zip(columns, width, strict=True)) + "  "


def _drawn(
    line: TreeLine, width: list[int], lead: str, rest: str, guides: Columns, tree: bool
) -> Iterator[Text]:
    """A line and those below; `lead` stands before it, `rest` before what is below."""
    found = Text(_aligned(line.columns, width), style="green" if tree else "")
    found.append(lead, style="dim" if tree else "")
    if line.word:
        found.append(f"{line.word} ", style="bold magenta" if tree else "")
    found.append(line.text, style=_STYLES[line.kind] if tree else "")
    if line.after:
        found.append(f"  [{line.after}]", style="dim" if tree else "")
    found.rstrip()
    yield found
    branch, last, through, blank = guides
    for one in line.below:
        end = one is line.below[-1]
        here = rest + (last if end else branch)
        yield from _drawn(one, width, here, rest + (blank if end else through), guides, tree)


def _rows(number: float) -> str:
    """Few rows to a digit, many as a whole number."""
    return f"{number:,.0f}" if number >= 10 or number == 0 else f"{number:.1f}"


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:,.2f} s"
    return f"{seconds * 1e3:,.1f} ms" if seconds >= 1e-4 else f"{seconds * 1e6:,.0f} us"


Json = dict[str, Any]


def plan_json(
    plan: PlanOutline, numbers: PlanNumbers | None = None, updates: Updates | None = None
) -> Json:
    """The plan as plain values; with the numbers of a run, `actual` is there everywhere."""
    found: Json = {
        "estimates": "for the given input" if plan.counted else "for 1000 items of each type",
        "inputs": [
            {"kind": one.kind, "name": one.name, "arity": one.arity, "rows": one.rows}
            for one in plan.inputs
        ],
        "components": [_component(one, numbers, updates or {}) for one in plan.components],
        "groundings": [_grounding(one) for one in plan.groundings],
    }
    if numbers is not None:
        profile = numbers.profile
        found["actual"] = {
            "queries": profile.queries,
            "seconds": _seconds(profile.seconds),
            "seconds_elsewhere": _seconds(numbers.elsewhere),
        }
    return found


def _component(one: ComponentOutline, numbers: PlanNumbers | None, updates: Updates) -> Json:
    found: Json = {
        "id": str(one.number),
        "level": one.level,
        "entities": list(one.names),
        "members": list(one.members),
        "cyclic": one.cyclic,
        "settled": {"strategy": one.settling.strategy, "reason": one.settling.reason},
        "partition": {"key": one.key, "reason": one.no_key},
        "rules": [
            _rule(rule, f"{one.number}.{place}", numbers) for place, rule in enumerate(one.rules, 1)
        ],
    }
    if one.id in updates:
        update = updates[one.id]
        found["incremental"] = {"kind": update.kind, "reason": update.reason}
    if numbers is not None:
        stats = numbers.component(one)
        found["actual"] = {
            "strategy": numbers.profile.strategies.get(one.id),
            "seconds": _seconds(stats.seconds),
            "seconds_settling": _seconds(numbers.settling(one)),
            "share": round(numbers.share(stats.seconds), 4),
            "windows": _plan_json_windows(numbers.windows(one)),
        }
    return found


def _plan_json_windows(found: Windows) -> Json:
    return {
        "incremental": found.by_change,
        "from_scratch": found.from_scratch,
        "rows": found.rows,
        "asked_again": found.asked_again,
        "seconds_incremental": _seconds(found.seconds),
        "seconds_last_from_scratch": _seconds(found.last),
    }


def _rule(one: RuleOutline, name: str, numbers: PlanNumbers | None) -> Json:
    looks = one.looks
    found: Json = {
        "id": name,
        "defines": one.defines,
        "kind": one.kind,
        "head": one.head,
        "place": one.place,
        "effect": one.effect,
        "from_grounding": list(one.grounded),
        "looks": {"back": looks.back, "ahead": looks.ahead, "final": looks.final},
        "rows": _plan_json_rows(one.estimate),
        "parts": _parts(one.parts, name, numbers),
    }
    if numbers is not None:
        stats = numbers.rule(one)
        found["actual"] = {
            "calls": stats.calls,
            "rows": stats.rows_out,
            "seconds": _seconds(stats.seconds),
        }
    return found


def _parts(parts: tuple[PartOutline, ...], name: str, numbers: PlanNumbers | None) -> list[Json]:
    found, count = [], 0
    for part in parts:
        operators = []
        for one in part.operators:
            count += 1
            operators.append(_operator(one, f"{name}.{count}", numbers))
        found.append({"label": part.label, "operators": operators})
    return found


def _operator(one: OperatorOutline, name: str, numbers: PlanNumbers | None) -> Json:
    found: Json = {
        "id": name,
        "operator": one.operator,
        "text": one.text,
        "note": one.note,
        "binds": list(one.binds),
        "rows": _plan_json_rows(one.estimate),
        "inside": _parts(one.inside, name, numbers),
    }
    if numbers is not None:
        stats = numbers.operator(one)
        found["actual"] = stats and {
            "calls": stats.calls,
            "rows_in": stats.rows_in,
            "rows_out": stats.rows_out,
            "seconds": _seconds(stats.seconds),
        }
    return found


def _grounding(one: GroundingOutline) -> Json:
    part = PartOutline("", one.operators)
    return {
        "entity": one.entity,
        "place": one.place,
        "rows": _plan_json_rows(one.estimate),
        "parts": _parts((part,), one.entity, None),
    }


def _plan_json_rows(estimate: float) -> float:
    return round(estimate, 1)


def _seconds(seconds: float) -> float:
    return round(seconds, 6)
