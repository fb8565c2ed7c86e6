"""What a user of Spark would write instead: gaps and islands, in SQL.

Four simple fluents of the maritime description, as rules and as a query. Both read the same file.
A termination at the time-point of an initiation wins, and two values that are given at once cancel
each other; so what holds after a time-point is the value that is given there if nothing else is,
and islands are where that does not change.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RULES = """
initiatedAt(withinArea(V, Kind)=true, T) :- happensAt(entersArea(V, Area), T), areaType(Area, Kind).
terminatedAt(withinArea(V, Kind)=true, T) :-
    happensAt(leavesArea(V, Area), T), areaType(Area, Kind).
terminatedAt(withinArea(V, Kind)=true, T) :- happensAt(gap_start(V), T), areaKind(Kind).

initiatedAt(lowSpeed(V)=true, T) :- happensAt(slow_motion_start(V), T).
terminatedAt(lowSpeed(V)=true, T) :- happensAt(slow_motion_end(V), T).
terminatedAt(lowSpeed(V)=true, T) :- happensAt(gap_start(V), T).

initiatedAt(changingSpeed(V)=true, T) :- happensAt(change_in_speed_start(V), T).
terminatedAt(changingSpeed(V)=true, T) :- happensAt(change_in_speed_end(V), T).
terminatedAt(changingSpeed(V)=true, T) :- happensAt(gap_start(V), T).

initiatedAt(movingSpeed(V)=below, T) :-
    happensAt(velocity(V, Speed, _, _), T), vesselType(V, Type), typeSpeed(Type, Min, _, _),
    Speed >= 0.5, Speed < Min.
initiatedAt(movingSpeed(V)=normal, T) :-
    happensAt(velocity(V, Speed, _, _), T), vesselType(V, Type), typeSpeed(Type, Min, Max, _),
    Speed >= Min, Speed =< Max.
initiatedAt(movingSpeed(V)=above, T) :-
    happensAt(velocity(V, Speed, _, _), T), vesselType(V, Type), typeSpeed(Type, _, Max, _),
    Speed > Max.
terminatedAt(movingSpeed(V)=_, T) :- happensAt(velocity(V, Speed, _, _), T), Speed < 0.5.
terminatedAt(movingSpeed(V)=_, T) :- happensAt(gap_start(V), T).
"""

QUERY = """
WITH given AS (
  SELECT 'withinArea' AS name, vessel, kind, time,
         IF(type = 'entersArea', 'true', NULL) AS value
  FROM events JOIN areas ON area = a1 WHERE type IN ('entersArea', 'leavesArea')
  UNION ALL
  SELECT 'withinArea', vessel, kind, time, NULL
  FROM events CROSS JOIN kinds WHERE type = 'gap_start'
  UNION ALL
  SELECT 'lowSpeed', vessel, '', time, IF(type = 'slow_motion_start', 'true', NULL)
  FROM events WHERE type IN ('slow_motion_start', 'slow_motion_end', 'gap_start')
  UNION ALL
  SELECT 'changingSpeed', vessel, '', time, IF(type = 'change_in_speed_start', 'true', NULL)
  FROM events WHERE type IN ('change_in_speed_start', 'change_in_speed_end', 'gap_start')
  UNION ALL
  SELECT 'movingSpeed', vessel, '', time,
         CASE WHEN speed < 0.5 THEN NULL WHEN speed < least THEN 'below'
              WHEN speed <= most THEN 'normal' ELSE 'above' END
  FROM (SELECT vessel, time, CAST(a1 AS DOUBLE) AS speed FROM events WHERE type = 'velocity')
  JOIN vessels USING (vessel)
  UNION ALL
  SELECT 'movingSpeed', vessel, '', time, NULL FROM events WHERE type = 'gap_start'
),
after AS (
  SELECT name, vessel, kind, time,
         IF(COUNT(*) = COUNT(value) AND MIN(value) = MAX(value), MAX(value), NULL) AS value
  FROM given GROUP BY name, vessel, kind, time
),
islands AS (
  SELECT *, LAG(value) OVER w AS before FROM after
  WINDOW w AS (PARTITION BY name, vessel, kind ORDER BY time)
),
edges AS (
  SELECT *, LEAD(time) OVER w AS next FROM islands WHERE NOT (value <=> before)
  WINDOW w AS (PARTITION BY name, vessel, kind ORDER BY time)
)
SELECT name, vessel, kind, value, time + 1 AS start, next + 1 AS end FROM edges
WHERE value IS NOT NULL
"""


def query(spark: SparkSession, path: Path, background: str) -> DataFrame:
    """The intervals that the query finds in a narrative."""
    events = spark.read.csv(
        str(path),
        sep="|",
        schema="type STRING, arrival LONG, time LONG, vessel STRING, a1 STRING, a2 STRING",
    )
    events.createOrReplaceTempView("events")
    facts = [_fact(line) for line in background.splitlines() if line.endswith(").")]
    speeds = {words[1]: words[2:4] for words in facts if words[0] == "typeSpeed"}
    areas = [tuple(words[1:]) for words in facts if words[0] == "areaType"]
    kinds = [(words[1],) for words in facts if words[0] == "areaKind"]
    vessels = [
        (words[1], *map(float, speeds[words[2]])) for words in facts if words[0] == "vesselType"
    ]
    spark.createDataFrame(areas, "area STRING, kind STRING").createOrReplaceTempView("areas")
    spark.createDataFrame(kinds, "kind STRING").createOrReplaceTempView("kinds")
    table = spark.createDataFrame(vessels, "vessel STRING, least DOUBLE, most DOUBLE")
    table.createOrReplaceTempView("vessels")
    return spark.sql(QUERY)


def is_equal(islands: DataFrame, spans: DataFrame) -> bool:
    """Are these the same intervals?"""
    from pyspark.sql import functions as f

    kind = f.coalesce(f.try_element_at("args", f.lit(2)), f.lit(""))
    spans = spans.select(
        "name", f.col("args")[0].alias("vessel"), kind.alias("kind"), "value", "start", "end"
    )
    return islands.exceptAll(spans).isEmpty() and spans.exceptAll(islands).isEmpty()


def _fact(line: str) -> list[str]:
    name, _, rest = line.rstrip(".)").partition("(")
    return [name, *(word.strip() for word in rest.split(","))]
