# SPDX-License-Identifier: Apache-2.0
"""The manual's site in a browser: every page fits a narrow screen, and has its files and pictures. A page of
each kind can be read by everybody, in light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from .browser import NARROW, SCREENS, Reader, Screen, chromium
from .site import built_site

pytestmark = pytest.mark.slow
# One of each kind: the first page, prose with code, a picture, wide tables, tables that are generated.
CHECKED = (
    "index.html",
    "start/1-walls.html",
    "concepts/colors.html",
    "design/decisions.html",
    "reference/features.html",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def site() -> Path:
    return built_site()


def test_every_page_fits_a_narrow_screen_and_is_whole(site: Path, browser: Browser) -> None:
    reader = Reader(browser, Screen(NARROW, "light"))
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 50
    assert {str(page): seen for page in pages if (seen := reader.seen_on(page))} == {}


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_pages_can_be_read_by_everybody(site: Path, browser: Browser, screen: Screen) -> None:
    reader = Reader(browser, screen)
    assert {name: found for name in CHECKED if (found := reader.problems_of(site / name))} == {}
