"""Syntax trees to the plan: names, types, dependencies, strata; one pass per file.

| pass | says |
|---|---|
| `entities` | the events and fluents, what sort they are, where they are mentioned |
| `predicates` | background predicates: relations and procedures, and what they need bound |
| `modes`, `ordering` | an order in which the literals of a rule can be evaluated |
| `types` | the types of arguments and values |
| `vertices`, `readings`, `timing`, `dependencies` | the dependency graph |
| `components` | strata: what is settled together, and in which order |
| `partition` | the arguments by which the work can be split |
| `sizes`, `estimates`, `rule_estimates` | how many rows operators and rules give |
| `settling`, `finality`, `outline`, `outlining` | the plan as data, for people to read |
| `check` | what is wrong or doubtful about a description |
"""

from horai.lang.ec.syntax import EventDescription

__all__ = ["EventDescription"]
