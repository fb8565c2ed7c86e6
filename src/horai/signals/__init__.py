"""From raw positions to the events that rules read.

pipeline = Pipeline(Settings(), read_areas("areas.geojson"))
found = pipeline.run(read_positions("day.csv"))
found.narrative()      # items to run rules over
found.dead_letters     # positions that were not used, each with its reason

| module | job |
|---|---|
| `settings` | what counts as a stop, a turn, a gap, ... |
| `positions`, `reading` | typed positions from files, tables and messages |
| `cleaning` | which positions are believed |
| `motion` | critical points: gaps, stops, slow motion, changes of speed, turns |
| `areas` | polygons, and who enters and leaves them |
| `proximity` | where all are at common times, who is close to whom, on many machines too |
| `loops` | what of cleaning, motion and proximity goes from row to row, compiled |
| `items` | the result, as a stream |
| `pipeline` | all of it, at once or batch after batch, and how late positions may be |
"""

from horai.signals.areas import Areas, areas_of, no_areas, read_areas
from horai.signals.items import as_rows, write_items
from horai.signals.pipeline import DerivedItems, Feed, Pipeline, State, start
from horai.signals.positions import CODES, Positions
from horai.signals.reading import (
    SPEED_UNITS,
    Layout,
    SpeedUnit,
    no_positions,
    positions_of,
    read_positions,
)
from horai.signals.settings import MotionLimits, SettingsError

__all__ = [
    "CODES",
    "SPEED_UNITS",
    "Areas",
    "DerivedItems",
    "Feed",
    "Layout",
    "MotionLimits",
    "Pipeline",
    "Positions",
    "SettingsError",
    "SpeedUnit",
    "State",
    "areas_of",
    "as_rows",
    "no_areas",
    "no_positions",
    "positions_of",
    "read_areas",
    "read_positions",
    "start",
    "write_items",
]
