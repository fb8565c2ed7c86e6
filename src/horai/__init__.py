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

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from horai.both import Together, together
    from horai.both_saving import load_together
    from horai.errors import CaseError, QueryError, RunError, UsageError
    from horai.io import AnswerRow, DeadLetter, InputError
    from horai.lang.diagnostics import Diagnostic, RulesError
    from horai.loading import load, load_session, loads
    from horai.metrics import Metrics
    from horai.predicates import predicate, vectorised
    from horai.result import Result
    from horai.rules import Rules
    from horai.session import Answer, Session

__all__ = [
    "Answer",
    "AnswerRow",
    "CaseError",
    "DeadLetter",
    "Diagnostic",
    "InputError",
    "Metrics",
    "QueryError",
    "Result",
    "Rules",
    "RulesError",
    "RunError",
    "Session",
    "Together",
    "UsageError",
    "__version__",
    "load",
    "load_session",
    "load_together",
    "loads",
    "predicate",
    "together",
    "vectorised",
]

# Names are looked up when first used, so that `import horai` does not wait for Arrow and Lark.
_HOME = {
    "Answer": "session",
    "AnswerRow": "io",
    "CaseError": "errors",
    "DeadLetter": "io",
    "Diagnostic": "lang.diagnostics",
    "InputError": "io",
    "Metrics": "metrics",
    "QueryError": "errors",
    "Result": "result",
    "Rules": "rules",
    "RulesError": "lang.diagnostics",
    "RunError": "errors",
    "Session": "session",
    "Together": "both",
    "UsageError": "errors",
    "load": "loading",
    "load_session": "loading",
    "load_together": "both_saving",
    "loads": "loading",
    "predicate": "predicates",
    "together": "both",
    "vectorised": "predicates",
}


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"horai.{_HOME[name]}"), name)
    raise AttributeError(f"module 'horai' has no attribute {name!r}")
