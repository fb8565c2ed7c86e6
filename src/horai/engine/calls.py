"""Calls of background rules: their clauses run on tables of arguments."""

from __future__ import annotations

from collections.abc import Callable

from horai.engine.columns import bits
from horai.engine.frames import Frame, gather, is_number, stack
from horai.engine.hashing import distinct
from horai.engine.matching import build
from horai.engine.relations import join
from horai.engine.timejoins import TimeJoins
from horai.lang import endless
from horai.lang.core.terms import Term, Var
from horai.lang.ec.errors import Endless
from horai.plan import operators as op
from horai.plan.ec.literals import names
from horai.temporal.spans import Ints

Run = Callable[[op.Chain, Frame], Frame]


class Procedures(TimeJoins):
    """How procedures are called."""

    def procedure(self, step: op.Procedure, frame: Frame, run: Run) -> Frame:
        """The answers of a procedure; `run` evaluates its clauses."""
        self._calls = self._calls + 1 if self._depth else 0
        if self._depth >= endless.DEEPEST_CALL or self._calls > endless.MOST_CALLS:
            raise Endless(endless.too_many_calls(f"{step.key[0]}/{step.key[1]}"))
        self._depth += 1
        try:
            branches = self.procedures.branches[step.key, step.bound]
            found = [self._branch(step, branch, frame, run) for branch in branches]
        finally:
            self._depth -= 1
        facts = self.stated(step.key)
        if facts is not None:
            plain, terms = self.plain(frame, step.args)
            keep = set(frame.columns) | names(*step.args) | set(frame.lists)
            found.append(join(plain, facts, terms, self.symbols).to_frame(keep.__contains__))
        return stack(found, self.symbols) if found else frame.empty()

    def _branch(self, step: op.Procedure, branch: op.Branch, frame: Frame, run: Run) -> Frame:
        name = self.number()
        own = {n: spans for n, spans in frame.lists.items() if is_number(n)}
        inner = Frame(frame.rows, {}, own).numbered(name)
        for position, pattern in enumerate(branch.head):
            if position in step.bound:
                inner = self._pass(step.args[position], pattern, frame, inner, name)
        found = run(branch.body, inner)
        outer = frame.take(found.columns[name].data)
        outer.lists.update({n: s for n, s in found.lists.items() if is_number(n)})
        fresh: list[str] = []
        for position, pattern in enumerate(branch.head):
            if position in step.bound or not found.rows:
                continue
            if isinstance(pattern, Var) and pattern.name in found.lists:
                outer = self.bind_list(step.args[position], found.lists[pattern.name], outer)
            elif names(pattern) <= set(found.columns):
                column = build(pattern, found.columns, found.rows, self.symbols)
                outer = outer.with_columns({f"#out{position}": column, name: found.columns[name]})
                fresh.append(f"#out{position}")
        return self._answers(step, outer, found, fresh, name)

    def _answers(
        self, step: op.Procedure, outer: Frame, found: Frame, fresh: list[str], name: str
    ) -> Frame:
        """Each different answer of a call once, bound to the arguments that were free."""
        keys = [bits(found.columns[name]), *(bits(outer.columns[column]) for column in fresh)]
        if not any(is_number(n) for n in outer.lists):  # times may differ between equal answers
            outer = outer.take(distinct(keys, outer.rows))
        for column in fresh:
            outer = self._bind(step.args[int(column[4:])], outer, column)
        return outer

    def _pass(self, arg: Term, pattern: Term, frame: Frame, inner: Frame, name: str) -> Frame:
        """Hand an argument of a call to the head of a clause."""
        rows: Ints = inner.columns[name].data
        if isinstance(arg, Var) and arg.name in frame.lists:
            spans = gather(frame.lists[arg.name], frame.rows, rows)
            return self.bind_list(pattern, spans, inner)
        column = build(arg, frame.columns, frame.rows, self.symbols).take(rows)
        return self._bind(pattern, inner.with_columns({"#in": column}), "#in")
