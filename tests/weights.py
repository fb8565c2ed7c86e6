"""How many examples random tests try: a test says what an example weighs, the profile how many.

`make test` loads the profile `quick`: always the same few examples, so that it never fails by
chance. `make test-long` loads `long`: many examples, others in each run, and what fails is made
small. An example that fails in `quick` is made small by `pytest --hypothesis-profile=shrink`.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from hypothesis import HealthCheck, Phase, settings

Weight = Literal["light", "normal", "heavy", "spark"]


class Many(NamedTuple):
    """How many examples there are in the profile `quick`, and in `long`."""

    quick: int
    long: int


MANY: dict[Weight, Many] = {
    "light": Many(100, 5000),  # an example takes up to some milliseconds
    "normal": Many(30, 1500),  # some hundredths of a second
    "heavy": Many(8, 1000),  # some tenths
    "spark": Many(2, 60),  # seconds
}

# How long an example takes, and how long it is, says something about the machine and the dice.
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
_SMALLER = (Phase.explicit, Phase.generate, Phase.shrink)


def register_profiles() -> None:
    """Make the profiles known to Hypothesis, and load `quick`."""
    common: dict[str, Any] = {"deadline": None, "suppress_health_check": _QUIET}
    same: dict[str, Any] = common | {"max_examples": MANY["light"].quick, "derandomize": True}
    settings.register_profile("quick", **same, phases=(Phase.explicit, Phase.generate))
    settings.register_profile("shrink", **same, phases=_SMALLER)
    settings.register_profile(
        "long",
        **common,
        max_examples=MANY["light"].long,
        derandomize=False,  # said, because Hypothesis repeats itself where CI is set
        print_blob=True,
    )
    settings.load_profile("quick")


def many(weight: Weight) -> int:
    """The number of examples in the profile that is loaded."""
    return (
        MANY[weight].long if settings.get_current_profile_name() == "long" else MANY[weight].quick
    )


def examples(weight: Weight, **more: Any) -> settings:
    """Decorate a test with the number of examples for its weight, and with `more` settings."""
    return settings(max_examples=many(weight), **more)


def exactly(number: int, **more: Any) -> settings:
    """Decorate a slow test that has to try so many examples, whatever the profile."""
    return settings(max_examples=number, suppress_health_check=_QUIET, deadline=None, **more)
