"""The options of a run, each said once: what it means, whom it is for, what may be given.

`RunSettings` is all of them, checked. The command line, `horai.toml`, the arguments of Python,
saved sessions and the jobs of Spark are made from it. `plan_run` makes query times of start, end,
window and step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, cast, get_args

from horai.errors import UsageError

if TYPE_CHECKING:
    from horai.io.schema import Format
    from horai.io.times import TimeScale, Unit
    from horai.signals import Feed

MOST_TIME = 2**61
"""The longest length of time, and one more than the last time-point of `horai.io.times`."""

# --- what values may be --------------------------------------------------------------------------


def whole(given: object, name: str, hint: str | None = None) -> int:
    """A whole number, or a kind error. True and 1.0 are none.

    >>> whole(1.5, "window")
    Traceback (most recent call last):
    ...
    horai.errors.UsageError: window must be a whole number, not 1.5
    """
    try:
        if not isinstance(given, bool):
            return index(cast(SupportsIndex, given))  # also the numbers of numpy
    except TypeError:
        pass
    raise UsageError(f"{name} must be a whole number, not {_shown(given)}", hint)


def length(given: object, name: str, least: int = 1) -> int:
    """A length of time, counted in time-points."""
    hint = f"{name} is a length of time, counted in time-points"
    number = whole(given, name, hint)
    if number < least:
        wanted = "at least 0" if least == 0 else "above 0"
        raise UsageError(f"{name} must be {wanted}, not {number}", hint)
    if number > MOST_TIME:
        raise UsageError(f"{name} must be at most {MOST_TIME}, not {number}", hint)
    return number


def distance(given: object, name: str) -> int:
    """A length of time that may be none at all."""
    return length(given, name, 0)


def amount(given: object, name: str) -> int:
    """How many of something there are to be, one at least.

    >>> amount(0, "buckets")
    Traceback (most recent call last):
    ...
    horai.errors.UsageError: buckets must be above 0, not 0
      hint: give a whole number, such as 4
    """
    hint = "give a whole number, such as 4"
    number = whole(given, name, hint)
    if number < 1:
        raise UsageError(f"{name} must be above 0, not {number}", hint)
    return number


def point(given: object, name: str) -> int:
    """A time-point."""
    number = whole(given, name, f"{name} is a time-point")
    if abs(number) > MOST_TIME:
        problem = f"{name} must lie between {-MOST_TIME} and {MOST_TIME}, and {number} does not"
        raise UsageError(problem, f"{name} is a time-point")
    return number


def time(given: object, name: str) -> int | str:
    """A time-point, or a time as ISO 8601 writes it; a text of digits is a number."""
    if not isinstance(given, str):
        return point(given, name)
    is_number = re.fullmatch(r"\s*[+-]?[0-9]+\s*", given) is not None
    return point(int(given), name) if is_number else given


def text(given: object, name: str, hint: str | None = None) -> str:
    """A text, or a kind error."""
    if isinstance(given, str):
        return given
    raise UsageError(f"{name} must be a text, not {_shown(given)}", hint)


def flag(given: object, name: str) -> bool:
    """True or false, or a kind error; also the truth values of numpy."""
    if isinstance(given, bool) or type(given).__name__ in ("bool_", "bool"):
        return bool(given)
    raise UsageError(f"{name} must be true or false, not {_shown(given)}")


def function(given: object, name: str) -> None:
    """Nothing if it can be called, or a kind error."""
    if not callable(given):
        raise UsageError(f"{name} must be a function, not {_shown(given)}")


def path(given: object, name: str) -> Path:
    """The path of a file or folder."""
    if isinstance(given, str | Path) and str(given):
        return Path(given)
    raise UsageError(f"{name} must be a path, not {_shown(given)}")


def one_of(*known: str) -> Callable[[object, str], str]:
    """A word out of some.

    >>> one_of("models", "brave", "cautious")("brav", "reasoning")
    Traceback (most recent call last):
    ...
    horai.errors.UsageError: reasoning cannot be 'brav'
      hint: did you mean brave?
    """
    listed = f"it is one of {', '.join(known)}"

    def checked(given: object, name: str) -> str:
        word = text(given, name, listed)
        if word in known:
            return str(word)  # of an enumeration, too
        raise UsageError(f"{name} cannot be {word!r}", nearest(word, known) or listed)

    return checked


def anything(given: object, name: str) -> object:
    """What is checked by who knows more: the engines know their names, the input its columns."""
    return given


def count_of_models(given: object, name: str) -> str | int:
    """How many answers: `one`, `all`, or a number.

    >>> count_of_models("3", "models"), count_of_models("all", "models")
    (3, 'all')
    """
    if given in ("one", "all"):
        return str(given)
    is_number = not isinstance(given, bool) and str(given).isdecimal()
    if not is_number or int(str(given)) < 1:
        raise UsageError(f"{name} cannot be {given!r}", "it is `one`, `all`, or a number such as 3")
    return int(str(given))


def names(given: object, name: str) -> str:
    """Names with commas between them, given like that or as a list."""
    many = given.split(",") if isinstance(given, str) else given
    if not isinstance(many, Iterable):
        raise UsageError(f"{name} must be names, not {_shown(given)}", "write a,b")
    listed = [text(one, name).strip() for one in many]
    found = [one for one in listed if one]
    if not found:
        hint = f"write inferences, none, or names of predicates: --{name} a,b"
        raise UsageError(f"the {name} names no predicate", hint)
    return ",".join(found)


def columns(given: object, name: str) -> dict[str, list[str]]:
    """The columns of types: a table, or texts such as `speed=vessel,knots`."""
    if isinstance(given, Mapping):
        return {
            text(type_, name): [named] if isinstance(named, str) else [str(one) for one in named]
            for type_, named in given.items()
        }
    found = {}
    for one in [given] if isinstance(given, str) else cast(Iterable[object], given):
        type_, sign, named = text(one, name).partition("=")
        if not sign:
            raise UsageError(f"--{name} {one} names no columns", f"write {one}=vessel,knots")
        found[type_.strip()] = [part.strip() for part in named.split(",")]
    return found


def nearest(word: str, known: Iterable[str]) -> str | None:
    """`did you mean ...?`, if anything known is near."""
    from horai.lang.core.diagnostics import did_you_mean

    near = did_you_mean(word, known)
    return f"did you mean {near}?" if near else None


def _shown(given: object) -> str:
    """A value in a message: short ones as they are, others by their kind."""
    said = repr(given)
    return said if len(said) <= 40 and "\n" not in said else f"a {type(given).__name__}"


unit_of_time = one_of("ns", "us", "ms", "s", "min", "h", "d")
METAVARS: dict[Callable[[object, str], Any], str] = {
    **dict.fromkeys((length, distance, amount, count_of_models), "N"),
    time: "TIME",
    unit_of_time: "UNIT",
    names: "NAMES",
    columns: "TYPE=NAME,...",
}
"""What stands for a value in help, where its kind says that."""

# --- what there is to say about an option --------------------------------------------------------

Language = Literal["ec", "lars", "combined"]
LANGUAGES: dict[Language, str] = {
    "ec": "rules of the Event Calculus",
    "lars": "LARS programs",
    "combined": "rules of two languages",
}
"""The languages, as sentences name them."""

Mode = Literal["run", "session", "spark", "stream", "live", "serve"]
"""Over a whole input, fed step by step, as data frames of Spark, as a stream of Spark, line by line
in this process, or behind a live page."""
MODES: dict[Mode, str] = {
    "run": "a run over a whole input",
    "session": "a session",
    "spark": "a run on Spark",
    "stream": "a stream",
    "live": "a run that goes on",
    "serve": "a live page",
}

Group = Literal["input", "time", "windows", "engine", "output"]
GROUPS: tuple[Group, ...] = get_args(Group)

EC, LARS, COMBINED = "ec", "lars", "combined"
SPARK = "spark"
"""The engine that runs in the partitions of Spark, over whole inputs."""
Place = tuple[str, str]
ALL = "run session spark stream live serve"


def _for(**modes: str) -> frozenset[Place]:
    """The places of an option: for each language the modes it has a meaning in."""
    return frozenset((language, mode) for language, some in modes.items() for mode in some.split())


@dataclass(frozen=True, slots=True)
class Option:
    """All there is to say about an option."""

    group: Group
    help: str
    check: Callable[[object, str], Any]
    places: frozenset[Place]
    metavar: str | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)  # where a language has another one
    instead: Mapping[str, str] = field(default_factory=dict)  # what to use, by language
    written: bool = True  # can be written: on the command line, in a file, in a saved session
    name: str = ""

    @property
    def label(self) -> str:
        """The name in messages and on the command line, without its dashes in front."""
        return self.name.replace("_", "-")

    @property
    def languages(self) -> list[Language]:
        """The languages it has a meaning for."""
        return [one for one in LANGUAGES if any(language == one for language, _ in self.places)]

    def is_for(self, language: str, *modes: str) -> bool:
        """Has it a meaning there?"""
        return any((language, mode) in self.places for mode in modes or MODES)


def _option(
    group: Group,
    help: str,
    check: Callable[[object, str], Any],
    places: frozenset[Place],
    default: Any = None,
    **more: Any,
) -> Any:
    more.setdefault("metavar", METAVARS.get(check))
    return field(default=default, metadata={"option": Option(group, help, check, places, **more)})


_BY_WINDOWS = "windows stand in the program itself; --allowed-lateness says how late signals may be"
_BY_CLOCK = "time points of a program lie one --clock apart"
_ONE_ANSWER = "of several answers what holds in all of them counts, or with --brave in some"
_ONE_PROCESS = "rules of two languages run in one process"
_NOT_LIVE = "feed a session of them: horai.combine(rules, program).session()"
_EVERYWHERE = _for(ec=ALL, lars=ALL, combined=ALL)
_READ = _for(ec="run spark stream", lars="run spark live", combined="run live")
_EVENTS = _for(ec="run session spark stream serve", combined="run session live serve")
_PROGRAMS = _for(lars="run session spark live serve")
_ONE_PROGRAM = _PROGRAMS | _for(combined="run session live serve")
_SERVE = _for(ec="serve", lars="serve", combined="serve")
_STREAM = _for(ec="stream")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """What a run was asked for, checked; None where the input or the rules decide."""

    language: Language = "ec"
    named: frozenset[str] = field(default=frozenset(), compare=False)  # what was not left to us
    # input
    input_format: Format | None = _option(
        "input",
        "narrative, csv, jsonl, parquet or arrow.",
        one_of("narrative", "csv", "jsonl", "parquet", "arrow"),
        _READ,
        metavar="NAME",
    )
    columns: dict[str, list[str]] | None = _option(
        "input",
        "Which columns are the arguments of a type: speed=vessel,knots, or with time:when if the "
        "time is called when.",
        columns,
        _for(ec="run"),
    )
    positions: Feed | None = _option(
        "input",
        "How raw positions are read, where they come in the place of items.",
        anything,
        _for(ec="run spark stream"),
        written=False,
    )
    time_in: Unit | None = _option(
        "input", "Unit of epoch times in the input.", unit_of_time, _EVERYWHERE
    )
    strict: bool = _option("input", "Stop at the first bad row.", flag, _EVERYWHERE, False)
    files_per_step: int | None = _option(
        "input", "Files of a folder in a step, at most.", amount, _STREAM
    )
    # time
    start: int | None = _option("time", "The run covers what is after it.", time, _EVERYWHERE)
    end: int | None = _option("time", "The last query time.", time, _READ | _SERVE)
    step: int | None = _option(
        "time",
        "Time between two queries.",
        length,
        _READ | _SERVE | _for(lars="session"),
        defaults={LARS: 1},
    )
    tick: int = _option(
        "time",
        "Distance of two time-points.",
        length,
        _for(ec="run session spark stream serve"),
        1,
        instead={LARS: _BY_CLOCK, COMBINED: _BY_CLOCK},
    )
    unit: Unit | None = _option(
        "time", "Length of a time-point: s, ms, ...", unit_of_time, _EVERYWHERE
    )
    clock: str | None = _option(
        "time",
        "Length of a time point, such as 500ms.",
        text,
        _ONE_PROGRAM,
        metavar="TIME",
        instead={EC: "--unit says how long a time-point is"},
    )
    output_every: str | None = _option(
        "time",
        "time, change, signal, 5signals, 10s: when answers are given.",
        text,
        _for(lars="live"),
        metavar="WHEN",
        instead=dict.fromkeys((EC, COMBINED), "--step says how often answers are given"),
    )
    trigger: str = _option(
        "time", "How often Spark looks: 5s, or available-now.", text, _STREAM, "1s", metavar="TIME"
    )
    live: bool = _option(
        "time",
        "Read line by line and answer as time goes on; ends with the input or Ctrl-C.",
        flag,
        _for(lars="live"),
        False,
        instead={EC: "use horai stream, or feed a session", COMBINED: _NOT_LIVE},
    )
    real_time: bool = _option(
        "time",
        "Live, and time points pass as the clock does.",
        flag,
        _for(lars="live"),
        False,
        instead={EC: "use horai stream, or feed a session", COMBINED: _NOT_LIVE},
    )
    # windows
    window: int | None = _option(
        "windows", "How far back a query looks.", length, _EVENTS, instead={LARS: _BY_WINDOWS}
    )
    allen_memory: int | None = _option("windows", "How far back `before` looks.", distance, _EVENTS)
    watermark_delay: int = _option(
        "windows", "How far out of order arrivals may be.", distance, _STREAM, 0
    )
    allowed_lateness: int | None = _option(
        "windows",
        "Revise answers when signals come up to N time points late.",
        distance,
        _PROGRAMS,
        instead=dict.fromkeys((EC, COMBINED), "--window says how late rows may be"),
    )
    future_skew: int | None = _option(
        "windows", "How far ahead of now rows may be.", distance, _STREAM
    )
    # engine
    engine: str = _option(
        "engine",
        "auto, compiled (LARS programs: plan, asp, tms), spark (many machines), reference (slow).",
        text,
        _for(
            ec="run session serve", lars="run session live serve", combined="run session live serve"
        ),
        "auto",
        metavar="NAME",
    )
    threads: int | None = _option(
        "engine",
        "Threads of the compiled engine in a large step; all cores unless said.",
        amount,
        _for(ec="run session serve", combined="run session live serve"),
        instead={LARS: "a program runs in one thread"},
    )
    models: str | int = _option(
        "engine",
        "How many answers at each time: one, a number, all.",
        count_of_models,
        _PROGRAMS,
        "one",
        instead={
            COMBINED: f"{_ONE_ANSWER}; the answers themselves are those of the program alone",
        },
    )
    reasoning: Literal["models", "brave", "cautious"] = _option(
        "engine",
        "models, brave (what holds in some answer) or cautious (in all of them).",
        one_of("models", "brave", "cautious"),
        _ONE_PROGRAM,
        "models",
        metavar="HOW",
        defaults={COMBINED: "cautious"},
    )
    least_change: bool = _option(
        "engine",
        "Each answer is as near to the one before as can be.",
        flag,
        _PROGRAMS,
        False,
        instead={COMBINED: _ONE_ANSWER},
    )
    master: str | None = _option(
        "engine",
        "Where Spark runs: local[*], spark://HOST:PORT.",
        text,
        _for(ec="run spark stream", lars="run spark"),
        metavar="URL",
        instead={COMBINED: _ONE_PROCESS},
    )
    buckets: int | None = _option(
        "engine",
        "In how many parts Spark splits the entities.",
        amount,
        _for(ec="run spark stream", lars="run spark"),
        instead={COMBINED: _ONE_PROCESS},
    )
    state: Path | None = _option(
        "engine",
        "Go on from what this file knows, if it is there, and save it at the end.",
        path,
        _SERVE | _for(lars="live", combined="live"),
        metavar="FILE",
    )
    from_savepoint: Path | None = _option(
        "engine", "Begin from a savepoint.", path, _STREAM, metavar="FOLDER"
    )
    # output
    answers: Literal["final", "windows", "changelog"] | None = _option(
        "output",
        "All at the end (final), per query time (windows), or what changes at each (changelog).",
        one_of("final", "windows", "changelog"),
        _for(ec="run session spark", lars="run spark live", combined="run session live"),
        metavar="FORM",
        defaults={LARS: "windows"},
    )
    include_input: bool = _option(
        "output",
        "Show the input too.",
        flag,
        _EVENTS,
        False,
        instead={LARS: "--filter none shows signals, too"},
    )
    filter: str = _option(
        "output", "Show inferences, none (all), or a,b.", names, _ONE_PROGRAM, "inferences"
    )

    def __post_init__(self) -> None:
        for one in fields(self):
            option, given = OPTIONS.get(one.name), getattr(self, one.name)
            if option is not None and not (given is None and one.default is None):
                # A number of numpy becomes one of Python, a member of an enumeration a text.
                object.__setattr__(self, one.name, option.check(given, option.label))
        for name in ("start", "end"):
            given = getattr(self, name)
            if isinstance(given, str):
                object.__setattr__(self, name, point_in(given, self.scale, name))
        if self.time_in is not None and self.unit is None:
            hint = "say also how long a time-point is, for example unit s"
            raise UsageError(f"times in {self.time_in} need a unit", hint)
        if self.future_skew is not None and self.unit is None:
            problem = "future-skew needs a unit: times are compared with those of the clock"
            raise UsageError(problem, "say how long a time-point is, such as --unit s")
        if self.reasoning != "models" and (self.models not in ("one", 1) or self.least_change):
            other = "the least change" if self.least_change else f"models {self.models}"
            hint = "ask for answers themselves, or for what they have in common"
            problem = f"{self.reasoning} reasoning gives one answer: {other} says nothing"
            raise UsageError(problem, hint)
        self._check_span()

    def _check_span(self) -> None:
        start, end = self.start, self.end
        if start is None or end is None or start < end or (start == end and self.is_lars):
            return
        if self.is_lars:
            hint = "a run covers the time points from start up to and including end"
            raise UsageError(f"the end of the run, {end}, is before its start, {start}", hint)
        hint = "a run covers the time-points after start, up to and including end"
        raise UsageError(f"the end of the run, {end}, is not after its start, {start}", hint)

    @classmethod
    def of(
        cls,
        language: Language,
        mode: Mode | Sequence[Mode],
        given: Mapping[str, object],
        spelled: Callable[[str], str] = str,
    ) -> RunSettings:
        """The settings of a run of some language, from what was given by name.

        What is None was not given. `spelled` says how messages write a name: `--time-in` on the
        command line.

        >>> RunSettings.of("ec", "run", {"window": 10, "stpe": 5})
        Traceback (most recent call last):
        ...
        horai.errors.UsageError: there is no setting stpe
          hint: did you mean step?
        >>> RunSettings.of("lars", "run", {"end": 10}).step
        1
        """
        modes = (mode,) if isinstance(mode, str) else tuple(mode)
        values: dict[str, Any] = {
            n: o.defaults[language] for n, o in OPTIONS.items() if language in o.defaults
        }
        for name, value in given.items():
            if value is not None or name not in OPTIONS:
                check_name(name, language, modes, spelled)
                values[name] = value
        named = frozenset(name for name, value in given.items() if value is not None)
        found = cls(language=language, named=named, **values)
        if "run" in modes:
            found._check_spark(spelled)
        return found

    def _check_spark(self, spelled: Callable[[str], str]) -> None:
        """Some options are for runs on Spark, and one is for all others."""
        if self.engine == SPARK:
            if self.columns:
                hint = "rename the columns of the input, or leave the engine out"
                raise UsageError("columns cannot be chosen on Spark", hint)
            if self.threads is not None:
                hint = f"{spelled('master')} local[4] says how many cores Spark has"
                raise UsageError(f"{spelled('threads')} is about runs in one process", hint)
            return
        for name in ("master", "buckets"):
            if getattr(self, name) is not None:
                problem = f"{spelled(name)} is about runs on Spark"
                raise UsageError(problem, f"add {spelled('engine')} spark")

    @property
    def is_lars(self) -> bool:
        """Are these for a LARS program alone?"""
        return self.language == LARS

    @property
    def scale(self) -> TimeScale:
        """How times of the input become time-points."""
        from horai.io.times import TimeScale

        return TimeScale(self.unit, self.time_in)

    @property
    def loses_items(self) -> bool:
        """True when items between two windows are never looked at."""
        return self.window is not None and self.step is not None and self.window < self.step

    def to_dict(self) -> dict[str, Any]:
        """What was named or is not as it is without, as plain values: `of` reads them again."""
        found = {}
        for one in fields(self):
            option, value = OPTIONS.get(one.name), getattr(self, one.name)
            if option is None or not option.written:
                continue
            if one.name in self.named or value != option.defaults.get(self.language, one.default):
                found[one.name] = str(value) if isinstance(value, Path) else value
        return found

    def of_session(self) -> dict[str, Any]:
        """Those of them that a session has. Where it starts is said apart: the input may tell."""
        for_session = options_for(self.language, "session").keys() - {"start"}
        return {name: x for name, x in self.to_dict().items() if name in for_session}


OPTIONS: dict[str, Option] = {
    one.name: replace(one.metadata["option"], name=one.name)
    for one in fields(RunSettings)
    if "option" in one.metadata
}
"""All options by name, in the order of help."""


def options_for(language: str | None = None, *modes: str) -> dict[str, Option]:
    """The options that have a meaning for a language, or for any, in some modes, or in any."""
    some = LANGUAGES if language is None else (language,)
    return {n: o for n, o in OPTIONS.items() if any(o.is_for(one, *modes) for one in some)}


def check_name(
    name: str, language: str, modes: Sequence[str], spelled: Callable[[str], str] = str
) -> None:
    """Nothing if an option of this name has a meaning here, or an error that says what has."""
    option = OPTIONS.get(name)
    if option is None:
        known = options_for(language, *modes)
        hint = nearest(name, known) or nearest(name, OPTIONS)
        raise UsageError(f"there is no setting {name}", hint or f"there are {', '.join(known)}")
    if option.is_for(language, *modes):
        return
    if option.is_for(language):
        there = next(mode for mode in MODES if option.is_for(language, mode))
        problem = f"{spelled(name)} has no meaning for {MODES[cast(Mode, modes[0])]}"
        raise UsageError(problem, f"it is an option of {MODES[there]}")
    problem = f"{spelled(name)} has no meaning for {LANGUAGES[cast(Language, language)]}"
    whose = " and of ".join(LANGUAGES[one] for one in option.languages)
    raise UsageError(problem, option.instead.get(language) or f"it is an option of {whose}")


def point_in(given: int | str, scale: TimeScale, name: str) -> int:
    """A time as people give it: a time-point, or ISO 8601 where these have a length."""
    from horai.io.letters import BadRow

    try:
        return scale.point(given)
    except BadRow as bad:
        raise UsageError(f"{name}: {bad.reason}") from None


# --- query times ---------------------------------------------------------------------------------

MOST_QUERIES = 10_000_000  # beyond this a wrong start or step is likelier than patience


@dataclass(frozen=True, slots=True)
class Schedule:
    """The query times of a run in their order, and how far its queries look."""

    start: int
    queries: Sequence[int]
    window: int | None = None
    tick: int = 1
    allen_memory: int | None = None

    @classmethod
    def of(cls, settings: RunSettings, start: int, queries: Sequence[int] = ()) -> Schedule:
        """Query times with the windows of some settings."""
        return cls(start, queries, settings.window, settings.tick, settings.allen_memory)

    @property
    def end(self) -> int:
        """The last query time."""
        return self.queries[-1]

    @property
    def next_point(self) -> int:
        """The first time-point of the run; after its end when none lies in it.

        >>> Schedule(start=0, queries=[25], tick=60).next_point
        60
        """
        return self.start + self.tick - self.start % self.tick


def plan_run(settings: RunSettings, extent: tuple[int, int] | None) -> Schedule | None:
    """The schedule of a run, None when there is nothing to run over.

    `extent` is the first occurrence in the input and the last time it names.

    >>> plan_run(RunSettings(start=0, end=25, step=10), None).queries
    [10, 20, 25]
    """
    start, end = settings.start, settings.end
    if extent is None and (start is None or end is None):
        return None
    first, last = extent or (0, 0)
    if start is None:
        start = before(first, settings.tick)
    if end is None:
        end = last
    if end <= start:
        raise UsageError(_nothing_between(settings, start, end), "choose another start or end")
    step = settings.step or settings.window or end - start
    if (end - start) // step > MOST_QUERIES:
        raise UsageError(
            f"from {start} to {end} by steps of {step} there are more than "
            f"{MOST_QUERIES:,} query times",
            "choose a longer step, or a start near the first item",
        )
    return Schedule.of(settings, start, [*range(start + step, end, step), end])


def before(time: int, tick: int) -> int:
    """The time-point before a time, on the grid.

    >>> before(9, 1), before(20, 10), before(23, 10)
    (8, 10, 20)
    """
    return time - (time % tick or tick)


def _nothing_between(settings: RunSettings, start: int, end: int) -> str:
    if settings.end is None:
        return f"the input ends at {end}, not after the start of the run, {start}"
    return f"the input begins after {start}, not before the end of the run, {end}"
