"""What follows from positions, worked out row by row from the definitions; for comparison only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from shapely import Geometry, Point

from horai.signals import MotionLimits

Item = tuple[Any, ...]


class Row(NamedTuple):
    entity: str
    time: int
    lon: float
    lat: float
    speed: float | None = None
    course: float | None = None
    heading: float | None = None


def metres(one: tuple[float, float], other: tuple[float, float]) -> float:
    """The great circle, by vectors instead of the haversine."""
    a, b = vector(one), vector(other)
    cross = (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return 6371008.8 * math.atan2(math.sqrt(sum(x * x for x in cross)), dot)


def vector(place: tuple[float, float]) -> tuple[float, float, float]:
    lon, lat = math.radians(place[0]), math.radians(place[1])
    return math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)


def direction(one: tuple[float, float], other: tuple[float, float]) -> float:
    """By the tangent plane at the first place: how far east and north the other one lies."""
    lon, lat = math.radians(one[0]), math.radians(one[1])
    there = vector(other)
    east = -math.sin(lon) * there[0] + math.cos(lon) * there[1]
    up = (-math.sin(lat) * math.cos(lon), -math.sin(lat) * math.sin(lon), math.cos(lat))
    north = sum(x * y for x, y in zip(up, there, strict=True))
    return math.degrees(math.atan2(east, north)) % 360


def place(row: Row) -> tuple[float, float]:
    return row.lon, row.lat


def by_value(row: Row) -> tuple[float, ...]:
    return tuple(math.inf if value is None else value for value in row[2:])


def cleaned(
    rows: Sequence[Row], settings: MotionLimits
) -> tuple[dict[str, list[tuple[Row, bool]]], list[tuple[str, Row]]]:
    """Per entity the rows that are believed, with whether the track begins anew; and the others."""
    good: dict[str, list[tuple[Row, bool]]] = {}
    bad: list[tuple[str, Row]] = []
    fast = [row for row in rows if row.speed is not None and row.speed > settings.max_speed]
    bad += [("motion", row) for row in fast]
    rows = [row for row in rows if row not in fast]
    for entity, own in groupby(sorted(rows, key=lambda r: r[:2]), key=lambda r: r.entity):
        kept: list[tuple[Row, bool]] = []
        doubted: list[Row] = []
        for _, same in groupby(own, key=lambda r: r.time):
            there = sorted(same, key=by_value)
            distinct = [row for row, _ in groupby(there)]
            bad += [("duplicate", row) for row, again in groupby(there) for _ in list(again)[1:]]
            last = kept[-1][0] if kept else None
            chosen = min(distinct, key=lambda r: millimetres(last, r))
            bad += [("conflict", row) for row in distinct if row is not chosen]
            if last is None or reachable(last, chosen, settings):
                kept.append((chosen, False))
                doubted = []
                continue
            if doubted and not reachable(doubted[-1], chosen, settings):
                doubted = []
            doubted.append(chosen)
            if len(doubted) >= settings.trust_after:
                kept.append((chosen, True))
                doubted = []
            else:
                bad.append(("jump", chosen))
        good[entity] = kept
    return good, bad


def millimetres(last: Row | None, row: Row) -> int:
    return 0 if last is None else math.floor(metres(place(last), place(row)) * 1000 + 0.5)


def reachable(one: Row, other: Row, settings: MotionLimits) -> bool:
    speed = metres(place(one), place(other)) / ((other.time - one.time) * settings.seconds)
    return speed * 3600 / 1852 <= settings.max_speed


def tracks(kept: list[tuple[Row, bool]], settings: MotionLimits) -> list[list[Row]]:
    found: list[list[Row]] = []
    for row, fresh in kept:
        if (
            not found
            or fresh
            or row.time - found[-1][-1].time > settings.points(settings.gap_after)
        ):
            found.append([])
        found[-1].append(row)
    return found


def speeds(track: list[Row], settings: MotionLimits) -> list[float | None]:
    found = [track[0].speed]
    for before, row in pairwise(track):
        far = metres(place(before), place(row))
        found.append(
            row.speed
            if row.speed is not None
            else far / ((row.time - before.time) * settings.seconds) * 3600 / 1852
        )
    return found


def courses(track: list[Row]) -> list[float | None]:
    found = [track[0].course]
    for before, row in pairwise(track):
        if row.course is not None:
            found.append(row.course)
        elif place(before) == place(row):
            found.append(found[-1])
        else:
            found.append(direction(place(before), place(row)))
    return found


def runs(flags: list[bool]) -> list[tuple[int, int]]:
    """First and last places of what is true without interruption."""
    found, at = [], 0
    for value, same in groupby(flags):
        many = len(list(same))
        if value:
            found.append((at, at + many - 1))
        at += many
    return found


def angle(one: float, other: float) -> float:
    apart = abs(one - other) % 360
    return min(apart, 360 - apart)


def critical(kept: list[tuple[Row, bool]], until: int, settings: MotionLimits) -> set[Item]:
    """Critical points of one entity."""
    found: set[Item] = set()
    entity = kept[0][0].entity
    all_tracks = tracks(kept, settings)
    for number, track in enumerate(all_tracks):
        last = track[-1].time
        is_over = number + 1 < len(all_tracks) or until - last > settings.points(settings.gap_after)
        if is_over:
            found.add(("gap_start", last, entity))
        if number:
            found.add(("gap_end", track[0].time, entity))
        speed, course = speeds(track, settings), courses(track)
        known = [-1.0 if s is None else s for s in speed]
        stops = [0 <= s < settings.stop_speed for s in known]
        slow = [settings.stop_speed <= s < settings.slow_speed for s in known]
        changing = [False] + [
            a >= 0 and abs(b - a) > max(settings.speed_change * a, settings.speed_noise)
            for a, b in pairwise(known)
        ]
        for name, flags, least in (
            ("stop", stops, settings.points(settings.stop_time)),
            ("slow_motion", slow, settings.points(settings.slow_time)),
            ("change_in_speed", changing, 0),
        ):
            for first, end in runs(flags):
                if track[end].time - track[first].time < least:
                    continue
                found.add((f"{name}_start", track[first].time, entity))
                if end + 1 < len(track):
                    found.add((f"{name}_end", track[end + 1].time, entity))
                elif is_over:
                    found.add((f"{name}_end", last, entity))
        reference: float | None = None
        for row, s, c in zip(track, known, course, strict=True):
            if s < settings.stop_speed or c is None:
                continue
            if reference is None:
                reference = c
            elif angle(c, reference) > settings.turn:
                found.add(("change_in_heading", row.time, entity))
                reference = c
    return found


def velocities(kept: list[tuple[Row, bool]], settings: MotionLimits) -> set[Item]:
    found: set[Item] = set()
    for track in tracks(kept, settings):
        for row, speed, course in zip(track, speeds(track, settings), courses(track), strict=True):
            if speed is None:
                continue
            if course is None:
                course = 0.0 if row.heading is None else row.heading
            heading = course if row.heading is None else row.heading
            found.add(("velocity", row.time, row.entity, speed, course, heading))
    return found


def visits(
    kept: list[tuple[Row, bool]], settings: MotionLimits, areas: dict[str, Geometry]
) -> set[Item]:
    found: set[Item] = set()
    for name, shape in areas.items():
        was_in = False
        for track in tracks(kept, settings):
            for number, row in enumerate(track):
                is_in = shape.intersects(Point(row.lon, row.lat))
                if is_in and number == 0:
                    found.add(("entersArea", row.time - 1, row.entity, name))
                elif is_in and not was_in:
                    found.add(("entersArea", row.time, row.entity, name))
                if was_in and not is_in:
                    found.add(("leavesArea", row.time, row.entity, name))
                was_in = is_in
    return found


def where(
    kept: list[tuple[Row, bool]], time: int, settings: MotionLimits
) -> tuple[float, float] | None:
    """Where an entity is at a time, if that is known."""
    for track in tracks(kept, settings):
        for row in track:
            if row.time == time:
                return row.lon, row.lat
        for before, row in pairwise(track):
            if before.time < time < row.time:
                share = (time - before.time) / (row.time - before.time)
                over = (row.lon - before.lon + 180) % 360 - 180
                lon = (before.lon + share * over + 180) % 360 - 180
                return lon, before.lat + share * (row.lat - before.lat)
    return None


def proximity(good: dict[str, list[tuple[Row, bool]]], settings: MotionLimits) -> set[Item]:
    """All pairs, at all times."""
    step, piece = settings.points(settings.close_step), settings.points(settings.close_piece)
    times = [row.time for kept in good.values() for row, _ in kept]
    if not times:
        return set()
    ticks = range(min(times) // step * step, max(times) + 1, step)
    at = {name: {t: where(kept, t, settings) for t in ticks} for name, kept in good.items()}
    found: set[Item] = set()
    for one in good:
        for two in good:
            if one >= two:
                continue
            close = []
            for t in ticks:
                here, there = at[one][t], at[two][t]
                close.append(
                    here is not None and there is not None and metres(here, there) <= settings.close
                )
            for first, last in runs(close):
                cuts = [t for t in ticks[first + 1 : last + 1] if t % piece == 0]
                bounds = [ticks[first], *cuts, ticks[last] + 1]
                for a, b in pairwise(bounds):
                    found.add(("proximity", a, b, one, two))
    return found
