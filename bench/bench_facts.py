"""How fast a background file of plain facts is read, and what the fast path saves.

python bench/bench_facts.py [number of facts]
"""

from __future__ import annotations

import random
import sys
import time

from horai.lang.core.reader import read_clauses
from horai.lang.core.source import SourceText
from horai.lang.ec.reader import read_text

SAMPLE = 5_000


def facts(count: int) -> str:
    """Facts about vessels: a name, a type, a quoted port, two numbers."""
    numbers = random.Random(7)
    ports = ["'Brest'", "'Le Havre'", "'Saint-Malo'", "'Port-Navalo'"]
    lines = [
        f"vesselInfo(v{numbers.randrange(count)}, {numbers.choice(['cargo', 'tug', 'pilot'])}, "
        f"{numbers.choice(ports)}, {numbers.randrange(400)}, {numbers.random() * 20:.2f})."
        for _ in range(count)
    ]
    return "\n".join(lines)


def seconds(text: str, *, fast: bool) -> float:
    """CPU seconds to read a text."""
    start = time.process_time()
    read_clauses(SourceText("facts", text), fast=fast)
    return time.process_time() - start


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    text = facts(count)
    read_text("warm(up) :- p.")
    start = time.process_time()
    description, findings = read_text(text)
    whole = time.process_time() - start
    rows = len(description.facts[("vesselInfo", 5)].rows)
    assert rows == count and not findings
    each = whole / count * 1e6
    print(f"{count:,} facts, {len(text) / 1e6:.1f} MB: {whole:.2f} s, {each:.1f} us each")
    sample = facts(SAMPLE)
    fast = min(seconds(sample, fast=True) for _ in range(5))
    slow = seconds(sample, fast=False)
    print(
        f"{SAMPLE:,} facts: fast path {fast * 1e3:.0f} ms, grammar {slow * 1e3:.0f} ms, "
        f"ratio {slow / fast:.0f}"
    )


if __name__ == "__main__":
    main()
