"""Random tests ask for a weight, and profiles decide."""

from pathlib import Path

from hypothesis import Phase, settings
from tests.weights import MANY, examples, many

HERE = Path(__file__).parent
NUMBER = "max_" + "examples"  # in two parts, so that it is not found here


def test_numbers_of_examples_are_in_one_place() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in HERE.rglob("*.py")}
    paths = [path for path, text in texts.items() if NUMBER in text]
    assert paths == [HERE / "weights.py"]


def test_quick_runs_are_the_same_each_time_and_end_soon() -> None:
    quick = settings.get_profile("quick")
    assert quick.derandomize
    assert Phase.shrink not in quick.phases
    assert quick.deadline is None


def test_what_is_found_can_be_made_small() -> None:
    for name in ("shrink", "long"):
        assert Phase.shrink in settings.get_profile(name).phases
    assert not settings.get_profile("long").derandomize


def test_a_weight_is_a_number_of_the_profile() -> None:
    before = settings.get_current_profile_name()
    try:
        for name in ("quick", "shrink", "long"):
            settings.load_profile(name)
            for weight, numbers in MANY.items():
                wanted = numbers.long if name == "long" else numbers.quick
                assert many(weight) == getattr(examples(weight), NUMBER) == wanted
    finally:
        settings.load_profile(before)
