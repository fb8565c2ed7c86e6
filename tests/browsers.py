"""A real browser for tests of pages: Chromium without a window, started once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --hide-scrollbars "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-dev-shm-usage --window-size=1300,900"
)
PATIENCE = 60  # seconds, on a machine that has much else to do


class Browser:
    """The browser with a page in it."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, page: Path) -> None:
        """Open a page of a run, and wait until it is all there."""
        self.visit(page.as_uri())
        self.ready()

    def visit(self, address: str) -> None:
        """Open an address."""
        self.driver.get(address)

    def ready(self) -> None:
        """Wait until a page of a run is all there."""
        self.until("document.documentElement.dataset.ready === '1'")

    def run(self, script: str, *given: object) -> Any:
        """The value of an expression."""
        return self.driver.execute_script(f"return ({script})", *given)

    def until(self, condition: str) -> None:
        """Wait until an expression is true."""
        WebDriverWait(self.driver, PATIENCE, 0.05).until(lambda _: self.run(condition))

    def text(self, selector: str) -> str:
        """The text of an element, as it can be read."""
        return str(self.driver.find_element(By.CSS_SELECTOR, selector).text)

    def click(self, selector: str) -> None:
        """Click an element."""
        element = self.driver.find_element(By.CSS_SELECTOR, selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def press(self, *keys: str) -> None:
        """Press keys where the focus is."""
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def write(self, selector: str, text: str) -> None:
        """Write into a field, in the place of what is there."""
        field = self.driver.find_element(By.CSS_SELECTOR, selector)
        field.clear()
        field.send_keys(text + Keys.NULL)

    def click_at(self, selector: str, x: float, y: float) -> None:
        """Click at a place of an element, counted from its upper left corner."""
        element = self.driver.find_element(By.CSS_SELECTOR, selector)
        size = element.size
        to = (int(x - size["width"] / 2), int(y - size["height"] / 2))
        actions = webdriver.ActionChains(self.driver)
        actions.move_to_element_with_offset(element, *to).click().perform()

    def complaints(self) -> list[str]:
        """What the browser complained about since it was last asked."""
        log = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [str(entry["message"]) for entry in log]


@contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """Chromium with a folder of its own, which saves files there."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    control = shutil.which("chromedriver")
    if program is None or control is None:
        raise RuntimeError("tests of pages need chromium and chromedriver: run `make install`")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*FLAGS.split(), f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    saved = {"download.default_directory": str(folder), "download.prompt_for_download": False}
    options.add_experimental_option("prefs", saved)
    driver = webdriver.Chrome(options=options, service=Service(control))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
