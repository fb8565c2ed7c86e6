"""Nothing in the sources runs what it reads, but for what people ask for by name."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import horai

SOURCES = Path(__file__).parents[1] / "src" / "horai"
MODULES = {
    *("pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"),
    *("yaml", "runpy", "code", "codeop", "pty", "telnetlib", "xmlrpc", "imp"),
}
CALLS = {"eval", "exec", "compile", "__import__", "exec_module", "system", "popen"}
KEYWORDS = {"allow_pickle", "shell"}
# Where, what, and why it may be there.
KNOWN = {
    ("predicates.py", "exec_module"): "Python predicates that were named, or are trusted",
    ("runtime/tasks.py", "pyspark.serializers"): "Spark itself sends tasks to its workers",
}


def doors(tree: ast.AST) -> Iterator[str]:
    """All in a source that may run what was read."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (one.name for one in names if _runs(one.name))
            case ast.ImportFrom(module=str(module)) if _runs(module):
                yield module
            case ast.Call(func=ast.Name(id=name)) if name in CALLS:
                yield name
            case ast.Call(func=ast.Attribute(attr=name, value=whose)) if name in CALLS:
                if ast.unparse(whose) != "re":
                    yield name
        if isinstance(node, ast.keyword) and node.arg in KEYWORDS:
            yield str(node.arg)


def _runs(module: str) -> bool:
    return module.partition(".")[0] in MODULES or module == "pyspark.serializers"


def test_nothing_runs_what_it_reads() -> None:
    found = {
        (path.relative_to(SOURCES).as_posix(), door)
        for path in SOURCES.rglob("*.py")
        for door in doors(ast.parse(path.read_text()))
    }
    assert found == KNOWN.keys()


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from pickle import loads",
        "import yaml",
        "numpy.load(f, allow_pickle=True)",
        "eval(text)",
        "os.system(text)",
        "subprocess.run(text, shell=True)",
        "builtins.exec(text)",
    ],
)
def test_doors_are_seen(text: str) -> None:
    assert list(doors(ast.parse(text)))


def test_texts_of_a_program_do_not_get_into_functions() -> None:
    text = """q('"); import os #', X) :- p(X), X != '"); import os #'."""
    result = horai.loads(text, language="lars").run(["p|1|1|3"], engine="plan")
    assert "import os" in str(result.answers[-1])
