"""What was made of descriptions, so that a second run of the same rules finds it made."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

from horai.lang.ec.syntax import EventDescription

T = TypeVar("T")
MOST = 8  # results that are remembered of each kind


class Remembered(Generic[T]):
    """The results that were used last, by the identity of a description and what else they take.

    The description is kept along, so that no other one can have its identity.
    """

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[int, Hashable], tuple[EventDescription, T]] = OrderedDict()
        self._lock = Lock()

    def get(self, description: EventDescription, given: Hashable) -> T | None:
        """What was made, if it is remembered."""
        key = (id(description), given)
        with self._lock:
            if key not in self._found:
                return None
            self._found.move_to_end(key)
            return self._found[key][1]

    def put(self, description: EventDescription, given: Hashable, made: T) -> None:
        """Remember what was made, and forget what nobody has used for the longest time."""
        key = (id(description), given)
        with self._lock:
            self._found[key] = (description, made)
            self._found.move_to_end(key)
            if len(self._found) > MOST:
                self._found.popitem(last=False)
