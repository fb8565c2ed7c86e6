"""What the tests of `horai.io` share: a small schema and a way to read text."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from horai.io import InputSchema, InputType, Narrative, read

Reader = Callable[..., Narrative]


@pytest.fixture(scope="session")
def schema() -> InputSchema:
    return InputSchema.of(
        [
            InputType("go_to", "event", 2),
            InputType("up", "event", 0),
            InputType("velocity", "event", 3),
            InputType("working", "fluent", 1),
            InputType("near", "fluent", 2, "intervals"),
            InputType("level", "fluent", 1, "points"),
        ],
        derived=["rich"],
    )


@pytest.fixture
def read_text(tmp_path: Path, schema: InputSchema) -> Reader:
    """Write text or bytes to a file and read it: `read_text(text, name="x.csv", **options)`."""

    def reader(text: str | bytes, name: str = "stream.txt", **options: Any) -> Narrative:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read(path, options.pop("schema", schema), **options)

    return reader
