"""`xor_all(L, I)`: where an odd number of the lists hold."""

from horai.lang.ec.operators.protocol import Gather, IntervalOperator

ODD = Gather(
    lambda states: sum(states) % 2 == 1,
    lambda states: range(len(states)),
    lambda states: [[place] for place in range(len(states))],
    "one",
)
OPERATOR = IntervalOperator("xor_all", ODD)
