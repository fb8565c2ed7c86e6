"""A description and a program that read each other: what passes between them, in which order."""

from horai.plan.both.check import check
from horai.plan.both.exchange import Exchange, Passing, exchange
from horai.plan.both.stages import Cycle, Stage, stages

__all__ = ["Cycle", "Exchange", "Passing", "Stage", "check", "exchange", "stages"]
