"""The changelog as Parquet: a file for every step that changes something, named by its number."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from horai.runtime.checkpoint import clear, write_whole, writing
from horai.runtime.refusals import Refused
from horai.runtime.sinks.protocol import About, Changes, Sink

OWNER = "_stream.json"


class ParquetSink(Sink):
    """Exactly once: a step that is done again writes the same file again."""

    form = "parquet:FOLDER"

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def open(self, about: About) -> None:
        """See that the folder is ours."""
        claim(self.folder, about)

    def write(self, changes: Changes) -> None:
        """All rows of a step in a file that is there whole or not at all."""
        path = self.folder / f"changes-{changes.number:09}.parquet"
        if changes.rows:
            write_parquet(path, changes.table())


def write_parquet(path: Path, table: pa.Table) -> None:
    """A table as a Parquet file that is there whole or not at all."""
    with writing(path) as out:
        pq.write_table(table, out)


def claim(folder: Path, about: About) -> None:
    """A folder belongs to one stream: numbers of two would be taken for each other."""
    path = folder / OWNER
    if path.is_file():
        if json.loads(path.read_bytes()).get("id") != about.id:
            hint = "choose another folder, or remove this one"
            raise Refused(f"{folder} has the answers of another stream", hint)
        clear(folder)
        return
    if about.last == 0 and folder.is_dir() and any(folder.iterdir()):
        raise Refused(f"{folder} is not empty", "choose a new folder for the answers")
    try:
        write_whole(path, json.dumps({"id": about.id}).encode())
    except OSError as error:
        hint = "choose a folder that you may write to"
        problem = f"{folder} cannot be written: {error.strerror or error}"
        raise Refused(problem, hint) from error
