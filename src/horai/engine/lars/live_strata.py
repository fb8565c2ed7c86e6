"""Strata from tick to tick: what their rules say more or less, and what follows from it."""

from __future__ import annotations

from collections import Counter

from horai.engine.lars.evaluation import check_rounds
from horai.engine.lars.literals import Source
from horai.engine.lars.live_code import Found
from horai.engine.lars.live_rules import LiveRule, Made
from horai.engine.lars.live_tables import Row, Table
from horai.engine.lars.strata import Invents

Said = tuple[Made, Row]
Changed = list[tuple[Said, bool]]


class Counted:
    """A stratum without recursion: an atom holds as long as it has solutions."""

    def __init__(self, rules: list[LiveRule]) -> None:
        self.rules = rules
        self.counts: Counter[Said] = Counter()
        self._moved: Counter[Said] = Counter()
        # What rules with aggregates say, and those of which something has changed.
        self._totals: dict[LiveRule, Counter[Row]] = {r: Counter() for r in rules if r.totalled}
        self._stale = dict.fromkeys(self._totals)

    def begin(self) -> None:
        """What holds before anything has come: rules over facts and over what is absent."""
        self._moved = Counter()
        for rule in self.rules:
            if not rule.totalled:
                self._moved.update((rule.made, row) for row in rule.everything())

    def follow(self, rule: LiveRule, source: Source, row: Row, came: bool) -> None:
        """A row of what a rule reads has come, or is about to go."""
        if rule.totalled:
            self._stale[rule] = None
            return
        for is_positive, found in rule.starts[source]:
            more = 1 if is_positive == came else -1
            for said in found(row):
                self._moved[rule.made, said] += more

    def settle(self) -> Changed:
        """Atoms that hold from now on, and those that no longer do."""
        for rule in self._stale:
            self._count_anew(rule)
        self._stale = {}
        moved, self._moved = self._moved, Counter()
        found: Changed = []
        for said, more in moved.items():
            before = self.counts[said]
            self.counts[said] = before + more
            if not before + more:
                del self.counts[said]
            if (before == 0) != (before + more == 0):
                found.append((said, before == 0))
        return found

    def _count_anew(self, rule: LiveRule) -> None:
        """What a rule with an aggregate says now, and how that differs from before."""
        before, now = self._totals[rule], Counter(rule.everything())
        self._totals[rule] = now
        for row in before.keys() | now.keys():
            self._moved[rule.made, row] += now[row] - before[row]


class Recursive:
    """A stratum whose atoms rest on each other.

    What has lost a solution is in doubt, and all that rests on it; what still has a reason comes
    back, and leads on like what is new. Its rules see the atoms of the stratum in tables of their
    own, which rules of other strata do not read.
    """

    def __init__(
        self, rules: list[LiveRule], tables: dict[Made, dict[Source, Table]], invents: Invents
    ) -> None:
        self.rules = rules
        self._invents = invents
        own = {source for listed in tables.values() for source in listed}
        self._exits = {rule for rule in rules if not rule.sources & own}
        self._tables = {made: list(listed.values()) for made, listed in tables.items()}
        self._steps: dict[Made, list[tuple[Made, Found]]] = {
            made: [
                (rule.made, found)
                for source in listed
                for rule in rules
                for _, found in rule.starts.get(source, ())
            ]
            for made, listed in tables.items()
        }
        self.holding: dict[Made, set[Row]] = {made: set() for made in tables}
        self._based: Counter[Said] = Counter()  # solutions of rules without recursion
        self._lost: dict[Said, None] = {}
        self._gained: dict[Said, None] = {}
        self._written_out: dict[LiveRule, set[Row]] = {}  # of rules whose heads compute

    def begin(self) -> None:
        """What holds before anything has come."""
        self._lost, self._gained, self._based = {}, {}, Counter()
        for rule in (rule for rule in self.rules if rule in self._exits):
            for row in rule.everything():
                self._based[rule.made, row] += 1
                self._gained[rule.made, row] = None

    def follow(self, rule: LiveRule, source: Source, row: Row, came: bool) -> None:
        """A row of what a rule reads has come, or is about to go."""
        is_exit = rule in self._exits
        for is_positive, found in rule.starts[source]:
            gained = is_positive == came
            for one in found(row):
                said = (rule.made, one)
                (self._gained if gained else self._lost)[said] = None
                if is_exit:
                    self._based[said] += 1 if gained else -1
                    if not self._based[said]:
                        del self._based[said]

    def settle(self) -> Changed:
        """Atoms that hold from now on, and those that no longer do."""
        if not self._lost and not self._gained:
            return []
        doubtful = self._doubtful()
        for said in doubtful:
            self._remove(said)
        self._written_out = {}
        asked = {**self._gained, **doubtful}
        come = self._grown([said for said in asked if self._has_reason(said)])
        self._lost, self._gained = {}, {}
        gone = [said for said in doubtful if said[1] not in self.holding[said[0]]]
        new = [said for said in come if said not in doubtful]
        return [*((said, False) for said in gone), *((said, True) for said in new)]

    def _doubtful(self) -> dict[Said, None]:
        """What has lost a solution and is not based on anything else, and what rests on that."""
        found: dict[Said, None] = {}
        waiting = [said for said in self._lost if said[1] in self.holding[said[0]]]
        while waiting:
            said = waiting.pop()
            if said in found or self._based[said] > 0:
                continue
            found[said] = None
            for made, step in self._steps[said[0]]:
                holding = self.holding[made]
                waiting += [(made, one) for one in step(said[1]) if one in holding]
        return found

    def _grown(self, seeds: list[Said]) -> list[Said]:
        """Take in atoms and all that follows from them."""
        found: list[Said] = []
        waiting = list(seeds)
        rounds = 0
        while waiting:
            rounds += 1
            check_rounds(rounds, len(found), self._invents)
            asked, waiting = waiting, []
            for said in asked:
                made, row = said
                if row in self.holding[made]:
                    continue
                self.holding[made].add(row)
                found.append(said)
                for table in self._tables[made]:
                    table.add(row)
                for other, step in self._steps[made]:
                    holding = self.holding[other]
                    waiting += [(other, one) for one in step(row) if one not in holding]
        return found

    def _remove(self, said: Said) -> None:
        made, row = said
        self.holding[made].discard(row)
        for table in self._tables[made]:
            table.remove(row)

    def _has_reason(self, said: Said) -> bool:
        """Does what holds now give a reason for an atom?"""
        made, row = said
        own = (rule for rule in self.rules if rule.made == made and rule not in self._exits)
        return self._based[said] > 0 or any(self._derives(rule, row) for rule in own)

    def _derives(self, rule: LiveRule, row: Row) -> bool:
        if rule.derives is not None:
            return rule.derives(row)
        if rule not in self._written_out:
            self._written_out[rule] = set(rule.everything())
        return row in self._written_out[rule]
