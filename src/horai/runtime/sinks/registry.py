"""All kinds of sinks, by the names that people give them."""

from __future__ import annotations

from typing import Protocol

from horai.runtime.refusals import Refused, unknown
from horai.runtime.sinks.console import ConsoleSink
from horai.runtime.sinks.delta import DeltaSink, DeltaTableSink
from horai.runtime.sinks.files import ParquetSink
from horai.runtime.sinks.kafka import KafkaSink
from horai.runtime.sinks.protocol import Sink
from horai.runtime.sinks.table import TableSink
from horai.runtime.sinks.webhook import WebhookSink


class SinkKind(Protocol):
    """A class of sinks. Its form is how people name one of them: a scheme, a colon and a place."""

    form: str

    def __call__(self, place: str, /) -> Sink: ...


_KINDS: tuple[SinkKind, ...] = (
    *(ParquetSink, TableSink, DeltaSink, DeltaTableSink),
    *(KafkaSink, ConsoleSink, WebhookSink),
)
KINDS: dict[str, SinkKind] = {kind.form.partition(":")[0]: kind for kind in _KINDS}
FORMS = " or ".join([", ".join(kind.form for kind in _KINDS[:-1]), _KINDS[-1].form])


def sink_of(text: str) -> Sink:
    """The sink that people name: `SCHEME:PLACE`.

    >>> sink_of("parquet:answers").folder.name
    'answers'
    """
    scheme, colon, place = text.partition(":")
    if scheme in ("http", "https"):
        scheme, place = WebhookSink.form.partition(":")[0], text
    kind = KINDS.get(scheme)
    has_place = kind is not None and ":" in kind.form
    if kind is None or not (colon or not has_place):
        raise unknown("sink", text, KINDS, FORMS)
    if has_place and not place:
        raise Refused(f"the sink {text!r} names no place", f"use {FORMS}")
    return kind(place)
