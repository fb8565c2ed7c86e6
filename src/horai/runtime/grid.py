"""The exchange of records between rounds: its protocol, and the exchange in one process."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

from horai.runtime.records import Record

H = TypeVar("H")
Work = Callable[[int, list[Record]], Iterable[Record]]
BucketWork = Callable[[int, list[Record]], Iterable[Record]]
Read = Callable[[int], Iterable[Record]]


def over_buckets(runs: Sequence[tuple[int, int, BucketWork]], slots: int) -> Work:
    """The work of a round in one slot: all buckets that belong to it, with records or without.

    Each run has its number, so many buckets, and something to do in each.
    """

    def work(slot: int, records: list[Record]) -> Iterator[Record]:
        groups: dict[tuple[int, int], list[Record]] = {}
        for record in records:
            groups.setdefault((record.run, record.bucket), []).append(record)
        for run, buckets, do in runs:
            for bucket in range(buckets):
                if (run * buckets + bucket) % slots == slot:
                    yield from do(bucket, groups.get((run, bucket), []))

    return work


class Exchanger(Protocol, Generic[H]):
    """Moves records; `H` stands for records that are somewhere."""

    def scatter(self, records: list[Record]) -> H:
        """Records that are here."""

    def read(self, number: int, read: Read) -> H:
        """The records that reading gives, piece by piece."""

    def step(
        self, before: Sequence[H], rounds: Collection[int], slots: int, work: Work, name: str
    ) -> H:
        """Work on the records of some rounds, slot by slot; slots without records too."""

    def collect(self, records: H, rounds: Collection[int]) -> list[Record]:
        """The records for some rounds, brought here."""

    def forget(self, records: Sequence[H]) -> None:
        """They are not needed any more."""


class LocalGrid(Exchanger[list[Record]]):
    """One slot after the other, in this process."""

    def scatter(self, records: list[Record]) -> list[Record]:
        return records

    def read(self, number: int, read: Read) -> list[Record]:
        return [record for piece in range(number) for record in read(piece)]

    def step(
        self,
        before: Sequence[list[Record]],
        rounds: Collection[int],
        slots: int,
        work: Work,
        name: str,
    ) -> list[Record]:
        records = [record for some in before for record in some if record.round in rounds]
        return [
            found
            for slot in range(slots)
            for found in work(slot, [r for r in records if r.slot % slots == slot])
        ]

    def collect(self, records: list[Record], rounds: Collection[int]) -> list[Record]:
        return [record for record in records if record.round in rounds]

    def forget(self, records: Sequence[list[Record]]) -> None:
        return None
