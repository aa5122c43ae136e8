# SPDX-License-Identifier: Apache-2.0
"""The site of the manual (Sphinx with MyST): `make docs` writes it into build/site.

The pages are the Markdown files of this directory, as they are read on a forge. The order of the sidebar is
that of docs/README.md: its sections are captions, the pages that a section links are its entries. The pages
that docs/results/README.md links from its own directory are entries below it.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

project = "Bulkhead"
author = "the Bulkhead authors"
project_copyright = author  # without a year: the site is the same each time
html_title = "Bulkhead"
sys.path.insert(0, str(Path(__file__).parent))  # glossary_links.py
extensions = ["myst_parser", "glossary_links"]
root_doc = "README"
exclude_patterns = ["build", "site", "**/.*"]
html_theme = "furo"
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["site"]
html_css_files = ["narrow.css"]
html_js_files = [("scrollers.js", {"defer": "defer"})]
myst_heading_anchors = 6
# Files of the repository that pages link are not part of the site: their links stay as they are.
suppress_warnings = ["myst.xref_missing"]

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_PAGE = re.compile(r"\]\(([\w./-]+)\.md\)")
_INDEX = "results/README"
# Sphinx and its theme leave out what a screen reader needs: the level of the sidebar's captions, and names
# that tell the two sidebars apart. The empty corner of a table is no heading of anything.
_FOR_SCREEN_READERS = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="This page">',
    '<th class="head"><p></p></th>': "<td></td>",
}


def _toctree(pages: list[str], *options: str) -> str:
    return "\n".join(["```{toctree}", ":hidden:", *options, "", *pages, "```"])


def _sidebar(text: str) -> str:
    """Hidden tables of contents, one for each section of the manual's first page."""
    parts = _SECTION.split(text)
    made = []
    seen: set[str] = set()
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        pages = [page for page in dict.fromkeys(_PAGE.findall(body)) if page not in seen]
        seen.update(pages)
        made.append(_toctree(pages, f":caption: {title}"))
    return "\n\n".join(made)


def _read(_: Any, name: str, content: list[str]) -> None:
    if name == root_doc:
        content[0] += "\n\n" + _sidebar(content[0])
    elif name == _INDEX:
        pages = [page for page in dict.fromkeys(_PAGE.findall(content[0])) if "/" not in page]
        content[0] += "\n\n" + _toctree(pages)


def _finish(app: Any, failure: Exception | None) -> None:
    """Completes the pages, and writes the first one also by the name that a directory is opened with."""
    if failure is not None or app.builder.name != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        text = made = path.read_text(encoding="utf-8")
        for left, completed in _FOR_SCREEN_READERS.items():
            made = made.replace(left, completed)
        if made != text:
            path.write_text(made, encoding="utf-8")
    shutil.copyfile(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", _read)
    app.connect("build-finished", _finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
