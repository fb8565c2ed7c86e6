"""`relative_complement_all(I0, L, I)`: where I0 holds and none of the lists."""

from horai.lang.ec.operators.protocol import ANY, IntervalOperator

OPERATOR = IntervalOperator("relative_complement_all", ANY, base="argument", takes_away=True)
