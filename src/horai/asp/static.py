"""The static encoding: a program and the stream so far as one answer set program, at one time.

This is the encoding of the papers, for sliding time windows and tuple windows. `engine` works with
windows that are computed beforehand instead; what both find is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from horai.asp.encode import Writer
from horai.asp.incremental import (
    Check,
    IncrementalRules,
    Literal,
    Template,
    at,
    counted,
    derived_now,
    open_literal,
    pinned_name,
    plain,
    plain_name,
)
from horai.asp.plain import NotServed, PlainProgram, TimeRange, Tuples, normal_form
from horai.asp.solving import AnswerSets, Clingo, Model, SolveRequest
from horai.asp.symbols import PredicateNames, to_term
from horai.asp.windows import Inputs, Signal, ViewKey
from horai.lang.core.terms import Compound, Int, Term, Var
from horai.lang.lars.clock import Clock
from horai.lang.lars.syntax import Atom, Comparison, Program, Sign

_N, _C, _T, _D = (Var(name) for name in ("N'", "C'", "T'", "D'"))


def lars_to_asp(program: PlainProgram, start: int = 0) -> list[Template]:
    """The rules of the static encoding, whatever the time and the stream are."""
    base = IncrementalRules(program, start=start, feeds_boxes=False)
    if base.fed or base.spanned:
        raise NotServed("a window that is neither a sliding time window nor a tuple window")
    used = {e.atom.predicate for e in program.extended()} | program.derived
    rules: list[Template] = []
    for predicate in sorted(used - program.background):
        atom = open_literal(predicate)
        now = Literal("now", (_N,))
        rules.append(Template(atom, (now, at(atom, _N))))
        rules.append(Template(at(atom, _N), (now, atom)))
        if predicate in base.pinned & program.derived:
            rules.append(Template(atom, (derived_now(atom),)))
    rules.extend(dict.fromkeys(base.base))
    for key, window in base.windows.items():
        rules.extend(_window_rules(window.name, key, start))
    return rules


def _window_rules(name: str, key: ViewKey, start: int) -> Iterator[Template]:
    window = key.windows[0]
    atom = open_literal(key.predicate)
    held = Literal(name, atom.args)
    if key.modality == "at":
        held = Literal(name, (*atom.args, _T))
    spoiled = Literal(f"spoil:{name}", atom.args)
    if key.modality == "always":
        yield Template(held, (atom,), (spoiled,))
    if isinstance(window, TimeRange):
        assert window.past is not None
        now = Literal("now", (_N,))
        for back in range(window.past + 1):
            there = Check(Comparison("=", _T, Compound("-", (_N, Int(back)))))
            if key.modality != "always":
                yield Template(held, (now, at(atom, _T)), (), (there,))
            elif back:
                began = _compare(">=", _T, Int(start))
                yield Template(spoiled, (atom, now), (at(atom, _T),), (there, began))
    else:
        assert isinstance(window, Tuples) and window.past is not None
        yield from _counted_rules(name, key, held, window.past)


def _counted_rules(name: str, key: ViewKey, held: Literal, past: int) -> Iterator[Template]:
    atom = open_literal(key.predicate)
    count = Literal("cnt", (_C,))
    signal = Literal(f"#{atom.name}", (*atom.args, _T, _D))
    if key.modality != "always":
        for back in range(past):
            place = Check(Comparison("=", _D, Compound("-", (_C, Int(back)))))
            yield Template(held, (count, signal), (), (place,))
        return
    spoiled = Literal(f"spoil:{name}", atom.args)
    inside = Literal(f"in:{name}", (*atom.args, _T))
    tick = Literal("tick", (_T, _D))
    first = Compound("-", (_C, Int(past - 1)))
    covered = (_compare(">=", _D, first), _compare("<=", _D, _C))
    yield Template(spoiled, (atom, count, tick), (at(atom, _T),), covered)
    # Of several equal signals at the leftmost point it is enough that one lies inside of the cut.
    yield Template(inside, (count, signal), (), covered)
    leftmost = Literal("tick", (_T, Var("First'")))
    cut = Check(Comparison("=", Var("First'"), first))
    before = _compare("<", _D, Var("First'"))
    yield Template(spoiled, (atom, count, leftmost, signal), (inside,), (cut, before))


def _compare(sign: Sign, left: Term, right: Term) -> Check:
    return Check(Comparison(sign, left, right))


def stream_encoding(signals: Iterable[tuple[int, Atom]], start: int, time: int) -> list[Template]:
    """The facts for a tick stream up to a time; signals are sorted."""
    facts: list[Template] = []
    count, moment = 0, start
    facts.append(Template(Literal("tick", (Int(start), Int(0)))))
    for when, atom in (*signals, (time, None)):
        while moment < when:
            moment += 1
            facts.append(Template(Literal("tick", (Int(moment), Int(count)))))
        if atom is not None:
            count += 1
            facts.append(Template(Literal("tick", (Int(when), Int(count)))))
            facts.append(Template(at(plain(atom), Int(when))))
            facts.append(Template(counted(plain(atom), when, count)))
    facts.append(Template(Literal("cnt", (Int(count),))))
    facts.append(Template(Literal("now", (Int(time),))))
    return facts


class Rendering:
    """Templates as text for clingo."""

    def __init__(self) -> None:
        self.writer = Writer(
            PredicateNames(()),
            is_numeric=False,
            is_native=False,
            has_decimals=True,
            states_decimals=True,
        )
        self.names: dict[str, str] = {}

    def name(self, name: str) -> str:
        """A name that clingo reads, different for different ones."""
        if name not in self.names:
            self.names[name] = "x" + str(len(self.names)) + re.sub(r"[^A-Za-z0-9]", "_", name)
        return self.names[name]

    def literal(self, literal: Literal) -> str:
        """A literal."""
        return self.writer.applied(self.name(literal.name), literal.args)

    def rule(self, template: Template) -> str:
        """A rule."""
        parts = [self.literal(literal) for literal in template.positive]
        parts += [f"not {self.literal(literal)}" for literal in template.negative]
        for test in template.tests:
            sign = "not " if test.negated else ""
            parts.append(sign + self.writer.comparison(test.comparison))
        head = self.literal(template.head)
        return f"{head} :- {', '.join(parts)}." if parts else f"{head}."


def solve_templates(program: PlainProgram, templates: Iterable[Template], time: int) -> AnswerSets:
    """All answer streams of an encoding."""
    rendering = Rendering()
    rules = [rendering.rule(Template(plain(fact))) for fact in program.facts]
    rules += [rendering.rule(template) for template in templates]
    clingo = Clingo(SolveRequest(models=0))
    clingo.ground("\n".join(rules))
    back = {}
    for predicate in program.derived:
        back[rendering.name(plain_name(predicate))] = (predicate[0], False)
        back[rendering.name(pinned_name(plain_name(predicate)))] = (predicate[0], True)
    found: list[Model] = []
    with clingo.control.solve(yield_=True) as handle:
        for model in handle:
            now: set[Atom] = set()
            elsewhere: set[tuple[int, Atom]] = set()
            for symbol in model.symbols(atoms=True):
                if symbol.name in back:
                    name, pinned = back[symbol.name]
                    args = tuple(to_term(arg) for arg in symbol.arguments)
                    if not pinned:
                        now.add(Atom(name, args))
                    elif args[-1] != Int(time):
                        assert isinstance(args[-1], Int)
                        elsewhere.add((args[-1].value, Atom(name, args[:-1])))
            found.append(Model(time, frozenset(now), frozenset(elsewhere)))
    return AnswerSets.of(time, found)


class StaticSession:
    """Runs the static encoding anew at every query time."""

    def __init__(self, program: Program, *, clock: Clock | None = None, start: int = 0) -> None:
        self.plain = normal_form(program, clock)
        self.start = start
        self.rules = lars_to_asp(self.plain, start)
        self.inputs = Inputs(start)

    def advance(self, time: int, signals: Iterable[Signal] = ()) -> AnswerSets:
        """All answer streams at a time."""
        self.inputs.add(signals)
        known = [self.inputs.atoms[number] for number in self.inputs.numbers]
        stop = self.inputs.until(time)
        stream = list(zip(self.inputs.times, known, strict=True))[:stop]
        facts = stream_encoding(stream, self.start, time)
        return solve_templates(self.plain, [*self.rules, *facts], time)
