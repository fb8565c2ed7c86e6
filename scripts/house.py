"""The state of the house in numbers: `python scripts/house.py`, `--json` for machines.

What it counts says how much a newcomer meets: files, lines, modules at the top, classes of one
name, import cycles, and how many files and functions the first example of the README enters.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from inspect import CO_OPTIMIZED
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
INSIDE = ("horai.engine", "horai.temporal")
"""The inside of the evaluation engines, which names of classes are not compared in."""
KINDS = {
    "sink": "webhook",
    "source": "tcp:",
    "diagnostic": "H205",
}
"""By what a kind of thing is found: the files that name one of its members.

A source is named as people name it, and a diagnostic is one that no help text has as its example.
"""


def modules() -> dict[str, Path]:
    """All modules of the package by their dotted names."""
    found = {}
    for path in sorted((SRC / "horai").rglob("*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        if "template" not in parts:
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(tree: ast.Module, known: dict[str, Path]) -> Iterator[str]:
    """The modules that a module imports, inside functions too, but not for types alone."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting.extend(node.orelse)
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        waiting.extend(ast.iter_child_nodes(node))


def cycles(trees: dict[str, ast.Module], known: dict[str, Path]) -> list[list[str]]:
    """Groups of modules that import each other."""
    import networkx

    graph: networkx.DiGraph[str] = networkx.DiGraph()
    for name, tree in trees.items():
        graph.add_edges_from((name, one) for one in imports(tree, known) if one in known)
    groups = networkx.strongly_connected_components(graph)
    return sorted(sorted(group) for group in groups if len(group) > 1)


def entered() -> tuple[int, int]:
    """Files and functions of the package that the first example of the README enters."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", text, re.S)
    assert example is not None, "README.md has no example in Python"
    files = re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', text, re.S)
    met: set[tuple[str, int]] = set()

    def look(frame, event, _arg):  # type: ignore[no-untyped-def]
        code = frame.f_code
        if event == "call" and "/horai/" in code.co_filename and code.co_flags & CO_OPTIMIZED:
            met.add((code.co_filename, code.co_firstlineno))

    with TemporaryDirectory() as folder, chdir(folder), redirect_stdout(sys.stderr):
        for name, content in files:
            Path(name).write_text(content, encoding="utf-8")
        sys.setprofile(look)
        try:
            exec(compile(example[1], "README.md", "exec"), {"__name__": "__main__"})
        finally:
            sys.setprofile(None)
    return len({file for file, _ in met}), len(met)


def measured() -> dict[str, object]:
    """All numbers by what they count."""
    known = modules()
    texts = {name: path.read_text(encoding="utf-8") for name, path in known.items()}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    lines = [line.strip() for text in texts.values() for line in text.splitlines()]
    comments = sum(line.startswith("#") for line in lines)
    classes = {
        name: [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        for name, tree in trees.items()
    }
    every = [one for names in classes.values() for one in names]
    outside = Counter(
        one
        for name, names in classes.items()
        for one in names
        if not name.startswith(INSIDE) and not one.startswith("_")
    )
    files, functions = entered()
    found = {
        "files": len(known),
        "lines": len(lines),
        "comments, % of lines": round(100 * comments / len(lines), 1),
        "modules at the top": sum(1 for p in known.values() if p.parent == SRC / "horai"),
        "session classes": sum(one.endswith("Session") for one in every),
        "result and answer classes": sum(
            one.endswith(("Result", "Answer", "Answers")) for one in every
        ),
        "class names defined twice": sorted(one for one, n in outside.items() if n > 1),
        "import cycles": cycles(trees, known),
        "files entered by the first example": files,
        "functions entered by the first example": functions,
    }
    for kind, member in KINDS.items():
        touched = [name for name, text in texts.items() if member in text]
        found[f"files that name the {kind} {member}"] = touched
    return found


def main() -> None:
    """Print the numbers."""
    found = measured()
    if "--json" in sys.argv[1:]:
        print(json.dumps(found, indent=2))
        return
    for what, value in found.items():
        if isinstance(value, list):
            shown = ", ".join("+".join(v) if isinstance(v, list) else v for v in value)
            value = f"{len(value)}  {shown if len(shown) < 400 else shown[:400] + ' ...'}"
        print(f"{what:42} {value}")


if __name__ == "__main__":
    main()
