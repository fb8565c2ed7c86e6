"""Plain LARS to rules of an answer set program.

Windows over signals are predicates of their own (`_w0`, ...), whose atoms come from `views` as
facts or externals. Windows over derived atoms are rules over time-pinned atoms (`_at_p`), and only
the points they cover (`_span0`, ...) come from outside.
"""

from __future__ import annotations

from horai.asp.dependencies import Dependencies
from horai.asp.encoding import Encoding
from horai.asp.facts import fact_lines
from horai.asp.plain import (
    NOW,
    Between,
    Chain,
    Choosing,
    Condition,
    Groups,
    Headed,
    Measure,
    Only,
    Ordinary,
    PlainProgram,
    PlainRule,
    Refused,
    Times,
    Tuples,
    WindowAtom,
)
from horai.asp.values import names_in
from horai.asp.views import ViewKey
from horai.asp.writer import Writer
from horai.lang.lars.syntax import Atom, Comparison, Pattern, Predicate, Rule
from horai.lang.terms import Term, Var

ALL: Chain = ()
MOST = 2**31 - 1  # the largest number that clingo has


class Encoder:
    """Writes the rules. `signalled` are predicates with facts or rules that have signals, too."""

    def __init__(
        self, program: PlainProgram, signalled: frozenset[Predicate], writer: Writer
    ) -> None:
        self.program = program
        self.signalled = signalled & program.defined
        self.write = writer
        self.result = Encoding(writer, self.signalled)
        self.dependencies = Dependencies(program)
        self.pinned: set[Predicate] = set()
        self.measures = 0
        self.timed = {h.atom.predicate for r in program.rules for h in r.heads() if h.time}

    def encode(self) -> Encoding:
        """The whole program."""
        rules = self.result.rules
        rules.extend(fact_lines(self.program.facts, self.write))
        for rule in self.program.rules:
            rules.append(self.rule(rule))
        for predicate in sorted(self.signalled):
            self.take_in(predicate)
        for predicate in sorted(self.timed | self.pinned):
            self.pin(predicate)
        self.show()
        return self.result

    # --- rules ---

    def rule(self, rule: PlainRule) -> str:
        """A rule as text."""
        self.current = rule
        self.write.counts = self.dependencies.is_recursive(rule)
        if isinstance(rule.head, Choosing):
            head = self.choice(rule.head)
            guards: list[str] = []
        else:
            head = " ; ".join(self.headed(part) for part in rule.head)
            guards = [guard for part in rule.head for guard in self.on_timeline(part)]
        body = [*(self.condition(part) for part in rule.body), *guards]
        return f"{head} :- {', '.join(body) or '#true'}."

    def headed(self, head: Headed) -> str:
        """An atom of a head."""
        if head.time is None:
            return self.write.atom(head.atom)
        self.pinned.add(head.atom.predicate)
        return self.write.pinned(head.atom, head.time)

    def on_timeline(self, head: Headed) -> list[str]:
        """A head speaks of points of the timeline: with another time there is no instance."""
        if head.time is None:
            return []
        self.result.is_timeless = False
        time = self.write.term(head.time)
        if self.write.has_decimals:
            return [f"_start(Start'), @on_time({time},Start') = 1"]
        # All that is no number is larger than every number.
        return [f"_start(Start'), Start' <= {time} <= {MOST}"]

    def choice(self, head: Choosing) -> str:
        """A choice between options."""
        options: list[str] = []
        for pick in head.picks:
            parts = [*map(self.condition, pick.condition), *self.on_timeline(pick.head)]
            options.append(f"{self.headed(pick.head)} : {', '.join(parts)}")
        least = "" if head.least is None else self.write.term(head.least)
        most = "" if head.most is None else self.write.term(head.most)
        return f"{least} {{ {' ; '.join(options)} }} {most}".strip()

    def condition(self, condition: Condition) -> str:
        """A part of a body."""
        element = condition.element
        negated = "not " if condition.negated else ""
        if isinstance(element, Comparison):
            return negated + self.write.comparison(element)
        if isinstance(element, Measure):
            rows = [
                (row.terms, [self.condition(part) for part in row.condition])
                for row in element.rows
            ]
            total = self.total(element)
            return self.write.measure(element, rows, condition.negated, self.current, total)
        return negated + self.extended(element)

    def total(self, measure: Measure) -> str:
        """A term for what an aggregate comes to: one for each of the values it depends on."""
        rule = self.current
        others = [c for c in rule.body if c.element is not measure]
        outside = {name for part in others for name in names_in(part)}
        inside = {name for row in measure.rows for part in row.condition for name in names_in(part)}
        self.measures += 1
        shared = ",".join(self.write.term(Var(name)) for name in sorted(outside & inside))
        return f"_total({self.measures}{',' if shared else ''}{shared})"

    # --- extended atoms ---

    def extended(self, element: Ordinary | WindowAtom) -> str:
        """An ordinary atom, @-atom or window atom."""
        predicate = element.atom.predicate
        if predicate in self.program.background:
            if isinstance(element, Ordinary):
                return self.write.atom(element.atom)
            reason = f"the background predicate {predicate[0]} under a window or at a time"
            raise Refused(reason, self.current.origin, element.atom.span)
        if isinstance(element, Ordinary):
            if predicate in self.program.derived:
                return self.write.atom(element.atom)
            return self.view(ViewKey(NOW, "some", predicate), element.atom, None)
        counts = any(isinstance(window, Tuples | Groups) for window in element.windows)
        if counts or predicate not in self.program.derived:
            # Windows that count hold signals only, also of predicates that have rules.
            key = ViewKey(element.windows, element.modality, predicate)
            return self.view(key, element.atom, element.time)
        return self.over_derived(element)

    def view(self, key: ViewKey, atom: Atom, time: Term | None) -> str:
        """A window over signals."""
        name = self.result.views.setdefault(key, f"_w{len(self.result.views)}")
        self.result.occurrences.setdefault(key, []).append((self.current, atom))
        if time is not None:
            self.result.is_timeless = False
        return self.write.helper(name, atom, time)

    def over_derived(self, element: WindowAtom) -> str:
        """A window over atoms that rules derive."""
        predicate = element.atom.predicate
        if element.modality == "some" and self.is_only_now(predicate, element.windows):
            return self.write.atom(element.atom)
        self.result.is_timeless = False
        self.pinned.add(predicate)
        if not element.windows and element.modality == "at":
            assert element.time is not None
            return self.write.pinned(element.atom, element.time)
        span = self.result.spans.setdefault(element.windows, f"_span{len(self.result.spans)}")
        name = f"_{element.modality}{span[5:]}_{self.write.names.now(predicate[0])}"
        for args in selected(element.windows, predicate):
            rule = self.window_rule(element, Atom(predicate[0], args), span, name)
            if rule not in self.result.rules:
                self.result.rules.append(rule)
        return self.write.helper(name, element.atom, element.time)

    def is_only_now(self, predicate: Predicate, windows: Chain) -> bool:
        """Whether a predicate can hold at the current time only, and windows contain that time."""
        sliding = all(isinstance(window, Times) and window.hop == 1 for window in windows)
        return sliding and predicate not in self.timed | self.signalled

    def window_rule(self, element: WindowAtom, atom: Atom, span: str, name: str) -> str:
        """When a window atom over derived atoms holds."""
        moment = Var("Time'")
        inside = f"{span}(First',Last')"
        pinned = self.write.pinned(atom, moment)
        if element.modality == "always":
            # Not by way of `not`: that holds at all points is a positive condition, and atoms that
            # rest on each other through it have no other reason to hold.
            last = self.write.pinned(atom, Var("Last'"))
            body = f"{inside}, {last}, {pinned} : Time' = First'..Last'"
            return f"{self.write.helper(name, atom, None)} :- {body}."
        time = moment if element.modality == "at" else None
        body = f"{inside}, {pinned}, First' <= Time', Time' <= Last'"
        return f"{self.write.helper(name, atom, time)} :- {body}."

    # --- atoms at times ---

    def pin(self, predicate: Predicate) -> None:
        """What holds now holds at the current time, and the other way round."""
        atom = _open(predicate)
        now = self.write.pinned(atom, Var("Now'"))
        self.result.rules.append(f"{now} :- _now(Now'), {self.write.atom(atom)}.")
        self.result.rules.append(f"{self.write.atom(atom)} :- _now(Now'), {now}.")

    def take_in(self, predicate: Predicate) -> None:
        """Signals of a predicate that rules derive as well."""
        atom = _open(predicate)
        self.current = PlainRule((Headed(atom),), (), Rule(atom))
        if predicate in self.timed | self.pinned:
            moment = Var("Time'")
            signal = self.view(ViewKey(ALL, "at", predicate), atom, moment)
            self.result.rules.append(f"{self.write.pinned(atom, moment)} :- {signal}.")
        signal = self.view(ViewKey(NOW, "some", predicate), atom, None)
        self.result.rules.append(f"{self.write.atom(atom)} :- {signal}.")

    def show(self) -> None:
        """Answers show what rules derive."""
        self.result.rules.append("#show.")
        for name, arity in sorted(self.program.derived):
            shown = self.write.names.now(name)
            self.result.shown[f"{shown}/{arity}"] = ((name, arity), False)
            self.result.rules.append(f"#show {shown}/{arity}.")
            if (name, arity) in self.timed | self.signalled:
                pinned = f"{self.write.names.at(name)}/{arity + 1}"
                self.result.has_times = True
                self.result.shown[pinned] = ((name, arity), True)
                self.result.rules.append(f"#show {pinned}.")


def _open(predicate: Predicate) -> Atom:
    return Atom(predicate[0], tuple(Var(f"X{place}'") for place in range(predicate[1])))


def selected(windows: Chain, predicate: Predicate) -> list[tuple[Term, ...]]:
    """The arguments of atoms that filters among the windows let through."""
    found = [_open(predicate).args]
    for window in windows:
        assert isinstance(window, Times | Between | Only)
        if isinstance(window, Only):
            narrowed = [_narrowed(args, p, predicate) for p in window.patterns for args in found]
            found = [args for args in narrowed if args is not None]
    return found


def _narrowed(
    args: tuple[Term, ...], pattern: Pattern, predicate: Predicate
) -> tuple[Term, ...] | None:
    """The arguments as far as a pattern lets them through."""
    if pattern.name != predicate[0]:
        return None
    if pattern.args is None:
        return args
    if len(pattern.args) != len(args):
        return None
    found: list[Term] = []
    for wanted, given in zip(pattern.args, args, strict=True):
        if isinstance(wanted, Var):
            found.append(given)
        elif isinstance(given, Var) or given == wanted:
            found.append(wanted)
        else:
            return None
    return tuple(found)
