"""A description and a program that read each other: what passes between them, in which order."""

from horai.plan.combined.check import check
from horai.plan.combined.stages import CombinedStage, Cycle, Exchange, Passing, exchange, stages

__all__ = ["CombinedStage", "Cycle", "Exchange", "Passing", "check", "exchange", "stages"]
