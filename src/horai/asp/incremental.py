"""The incremental encoding: rules that are always there, and those that come with every tick."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from horai.asp.expiry import FOR_EVER, Annotated, Tick
from horai.asp.numbers import FAR
from horai.asp.plain import (
    Choosing,
    Condition,
    Groups,
    Headed,
    Measure,
    Ordinary,
    PlainProgram,
    PlainRule,
    Refused,
    Times,
    Tuples,
    WindowAtom,
)
from horai.asp.spans import SpannedRules
from horai.asp.templates import (
    Check,
    Literal,
    Template,
    at,
    counted,
    derived_now,
    open_literal,
    plain,
    plain_name,
)
from horai.asp.views import ViewKey
from horai.asp.window_rules import WindowRules, has_rules
from horai.lang.lars.syntax import Atom, Comparison, Predicate
from horai.lang.terms import Compound, Int


class IncrementalRules:
    """The encoding of a program: base rules, rules of windows, and windows that are fed as facts.

    Sliding time windows and tuple windows have rules. With `feeds_boxes`, `always` over signals is
    fed, which saves a rule for every point that might lack an atom; so is every other window.
    """

    def __init__(
        self,
        program: PlainProgram,
        signalled: frozenset[Predicate] = frozenset(),
        *,
        start: int = 0,
        feeds_boxes: bool = True,
    ) -> None:
        self.program = program
        self.signalled = signalled & program.defined
        self.start = start
        self.feeds_boxes = feeds_boxes
        self.windows: dict[ViewKey, WindowRules] = {}
        self.fed: dict[ViewKey, str] = {}
        self.spanned: dict[ViewKey, SpannedRules] = {}
        self.reach: dict[Predicate, int | None] = {}
        """For how many points after its own a pinned signal is asked for; None is for ever."""
        self.counted: dict[Predicate, int] = {}
        """For how many signals a tick-pinned signal is asked for."""
        self.ordinary: set[Predicate] = set()
        """Signals that are asked for at the current time."""
        self.timed = {h.atom.predicate for r in program.rules for h in r.heads() if h.time}
        self.pinned: set[Predicate] = set(self.timed)
        found = [self._base_rule(rule) for rule in program.rules]
        # Heads are named last, for only now it is known which atoms are asked for at times.
        self._named = {plain_name(p) for p in self.pinned & program.derived}
        self.base = [replace(template, head=self._derived(template.head)) for template in found]

    # --- base rules ---

    def _base_rule(self, rule: PlainRule) -> Template:
        self._rule = rule
        if isinstance(rule.head, Choosing):
            raise self._refused("a choice")
        if len(rule.head) != 1:
            raise self._refused("a constraint" if not rule.head else "a disjunction")
        positive: list[Literal] = []
        negative: list[Literal] = []
        tests: list[Check] = []
        for condition in rule.body:
            if isinstance(condition.element, Measure):
                raise self._refused("an aggregate")
            if isinstance(condition.element, Comparison):
                tests.append(Check(condition.element, condition.negated))
            else:
                found = self._element(condition)
                (negative if condition.negated else positive).append(found)
        head, guards = self._head(rule.head[0])
        return Template(head, tuple(positive), tuple(negative), (*tests, *guards))

    def _refused(self, reason: str) -> Refused:
        return Refused(reason, self._rule.origin, self._rule.origin.span)

    def _head(self, head: Headed) -> tuple[Literal, list[Check]]:
        if head.time is None:
            return plain(head.atom), []
        on_timeline = Comparison(">=", head.time, Int(self.start))
        is_point = Comparison("=", Compound("%", (head.time, Int(1))), Int(0))  # a whole number
        is_near = Comparison("<", head.time, Int(FAR))
        guards = [on_timeline, is_near, is_point]
        return at(plain(head.atom), head.time), [Check(guard) for guard in guards]

    def _derived(self, head: Literal) -> Literal:
        """What holds now and is asked for at times gets a name of its own where it is derived.

        From there it goes to the current time point, and from that to the atom itself. If it went
        back and forth between these two, either would make the other possible for ever.
        """
        return derived_now(head) if head.name in self._named else head

    def _element(self, condition: Condition) -> Literal:
        element = condition.element
        assert isinstance(element, Ordinary | WindowAtom)
        atom = element.atom
        predicate = atom.predicate
        is_derived = predicate in self.program.derived
        if isinstance(element, Ordinary):
            if not is_derived and predicate not in self.program.background:
                self.ordinary.add(predicate)
            return plain(atom)
        if predicate in self.program.background:
            raise self._refused(f"the background predicate {atom.name} under a window or at a time")
        if not element.windows and element.modality == "at":
            assert element.time is not None
            self._ask(predicate, None)
            return at(plain(atom), element.time)
        return self._window_atom(element, is_derived)

    def _window_atom(self, element: WindowAtom, is_derived: bool) -> Literal:
        key = ViewKey(element.windows, element.modality, element.atom.predicate)
        args = element.atom.args if element.time is None else (*element.atom.args, element.time)
        counts = any(isinstance(window, Tuples | Groups) for window in element.windows)
        is_box = element.modality == "always"
        is_fed = is_box and self.feeds_boxes and not is_derived
        if has_rules(element.windows) and not is_fed and not (counts and is_derived):
            rules = self.windows.setdefault(key, WindowRules(f"w{len(self.windows)}", key))
            self._ask_window(key)
            return Literal(rules.name, args)
        if is_derived and not counts:
            self._ask(key.predicate, None)
            name = f"s{len(self.spanned)}"
            spanned = self.spanned.setdefault(key, SpannedRules(name, key, self.start))
            return Literal(spanned.name, args)
        return Literal(self.fed.setdefault(key, f"f{len(self.fed)}"), args)

    # --- what is asked of signals ---

    def _ask_window(self, key: ViewKey) -> None:
        window = key.windows[0]
        predicate = key.predicate
        if isinstance(window, Times):
            self._ask(predicate, window.past)
        else:
            assert isinstance(window, Tuples) and window.past is not None
            self.counted[predicate] = max(self.counted.get(predicate, 0), window.past)
            if key.modality == "always":
                self._ask(predicate, None)
        if key.modality == "always":
            self.ordinary.add(predicate)

    def _ask(self, predicate: Predicate, past: int | None) -> None:
        self.pinned.add(predicate)
        known = self.reach.get(predicate, 0)
        self.reach[predicate] = None if past is None or known is None else max(known, past)

    # --- ticks ---

    def signal(self, atom: Atom, tick: Tick) -> Iterator[Annotated]:
        """The facts that come with a signal."""
        time, count = tick
        literal = plain(atom)
        if atom.predicate in self.ordinary or atom.predicate in self.signalled:
            yield (1, None), Template(self._derived(literal))
        if atom.predicate in self.reach:
            past = self.reach[atom.predicate]
            yield (None if past is None else past + 1, None), Template(at(literal, Int(time)))
        if atom.predicate in self.counted:
            kept = self.counted[atom.predicate] if self.feeds_boxes else None
            yield (None, kept), Template(counted(literal, time, count))

    def announced(self, atom: Atom, time: int) -> Iterator[Template]:
        """The fact of a signal to come, where all times are asked for."""
        if self.reach.get(atom.predicate, 0) is None:
            yield Template(at(plain(atom), Int(time)))

    def tick(self, tick: Tick, is_signal: bool) -> Iterator[Annotated]:
        """The rules that come with a tick."""
        time, count = tick
        if not self.feeds_boxes:
            yield FOR_EVER, Template(Literal("tick", (Int(time), Int(count))))
        if not is_signal:
            for predicate in sorted(self.pinned & self.program.derived):
                atom = open_literal(predicate)
                yield (1, None), Template(atom, (at(atom, Int(time)),))
                yield (1, None), Template(at(atom, Int(time)), (derived_now(atom),))
        for rules in self.windows.values():
            yield from rules.at(time, count, self.start, is_signal)

    def longest(self) -> int:
        """The size of the largest time window: earlier ticks leave no rule behind."""
        sizes = [w.key.windows[0] for w in self.windows.values()]
        return max((w.past or 0 for w in sizes if isinstance(w, Times)), default=0)
