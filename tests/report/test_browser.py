"""Pages in a real browser: opened, zoomed, searched, filtered, clicked and printed by a person."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from selenium.webdriver.common.keys import Keys
from tests.browsers import PATIENCE, Browser

import horai
from horai import io
from horai.io.times import TimeScale
from horai.report.page import PageInput, write_page
from horai.report.tracks import tracks_of_items
from horai.runtime.inputs import read_input
from horai.signals import areas_of

RULES = """
initiatedAt(moving(V)=Speed, T) :- happensAt(speed(V, Speed), T).
terminatedAt(moving(V)=slow, T) :- happensAt(stop(V), T).
terminatedAt(moving(V)=fast, T) :- happensAt(stop(V), T).
initiatedAt(near(V,W)=true, T) :- happensAt(meet(V, W), T).
terminatedAt(near(V,W)=true, T) :- happensAt(part(V, W), T).
happensAt(alarm(V), T) :- happensAt(part(V, W), T), holdsAt(near(V,W)=true, T).
"""
PLACES = "initiatedAt(seen(V)=true, T) :- happensAt(coord(V, _, _), T)."
ROWS = [
    *("speed|10|10|v1|slow", "coord|11|11|v1|4.0|52.0", "speed|30|30|v1|fast"),
    *("meet|40|40|v1|v2", "coord|60|60|v1|4.4|52.2", "part|80|80|v1|v2", "coord|90|90|v1|4.5|52.1"),
    *("speed|15|15|v2|slow", "coord|20|20|v2|4.2|51.9", "coord|70|70|v2|4.1|52.1"),
    *("stop|80|80|v1", "speed|25|25|v10|fast", "stop|50|50|v10", "speed|bad|50|v10|fast"),
]
AREA = {
    "type": "Feature",
    "properties": {"name": "harbour", "type": "port"},
    "geometry": {
        "type": "Polygon",
        "coordinates": [[[4.1, 52.0], [4.3, 52.0], [4.3, 52.1], [4.1, 52.0]]],
    },
}
EVIL = "<script>window.evil=1</script><img src=x onerror='window.evil=1'>"


def made(
    folder: Path, rules: horai.Rules, rows: object, unit: io.Unit | None = None, **settings: Any
) -> Path:
    """The page of a run, in a file."""
    items = read_input(rows, rules.schema, TimeScale(unit))
    result = rules.run(items, unit=unit, **settings)
    areas = areas_of({"type": "FeatureCollection", "features": [AREA]})
    given = PageInput(items, tracks_of_items(items), areas, ["rules.ec"], "horai why rules.ec")
    write_page(result, folder / "page.html", "Vessels & more", unit, given)
    return folder / "page.html"


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("page"), horai.loads(RULES + PLACES), ROWS)


@pytest.fixture
def page(browser: Browser, harbour: Path) -> Browser:
    browser.open(harbour)
    assert browser.complaints() == []
    return browser


def test_a_page_opens_and_says_what_it_has(page: Browser) -> None:
    assert page.text("h1") == "Vessels & more"
    tiles = page.text("#tiles").split("\n")
    assert tiles[tiles.index("intervals") - 1] == "7"
    assert tiles[tiles.index("derived event") - 1] == "1"
    assert tiles[tiles.index("items read") - 1] == "13"
    assert tiles[tiles.index("dead letter") - 1] == "1"
    assert page.text("#rows-count") == "18 lines in 3 groups"
    assert "bad-time" in page.text("#letters")
    assert page.run("document.querySelectorAll('#graphs .node').length") >= 8
    assert "moving" in page.text("#holding")
    assert "speed" in page.text("#happening")
    assert page.complaints() == []


def test_zoom_and_go_to_a_time(page: Browser) -> None:
    before = painted(page, "lanes")
    page.press("+")
    page.click("#in-view")
    page.press("+", "+")
    page.write("#go-to", "15" + Keys.ENTER)
    page.until("document.getElementById('table-count').textContent === '3 rows'")
    assert painted(page, "lanes") != before
    page.click("#zoom-all")
    page.until("document.getElementById('table-count').textContent === '8 rows'")
    assert page.complaints() == []


def test_search_and_names_filter_everything(page: Browser) -> None:
    page.press("/")
    page.press("v10")
    page.until("document.getElementById('rows-count').textContent === '3 lines in 1 group'")
    page.until("document.getElementById('table-count').textContent === '1 row'")
    assert "moving(v10)=fast" in page.text("#table-body")
    page.click("#all-names")
    page.until("document.getElementById('rows-count').textContent === '18 lines in 3 groups'")
    page.click("#names .chip:first-child")  # moving
    page.until("!document.getElementById('table-body').textContent.includes('moving')")
    assert page.text("#table-count") == "4 rows"
    assert "moving" not in page.text("#lengths")
    assert page.complaints() == []


def test_an_interval_is_clicked_and_read(page: Browser) -> None:
    x, y = place(page, "near(v1,v2)=true")
    page.click_at("#lanes", x, y)
    page.until("!document.getElementById('details').hidden")
    assert page.text("#details h3") == "near(v1,v2)=true"
    assert page.text("#details-when") == "from 41 until 81 (40)"
    assert "[41, 81)" in page.text("#details")
    assert "meet(v1)" in page.text("#details ul.events")
    proof = page.text("#why .proof")
    assert "near(v1,v2)=true is initiated at 40" in proof
    assert "meet|40|40|v1|v2" in proof
    assert "horai why rules.ec 'near(v1,v2)=true' --at 41" in page.text("#why .command")
    page.press(Keys.ESCAPE)
    page.until("document.getElementById('details').hidden")
    assert page.complaints() == []


def test_atoms_of_a_program_are_clicked_and_read(tmp_path: Path, browser: Browser) -> None:
    rules = horai.combine(
        horai.loads("initiatedAt(alarm(X)=true, T) :- happensAt(hot(X), T)."),
        horai.loads("hot(X) :- always warm(X) [1].", language="lars"),
    )
    path = tmp_path / "both.html"
    write_page(rules.run(["warm|4|4|a", "warm|5|5|a"], start=1, end=9), path, "both")
    browser.open(path)
    for what, reason in (("hot(a)", "warm(a) at 5"), ("alarm(a)=true", "hot(a) happens at 5")):
        x, y = place(browser, what)
        browser.click_at("#lanes", x, y)
        browser.until(f"document.querySelector('#details h3')?.textContent === '{what}'")
        assert reason in browser.text("#why .proof")
    assert browser.complaints() == []


def test_an_event_tells_its_arguments_and_its_row(page: Browser) -> None:
    x, y = place(page, "meet(v1)")
    page.click_at("#lanes", x, y)
    page.until("!document.getElementById('details').hidden")
    assert "v1, v2" in page.text("#details")
    assert "<memory>:4" in page.text("#details")


def test_the_keyboard_goes_from_interval_to_interval(page: Browser) -> None:
    page.press("t", Keys.ARROW_DOWN)
    page.until("!document.getElementById('details').hidden")
    assert page.text("#details h3") == "moving(v1)=fast"
    page.press(Keys.ARROW_DOWN)
    page.until("document.querySelector('#details h3').textContent === 'moving(v1)=slow'")
    page.press("g")
    page.until("document.getElementById('rows-count').textContent.includes('names')")
    assert page.complaints() == []


def test_the_slider_moves_the_map(page: Browser) -> None:
    before = painted(page, "map-canvas")
    slide = """
    (s => { s.value = arguments[0]; s.dispatchEvent(new Event('input', {bubbles: true})) })
    (document.getElementById('map-slider'))"""
    page.run(slide, 20)
    page.until("document.getElementById('map-time').textContent === '30'")
    middle = painted(page, "map-canvas")
    page.run(slide, 55)
    page.until("document.getElementById('map-time').textContent === '65'")
    assert len({before, middle, painted(page, "map-canvas")}) == 3
    assert page.complaints() == []


def test_the_table_sorts_and_saves(page: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    page.click("#table-head .length")
    first = "document.querySelector('#table-body .line .what').textContent"
    page.until(f"{first}.startsWith('moving(v2)') || {first}.startsWith('seen')")
    page.click("#table-head .what")
    page.until(f"{first} === 'moving(v1)=fast'")
    folder = tmp_path_factory.getbasetemp() / "browser"
    saved = [folder / "intervals.csv", folder / "intervals.jsonl"]
    for path in saved:
        path.unlink(missing_ok=True)
    page.click("#save-csv")
    page.click("#save-jsonl")
    began = time.monotonic()
    while not all(map(Path.exists, saved)) and time.monotonic() < began + PATIENCE:
        time.sleep(0.05)
    lines = saved[0].read_text().splitlines()
    assert lines[0] == "what,kind,start,end,start_time,end_time"
    assert "moving(v1)=fast,fluent,31,81,," in lines
    assert '"near(v1,v2)=true",fluent,41,81,,' in lines
    rows = [json.loads(line) for line in saved[1].read_text().splitlines()]
    assert {"what": "alarm(v1)", "kind": "event", "start": 80} in rows
    assert len(rows) == len(lines) - 1 == 8


def test_the_graph_leads_to_the_timeline(page: Browser) -> None:
    nodes = "[...document.querySelectorAll('#graphs .node')]"
    near = f"{nodes}.find(node => node.textContent.startsWith('near'))"
    page.run(f"{near}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    page.until("document.getElementById('rows-count').textContent === '2 lines in 2 groups'")
    assert page.complaints() == []


def test_light_dark_and_paper(page: Browser) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.run(colour)
    page.click("#theme")
    page.until(f"{colour} !== '{light}'")
    paper = page.driver.print_page()
    assert len(paper) > 10_000
    assert page.run(colour) != light
    assert page.complaints() == []


def test_on_a_narrow_screen_everything_has_the_whole_width(browser: Browser, harbour: Path) -> None:
    before = browser.driver.get_window_size()
    try:
        browser.driver.set_window_size(330, 900)
        browser.open(harbour)
        assert browser.run("document.documentElement.scrollWidth <= innerWidth")
        wide = "document.querySelector('{}').getBoundingClientRect().width"
        whole = browser.run(wide.format("#page")) - 24  # between the margins
        for part in ("#tiles", "#timeline .frame", "#map .frame", "#table-scroll"):
            assert browser.run(wide.format(part)) > whole - 4, part
    finally:
        browser.driver.set_window_size(before["width"], before["height"])
    assert browser.complaints() == []


def test_names_of_strangers_do_nothing(browser: Browser, tmp_path: Path) -> None:
    rows = [
        {"type": "speed", "time": 5, "args": [EVIL, "</script>"]},
        {"type": "meet", "time": 6, "args": [EVIL, "javascript:alert(1)"]},
        {"type": "stop", "time": 9, "args": ["=1+1"]},
    ]
    browser.open(made(tmp_path, horai.loads(RULES), rows))
    browser.run("document.getElementById('open-all').click()")
    browser.press("t", Keys.ARROW_DOWN)
    browser.until("!document.getElementById('details').hidden")
    assert EVIL in browser.text("#details").replace("\\'", "'")
    assert browser.run("window.evil") is None
    assert browser.run("document.querySelectorAll('#page script, #page img').length") == 0
    assert browser.complaints() == []


def test_times_are_dates_where_the_unit_is_known(browser: Browser, tmp_path: Path) -> None:
    begin, end = "2024-02-29T23:59:50Z", "2024-03-01T06:30:00Z"
    rows = [f"speed|{begin}|{begin}|v1|slow", f"stop|{end}|{end}|v1"]
    browser.open(made(tmp_path, horai.loads(RULES), rows, "s"))
    assert "from 2024-02-29 23:59:50 until 2024-03-01 06:30:00, UTC" in browser.text("#about")
    assert "2024-02-29 23:59:51" in browser.text("#table-body")
    assert "6 h 30 min" in browser.text("#table-body")
    browser.write("#go-to", "2024-03-01 03:00" + Keys.ENTER)
    browser.until("document.getElementById('go-to').validity.valid")
    assert browser.complaints() == []


def test_answer_streams_are_a_choice(browser: Browser, tmp_path: Path) -> None:
    text = "on(X) :- p(X), not off(X).\noff(X) :- p(X), not on(X).\n"
    rules = horai.loads(text, language="lars")
    browser.open(made(tmp_path, rules, ["p|1|1|a", "p|3|3|b"], models="all"))
    assert browser.text("#table-count") == "0 rows"
    choose = """
    (s => { s.value = arguments[0]; s.dispatchEvent(new Event('change')) })
    (document.getElementById('stream'))"""
    browser.run(choose, "1")
    browser.until("document.getElementById('table-count').textContent === '4 rows'")
    browser.run(choose, "2")
    browser.until("document.getElementById('table-count').textContent === '2 rows'")
    assert "off(a)" in browser.text("#table-body")
    assert browser.complaints() == []


def test_a_run_without_anything_is_a_page_too(browser: Browser, tmp_path: Path) -> None:
    browser.open(made(tmp_path, horai.loads(RULES), ["stop|5|5|x"]))
    assert browser.text("#table-count") == "0 rows"
    assert browser.complaints() == []


@pytest.mark.slow
def test_a_million_intervals(browser: Browser, tmp_path: Path) -> None:
    rules = horai.loads("initiatedAt(mode(X)=K, T) :- happensAt(up(X,K), T).")
    dice = np.random.default_rng(1)
    number = 1_200_000
    table = {
        "type": np.full(number, "up"),
        "time": np.sort(dice.integers(0, 10_000_000, number)),
        "a": np.char.add("v", dice.integers(0, 4000, number).astype(str)),
        "b": np.char.add("k", dice.integers(0, 20, number).astype(str)),
    }
    path = made(tmp_path, rules, pa.table(table))
    assert path.stat().st_size < 60_000_000
    browser.open(path)
    shown = browser.text("#tiles").split("\n")
    assert int(shown[shown.index("intervals") - 1].replace(",", "")) > 1_000_000
    browser.press("+", "+", "+")
    browser.write("#search", "v3999")
    browser.until("document.getElementById('rows-count').textContent.endsWith('in 1 group')")
    assert browser.complaints() == []


def painted(page: Browser, canvas: str) -> int:
    """A number for what is on a canvas."""
    page.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return hash(page.run(f"document.getElementById('{canvas}').toDataURL()"))


def place(page: Browser, label: str) -> tuple[float, float]:
    """Where a lane stands on the canvas of the timeline as its tip tells."""
    find = """(label => {
      const lanes = document.getElementById('lanes'), tip = document.getElementById('tip');
      const { left, top, width, height } = lanes.getBoundingClientRect();
      for (let y = 26; y < height; y += 6) for (let x = 190; x < width; x += 3) {
        const where = { clientX: left + x, clientY: top + y, bubbles: true };
        lanes.dispatchEvent(new PointerEvent('pointermove', where));
        if (!tip.hidden && tip.firstChild.textContent === label) return [x, y];
      }
      return null;
    })(arguments[0])"""
    page.run("document.getElementById('timeline').scrollIntoView()")
    found = page.run(find, label)
    assert found is not None, f"{label} is nowhere to be seen"
    return found[0] + 3, found[1] + 3
