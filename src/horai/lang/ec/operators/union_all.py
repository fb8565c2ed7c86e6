"""`union_all(L, I)`: where one of the lists holds."""

from horai.lang.ec.operators.protocol import ANY, IntervalOperator

OPERATOR = IntervalOperator("union_all", ANY)
