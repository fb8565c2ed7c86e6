"""Areas as polygons of a GeoJSON file, and who enters and leaves them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from horai.io.items.read import explained
from horai.io.letters import InputError
from horai.io.terms import Term, quote_atom, to_source
from horai.signals.positions import Flags, Floats, Ints

if TYPE_CHECKING:
    import shapely

NAMES, KINDS = ("name", "id"), ("type", "kind")
POLYGONS = ("Polygon", "MultiPolygon")


@dataclass(frozen=True)
class Areas:
    """Areas with their names, kinds and shapes. A place on the border of an area is in it."""

    names: Sequence[Term]
    kinds: Sequence[Term]
    shapes: Sequence[shapely.Geometry] = field(repr=False)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def sources(self) -> list[str]:
        """The names as source text."""
        return [to_source(name) for name in self.names]

    @cached_property
    def _tree(self) -> shapely.STRtree:
        import shapely

        shapely.prepare(self.shapes)
        return shapely.STRtree(self.shapes)

    def around(self, lon: Floats, lat: Floats) -> tuple[Ints, Ints]:
        """Which places are in which areas: pairs of numbers of places and areas."""
        if not len(self) or not len(lon):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        import shapely

        # Most places are in none: those outside of the box around all areas are passed over.
        west, south, east, north = shapely.total_bounds(self.shapes)
        near = (lon >= west) & (lon <= east) & (lat >= south) & (lat <= north)
        some = np.flatnonzero(near)
        points = shapely.points(lon[some], lat[some])
        place, area = self._tree.query(points, predicate="intersects")
        return some[place], area.astype(np.int64)

    def facts(self) -> str:
        """`areaType(Area, Kind)` for all areas, for use as background knowledge."""
        pairs = zip(self.sources, self.kinds, strict=True)
        return "".join(f"areaType({name}, {to_source(kind)}).\n" for name, kind in pairs)


def no_areas() -> Areas:
    """None at all."""
    return Areas((), (), ())


def read_areas(path: str | os.PathLike[str]) -> Areas:
    """Polygons of a GeoJSON file: a FeatureCollection whose features have a name and a type."""
    file = os.fspath(path)
    try:
        with explained(file):
            content = json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        reason = f"this is no JSON: {error.msg}"
        raise InputError(file, reason, line=error.lineno, hint="GeoJSON is expected") from error
    except UnicodeDecodeError as error:
        raise InputError(file, "the text is not UTF-8", hint="save it as UTF-8") from error
    return areas_of(content, file)


def areas_of(content: object, file: str = "<memory>") -> Areas:
    """The areas of a FeatureCollection."""
    whole = content if isinstance(content, dict) else {}
    features = whole.get("features")
    if not isinstance(features, list) or whole.get("type") != "FeatureCollection":
        hint = 'GeoJSON begins with {"type": "FeatureCollection", "features": [...'
        raise InputError(file, "this is no FeatureCollection", hint=hint)
    _need_shapely(file)
    found, faults = [], []
    for number, feature in enumerate(features, 1):
        try:
            found.append(_area(feature))
        except _Fault as fault:
            faults.append(f"feature {number}: {fault}")
    seen: set[Term] = set()
    for name, _, _ in found:
        if name in seen:
            faults.append(f"two areas are called {name}")
        seen.add(name)
    if faults:
        hint = 'a feature is a valid polygon with {"name": ..., "type": ...} as its properties'
        raise InputError(file, "; ".join(faults[:10]), hint=hint)
    names, kinds, shapes = zip(*found, strict=True) if found else ((), (), ())
    return Areas(names, kinds, shapes)


def _need_shapely(file: str) -> None:
    try:
        import shapely  # noqa: F401 (only to see whether it is there)
    except ImportError:
        hint = "pip install 'horai[space]'"
        raise InputError(file, "areas need Shapely, which is not installed", hint=hint) from None


class _Fault(Exception):
    """The problem with one feature."""


def _area(feature: object) -> tuple[Term, Term, Any]:
    import shapely
    from shapely.geometry import shape

    properties = (feature.get("properties") if isinstance(feature, dict) else None) or {}
    geometry = feature.get("geometry") if isinstance(feature, dict) else None
    name, kind = _named(properties, NAMES), _named(properties, KINDS)
    if not isinstance(geometry, dict) or geometry.get("type") not in POLYGONS:
        sort = geometry.get("type") if isinstance(geometry, dict) else None
        raise _Fault(f"{quote_atom(str(name))} is no polygon but {sort or 'nothing'}")
    try:
        made = shape(geometry)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise _Fault(f"{quote_atom(str(name))} has coordinates that cannot be read") from error
    if made.is_empty or not made.is_valid:
        reason = "it is empty" if made.is_empty else shapely.is_valid_reason(made)
        raise _Fault(f"{quote_atom(str(name))} is no valid polygon: {reason}")
    west, south, east, north = made.bounds
    if west < -180 or east > 180 or south < -90 or north > 90:
        raise _Fault(f"{quote_atom(str(name))} lies beyond 180 degrees east or west, or 90 north")
    return name, kind, made


def _named(properties: dict[str, object], keys: Sequence[str]) -> Term:
    for key in keys:
        value = properties.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return value
    raise _Fault(f"it has no {' or '.join(keys)}")


class Visits(NamedTuple):
    """Entries and exits: numbers of entities and areas, and times; and who stays inside."""

    enters: tuple[Ints, Ints, Ints]
    leaves: tuple[Ints, Ints, Ints]
    inside: tuple[Ints, Ints]


def visits(
    areas: Areas,
    offsets: Ints,
    time: Ints,
    places: tuple[Floats, Floats],
    first: Flags,
    inside: tuple[Ints, Ints],
) -> Visits:
    """Follow entities, whose rows begin at `offsets`, from area to area.

    `inside` are the areas in which entities were at their last position before these. Who begins a
    track in an area, also after a silence, is said to have entered it just before: so rules that
    ask where somebody is find it inside at its first position.
    """
    entities = len(offsets) - 1
    entity = np.repeat(np.arange(entities), np.diff(offsets))
    # Every entity has a place before its rows, for where it was until now.
    slot = np.arange(len(time)) + entity + 1
    row_of = np.full(len(time) + entities, -1)
    row_of[slot] = np.arange(len(time))
    begin, last = offsets[:-1] + np.arange(entities), offsets[1:] + np.arange(entities)
    place, area = areas.around(*places)
    each = max(len(areas), 1)
    keys = np.concatenate([slot[place] * each + area, begin[inside[0]] * each + inside[1]])
    keys.sort()
    at, what = keys // each, keys % each
    row = row_of[at]
    owner = np.searchsorted(begin, at, side="right") - 1
    was_in, stays_in = np.isin(keys - each, keys), np.isin(keys + each, keys)
    enters = (row >= 0) & (~was_in | first[np.maximum(row, 0)] if len(time) else row >= 0)
    leaves = (at < last[owner]) & ~stays_in
    next_row = row_of[at[leaves] + 1]
    stays = at == last[owner]
    return Visits(
        (owner[enters], what[enters], time[row[enters]] - first[row[enters]]),
        (owner[leaves], what[leaves], time[next_row]),
        (owner[stays], what[stays]),
    )
