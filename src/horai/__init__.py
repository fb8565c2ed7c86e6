"""Horai, a stream reasoner: Event Calculus rules over event streams.

>>> import horai
>>> rules = horai.loads('''
...     initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).
...     terminatedAt(rich(X)=true, T) :- happensAt(lose_wallet(X), T).
... ''')
>>> result = rules.run(["win_lottery|13|13|chris", "lose_wallet|19|19|chris"])
>>> result.holds_for("rich(chris)=true")
[(14, 20)]
"""

from __future__ import annotations

# Nothing is imported here: before `main` has begun, nobody takes an interrupt.
TYPE_CHECKING = False
__version__ = "0.1.0"

if TYPE_CHECKING:
    from horai.errors import CaseError, QueryError, RunError, UsageError
    from horai.frames import Frame, frame
    from horai.io import AnswerRow, DeadLetter, InputError
    from horai.lang.core.diagnostics import Diagnostic, RulesError
    from horai.predicates import predicate, vectorised
    from horai.result import Answer, Result
    from horai.rules import Rules, combine, load, load_session, loads
    from horai.runtime.metrics import Metrics
    from horai.session import Session

__all__ = [
    "Answer",
    "AnswerRow",
    "CaseError",
    "DeadLetter",
    "Diagnostic",
    "Frame",
    "InputError",
    "Metrics",
    "QueryError",
    "Result",
    "Rules",
    "RulesError",
    "RunError",
    "Session",
    "UsageError",
    "__version__",
    "combine",
    "frame",
    "load",
    "load_session",
    "loads",
    "predicate",
    "vectorised",
]

# Names are looked up when first used, so that `import horai` does not wait for Arrow and Lark.
_HOME = {
    "Answer": "result",
    "AnswerRow": "io",
    "CaseError": "errors",
    "DeadLetter": "io",
    "Diagnostic": "lang.core.diagnostics",
    "Frame": "frames",
    "InputError": "io",
    "Metrics": "runtime.metrics",
    "QueryError": "errors",
    "Result": "result",
    "Rules": "rules",
    "RulesError": "lang.core.diagnostics",
    "RunError": "errors",
    "Session": "session",
    "UsageError": "errors",
    "frame": "frames",
    "load": "rules",
    "load_session": "rules",
    "loads": "rules",
    "predicate": "predicates",
    "combine": "rules",
    "vectorised": "predicates",
}


def __getattr__(name: str) -> object:
    if name in _HOME:
        from importlib import import_module

        return getattr(import_module(f"horai.{_HOME[name]}"), name)
    raise AttributeError(f"module 'horai' has no attribute {name!r}")


def __dir__() -> list[str]:
    hidden = {"TYPE_CHECKING", "annotations"}
    return sorted({*__all__, *globals()} - hidden)
