"""What is given to clingo: rules as text, and the names of all that has to be added to them."""

from __future__ import annotations

from dataclasses import dataclass, field

from horai.asp.memory import Memory
from horai.asp.plain import Chain, PlainRule
from horai.asp.symbols import Names
from horai.asp.views import ViewKey
from horai.asp.writer import Writer
from horai.lang.lars.syntax import Atom, Predicate


@dataclass(slots=True)
class Encoding:
    """The rules as text, and the names of all that has to be added to them."""

    writer: Writer
    signalled: frozenset[Predicate]
    rules: list[str] = field(default_factory=list)
    whole: str | None = None
    """All rules as one text, once they are asked for."""
    views: dict[ViewKey, str] = field(default_factory=dict)
    spans: dict[Chain, str] = field(default_factory=dict)
    shown: dict[str, tuple[Predicate, bool]] = field(default_factory=dict)
    """Predicates of answers: what they stand for, and whether their last argument is a time."""
    memory: Memory = field(default_factory=Memory)
    """What was read from models."""
    has_times: bool = False
    """Whether answers show atoms at other times than the current one."""
    occurrences: dict[ViewKey, list[tuple[PlainRule, Atom]]] = field(default_factory=dict)
    """Where windows over signals are asked for."""
    is_timeless: bool = True
    """Whether no rule mentions a time point, so that the rules are the same at all times."""

    def feeding(self) -> str:
        """Rules that ask for what windows hold."""
        lines: list[str] = []
        for number, (key, name) in enumerate(self.views.items()):
            arity = key.predicate[1] + (key.modality == "at")
            args = "".join(f"X{place}," for place in range(arity))
            head = f"{name}({args[:-1]})" if args else name
            lines.append(f"{head} :- ({args or ','}) = @held({number}).")
        return "\n".join(lines)

    @property
    def names(self) -> Names:
        """The names of predicates."""
        return self.writer.names

    def text(self) -> str:
        """The rules, and which atoms to show."""
        if self.whole is None:
            self.whole = "\n".join(self.rules)
        return self.whole
