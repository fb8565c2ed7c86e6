"""`horai serve`: a page of a run that goes on, for browsers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from threading import Event
from typing import Annotated, Any

from horai.cli import console
from horai.cli.command import (
    COORDINATES,
    ON_RULES,
    SEVERITY,
    Quiet,
    about_time,
    input_option,
    option,
    run_options,
    takes,
)
from horai.cli.live import patient
from horai.cli.output import check_outputs, tell_of_rules
from horai.cli.workload import choose, tell_of_losses
from horai.errors import UsageError
from horai.io.sources.registry import INTERRUPTIBLE
from horai.io.sources.sockets import LOCAL

shows = partial(option, group="page")


@takes(
    *ON_RULES,
    input_option("A file that grows, - (standard input), kafka://HOST:PORT/TOPIC, socket:PORT."),
    *run_options("serve"),
    SEVERITY,
)
def command(
    named: dict[str, Any],
    given: dict[str, Any],
    paused: Annotated[bool, about_time("Begin before the first query time.")],
    token_file: Annotated[Path | None, shows("Who looks has to know this token.")],
    host_name: Annotated[list[str], shows("What else browsers call this machine.", metavar="NAME")],
    coordinates: Annotated[list[str], shows(COORDINATES, metavar="TYPE=LON,LAT")],
    areas: Annotated[Path | None, shows("Polygons as GeoJSON.", "-a")],
    title: Annotated[str | None, shows("What the page is called.", metavar="TEXT")],
    quiet: Quiet,
    port: Annotated[int, shows("Where (8642).", metavar="PORT")] = 8642,
    address: Annotated[str, shows("Of the page (127.0.0.1).", metavar="IP")] = LOCAL,
) -> None:
    chosen = choose(**named)
    settings = chosen.settings("serve", given)
    chosen.demand_input("name the stream: --input FILE that grows, - or kafka://HOST:PORT/TOPIC")
    _demand_lines(chosen.input)
    check_outputs({"--state": settings.state}, chosen.files(areas, token_file))
    from horai.io.secrets import SERVE
    from horai.io.sources.registry import Incoming
    from horai.live.feed import LiveFeed
    from horai.live.server import LivePage, Shown
    from horai.report.tracks import coordinate_types
    from horai.runtime.refusals import token_of
    from horai.signals import read_areas

    rules = chosen.load()
    tell_of_rules(rules.check(settings.clock, settings.unit), quiet)
    tell_of_losses(settings, quiet)
    if rules.language != "lars" and settings.window is None and not quiet:
        console.warning(
            "without --window all that comes is remembered, and memory grows as long as it comes"
        )
    beside = coordinate_types(coordinates, rules.schema)
    files = [path.name for path in chosen.rules]
    shown = Shown(
        title or (chosen.project.name if chosen.project else ", ".join(files)),
        files,
        coordinates,
        None if areas is None else read_areas(areas),
        frozenset(host_name),
        token_of(SERVE, token_file),
    )
    feed = LiveFeed(rules, settings, paused=paused, beside=beside)
    page = LivePage(feed, shown, address, port)
    try:
        incoming = Incoming(chosen.input, console.say, feed.offsets, growing=True)
        console.say(f"{page.url} is open" + ("; it asks for the token" if shown.token else ""))
        _follow(feed, incoming, quiet)
    finally:
        page.close()
    if settings.state is not None and feed.save(settings.state) and not quiet:
        console.say(f"{settings.state} is written")


def _demand_lines(names: list[str]) -> None:
    """Refuse files that cannot be read while they grow."""
    from horai.io.items.read import COMPRESSED, SUFFIXES

    for name in names:
        suffix = Path(name).suffix.lower()
        if suffix in COMPRESSED or SUFFIXES.get(suffix) in ("parquet", "arrow"):
            hint = "use `horai report` for what has an end, or a narrative, CSV or JSON lines"
            raise UsageError(f"{name} cannot be read line by line while it grows", hint)


def _follow(feed: Any, incoming: Any, quiet: bool) -> None:
    """Feed lines until somebody interrupts; when there are no more, the page stays."""
    with patient() as interrupts:
        try:
            feed.run(incoming, interrupts.while_waiting)
            if not quiet:
                console.say("the input has ended; the page stays until Ctrl-C")
            while True:
                interrupts.while_waiting(partial(Event().wait, INTERRUPTIBLE))
        except KeyboardInterrupt:
            feed.close()  # a run without an end is ended like that
        finally:
            incoming.close()
