# SPDX-License-Identifier: Apache-2.0
"""`make docs`: the site is complete, has no duplicates for a screen reader, and needs no network."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest
from bs4 import BeautifulSoup

from ..pages.site import built_site

ROOT = Path(__file__).parents[2]
WITHOUT_HEADING = ("search.html", "genindex.html")  # the theme's own pages


@pytest.fixture(scope="module")
def site() -> Path:
    return built_site()


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, BeautifulSoup]:
    made = {
        path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for path in sorted(site.rglob("*.html"))
    }
    assert len(made) > 50
    return made


def test_links_and_pictures_are_there(site: Path, pages: dict[Path, BeautifulSoup]) -> None:
    ids = {path: {tag["id"] for tag in page.find_all(id=True)} for path, page in pages.items()}
    wrong = []
    for path, page in pages.items():
        for tag, attribute in (("a", "href"), ("img", "src"), ("link", "href"), ("script", "src")):
            for found in page.find_all(tag, {attribute: True}):
                address = str(found[attribute])
                file, _, anchor = unquote(address.partition("?")[0]).partition("#")
                target = (path.parent / file).resolve() if file else path
                if address.startswith(("http:", "https:", "mailto:", "data:")) or target in (
                    ROOT,
                    *ROOT.parents,
                ):
                    continue
                if not target.exists() or (anchor and target in ids and anchor not in ids[target]):
                    wrong.append(f"{path.relative_to(site)}: {address}")
    assert wrong == []


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, BeautifulSoup]) -> None:
    remote = [
        f"{path.relative_to(site)}: {found}"
        for path, page in pages.items()
        for tag, attribute in (("img", "src"), ("link", "href"), ("script", "src"), ("iframe", "src"))
        for found in page.find_all(tag, {attribute: True})
        if str(found[attribute]).startswith(("http", "//"))
    ]
    assert remote == []


def test_pages_can_be_read_aloud(site: Path, pages: dict[Path, BeautifulSoup]) -> None:
    for path, page in pages.items():
        name = path.relative_to(site)
        ids = [tag["id"] for tag in page.find_all(id=True)]
        assert len(ids) == len(set(ids)), f"{name}: an id is there twice"
        assert page.html is not None and page.html.get("lang"), name
        assert page.title is not None and page.title.text.strip(), name
        if name.name not in WITHOUT_HEADING:
            assert len(page.find_all("h1")) == 1, name
        assert all(str(picture.get("alt", "")).strip() for picture in page.find_all("img")), (
            f"{name}: no alt text"
        )


def test_the_sidebar_has_every_page(pages: dict[Path, BeautifulSoup], site: Path) -> None:
    (side,) = pages[site / "index.html"].select(".sidebar-tree")
    entries = {str(found["href"]) for found in side.find_all("a", href=True)}
    assert {
        "concepts/colors.html",
        "start/README.html",
        "reference/requirements.html",
        "results/coloring.html",
        "design/time.html",
    } <= entries


def test_the_first_use_of_a_term_leads_to_the_glossary(pages: dict[Path, BeautifulSoup], site: Path) -> None:
    """Once a page; not in headings and code."""
    lesson = pages[site / "start/1-walls.html"]
    links = [str(link["href"]) for link in lesson.select("article a[href*='glossary.html#']")]
    assert links.count("../glossary.html#term-domain") == 1
    assert len(links) == len(set(links)) >= 8
    anchors = {str(cell["id"]) for cell in pages[site / "glossary.html"].select("td[id]")}
    assert {link.partition("#")[2] for link in links} <= anchors
    assert lesson.select("h1 a[href*='glossary'], pre a") == []
