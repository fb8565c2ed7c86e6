"""The cost model of the paper, all 48 cases of its Tables 17 to 19, and the one that decides."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from tests.temporal.paper import PAPER, Lengths, paper_from_scratch, paper_prefers_changes

from horai.temporal.costs import (
    OPERATIONS,
    Sizes,
    change_cost,
    cheaper,
    from_scratch_cost,
)

# Tables 17 to 19, without case 16: of the inequality (old result) < ... the coefficients of the
# lengths of A and of B together, of the kept lists, and of one list of changes. Cases are numbered
# with I-(A) fastest, then I+(A), I-(B), I+(B); the first has them all.
UNION = {  # of A and B; of their intersection; of changes
    1: (1, "3/2", "5"),
    2: (1, "3/2", "2"),
    3: (1, "3/2", "4"),
    4: (1, "3/2", "1"),
    5: (1, "3/2", "2"),
    6: (2, "0", "2"),
    7: (1, "3/2", "1"),
    8: (2, "0", "0"),
    9: (1, "3/2", "4"),
    10: (1, "3/2", "1"),
    11: (2, "2", "6"),  # printed: 3
    12: (2, "2", "1"),  # printed: 1/2
    13: (1, "3/2", "1"),
    14: (2, "0", "0"),
    15: (2, "2", "1"),
}
INTERSECTION = {  # of A and B; of A without B and B without A together; of changes
    1: (1, "5", "19/2"),
    2: (1, "9/2", "6"),
    3: (1, "3/2", "5/2"),  # printed: 2
    4: (1, "1", "0"),
    5: (1, "9/2", "6"),  # printed: 5/2 instead of 9/2
    6: (2, "8", "7"),  # printed: 7/2
    7: (1, "3/2", "3/2"),
    8: (2, "2", "0"),
    9: (1, "3/2", "5/2"),  # printed: 2
    10: (1, "3/2", "3/2"),
    11: (2, "0", "2"),
    12: (2, "0", "0"),
    13: (1, "1", "0"),
    14: (2, "2", "0"),
    15: (2, "0", "0"),
}
COMPLEMENT = {  # of A and B; of B without A; of their intersection; of changes
    1: (1, "5/2", "5/2", "8"),
    2: (1, "5/2", "2", "9/2"),
    3: (1, "0", "3/2", "5/2"),
    4: (1, "0", "1", "0"),
    5: (1, "3/2", "0", "3"),
    6: (1, "3/2", "0", "2"),
    7: (2, "0", "0", "2"),
    8: (2, "0", "0", "0"),
    9: (1, "2", "5/2", "5"),
    10: (2, "4", "4", "5"),  # printed: 5/2
    11: (1, "0", "3/2", "3/2"),
    12: (2, "0", "2", "0"),
    13: (1, "1", "0", "1/2"),
    14: (2, "2", "0", "1"),  # printed: 1/2
    15: (2, "0", "0", "0"),
}
CASES = [
    (gone_a, new_a, gone_b, new_b)
    for new_b, gone_b, new_a, gone_a in product((True, False), repeat=4)
]
GREAT = 1000  # any length that is not 0


def lengths(case: int, **more: int) -> Lengths:
    """Lists of one length; the changes that a case does not have are empty."""
    gone_a, new_a, gone_b, new_b = CASES[case - 1]
    changed = GREAT + more.pop("changes", 0)
    both = GREAT + more.pop("both", 0)
    only = GREAT + more.pop("either_only", 0)
    fields = {
        "a": both,
        "b": both,
        "a_or_b": GREAT,
        "a_and_b": GREAT,
        "a_not_b": only,
        "b_not_a": only,
        "gone_a": changed * gone_a,
        "new_a": changed * new_a,
        "gone_b": changed * gone_b,
        "new_b": changed * new_b,
    }
    return Lengths(**{name: value + more.get(name, 0) for name, value in fields.items()})


def coefficients(operation: str, case: int, result: str, *names: str) -> tuple[Fraction, ...]:
    """How much one row more of each kind adds, beside one more in the old result."""

    def gain(of: Lengths) -> Fraction:
        return Fraction(paper_from_scratch(of)) - Fraction(PAPER[operation](of))

    def slope(**more: int) -> Fraction:
        return gain(lengths(case, **more)) - gain(lengths(case))

    each = -slope(**{result: 1})
    found = [slope(**{name: 1}) / each for name in names]
    return (found[0], *(-value for value in found[1:]))


@pytest.mark.parametrize("case", UNION)
def test_table_17(case: int) -> None:
    found = coefficients("union_all", case, "a_or_b", "both", "a_and_b", "changes")
    assert found == tuple(Fraction(value) for value in UNION[case])


@pytest.mark.parametrize("case", INTERSECTION)
def test_table_18(case: int) -> None:
    found = coefficients("intersect_all", case, "a_and_b", "both", "either_only", "changes")
    assert found == tuple(Fraction(value) for value in INTERSECTION[case])


@pytest.mark.parametrize("case", COMPLEMENT)
def test_table_19(case: int) -> None:
    found = coefficients(
        "relative_complement_all", case, "a_not_b", "both", "b_not_a", "a_and_b", "changes"
    )
    assert found == tuple(Fraction(value) for value in COMPLEMENT[case])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_case_16_nothing_has_changed(operation: str) -> None:
    assert PAPER[operation](lengths(16)) == 0
    assert paper_prefers_changes(operation, lengths(16))


def test_table_9_few_insertions_and_short_unions_favour_changes() -> None:
    few = Lengths(100, 100, 80, 60, 20, 20, 0, 5, 0, 5)
    assert paper_prefers_changes("union_all", few)
    assert not paper_prefers_changes("union_all", few._replace(a_or_b=200))
    assert not paper_prefers_changes("union_all", few._replace(gone_a=5))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_long_lists_with_few_changes_are_not_merged_again(operation: str) -> None:
    late = [Sizes(1_000_000, 10, 20), Sizes(1_000_000, 0, 5)]
    assert cheaper(operation, 500_000, late) == "changes"
    assert cheaper(operation, 500_000, [Sizes(1_000_000, 0, 0)] * 2) == "changes"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_short_lists_and_great_changes_are_merged_again(operation: str) -> None:
    assert cheaper(operation, 20, [Sizes(20, 1, 1), Sizes(20, 0, 1)]) == "scratch"
    everything = [Sizes(100_000, 100_000, 100_000), Sizes(100_000, 100_000, 0)]
    assert cheaper(operation, 100_000, everything) == "scratch"


def test_more_of_anything_costs_more() -> None:
    one, two = [Sizes(9_000, 5, 5)] * 2, [Sizes(9_000, 5, 5)] * 3
    for operation in OPERATIONS:
        assert change_cost(operation, 9_000, one) < change_cost(operation, 9_000, two)
        assert change_cost(operation, 9_000, one) < change_cost(operation, 90_000, one)
    assert from_scratch_cost(9_000, one) < from_scratch_cost(9_000, two)
    assert from_scratch_cost(9_000, one) < from_scratch_cost(9_000, one, known=False)


def test_an_operation_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="no operation join"):
        cheaper("join", 1, [Sizes(1, 0, 0)])
