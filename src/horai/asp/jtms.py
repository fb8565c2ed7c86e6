"""Justification-based truth maintenance: an answer set that is kept while rules come and go.

If no atom depends on itself through an odd number of negations, the labels at rest are an answer
set of the rules. If one does, `verifies` makes sure that they are: every update is checked, and
tried again in another order before it is given up.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from horai.asp.network import IN, UNKNOWN, Justification, Network


class Unsettled(Exception):
    """No labels were found in a sensible number of steps: there may be no answer set."""


MOST_TRIES = 8
"""How often an update starts anew, in another order, before it gives up."""


class Jtms(Network):
    """A network whose labels are mended whenever a rule comes or goes.

    `resupports` lets a new valid rule carry an atom that is in already, if it does not rest on that
    atom: then rules that leave later are needed, and those that leave first are not.
    """

    def __init__(self, seed: int = 0, *, resupports: bool = True, verifies: bool = True) -> None:
        super().__init__()
        self.random = random.Random(seed)
        self.resupports = resupports
        self.verifies = verifies
        self.updates = 0

    def model(self) -> set[int]:
        """The atoms that are in."""
        return set(self.members)

    def add(self, rule: Justification) -> None:
        """Add a rule and mend the labels."""
        head = rule.head
        if rule in self.rules.get(head, ()):
            return
        self.register(rule)
        if self.label[head] is IN:
            if self.resupports and self.is_valid(rule) and not self.rests_on(rule, head):
                self.set_in(rule)
            return
        if self.is_invalid(rule):
            self.support[head].add(self.spoiler(rule))
            return
        self._update(self.repercussions(head))

    def remove(self, rule: Justification) -> None:
        """Remove a rule and mend the labels."""
        head = rule.head
        if rule not in self.rules.get(head, ()):
            return
        carried = self.by_rule[head] == rule
        self.deregister(rule)
        if head in self.label and self.label[head] is IN and carried:
            self._update(self.repercussions(head))

    def _update(self, atoms: Sequence[int]) -> None:
        self.updates += 1
        for _ in range(MOST_TRIES):
            self._touched: set[int] = set()
            self._forget(atoms)
            if self._settle(atoms) and (not self.verifies or self._is_sound()):
                return
            # An unlucky order can go round in circles: settle more, and in another order.
            atoms = list(self.label)
            self.random.shuffle(atoms)
        raise Unsettled("truth maintenance found no answer")

    def _forget(self, atoms: Sequence[int]) -> None:
        self._touched.update(atoms)
        self.set_unknown(atoms)

    def _settle(self, atoms: Sequence[int]) -> bool:
        """Give labels to unknown atoms; False after more steps than this should take.

        What follows without a choice is found first, and again after every choice. A choice assumes
        that unknown atoms are out; when one of them comes in, all that rests on it is taken back.
        """
        self._steps = 1000 + 50 * len(atoms)
        choices = list(reversed(atoms))
        self._find(atoms, choices)
        while choices and self._steps > 0:
            atom = choices.pop()
            if self.label[atom] is not UNKNOWN:
                continue
            self._steps -= 1
            rule = next((r for r in self.rules[atom] if self.may_be_valid(r)), None)
            if rule is None:
                self.set_out(atom)
            elif self._take_back(atom, choices):
                choices.append(atom)
                continue
            else:
                self.set_in(rule)
            self._find(self.consequences[atom], choices)
        return self._steps > 0

    def _is_sound(self) -> bool:
        """Whether all atoms that were labelled anew have a reason to be in, or none."""
        for atom in self._touched:
            rule = self.by_rule[atom]
            if self.label[atom] is IN:
                if rule is None or not self.is_valid(rule):
                    return False
            elif not all(self.is_invalid(rule) for rule in self.rules[atom]):
                return False
        return True

    def _take_back(self, atom: int, choices: list[int]) -> bool:
        """Forget the labels that rest on an unknown atom being out; True if there were any."""
        wrong = self.repercussions(atom)[1:]
        if not wrong:
            return False
        self.random.shuffle(wrong)
        self._forget([*wrong, atom])
        choices.extend(wrong)
        return True

    def _find(self, atoms: Iterable[int], choices: list[int]) -> None:
        """Give the labels that follow without a choice, and those that follow from these."""
        waiting = list(atoms)
        label = self.label
        while waiting:
            atom = waiting.pop()
            if label[atom] is not UNKNOWN:
                continue
            valid, all_invalid = None, True
            for rule in self.rules[atom]:
                if self.is_valid(rule):
                    valid = rule
                    break
                all_invalid = all_invalid and self.is_invalid(rule)
            if valid is not None:
                if self._take_back(atom, choices):
                    self._steps -= 1
                    waiting.append(atom)
                    if self._steps < 0:
                        return
                    continue
                self.set_in(valid)
            elif all_invalid:
                self.set_out(atom)
            else:
                continue
            waiting.extend(h for h in self.consequences[atom] if label[h] is UNKNOWN)
