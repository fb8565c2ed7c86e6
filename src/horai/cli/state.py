"""`horai state`: what a stream keeps in its checkpoint."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any

import click

from horai.cli import console
from horai.cli.command import PREDICATES, argument, option, takes
from horai.errors import UsageError, counted
from horai.lang.ec.errors import EngineError
from horai.predicates import from_file
from horai.runtime.inspect import BucketSize, SavedStream
from horai.runtime.savepoint import save


@takes(PREDICATES)
def command(
    folder: Annotated[Path, argument("FOLDER")],
    entity: Annotated[str | None, option("What is kept about an entity.", metavar="NAME")],
    savepoint: Annotated[
        Path | None, option("Copy the stream, to begin from it.", metavar="FOLDER")
    ],
    as_json: Annotated[bool, option("As JSON.", "--json")],
    predicates: Path | None,
) -> None:
    if savepoint is not None:
        number = save(folder, savepoint).number
        click.echo(f"{savepoint}: the stream of {folder} after step {number}")
        return
    functions, form = from_file(predicates) if predicates else None, "json" if as_json else "text"
    try:
        kept = SavedStream(folder, functions)
        if entity is not None:
            of_entity = kept.entity(entity)
            console.show(form, of_entity, _entity(entity, of_entity))
            return
        found: dict[str, Any] = kept.about | {"state": [asdict(one) for one in kept.buckets()]}
    except UsageError:
        raise
    except (EngineError, ValueError, LookupError, TypeError, AttributeError, OSError) as error:
        hint = "use another checkpoint, or a savepoint of it"
        raise UsageError(f"{folder}: the state of this stream is damaged", hint) from error
    console.show(form, found, _stream(found))


def _stream(found: dict[str, Any]) -> list[str]:
    plain = {n: x for n, x in found["settings"].items() if x and not isinstance(x, dict)}
    settings = ", ".join(f"{name} {value}" for name, value in plain.items())
    lines = [f"stream of {', '.join(found['rules'])} in {counted(found['buckets'], 'bucket')}"]
    lines.append(f"  {settings}")
    if found["query"] is None:
        lines.append("  no query time has been asked yet")
    else:
        lines.append(f"  asked up to {found['query']}, latest arrival {found['arrival']}")
    if found["positions"] is not None:
        lines.append(_positions(found["positions"]))
    over = "; the stream has ended" if found["ended"] else ""
    lines.append(f"  step {found['step']}, batch {found['batch']}{over}")
    totals = {name: number for name, number in found["totals"].items() if number}
    lines.append("  " + (", ".join(f"{n.replace('_', ' ')} {x}" for n, x in totals.items()) or "-"))
    if found["waiting"]:
        lines.append(f"  {counted(found['waiting'], 'file')} of items wait for a query time")
    if found["state"]:
        lines += ["", "".join(f"{field.name:>10}" for field in fields(BucketSize))]
    lines += ["".join(f"{number:>10}" for number in row.values()) for row in found["state"]]
    return lines


def _positions(known: dict[str, int]) -> str:
    times = f"settled up to {known['settled']}, the latest is of {known['latest']}"
    waiting = counted(known["waiting"], "position")
    return f"  positions: {times}; {known['entities']} followed, {waiting} not settled yet"


_TITLES = {
    "positions": "positions",
    "answers": "may still change",
    "items": "items in the window",
}


def _entity(name: str, found: dict[str, list[str]]) -> list[str]:
    lines: list[str] = []
    for what, title in _TITLES.items():
        if what not in found:
            continue
        lines.append(f"{title}:" if found[what] else f"{title}: nothing about {name}")
        lines += [f"  {line}" for line in found[what]]
    return lines
