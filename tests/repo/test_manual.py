# SPDX-License-Identifier: Apache-2.0
"""The manual: the length of pages, all of them can be reached, and no link is broken."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

import command_reference
import hypercall_reference
import key_reference
import layout_reference
import pictures
import requirements
import result_reference
import syscall_reference

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])
MOST_WORDS = {"README.md": 450, "docs/concepts": 800, "docs/start": 1000}
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
_BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def text_of(page: Path) -> str:
    """The text without blocks of code."""
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))


def anchor_of(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain.replace("`", "").lower()).strip().replace(" ", "-")


def anchors_of(page: Path) -> set[str]:
    found: dict[str, int] = {}
    anchors = set()
    for heading in re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE):
        anchor = anchor_of(heading)
        anchors.add(anchor if anchor not in found else f"{anchor}-{found[anchor]}")
        found[anchor] = found.get(anchor, 0) + 1
    return anchors


def links_of(page: Path) -> list[tuple[str, Path, str]]:
    """Links as written, with file and anchor."""
    made = []
    for groups in _LINK.findall(text_of(page)):
        link = groups[0] or groups[1]
        if not re.match(r"[a-z]+:", link):
            file, _, anchor = unquote(link).partition("#")
            made.append((link, (page.parent / file).resolve() if file else page, anchor))
    return made


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    wrong = [
        link
        for link, file, anchor in links_of(page)
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors_of(file))
    ]
    assert wrong == []


def test_every_page_is_reached_from_the_manual() -> None:
    reached, todo = set(), [DOCS / "README.md"]
    while todo:
        page = todo.pop()
        if page not in reached:
            reached.add(page)
            todo += [file for _, file, _ in links_of(page) if file.suffix == ".md" and file.exists()]
    assert [str(page.relative_to(ROOT)) for page in DOCS.rglob("*.md") if page not in reached] == []


@pytest.mark.parametrize("place", MOST_WORDS)
def test_pages_are_short(place: str) -> None:
    pages = [ROOT / place] if place.endswith(".md") else sorted((ROOT / place).glob("*.md"))
    words = {page.name: len(text_of(page).split()) for page in pages}
    assert words and {name: n for name, n in words.items() if n > MOST_WORDS[place]} == {}


def test_terms_of_the_glossary_are_in_order() -> None:
    terms = [
        match[1].lower()
        for match in re.finditer(
            r"^\| ([^|]+) \|", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE
        )
    ][2:]
    assert len(terms) > 40
    assert terms == sorted(terms)


def test_the_matrix_of_requirements_is_current() -> None:
    """`scripts/requirements.py` writes it."""
    assert requirements.PAGE.read_text(encoding="utf-8") == requirements.page_of(
        requirements.read(), requirements.tests_of()
    )


def test_a_requirement_that_is_built_has_tests() -> None:
    tests = requirements.tests_of()
    groups = requirements.read()
    assert [
        one.id for group in groups.values() for one in group if not one.is_open and not tests[one.id]
    ] == []


def test_a_test_of_no_requirement_is_found() -> None:
    with pytest.raises(requirements.BadRequirements, match="there is no Z1"):
        requirements.page_of(requirements.read(), requirements.tests_of() | {"Z1": {"x"}})


@pytest.mark.parametrize("name", pictures.DRAWN)
def test_pictures_are_as_they_would_be_drawn(name: str) -> None:
    """`scripts/pictures.py` draws them."""
    assert (pictures.PICTURES / f"{name}.svg").read_text(encoding="utf-8") == pictures.svg_of(name)


GENERATED = {
    **key_reference.pages(),
    **layout_reference.pages(),
    command_reference.PAGE: command_reference.page(),
    hypercall_reference.PAGE: hypercall_reference.page(),
    result_reference.PAGE: result_reference.page(),
    syscall_reference.PAGE: syscall_reference.page(),
}


@pytest.mark.parametrize("page", GENERATED, ids=lambda page: page.name)
def test_pages_that_a_script_writes_are_current(page: Path) -> None:
    """Each of them names the script that writes it."""
    assert page.read_text(encoding="utf-8") == GENERATED[page]
