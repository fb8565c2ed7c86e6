"""Draws what bench_lars_tables.py has measured: time points per second against what varies.

    python bench/plot_lars.py RESULTS.json ... OUT.svg

A row of panels for each table, a panel for each form of window or size of program, a line for each
engine.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

Row = dict[str, Any]
COLOURS = {"plan": "#1f6f8b", "asp": "#b2402a", "tms": "#4b8b3b", "library": "#888888"}
COLOURS["process"] = "#bbbbbb"
NAMES = {"library": "clingo, library", "process": "clingo, process"}
# The same results make the same file, and texts stay texts.
matplotlib.use("svg")
matplotlib.rcParams |= {"svg.hashsalt": "horai", "svg.fonttype": "none", "font.size": 8}


def drawn(tables: dict[str, Any], path: Path) -> None:
    """Write the figure."""
    grouped = {name: _panels(table["rows"]) for name, table in tables.items()}
    wide = max(len(panels) for panels in grouped.values())
    size = (2.1 * wide, 1.9 * len(grouped))
    figure, axes = plt.subplots(len(grouped), wide, figsize=size, squeeze=False, sharey="row")
    for line, (name, panels) in enumerate(grouped.items()):
        for place in range(wide):
            axis = axes[line][place]
            if place >= len(panels):
                axis.set_visible(False)
                continue
            form, rows = panels[place]
            _panel(axis, rows)
            axis.set_title(f"{tables[name]['title']}\n{form}" if not place else f"\n{form}")
        axes[line][0].set_ylabel(f"{name}\ntime points / s")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=5, frameon=False)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(path, metadata={"Date": None})


def _panels(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["form"], []).append(row)
    return list(found.items())


def _panel(axis: Axes, rows: list[Row]) -> None:
    name = rows[0]["varied"].partition("=")[0]
    values = [row["varied"].partition("=")[2] for row in rows]  # side by side, as in the tables
    for engine, colour in COLOURS.items():
        if engine in rows[0]:
            figures = [row[engine] for row in rows]
            label = NAMES.get(engine, engine)
            axis.plot(values, figures, marker="o", markersize=2.5, color=colour, label=label)
    axis.set_yscale("log")
    axis.set_xlabel(name)
    axis.grid(color="#eeeeee")


def main() -> None:
    """Draw all tables of some files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("output", type=Path)
    given = parser.parse_args()
    tables: dict[str, Any] = {}
    for path in given.results:
        tables |= json.loads(path.read_text(encoding="utf-8"))["tables"]
    drawn(dict(sorted(tables.items(), key=lambda item: int(item[0][2:]))), given.output)


if __name__ == "__main__":
    main()
