"""`complement_all(L, I)`: the time after the start of the run where none of the lists holds."""

from horai.lang.ec.operators.protocol import ANY, IntervalOperator

OPERATOR = IntervalOperator("complement_all", ANY, base="time", takes_away=True)
