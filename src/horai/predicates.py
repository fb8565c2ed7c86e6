"""Predicates written in Python, for the conditions that rules cannot say.

With as many parameters as the literal has arguments a function is a test: true or false. With one
parameter fewer it computes the last argument; None means that there is none.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
from collections.abc import Callable, Iterable, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar

from horai.errors import UsageError

Predicate = Callable[..., object]
Given = Mapping[str, Predicate] | Iterable[Predicate] | None

_F = TypeVar("_F", bound=Callable[..., Any])
_MARK = "__horai_predicate__"
_MARKS = ("predicate", "vectorised")  # what marks a function, by name
_VECTORISED = "vectorised"  # the attribute that engines look for


def predicate(function: _F) -> _F:
    """Mark a function as a predicate; rules call it by its name.

    >>> @predicate
    ... def near(x, y):
    ...     return abs(x - y) < 10
    >>> list(collect([near]))
    ['near']
    """
    setattr(function, _MARK, True)
    return function


def vectorised(function: Callable[..., Any]) -> Predicate:
    """Mark a function as a predicate that takes whole columns: an array per argument.

    It returns an array with the answer of each row. The reference engine asks row by row; so does
    whoever calls the function with plain values.

    >>> @vectorised
    ... def near(x, y):
    ...     return abs(x - y) < 10
    >>> near(3, 8)
    True
    """

    @functools.wraps(function)
    def one(*values: object) -> object:
        answers = function(*map(_column_of_one, values))
        if len(answers) != 1:
            raise ValueError(f"{len(answers)} answers for 1 row")
        answer = answers[0]
        answer = answer.item() if hasattr(answer, "item") else answer
        return None if answer != answer else answer  # NaN is the None of decimals

    setattr(one, _VECTORISED, True)
    return predicate(one)


def _column_of_one(value: object) -> Any:
    """An array with one element, as engines make it."""
    import numpy as np

    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return np.fromiter([value], object, 1)
    kind = np.int64 if isinstance(value, int) else float if isinstance(value, float) else object
    return np.fromiter([value], kind, 1)


def collect(given: Given) -> dict[str, Predicate]:
    """The predicates by name, from a mapping or from a list of functions."""
    if given is None:
        return {}
    named = dict(given) if isinstance(given, Mapping) else _by_name(given)
    for name, function in named.items():
        _check(name, function)
    return named


def collect_again(given: Given, needed: list[str], call: str) -> dict[str, Predicate]:
    """The predicates of a saved session, which has only their names; `call` loads it."""
    functions = collect(given)
    missing = [name for name in needed if name not in functions]
    if missing:
        hint = f"give the functions again: {call}(saved, predicates=[...])"
        raise UsageError(f"the session needs the Python predicate {', '.join(missing)}", hint)
    return functions


def _by_name(given: object) -> dict[str, Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        hint = "give functions in a list, or in a dict by name"
        raise UsageError(f"predicates are no {type(given).__name__}", hint)
    return {getattr(function, "__name__", repr(function)): function for function in given}


def _check(name: object, function: Predicate) -> None:
    if not isinstance(name, str):
        raise UsageError(f"a Python predicate needs a name, not {name!r}")
    if not callable(function):
        raise UsageError(f"the Python predicate {name} is not a function: {function!r}")
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in parameters):
        raise UsageError(
            f"the Python predicate {name} must take a fixed number of positional arguments",
            "write out its parameters instead of *args, **kwargs and keyword-only ones",
        )


def from_file(path: Path, text: bytes | None = None) -> dict[str, Predicate]:
    """The functions of a Python file that are marked with `@horai.predicate`: runs the file.

    `text` is what is in it, where somebody has looked already.
    """
    data = source_of(path) if text is None else text
    name = f"_horai_predicates_{path.stem}"
    loader = _Exactly(name, str(path), data)
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    try:
        loader.exec_module(module)
    except Exception as error:
        raise UsageError(f"{path}: {type(error).__name__}: {error}") from error
    found = [thing for thing in vars(module).values() if getattr(thing, _MARK, False)]
    return collect(_some(found, path))


def outlined(path: Path) -> dict[str, Predicate]:
    """The same functions by name and parameters, for who only asks for these: runs nothing."""
    try:
        tree = ast.parse(source_of(path))
    except (SyntaxError, ValueError) as error:  # ValueError: zeros in the text
        raise UsageError(f"{path}: {type(error).__name__}: {error}") from error
    marks = _marks(tree)
    functions = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    called = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    given = {  # far = predicate(distance)
        argument.id
        for call in called
        if ast.unparse(call.func) in marks
        for argument in call.args
        if isinstance(argument, ast.Name)
    }
    found = [
        _outline(name, one, path)
        for name, one in functions.items()
        if name in given or any(ast.unparse(mark) in marks for mark in one.decorator_list)
    ]
    return collect(_some(found, path))


def _marks(tree: ast.Module) -> set[str]:
    """How a file calls what marks a function."""
    marks: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                whole = [one.asname or one.name for one in names if one.name == "horai"]
                marks |= {f"{name}.{mark}" for name in whole for mark in _MARKS}
            case ast.ImportFrom(module="horai" | "horai.predicates", names=names):
                marks |= {one.asname or one.name for one in names if one.name in _MARKS}
    return marks


def _outline(name: str, function: ast.FunctionDef, path: Path) -> Predicate:
    given = function.args
    kind = inspect.Parameter
    parameters = [kind(one.arg, kind.POSITIONAL_ONLY) for one in (*given.posonlyargs, *given.args)]
    if given.vararg:
        parameters.append(kind(given.vararg.arg, kind.VAR_POSITIONAL))
    parameters += [kind(one.arg, kind.KEYWORD_ONLY) for one in given.kwonlyargs]
    if given.kwarg:
        parameters.append(kind(given.kwarg.arg, kind.VAR_KEYWORD))

    def outline(*values: object) -> object:
        raise UsageError(f"{path}: {name} was only looked at, and cannot be called")

    outline.__name__ = name
    outline.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return outline


def source_of(path: Path) -> bytes:
    """The text of a Python file."""
    if not path.is_file():
        raise UsageError(f"{path}: no such file of Python predicates")
    if path.suffix != ".py":
        raise UsageError(f"{path}: not a Python file", "its name must end in .py")
    return path.read_bytes()


def _some(found: list[Any], path: Path) -> list[Any]:
    if not found:
        hint = "write @horai.predicate above each function that rules may call"
        raise UsageError(f"{path}: no predicate in it", hint)
    return found


class _Exactly(SourceFileLoader):
    """Runs the text that was looked at: what lies in `__pycache__` may be something else."""

    def __init__(self, name: str, path: str, data: bytes) -> None:
        super().__init__(name, path)
        self._data = data

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = self.source_to_code(self._data, self.path)
        return code
