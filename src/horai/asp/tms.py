"""LARS by truth maintenance: the incremental encoding keeps the rules, the JTMS one answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from horai.asp.grounding import Grounder, check_terms, to_term
from horai.asp.incremental import (
    Expiry,
    IncrementalRules,
    Literal,
    Template,
    pinned_name,
    plain,
    plain_name,
)
from horai.asp.jtms import Jtms, Unsettled
from horai.asp.normal import normal_form
from horai.asp.solving import AnswerSets, Model
from horai.asp.windows import Inputs, Row, Signal, ViewKey, WindowView, make_view
from horai.lang.core.terms import Int
from horai.lang.lars.arithmetic import TooLarge
from horai.lang.lars.syntax import Atom, Predicate, Program
from horai.plan.lars.dependencies import odd_loops, strata
from horai.plan.lars.fragments import EndlessValues, NotServed


class TmsSession:
    """A run of a program with normal rules and no odd loop; one answer at a time.

    The answer changes as little as its rules do: what still has a reason to hold stays.
    """

    def __init__(self, program: Program, *, start: int = 0, seed: int = 0) -> None:
        self.plain = normal_form(program)
        self.start = start
        self.seed = seed
        self.inputs = Inputs(start)
        self.signalled: frozenset[Predicate] = frozenset()
        self.is_unique = strata(program) is not None
        """Whether the answer is the only one."""
        loop, _ = next(odd_loops(program), (None, None))
        self.odd = loop and loop[0]
        """A predicate that may depend on itself through an odd number of negations, if any does."""
        self.restart()

    def restart(self) -> None:
        """Begin with the rules that are always there, before the first time point."""
        self.rules = IncrementalRules(self.plain, self.signalled, start=self.start)
        self.expiry = Expiry()
        self.jtms = Jtms(self.seed, verifies=self.odd is not None)
        self.views: dict[ViewKey, WindowView] = {
            k: make_view(k, self.inputs) for k in self.rules.fed
        }
        self.held: dict[ViewKey, set[Row]] = {key: set() for key in self.views}
        self.covering: dict[str, dict[Template, None]] = {}
        self.ahead: dict[Template, None] = {}  # facts of signals to come
        self.now = self.start - 1
        self.used = 0
        self.is_lost = False
        self.disorder = self.inputs.disorder
        self.names = {plain_name(p): p[0] for p in self.plain.derived}
        self.names.update({pinned_name(plain_name(p)): p[0] for p in self.rules.timed})
        self.atoms: dict[int, tuple[Atom, int | None]] = {}
        self.grounder = Grounder(self.names)
        for fact in self.plain.facts:
            if fact.predicate in self.signalled:
                self.grounder.add(Template(plain(fact)))
            else:
                self.grounder.add_fact(plain(fact))
        for template in dict.fromkeys(self.rules.base):
            check_terms(template)
            self.grounder.add(template)

    def advance(
        self, time: int, signals: Iterable[Signal] = (), retracted: Iterable[Signal] = ()
    ) -> AnswerSets:
        """The answer at a time, with more signals known than before."""
        came = list(signals)
        new = self.inputs.add(came)
        self.inputs.retract(retracted)
        is_late = any(signal[0] <= self.now for signal in came)
        signalled = self.signalled | {
            self.inputs.predicates[number]
            for number in new
            if self.inputs.predicates[number] in self.plain.defined
        }
        is_late = is_late or self.disorder != self.inputs.disorder
        if signalled != self.signalled or is_late or self.is_lost:
            # Points that were taken cannot be undone one by one: all of them are taken again.
            self.signalled = signalled
            self.restart()
        try:
            self.move(time)
        except (TooLarge, EndlessValues):
            # Rules that came and rules that went have met, which never hold together.
            self.restart()
            self.is_lost = True  # unless this comes to an end
            self.move(time)
            self.is_lost = False
        return AnswerSets(time, (self.read(time),))

    # --- from time point to time point ---

    def move(self, time: int) -> None:
        """Take all time points up to one, then mend the answer once for all of them."""
        came: dict[Template, None] = {}
        went: dict[Template, None] = {}
        inputs = self.inputs
        stop = inputs.until(time)
        place = self.used - inputs.dropped
        # Time points whose rules would have gone again before the end are passed over.
        skipped = time - self.rules.longest() - 1
        while self.now < time:
            ahead = inputs.times[place] if place < stop else time
            self.now = max(self.now + 1, min(ahead, skipped))
            until = inputs.until(self.now)
            self.take([inputs.atoms[n] for n in inputs.numbers[place:until]], came, went)
            place = until
        self.used = place + inputs.dropped
        self.feed(time, came, went)
        self.apply(came, went, dict.fromkeys(self.announced(place)))
        needed = [view.keep_from(time) for view in self.views.values()]
        inputs.forget(min([self.keep_from(time), *needed]))

    def keep_from(self, time: int) -> int:
        """The first signal that is needed if a late one makes all points be taken again."""
        signals = self.rules.reach.keys() - (self.plain.derived - self.signalled)
        if any(self.rules.reach[predicate] is None for predicate in signals):
            return 0
        return self.inputs.before(time - self.rules.longest())

    def take(
        self, signals: Iterable[Atom], came: dict[Template, None], went: dict[Template, None]
    ) -> None:
        """Take a time point: rules that expire go, those that it and its signals bring come."""
        for template in self.expiry.expired(self.now):
            if came.pop(template, template) is template:
                went[template] = None
        facts = (fact for atom in signals for fact in self.rules.signal(atom, self.now))
        for lasting in (*self.rules.point(self.now), *facts):
            template = lasting[1]
            if self.expiry.add(self.now, lasting) and went.pop(template, template) is template:
                came[template] = None

    def feed(self, time: int, came: dict[Template, None], went: dict[Template, None]) -> None:
        """Windows that are fed come and go as facts, others with the points they cover."""
        for key, view in self.views.items():
            rows = set(view.move(time))
            before = self.held[key]
            came.update((self.fact(key, row), None) for row in sorted(rows - before))
            went.update((self.fact(key, row), None) for row in sorted(before - rows))
            self.held[key] = rows
        for spanned in self.rules.spanned.values():
            templates = dict.fromkeys(spanned.at(time))
            known = self.covering.get(spanned.name, {})
            came.update((one, None) for one in templates if one not in known)
            went.update((one, None) for one in known if one not in templates)
            self.covering[spanned.name] = templates

    def fact(self, key: ViewKey, row: Row) -> Template:
        """A row of a window as a fact."""
        number, time = row
        args = self.inputs.atoms[number].args
        return Template(Literal(self.rules.fed[key], args if time is None else (*args, Int(time))))

    def announced(self, place: int) -> Iterator[Template]:
        """The facts of signals from a place on, which lie in the future."""
        inputs = self.inputs
        for number, time in zip(inputs.numbers[place:], inputs.times[place:], strict=True):
            yield from self.rules.announced(inputs.atoms[number], time)

    def apply(
        self, came: Iterable[Template], went: Iterable[Template], ahead: dict[Template, None]
    ) -> None:
        """Change the ground rules and the answer; first what comes, so that little has to go."""
        known = {template for template in came if template in self.ahead}  # now it has come
        for template in known:
            del self.ahead[template]
        for template in (*came, *ahead):
            if template not in self.ahead and template not in known:
                self.grounder.add(template)
        for template in (*went, *(one for one in self.ahead if one not in ahead)):
            self.grounder.remove(template)
        self.ahead = ahead
        added, removed = self.grounder.changes()
        try:
            self.jtms.change(added, removed)
        except Unsettled as error:
            self.is_lost = True
            loop = f": {self.odd[0]} depends on itself through `not`" if self.odd else ""
            raise NotServed(f"truth maintenance found no answer{loop}") from error

    # --- answers ---

    def read(self, time: int) -> Model:
        """The answer stream that the labels say."""
        now: list[Atom] = []
        elsewhere: list[tuple[int, Atom]] = []
        for number in self.grounder.shown & self.jtms.members:
            atom, moment = self.atom(number)
            if moment is None or moment == time:
                now.append(atom)
            else:
                elsewhere.append((moment, atom))
        return Model(time, frozenset(now), frozenset(elsewhere))

    def atom(self, number: int) -> tuple[Atom, int | None]:
        """The atom of a number, with its time if it has one."""
        if number not in self.atoms:
            if len(self.atoms) > 1000 + 2 * len(self.grounder.shown):
                self.atoms = {}
            name, values = self.grounder.keys[number]
            args = tuple(to_term(value) for value in values)
            if name.startswith("@"):
                assert isinstance(args[-1], Int)
                self.atoms[number] = Atom(self.names[name], args[:-1]), args[-1].value
            else:
                self.atoms[number] = Atom(self.names[name], args), None
        return self.atoms[number]
