"""Where entities were: tracks of raw positions, or of items that name coordinates; and areas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from horai.errors import UsageError, counted
from horai.io import (
    DeadLetter,
    InputSchema,
    InputType,
    ItemTable,
    Narrative,
    TermColumn,
    to_source,
)
from horai.io.terms import concat
from horai.report.lanes import Pack, lane_block
from horai.signals import Areas, Positions
from horai.temporal.spans import Ints

Floats = np.ndarray[Any, np.dtype[np.float64]]
USUAL = "coord"
"""Events `coord(Entity, Longitude, Latitude)` are taken for places without being told."""
FINE = 1e6  # parts of a degree: a tenth of a metre
MOST_ARGUMENTS = 16  # of events that no rule reads


class Tracks(NamedTuple):
    """Places of entities, in any order."""

    entity: TermColumn
    time: Ints
    lon: Floats
    lat: Floats


def tracks_of_positions(positions: Positions, letters: Iterable[DeadLetter]) -> Tracks:
    """The positions, without those that were not believed."""
    table = positions.table
    wrong = {(letter.file, letter.line) for letter in letters}
    if wrong:
        files, lines = table.column("file").to_pylist(), table.column("line").to_pylist()
        good = [place not in wrong for place in zip(files, lines, strict=True)]
        table = table.filter(pa.array(good, pa.bool_()))
    entity = table.column("entity").combine_chunks()
    return Tracks(
        TermColumn("term", entity),
        table.column("time").to_numpy(),
        table.column("lon").to_numpy(),
        table.column("lat").to_numpy(),
    )


def tracks_of_items(narrative: Narrative, named: Sequence[str] = ()) -> Tracks | None:
    """The places that items name, None without any.

    `named` says which types have them, and where: `coord=2,3` is an event whose second argument is
    the longitude, and whose third the latitude; the first one is the entity.
    """
    if named:
        chosen = [_named(one, narrative) for one in named]
        found = [_tracks(table, *places) for tables, places in chosen for table in tables]
    else:
        usual = [t for t in narrative.tables if (t.name, t.arity, t.kind) == (USUAL, 3, "event")]
        found = [_tracks(table, 1, 2, strict=False) for table in usual]
    listed = [one for one in found if one is not None]
    if not listed:
        return None
    return Tracks(
        concat([one.entity for one in listed]),
        *(np.concatenate(columns) for columns in zip(*(one[1:] for one in listed), strict=True)),
    )


def _named(given: str, narrative: Narrative) -> tuple[list[ItemTable], tuple[int, int]]:
    """The tables of a type, and which of their arguments are longitude and latitude."""
    name, places = _places(given)
    known = [table for table in narrative.tables if table.name == name]
    _check(given, places, [table.arity for table in known], (t.name for t in narrative.tables))
    return known, (places[0] - 1, places[1] - 1)


def coordinate_types(named: Sequence[str], schema: InputSchema) -> list[InputType]:
    """The events that only say where entities are: the rules do not read them."""
    found = [] if named else [InputType(USUAL, "event", 3)]
    for given in named:
        name, places = _places(given)
        if known := schema.types.get(name):
            _check(given, places, [one.arity for one in known], ())
        else:
            found += [
                InputType(name, "event", arity) for arity in range(max(places), MOST_ARGUMENTS)
            ]
    return [one for one in found if one.arity not in {k.arity for k in schema.lookup(one.name)}]


def _places(given: str) -> tuple[str, tuple[int, int]]:
    """The type, and which of its arguments are longitude and latitude, counted from 1."""
    name, sign, places = given.partition("=")
    numbers = [int(part) for part in places.split(",") if part.strip().isdecimal()]
    if not sign or len(numbers) != 2 or min(numbers) < 1:
        hint = "name the arguments of longitude and latitude: coord=2,3"
        raise UsageError(f"--coordinates {given} names no two arguments", hint)
    return name, (numbers[0], numbers[1])


def _check(given: str, places: Iterable[int], arities: list[int], there: Iterable[str]) -> None:
    name = given.partition("=")[0]
    if not arities:
        listed = ", ".join(sorted(set(there))) or "none"
        raise UsageError(f"--coordinates {given}: the input has no {name}", f"there are {listed}")
    least = min(arities)
    if max(places) > least:
        problem = f"--coordinates {given}: {name} has {counted(least, 'argument')}"
        raise UsageError(problem, "arguments are counted from 1; the first is the entity")


def _tracks(table: ItemTable, lon: int, lat: int, strict: bool = True) -> Tracks | None:
    columns = [table.column(f"a{place}") for place in (lon, lat)]
    if any(column.kind not in ("int", "float") for column in columns):
        if strict:
            hint = "coordinates are degrees, such as 4.31 and 52.0"
            raise UsageError(f"an argument of {table.name} for a coordinate is no number", hint)
        return None
    rows = np.flatnonzero(table.table.column("op").to_numpy() > 0)
    x, y = (column.array.cast(pa.float64()).to_numpy()[rows] for column in columns)
    if not bool(((np.abs(x) <= 180) & (np.abs(y) <= 90)).all()):
        if strict:
            hint = "longitude lies between -180 and 180, latitude between -90 and 90"
            raise UsageError(f"a coordinate of {table.name} is no place on earth", hint)
        return None
    entity = table.column("a0").take(pa.array(rows))
    return Tracks(entity, table.table.column("start").to_numpy()[rows], x, y)


def packed_map(pack: Pack, tracks: Tracks | None, areas: Areas | None, base: int) -> dict[str, Any]:
    """The map of the page: tracks as columns, areas as rings of places."""
    found: dict[str, Any] = {"areas": [] if areas is None else list(_areas(pack, areas))}
    if tracks is not None and len(tracks.time):
        block = lane_block(
            *(pack, "track", "", [tracks.entity], None, tracks.time),
            more={"lon": _fine(tracks.lon, 180), "lat": _fine(tracks.lat, 90)},
        )
        found |= {
            "entity": pack.column(block.args[0]),
            "rows": pack.column(block.rows),
            "time": pack.column(block.start - base, delta=True),
            "lon": pack.column(block.more["lon"], delta=True),
            "lat": pack.column(block.more["lat"], delta=True),
        }
    return found


def _fine(degrees: Floats, most: int) -> Ints:
    fine: Ints = np.round((degrees + most) * FINE).astype(np.int64)
    return fine


def _areas(pack: Pack, areas: Areas) -> Iterable[dict[str, Any]]:
    for name, kind, shape in zip(areas.names, areas.kinds, areas.shapes, strict=True):
        parts = getattr(shape, "geoms", [shape])
        rings = [ring for part in parts for ring in (part.exterior, *part.interiors)]
        yield {
            "name": pack.text(to_source(name)),
            "kind": pack.text(to_source(kind)),
            "rings": [[list(map(float, place[:2])) for place in ring.coords] for ring in rings],
        }
