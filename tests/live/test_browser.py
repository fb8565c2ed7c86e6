"""A live page in a real browser: seen to change as a file grows, paused, stepped, asked why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys
from tests.browsers import Browser
from tests.live.serving import PROGRAM, Served, feed_of, served

import horai
from horai.live.recent import Limits

ROWS = [
    *("speed|1|1|v1|slow", "coord|2|2|v1|4.0|52.0", "meet|12|12|v1|v2", "coord|25|25|v1|4.2|52.1"),
    *("speed|26|26|v2|fast", "stop|42|42|zz"),
]
EVIL = "<img src=x onerror=window.evil=1><script>window.evil=1</script>"


@pytest.fixture
def run(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served(tmp_path) as found:
        browser.visit(found.page.url)
        found.grow(*ROWS)
        browser.ready()
        until_shown(browser, found, "40")
        yield found
        browser.visit("about:blank")
        browser.complaints()


def until_shown(browser: Browser, run: Served, query: str) -> None:
    """Wait until the page tells of a query time, and shows it."""
    browser.until(
        f"document.getElementById('live-numbers').textContent.includes('query time {query} ')"
    )
    browser.until(f"document.getElementById('about').textContent.includes('until {query} ')")


def test_what_holds_changes_as_the_file_grows(browser: Browser, run: Served) -> None:
    assert browser.text("#live-state") == "running"
    assert browser.text("h1") == "Vessels & more"
    held = browser.text("#holding-now").split("\n")
    assert held == ["moving 2", "v1=slow v2=fast", "near 1", "v1,v2"]
    assert "6 lines" in browser.text("#live-numbers")
    assert "near(v1,v2)=true" in browser.text("#changes")
    run.grow("part|55|55|v1|v2", "stop|57|57|v1", "stop|71|71|zz")
    until_shown(browser, run, "70")
    browser.until("document.getElementById('holding-count').textContent === '1'")
    assert browser.text("#holding-now").split("\n") == ["moving 1", "v2=fast"]
    changes = browser.text("#changes").split("\n")
    assert "60 → near(v1,v2)=true 13 – 56" in changes
    assert "60 + alarm(v1) at 55" in changes
    assert browser.text("#table-count") == "4 rows"
    assert browser.complaints() == []


def test_what_is_chosen_stays_chosen_and_why_is_asked(browser: Browser, run: Served) -> None:
    browser.click("#holding-now .holds:nth-child(2) .chip")
    browser.until("document.querySelector('#why .proof') !== null")
    assert browser.text("#details h3") == "near(v1,v2)=true"
    assert browser.text("#details-when") == "from 13 on, still open"
    proof = browser.text("#why")
    assert "near(v1,v2)=true is initiated at 12" in proof
    assert "meet|12|12|v1|v2" in proof
    assert "undefined" not in proof
    run.grow("part|55|55|v1|v2", "stop|71|71|zz")
    until_shown(browser, run, "70")
    browser.until("document.getElementById('details-when').textContent === 'from 13 until 56 (43)'")
    assert browser.text("#details h3") == "near(v1,v2)=true"
    assert browser.complaints() == []


def test_pause_step_and_go_on(browser: Browser, run: Served) -> None:
    browser.click("#live-pause")
    browser.until("document.getElementById('live-state').textContent === 'paused'")
    run.grow("part|55|55|v1|v2", "stop|91|91|zz")
    run.until(lambda: run.feed.lines == 8)
    assert run.feed.queries == 4
    browser.click("#live-step")
    until_shown(browser, run, "50")
    assert browser.text("#live-state") == "paused"
    assert "near" in browser.text("#holding-now")
    browser.click("#live-step")
    until_shown(browser, run, "60")
    assert "near" not in browser.text("#holding-now")
    assert run.feed.queries == 6
    browser.click("#live-pause")
    until_shown(browser, run, "90")
    assert browser.text("#live-state") == "running"
    assert browser.complaints() == []


def test_the_map_moves(browser: Browser, run: Served) -> None:
    painted = "document.getElementById('map-canvas').toDataURL()"
    browser.run("document.getElementById('map').scrollIntoView()")
    assert browser.text("#map-time") == "40"
    before = browser.run(painted)
    run.grow("coord|44|44|v1|4.6|52.4", "stop|61|61|zz")
    until_shown(browser, run, "60")
    browser.until("document.getElementById('map-time').textContent === '60'")
    browser.until(f"{painted} !== {before!r}")
    assert browser.complaints() == []


def test_who_looks_at_the_end_goes_on_with_it(browser: Browser, run: Served) -> None:
    browser.click("#to-now")
    browser.click("#in-view")
    browser.until("document.getElementById('table-count').textContent === '3 rows'")
    run.grow("part|55|55|v1|v2", *(f"stop|{t}|{t}|v1" for t in range(60, 200, 20)))
    until_shown(browser, run, "170")
    browser.until("document.getElementById('table-count').textContent === '1 row'")
    assert "moving(v2)=fast" in browser.text("#table-body")
    assert browser.complaints() == []


def test_filters_stay_while_it_goes_on(browser: Browser, run: Served) -> None:
    browser.write("#search", "v2")
    browser.until("document.getElementById('holding-count').textContent === '2'")
    run.grow("speed|55|55|v9|fast", "stop|71|71|zz")
    until_shown(browser, run, "70")
    assert "v9" not in browser.text("#holding-now")
    browser.click("#all-names")
    browser.until("document.getElementById('holding-count').textContent === '4'")
    assert browser.complaints() == []


def test_what_rules_cost(browser: Browser, run: Served) -> None:
    costs = browser.text("#costs")
    assert "initiatedAt(moving(V)=Speed, T)" in costs
    assert "for taking in items and giving answers" in costs


def test_names_of_strangers_do_nothing(browser: Browser, run: Served) -> None:
    quoted = "'" + EVIL.replace("'", "\\'") + "'"
    run.grow(
        f"meet|51|51|{quoted}|{quoted}",
        f"coord|52|52|{quoted}|4.5|52.0",
        f"{EVIL}|53|53|x",
        "stop|71|71|z",
    )
    until_shown(browser, run, "70")
    assert EVIL in browser.text("#holding-now")
    assert EVIL in browser.text("#letters")
    browser.click("#holding-now .holds:nth-child(2) .chip")
    browser.until("document.querySelector('#why .proof') !== null")
    assert EVIL in browser.text("#details")
    assert browser.run("window.evil") is None
    assert (
        browser.run("document.querySelectorAll('#page script, #page img, #live img').length") == 0
    )
    assert browser.complaints() == []


def test_what_is_left_out_is_said(browser: Browser, tmp_path: Path) -> None:
    feed = feed_of(limits=Limits(spans=5, items=40, changes=10, letters=2), window=50)
    with served(tmp_path, feed) as run:
        rows = [f"speed|{t}|{t}|v{t % 5}|k{t % 3}" for t in range(1, 200)]
        run.grow("?", "?", "?", *rows)
        browser.visit(run.page.url)
        browser.ready()
        browser.until("document.getElementById('left-out').textContent.includes('items up to')")
        said = browser.text("#left-out")
        assert "The page keeps what is latest. It has let go of" in said
        assert (
            "1 dead letter" in said
            and "items up to" in said
            and "intervals and events up to" in said
        )
        browser.visit("about:blank")


def test_a_program(browser: Browser, tmp_path: Path) -> None:
    feed = feed_of(horai.loads(PROGRAM, language="lars"))
    with served(tmp_path, feed) as run:
        browser.visit(run.page.url)
        run.grow("b|1|1|x", "b|3|3|y", "b|5|5|y")
        browser.ready()
        until_shown(browser, run, "4")
        assert browser.text("#holding-now").split("\n") == ["h 1", "y"]
        browser.click("#holding-now .chip")
        browser.until("document.querySelector('#why .proof') !== null")
        assert "h(y) holds at 3" in browser.text("#why")
        assert "this engine does not tell" in browser.text("#costs")
        assert browser.complaints() == []
        browser.visit("about:blank")


def test_the_token_is_asked_for(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path, token="open sesame") as run:
        run.grow(*ROWS)
        browser.visit(run.page.url)
        assert browser.complaints() == []
        browser.write("input[type=password]", "open sesame")
        browser.click("button")
        browser.ready()
        until_shown(browser, run, "40")
        assert "sesame" not in browser.run("document.cookie + location.href")
        assert browser.complaints() == []
        browser.visit("about:blank")


def test_the_end_of_the_server_is_told(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path) as run:
        run.grow(*ROWS)
        browser.visit(run.page.url)
        browser.ready()
    browser.until("document.getElementById('live-state').textContent.startsWith('no connection')")
    browser.visit("about:blank")
    browser.complaints()


def test_the_keyboard_works_as_on_pages_of_a_run(browser: Browser, run: Served) -> None:
    browser.press("t", Keys.ARROW_DOWN)
    browser.until("!document.getElementById('details').hidden")
    browser.press(Keys.ESCAPE)
    browser.until("document.getElementById('details').hidden")


def test_rules_of_two_languages(browser: Browser, tmp_path: Path) -> None:
    rules = horai.combine(
        horai.loads("initiatedAt(on(X)=true, T) :- happensAt(h(X), T)."),
        horai.loads(PROGRAM, language="lars"),
    )
    with served(tmp_path, feed_of(rules, clock="1s")) as run:
        browser.visit(run.page.url)
        run.grow("b|1|1|x", "b|13|13|y", "b|27|27|z", "b|41|41|z")
        browser.ready()
        until_shown(browser, run, "40")
        assert browser.text("#holding-now").split("\n") == ["on 3", "x y z"]
        browser.click("#holding-now .chip")
        browser.until("document.querySelector('#why .proof') !== null")
        assert "on(x)=true is initiated at 1" in browser.text("#why")
        assert browser.complaints() == []
        browser.visit("about:blank")


def test_light_and_dark(browser: Browser, run: Served) -> None:
    colour = "getComputedStyle(document.getElementById('live')).backgroundColor"
    dot = "document.querySelector('#holding-now .dot').style.background"
    before = browser.run(colour), browser.run(dot)
    browser.click("#theme")
    browser.until(f"{colour} !== '{before[0]}' && {dot} !== '{before[1]}'")
    assert browser.complaints() == []
