"""`intersect_all(L, I)`: where all lists hold; without any, nowhere."""

from horai.lang.ec.operators.protocol import ALL, IntervalOperator

OPERATOR = IntervalOperator("intersect_all", ALL)
