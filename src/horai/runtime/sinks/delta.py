"""Tables of Delta Lake: the changelog, or what holds as far as is known. Exactly once, both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from horai.runtime.records import spark_types
from horai.runtime.refusals import Refused
from horai.runtime.sinks.protocol import ROWS, About, Changes, Sink

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OWNER = "horai.stream"
_NAMES = ROWS.names
_KEYS = [name for name in _NAMES if name not in ("query", "op")]


class _Delta(Sink):
    """A table that belongs to one stream."""

    parts = ("delta",)
    is_written_there = True

    def __init__(self, place: str) -> None:
        self.place = place if "://" in place else str(Path(place).resolve())
        self.folder = None if "://" in place else self.place
        self.id = ""

    @property
    def name(self) -> str:
        """The table as SQL knows it."""
        return f"delta.`{self.place.replace('`', '``')}`"

    def _claim(self, about: About, schema: pa.Schema) -> None:
        """See that the table is ours; a table that is not there yet is made."""
        if about.spark is None:
            raise Refused("tables of Delta Lake are written by Spark", "use parquet: or table:")
        self.id = about.id
        from pyspark.errors import AnalysisException

        try:
            rows = about.spark.sql(f"SHOW TBLPROPERTIES {self.name}").collect()
        except AnalysisException:
            self._make(about.spark, schema)
            return
        if {row["key"]: row["value"] for row in rows}.get(OWNER) != about.id:
            hint = "choose another folder, or remove this one"
            raise Refused(f"{self.place} is a table that another writes to", hint)

    def _make(self, spark: SparkSession, schema: pa.Schema) -> None:
        here = Path(self.place)
        if "://" not in self.place and here.is_dir() and any(here.iterdir()):
            raise Refused(f"{self.place} is not empty", "choose a new folder for the answers")
        owner = f"'{OWNER}' = '{self.id}'"
        spark.sql(
            f"CREATE TABLE {self.name} ({spark_types(schema)}) USING delta "
            f"PARTITIONED BY (name) TBLPROPERTIES ({owner})"
        )


class DeltaSink(_Delta):
    """The changelog. Delta Lake keeps the number of the last step, and takes none twice."""

    form = "delta:FOLDER"

    def open(self, about: About) -> None:
        """See that the table is ours."""
        self._claim(about, ROWS)

    def write(self, changes: Changes) -> None:
        """Append the rows of a step, as a transaction of its own number."""
        if changes.rows:
            writer = changes.frame().write.format("delta").mode("append")
            writer = writer.option("txnAppId", f"horai-{self.id}")
            writer.option("txnVersion", changes.number).save(self.place)


class DeltaTableSink(_Delta):
    """The answers that hold: new rows are put in, retracted rows are removed.

    A step leaves the same table whether it is done once or again.
    """

    form = "delta-table:FOLDER"

    def open(self, about: About) -> None:
        """See that the table is ours."""
        self._claim(about, ROWS.remove(len(ROWS) - 1))

    def write(self, changes: Changes) -> None:
        """Merge the rows of a step: of each, what was said of it last counts."""
        if not changes.rows:
            return
        frame = changes.frame()
        frame.createOrReplaceTempView("horai_changes")
        keys = ", ".join(f"`{name}`" for name in _KEYS)
        same = " AND ".join(f"old.`{name}` <=> new.`{name}`" for name in _KEYS)
        names = ", ".join(f"`{name}`" for name in _NAMES[:-1])
        values = ", ".join(f"new.`{name}`" for name in _NAMES[:-1])
        frame.sparkSession.sql(
            f"""
            MERGE INTO {self.name} AS old USING (
              SELECT {names}, op FROM (
                SELECT *, ROW_NUMBER() OVER (PARTITION BY {keys} ORDER BY query DESC) AS place
                FROM horai_changes
              ) WHERE place = 1
            ) AS new ON {same}
            WHEN MATCHED AND new.op = '-' THEN DELETE
            WHEN NOT MATCHED AND new.op = '+' THEN INSERT ({names}) VALUES ({values})
            """
        )
