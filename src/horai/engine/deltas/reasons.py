"""Why a component is worked out from its cut, and not by change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal as OneOf

from horai.lang.ec import syntax as ec

Kind = OneOf["points", "lists", "delays", "cycles"]


class NotByChange(Exception):
    """What a rule says cannot be brought up to date by change; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Update:
    """How a component can be brought up to date by change, or the reason why it cannot."""

    kind: Kind | None
    reason: str | None = None


@contextmanager
def of_rule(clause: ec.Clause) -> Iterator[None]:
    """Reasons that are raised inside name the rule."""
    try:
        yield
    except NotByChange as reason:
        raise NotByChange(f"{clause.place}: {reason}") from None
