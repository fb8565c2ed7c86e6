"""What tasks on Spark do once in a while for those that come after them."""

from __future__ import annotations

import gc
from itertools import count

_tasks = count(1)  # that this worker has begun


def spare_collector() -> None:
    """Let Python's collector of garbage pass over what a worker has to keep anyway.

    A worker of Spark collects garbage after each task, and goes through all modules, rules and
    plans for it, which takes longer than many a task. It has just done so when the next one begins:
    what is there then stays. Now and then is enough, and leaves what is given up later to be found.
    """
    number = next(_tasks)
    if number & (number - 1) == 0:
        gc.freeze()
