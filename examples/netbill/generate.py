"""A market for digital goods: writes narrative.csv and agents.ec, or makes a narrative in memory.

    python generate.py [--events N] [--entities N] [--seed N] [--late SHARE] [--retracted SHARE]

Each trade is a row of columns: who asks whom for what, and when the quote, its acceptance, the
money and the goods follow, if they do. Most agents keep to the rules; some forget to pay or to
deliver, pay too little, pester, or sell without being merchants.

The same seed gives the same stream.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from horai.io import Narrative

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))

from joining import joined  # noqa: E402 (the examples share these; they lie beside their folders)
from streams import (  # noqa: E402
    NO_DELAY,
    Flags,
    Ints,
    Lateness,
    Rows,
    Stream,
    Words,
    command,
)

GOODS = (
    *("album", "article", "atlas", "audiobook", "ebook", "film"),
    *("font", "game", "map", "photo", "score", "software"),
)
PAUSE = 80  # minutes from one trade of a consumer to the next, on average
CARELESS = 10  # one agent in so many forgets what it owes now and then


class Market(NamedTuple):
    """How many agents there are. Merchants come first in the list of names."""

    merchants: int
    consumers: int

    @classmethod
    def of(cls, entities: int) -> Market:
        """One agent in eight is a merchant."""
        merchants = max(1, entities // 8)
        return cls(merchants, max(1, entities - merchants))

    def names(self) -> list[str]:
        merchants = [f"m{i}" for i in range(self.merchants)]
        return merchants + [f"c{i}" for i in range(self.consumers)]


class Trades:
    """So many trades over so many minutes, and the messages that belong to them."""

    def __init__(self, market: Market, trades: int, dice: np.random.Generator) -> None:
        self.dice = dice
        self.count = trades
        self.names = market.names()
        horizon = trades * PAUSE // market.consumers + 1
        self.begin: Ints = np.sort(dice.integers(1, horizon + 1, trades))
        buyer = dice.integers(0, market.consumers, trades)
        # A consumer keeps to a few merchants, and a merchant has a few goods, so trades recur.
        self.seller: Ints = (buyer * 7 + dice.integers(0, 3, trades)) % market.merchants
        self.goods: Ints = (self.seller * 5 + dice.integers(0, 3, trades)) % len(GOODS)
        self.price: Ints = 100 + (self.seller * 37 + self.goods * 11) % 400
        self.buyer: Ints = buyer + market.merchants
        # Now and then somebody sells who has no power to.
        other = market.merchants + dice.integers(0, market.consumers, trades)
        fake = self._chance(0.01) & (other != self.buyer)
        self.seller = np.where(fake, other, self.seller)

    def _chance(self, share: float) -> Flags:
        return self.dice.random(self.count) < share

    def _wait(self, least: int, most: int) -> Ints:
        waits: Ints = self.dice.integers(least, most + 1, self.count)
        return waits

    def _performs(self, agent: Ints) -> Flags:
        """Whether an agent does its part of a contract."""
        careless = agent % CARELESS == 3
        return self.dice.random(self.count) < np.where(careless, 0.6, 0.985)

    def _rows(self, name: str, time: Ints, keep: Flags, *columns: Ints) -> Rows:
        """Messages of some trades: two agents, the goods, and perhaps an amount of money."""
        at = np.flatnonzero(keep)
        sender, receiver, *money = (column[at] for column in columns)
        agents = (Words(sender, self.names), Words(receiver, self.names))
        return Rows(name, time[at], (*agents, Words(self.goods[at], GOODS), *money))

    def rows(self) -> list[Rows]:
        """All messages, one kind after the other."""
        buyer, seller, price = self.buyer, self.seller, self.price
        asks = self._chance(0.9)
        quoted = self.begin + self._wait(1, 5)
        answers = self._chance(0.96)
        # A second quote: most consumers asked for it, some are pestered.
        again = answers & self._chance(0.12)
        asked_again = again & self._chance(0.75)
        second = quoted + self._wait(8, 38)
        cheaper = price - price // 10
        # Half an hour of thought is usual; who takes much longer comes too late.
        accepted = quoted + np.where(self._chance(0.9), self._wait(1, 36), self._wait(37, 70))
        accepts = answers & self._chance(0.8)
        agreed = np.where(again & (second < accepted), cheaper, price)
        pays = accepts & self._performs(buyer)
        paid = accepted + np.where(self._chance(0.96), self._wait(1, 25), self._wait(26, 40))
        short = pays & self._chance(0.02)
        sends = accepts & self._performs(seller)
        sent = accepted + np.where(self._chance(0.97), self._wait(1, 20), self._wait(21, 40))
        amount = np.where(short, agreed // 2, agreed)
        return [
            self._rows("request_quote", self.begin, asks, buyer, seller),
            self._rows("request_quote", second - 2, asked_again, buyer, seller),
            self._rows("present_quote", quoted, answers, seller, buyer, price),
            self._rows("present_quote", second, again, seller, buyer, cheaper),
            self._rows("accept_quote", accepted, accepts, buyer, seller),
            self._rows("send_payment", paid, pays, buyer, seller, amount),
            # Who paid too little and noticed sends the whole sum.
            self._rows("send_payment", paid + 3, short & self._chance(0.5), buyer, seller, agreed),
            self._rows("send_goods", sent, sends, seller, buyer),
        ]


def stream(events: int, entities: int, seed: int = 7, lateness: Lateness = NO_DELAY) -> Stream:
    """So many messages among so many agents; retractions come on top."""
    dice = np.random.default_rng(seed)
    # A trade has four to five messages; the rest is cut off at the end.
    trades = Trades(Market.of(entities), events // 3 + 50, dice)
    return Stream.of(joined(trades.rows()), events, dice, lateness)


def narrative(
    events: int, entities: int, seed: int = 7, lateness: Lateness = NO_DELAY
) -> Narrative:
    """The stream as typed columns, without going through text."""
    return stream(events, entities, seed, lateness).narrative()


def facts(entities: int) -> str:
    """Who is what."""
    names = Market.of(entities).names()
    roles = {"m": "merchant", "c": "consumer"}
    lines = [f"role_of({name}, {roles[name[0]]})." for name in names]
    return "\n".join(["% Who is what; generate.py writes this.", *lines, ""])


if __name__ == "__main__":
    command(stream, facts, HERE, "agents.ec", events=1000, entities=40)
