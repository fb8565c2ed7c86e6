"""Questions about the answers of a LARS program: `horai query`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from horai.cli.dead_letters import tell_dead_letters
from horai.cli.lars import SETTINGS
from horai.errors import UsageError

if TYPE_CHECKING:
    from horai.cli.options import Chosen
    from horai.lang.lars.syntax import Predicate
    from horai.lars_result import LarsResult
    from horai.queries import Bindings


class Question(NamedTuple):
    """The result of a run, and the predicates that may be asked for."""

    result: LarsResult
    known: set[Predicate]

    def query(self, text: str) -> list[Bindings]:
        """What the variables of a question stand for."""
        from horai.lars_query import ask

        return ask(self.result.answers, text, self.known)


def run_to_ask(chosen: Chosen, settings: dict[str, Any], quiet: bool) -> tuple[Question, str]:
    """Run a program over the chosen input, and say what may be asked."""
    from horai import lars
    from horai.lang.lars.predicates import background, derived, inputs
    from horai.lars_query import FORMS

    if not chosen.input and settings.get("end") is None:
        raise UsageError("no input given", "name the stream: --input FILE, or give --end TIME")
    program = lars.load(chosen.rules, chosen.background)
    asked = {n: v for n, v in settings.items() if n in SETTINGS - {"output_every", "filter"}}
    result = program.run(chosen.input or (), filter="none", **asked)
    tell_dead_letters(result.dead_letters, None, quiet)
    rules = program.program
    seen = {atom.predicate for answer in result.answers for atom in answer.atoms}
    known = derived(rules) | inputs(rules) | background(rules) | seen
    return Question(result, known), f"Ask {FORMS}; `quit` ends."
