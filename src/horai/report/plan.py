"""A plan for machines and for people, its stages, and what a profile says of each part.

Machines get plain values. People get the same as a tree of lines, numbers on the left, with guides
and colours where wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from rich.text import Text

from horai.engine.profile import Profile, Stats
from horai.errors import counted
from horai.plan.ec.entities import Kind
from horai.plan.ec.outline import WORDS, Json, outline
from horai.plan.lars.check import all_named, named, written_at
from horai.plan.program import Plan
from horai.plan.split.keys import EntityKey, Path
from horai.plan.split.lars import Parts
from horai.plan.split.stages import Stage

if TYPE_CHECKING:
    from horai.plan.lars.fragments import Classification
    from horai.runtime.lars.engines import EngineChoice
    from horai.runtime.lars.outline import LarsOutline, LarsRuleOutline, PredicateLayer


def plan_json(program: Plan, profile: Profile | None = None) -> Json:
    """The plan as plain values; with the profile of a run, `actual` is there everywhere."""
    if profile is None:
        return outline(program)
    inside = sum(stats.seconds for stats in profile.components.values())
    return outline(program, ActualCosts(profile)) | {
        "actual": {
            "queries": profile.queries,
            "seconds": _seconds(profile.seconds),
            # of taking items in and giving answers
            "seconds_elsewhere": _seconds(max(0.0, profile.seconds - inside)),
        }
    }


class ActualCosts:
    """What a profile says of components and rules."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile

    def component(self, plan: int, rules: Sequence[int]) -> Json:
        """The time of a component, and how much of it went into what is not its rules."""
        seconds = self.profile.components.get(plan, Stats()).seconds
        inside = sum(self.profile.rules.get(rule, Stats()).seconds for rule in rules)
        whole = self.profile.seconds
        return {
            "seconds": _seconds(seconds),
            "seconds_settling": _seconds(max(0.0, seconds - inside)),
            "share": round(seconds / whole if whole else 0.0, 4),
        }

    def rule(self, plan: int) -> Json:
        """Rows and time of a rule."""
        stats = self.profile.rules.get(plan, Stats())
        return {
            "calls": stats.calls,
            "rows_in": stats.rows_in,
            "rows": stats.rows_out,
            "seconds": _seconds(stats.seconds),
        }


def _seconds(seconds: float) -> float:
    return round(seconds, 6)


# --- the same for people --------------------------------------------------------------------------

_PLAIN, _TREE = ("  ", "  ", "  ", "  "), ("├─ ", "└─ ", "│  ", "   ")
_STYLES = {"component": "bold", "rule": "cyan", "note": "dim", "part": "italic", "operator": ""}
_TITLES = ("in", "out", "time")
Columns = tuple[str, ...]
_NONE: Columns = ("",) * len(_TITLES)


@dataclass(frozen=True, slots=True)
class TreeLine:
    """A line of the tree with what hangs below it."""

    kind: str
    text: str
    columns: Columns = _NONE
    below: tuple[TreeLine, ...] = ()
    word: str = ""
    after: str = ""


def plan_lines(plan: Json, tree: bool = False) -> Iterator[Text]:
    """The lines of what `plan_json` gives; `tree` draws guides and has colours."""
    run = plan.get("actual")
    tops = [_component_line(one, run) for one in plan["components"]]
    if plan["groundings"]:
        below = tuple(
            TreeLine("rule", one["entity"], _NONE, _part_lines(one), after=one["place"])
            for one in plan["groundings"]
        )
        tops.append(TreeLine("component", "groundings", below=below))
    dim = "dim" if tree else ""
    yield Text(_basis(plan), style=dim)
    if run is not None:
        yield Text(_total(run), style=dim)
    titles = _TITLES if run is not None else ()
    width = [max(map(len, column)) for column in zip(titles, *_columns(tops), strict=False)]
    for top in tops:
        yield Text()
        if top is tops[0] and titles:
            yield Text(_aligned(titles, width).rstrip(), style=dim)
        yield from _drawn(top, width, "", "", _TREE if tree else _PLAIN, tree)


def _basis(plan: Json) -> str:
    names = ", ".join(f"{one['name']}/{one['arity']}" for one in plan["inputs"]) or "nothing"
    return f"The rules read {names} from the stream."


def _total(run: Json) -> str:
    queries = run["queries"]
    if not queries:
        return "There was no query time, so nothing was run."
    count = f"{queries:,} query times, whose rows are added up" if queries != 1 else "1 query time"
    rest = f"{_time(run['seconds_elsewhere'])} of it went into taking in items and giving answers"
    return f"The run took {_time(run['seconds'])} for {count}; {rest}."


def _component_line(one: Json, run: Json | None) -> TreeLine:
    """A component with its rules, those of one entity together."""
    names = one["entities"]
    title = f"component {one['id']}, level {one['level']}: {', '.join(names)}"
    below = [TreeLine("note", note) for note in _notes(one, run)]
    for name in names:
        rules = tuple(_rule_line(rule) for rule in one["rules"] if rule["defines"] == name)
        if len(names) == 1:
            below += rules
        elif rules:
            below.append(TreeLine("part", name, below=rules))
    time = "" if run is None else _time(one["actual"]["seconds"])
    return TreeLine("component", title, ("", "", time), tuple(below))


def _notes(one: Json, run: Json | None) -> Iterator[str]:
    partition = one["partition"]
    yield f"{WORDS[one['settled']]}{', in a cycle' if one['cyclic'] else ''}"
    if run is not None and run["queries"]:
        actual = one["actual"]
        outside = f"{_time(actual['seconds_settling'])} of it outside its rules"
        yield f"{actual['share']:.0%} of the run, {outside}"
    if partition["key"] is not None:
        yield f"can be split by {partition['key']}"
    elif partition["reason"] is not None:
        yield f"cannot be split: {partition['reason']}"


def _rule_line(one: Json) -> TreeLine:
    given = one["from_grounding"] and f"from the grounding: {', '.join(one['from_grounding'])}"
    notes = [note for note in (one["effect"], given, one["looks"]["words"]) if note]
    below = (*(TreeLine("note", note) for note in notes), *_part_lines(one))
    return TreeLine("rule", one["head"], _cells(one), below, after=one["place"])


def _part_lines(one: Json, parts: str = "parts") -> tuple[TreeLine, ...]:
    found: list[TreeLine] = []
    for part in one[parts]:
        lines = tuple(_operator_line(operator) for operator in part["operators"])
        found += [TreeLine("part", part["label"], below=lines)] if part["label"] else lines
    return tuple(found)


def _operator_line(one: Json) -> TreeLine:
    binds = f"binds {', '.join(one['binds'])}" if one["binds"] else ""
    after = "; ".join(note for note in (binds, one["note"]) if note)
    below = _part_lines(one, "inside")
    return TreeLine("operator", one["text"], _NONE, below, one["operator"], after)


def _cells(one: Json) -> Columns:
    """The numbers of a rule."""
    actual = one.get("actual")
    if actual is None:  # what was not run, or cannot be
        return _NONE
    if not (actual["calls"] or actual["seconds"]):
        return ("-",) * len(_TITLES)
    came = f"{actual['rows_in']:,}"
    return (came, f"{actual['rows']:,}" if actual["calls"] else "-", _time(actual["seconds"]))


def _columns(lines: Iterable[TreeLine]) -> Iterator[Columns]:
    for line in lines:
        yield line.columns
        yield from _columns(line.below)


def _aligned(columns: Columns, width: list[int]) -> str:
    return "".join(text.rjust(size) + "  " for text, size in zip(columns, width, strict=False))


def _drawn(
    line: TreeLine, width: list[int], lead: str, rest: str, guides: Columns, tree: bool
) -> Iterator[Text]:
    """A line and those below; `lead` stands before it, `rest` before what is below."""
    pieces = [(_aligned(line.columns, width), "green"), (lead, "dim")]
    pieces += [(f"{line.word} ", "bold magenta")] if line.word else []
    pieces += [(line.text, _STYLES[line.kind])]
    pieces += [(f"  [{line.after}]", "dim")] if line.after else []
    found = Text.assemble(*((text, style if tree else "") for text, style in pieces))
    found.rstrip()
    yield found
    branch, last, through, blank = guides
    for one in line.below:
        end = one is line.below[-1]
        here = rest + (last if end else branch)
        yield from _drawn(one, width, here, rest + (blank if end else through), guides, tree)


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:,.2f} s"
    return f"{seconds * 1e3:,.1f} ms" if seconds >= 1e-4 else f"{seconds * 1e6:,.0f} us"


# --- stages --------------------------------------------------------------------------------------


def stages_json(stages: Sequence[Stage]) -> list[Json]:
    """The stages of rules of the Event Calculus as plain values."""
    maker = {entity: stage.number + 1 for stage in reversed(stages) for entity in stage.makes}
    return [
        {
            "stage": stage.number + 1,
            "split": stage.is_split,
            "makes": [_name(entity) for entity in stage.makes],
            "keys": {
                _name(e): _argument(place)
                for e, place in stage.places.items()
                if e[0] is not Kind.DOMAIN
            },
            "items": [_name(entity) for entity in stage.items],
            "given": {_name(entity): maker[entity] for entity in stage.given},
            "joins": [
                {
                    "entity": _name(join.entity),
                    "argument": _argument(join.place),
                    "with": _name(join.anchor),
                    "its_argument": _argument(join.meeting),
                }
                for join in stage.joins
            ],
            "unsplit": [
                {
                    "entities": [_name(e) for e in one.entities],
                    "reason": _placed(one.reason, None if one.clause is None else one.clause.place),
                }
                for one in stage.unsplit
            ],
        }
        for stage in stages
    ]


def stage_lines(stages: Sequence[Json]) -> Iterator[str]:
    """A paragraph for each stage of `stages_json`."""
    for stage in stages:
        yield f"stage {stage['stage']} of {len(stages)}, {_how(stage)}"
        yield _line("works out", _words(stage["makes"]))
        yield from _by_argument(stage["keys"])
        if stage["items"]:
            yield _line("items", _words(stage["items"]))
        for name, maker in stage["given"].items():
            yield _line("gets", f"{name} of stage {maker}{_where(name, stage)}")
        for name in stage["items"]:
            if where := _where(name, stage):
                yield _line("gets", f"{name} from the stream{where}")
        for one in stage["unsplit"]:
            yield _line("unsplit", f"{_words(one['entities'])}: {one['reason']}")
        yield ""


def parts_json(found: Parts) -> list[Json]:
    """The parts of a LARS program as plain values."""
    told: list[Json] = []
    for number, part in enumerate(found.parts, 1):
        one, keys = part.unsplit, {named(it): place + 1 for it, place in part.places.items()}
        place = None if one is None or one.rule is None else written_at(one.rule)
        needs_all = one is not None and part.counts
        told.append(
            {
                "part": number,
                "split": one is None,
                "makes": all_named(part.makes),
                "keys": {name: keys[name] for name in all_named(part.places)},
                "signals": "all" if needs_all else all_named(part.reads - part.makes),
                "unsplit": None if one is None else _placed(one.reason, place),
            }
        )
    return told


def part_lines(parts: Sequence[Json]) -> Iterator[str]:
    """A paragraph for each part of `parts_json`."""
    for part in parts:
        yield f"part {part['part']} of {len(parts)}, {_how(part)}"
        yield _line("works out", _words(part["makes"]))
        yield from sorted(_by_argument(part["keys"]))
        signals = part["signals"]
        yield _line("signals", signals if signals == "all" else _words(signals) or "none")
        if part["unsplit"] is not None:
            yield _line("unsplit", part["unsplit"])
        yield ""


def _how(one: Json) -> str:
    return "in buckets" if one["split"] else "in one bucket"


def _line(word: str, text: str) -> str:
    return f"  {word:10} {text}"


def _by_argument(keys: Mapping[str, object]) -> Iterator[str]:
    """The keys of what is made, and of the items and answers that come by key."""
    for argument in dict.fromkeys(keys.values()):
        names = [name for name, at in keys.items() if at == argument]
        yield _line("by", f"argument {argument} of {_words(names)}")


def _where(name: str, stage: Json) -> str:
    """Which rows come by joins: `where its argument 1 is argument 1 or 2 of close/2`."""
    meetings: dict[tuple[str, str], dict[str, None]] = {}
    for join in stage["joins"]:
        if join["entity"] == name:
            there = meetings.setdefault((join["argument"], join["with"]), {})
            there[join["its_argument"]] = None
    words = [
        f"its argument {place} is argument {' or '.join(there)} of {anchor}"
        for (place, anchor), there in meetings.items()
    ]
    return f", where {', or '.join(words)}" if words else ""


def _placed(reason: str, place: str | None) -> str:
    return f"{reason}  [{place}]" if place else reason


def _argument(place: Path) -> str:
    return ".".join(str(step + 1) for step in place)


def _name(entity: EntityKey) -> str:
    return f"{entity[1]}/{entity[2]}"


def _words(names: Iterable[str]) -> str:
    return ", ".join(names)


# --- programs of LARS ----------------------------------------------------------------------------


def kind_lines(kind: Classification) -> Iterator[str]:
    """The fragment, what is used, and why it is not a smaller one."""
    uses = f" ({', '.join(sorted(kind.features))})" if kind.features else ""
    yield f"fragment: {kind.fragment}{uses}"
    for reason in kind.reasons[:3]:
        place = None if reason.rule is None else written_at(reason.rule)
        yield f"  because {reason.text}{f' ({place})' if place else ''}"


def engine_lines(engine: EngineChoice) -> Iterator[str]:
    """Who runs the program, and why no other."""
    yield f"engine: {engine.name}"
    yield from (f"  because {why}" for why in engine.reasons)


def outline_lines(found: LarsOutline) -> Iterator[str]:
    """The whole outline, for people."""
    yield from kind_lines(found.kind)
    yield from engine_lines(found.engine)
    for number, layer in enumerate(found.layers, 1):
        yield ""
        yield f"{number}. {_title(layer)}"
        for rule in layer.rules:
            yield from _rule_lines(rule)


def _title(layer: PredicateLayer) -> str:
    if not layer.predicates:
        return f"{counted(len(layer.rules), 'constraint')}: no answer where one is broken"
    how = ", in rounds until nothing is new" if layer.recursive else ""
    return f"{', '.join(layer.predicates)}{how}"


def _rule_lines(rule: LarsRuleOutline) -> Iterator[str]:
    place = f"  [{rule.place}]" if rule.place else ""
    yield f"   {rule.text}{place}"
    width = max((len(operator) for operator, _ in rule.steps), default=0)
    yield from (f"     {operator:{width}}  {text}" for operator, text in rule.steps)


def outline_json(found: LarsOutline) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "fragment": str(found.kind.fragment),
        "features": sorted(found.kind.features),
        "reasons": [reason.text for reason in found.kind.reasons],
        "engine": found.engine.name,
        "why": found.engine.reasons,
        "layers": [asdict(layer) for layer in found.layers],
    }


class ShownPlan:
    """A plan: lines for people, plain values for programs."""

    def __init__(self, values: Any, lines: Iterable[str]) -> None:
        self._values, self._lines = values, list(lines)

    def to_dict(self) -> Any:
        """The plan as plain values, those of `horai plan --format json`."""
        return self._values

    def __repr__(self) -> str:
        return "\n".join(self._lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"
