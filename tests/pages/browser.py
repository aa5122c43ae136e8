# SPDX-License-Identifier: Apache-2.0
"""Looks at pages in headless Chromium, as readers have them: on a wide and a narrow screen, light and dark.

Playwright drives the browser of the machine (Debian's package). axe-core checks what a screen reader needs,
and the contrast of text. It does not look into pictures; labels.js computes the contrast of labels there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page, sync_playwright

PROGRAM = "chromium-headless-shell"
NARROW, WIDE = 360, 1200  # px; the narrow one is that of a small telephone
_LABELS = Path(__file__).with_name("labels.js").read_text(encoding="utf-8")
_MISSING_PICTURES = """async () => {
    const missing = [];
    for (const picture of document.images) {
        picture.loading = "eager";
        await picture.decode().catch(() => missing.push(picture.src));
    }
    return missing;
}"""
# axe-core would read style sheets once more (preload), which a browser forbids a page that is a file.
_CHECK = "axe.run({resultTypes: ['violations'], preload: false})"


@dataclass(frozen=True)
class Screen:
    width: int
    scheme: Literal["light", "dark"]

    def __str__(self) -> str:
        return f"{self.width} px, {self.scheme}"


SCREENS = tuple(Screen(width, scheme) for width in (NARROW, WIDE) for scheme in ("light", "dark"))


@contextmanager
def chromium() -> Iterator[Browser]:
    """Skips where the machine has no browser: `make test` installs it."""
    program = shutil.which(PROGRAM)
    if program is None:
        pytest.skip(f"there is no {PROGRAM}: scripts/setup browser installs it")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program)
        yield browser
        browser.close()


class Reader:
    """One who reads pages on one screen, without network, and notes what is wrong with them."""

    def __init__(self, browser: Browser, screen: Screen) -> None:
        self._page: Page = browser.new_context(
            viewport={"width": screen.width, "height": 800}, color_scheme=screen.scheme, offline=True
        ).new_page()
        self._heard: list[str] = []
        self._page.on("requestfailed", lambda request: self._heard.append(f"not loaded: {request.url}"))
        self._page.on("pageerror", lambda error: self._heard.append(f"script: {error}"))
        self._page.on(
            "console",
            lambda message: self._heard.append(message.text) if message.type == "error" else None,
        )

    def seen_on(self, path: Path) -> list[str]:
        """Missing files, errors of scripts, and a page that is wider than the screen."""
        self._heard.clear()
        self._page.goto(path.as_uri())
        missing = [f"no picture: {name}" for name in self._page.evaluate(_MISSING_PICTURES)]
        beyond = self._page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return [*self._heard, *missing, *([f"{beyond} px wider than the screen"] if beyond > 0 else [])]

    def problems_of(self, path: Path) -> list[str]:
        """What seen_on() finds, then what axe-core does, and labels in pictures that can hardly be read."""
        seen = self.seen_on(path)
        self._page.evaluate(AXE_SCRIPT)
        found: dict[str, Any] = self._page.evaluate(_CHECK)
        assert found["passes"], "axe-core checked nothing"
        wrong = [
            f"{violation['id']}: {node['html'][:100]}"
            for violation in found["violations"]
            for node in violation["nodes"]
        ]
        return [*seen, *wrong, *self._page.evaluate(_LABELS)]
