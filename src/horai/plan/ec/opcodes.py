"""The instructions of a compiled machine, as numbers that the kernel knows.

An instruction is a row of six: operation, up to four operands, and where to go on if it fails.
Registers hold codes of terms, or places in a list. `args` is a place in the pool: one register for
each argument of the entity that is spoken of.

| operation | a, b, c, d | what it does |
|---|---|---|
| SAME, DIFFER | register, register | are the terms the same? |
| LESS, AT_MOST, EVEN, UNEVEN | register, register | compares integers: <, =<, =:=, =\\= |
| MOVE | to, from | |
| ADD, SUBTRACT, MULTIPLY, DIVIDE, MODULO | to, register, register | arithmetic on integers |
| SMALLER, LARGER | to, register, register | the smaller, the larger one of two integers |
| HOLDS | node, args, register | has the fluent the value? |
| VALUE | node, args, to | the value of the fluent |
| HAPPENED | node, args | did the event happen at this moment? |
| STARTED, ENDED | node, args, to | the value that starts or ends at this moment |
| ITEMS | to, list | the first of what happened at this moment |
| ITEM_ARG, ITEM_VALUE | to, item, position | its parts |
| NEXT_ITEM | item | |
| INSTANCES | to, index, args | the first instance that may have some arguments |
| INSTANCE_ARG, INSTANCE_VALUE | to, instance, position | its parts |
| NEXT_INSTANCE | instance, index | |
| ROWS | to, table, args | the first row of a table with some keys |
| CELL | to, row, table, column | |
| NEXT_ROW | row, table | |
| LASTS | pair | does a pair that was settled before hold at this moment? |
| NO_MORE | place | fails at the end of a list |
| NOW | register | gives up unless it is the time of the moment |
| SAY | kind, node, args, value | what the head of a rule says |
| ATTEMPT | delay, args, count | something will be due, with registers to be kept until then |
| EFFECT | kind, node, args, value | what something due does |
"""

from __future__ import annotations

(
    STOP, JUMP, SAME, DIFFER, LESS, AT_MOST, EVEN, UNEVEN, MOVE,
    ADD, SUBTRACT, MULTIPLY, DIVIDE, MODULO, SMALLER, LARGER,
    HOLDS, VALUE, HAPPENED, STARTED, ENDED,
    ITEMS, ITEM_ARG, ITEM_VALUE, NEXT_ITEM,
    INSTANCES, INSTANCE_ARG, INSTANCE_VALUE, NEXT_INSTANCE,
    ROWS, CELL, NEXT_ROW, LASTS, NO_MORE, NOW, SAY, ATTEMPT, EFFECT,
) = range(38)  # fmt: skip

# What is said of a node; HEARD is an event that another component, or the input, tells of.
INITIATE, TERMINATE, GHOST, TERMINATE_ALL, HAPPEN, HEARD = range(6)

# Registers: the time, the time of initiation of an attempt, columns that are given, others, and
# from CONSTANTS on those that never change.
TIME, SINCE, GIVEN, OTHERS, CONSTANTS = 0, 1, 2, 66, 256

# Lists of what happens at a moment, four for every node.
HAPPENED_LIST, STARTED_LIST, ENDED_LIST, INITIATED_LIST = range(4)
LISTS = 4
