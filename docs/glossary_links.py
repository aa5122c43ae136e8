# SPDX-License-Identifier: Apache-2.0
"""Sphinx extension: in lessons and concepts, the first use of each term leads to its row of the glossary.

A term is a cell of the glossary's first column: several names are divided by commas, a short form stands in
parentheses. Code, headings and links stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx import addnodes

GLOSSARY = "glossary"
LINKED = ("start/", "concepts/")
_KEPT = (nodes.literal, nodes.literal_block, nodes.reference, addnodes.pending_xref, nodes.title, nodes.raw)


def names_of(term: str) -> list[str]:
    """`guest-physical address (IPA)` as its two names."""
    long, _, short = term.partition("(")
    return [name.strip() for name in (*long.split(","), short.strip(" )")) if name.strip()]


def anchor_of(term: str) -> str:
    return "term-" + re.sub(r"\W+", "-", names_of(term)[0].lower()).strip("-")


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("doctree-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _read(app: Any, doctree: nodes.document) -> None:
    page = app.env.current_document.docname if hasattr(app.env, "current_document") else app.env.docname
    if page == GLOSSARY:
        for cell in _cells(doctree):
            cell["ids"].append(anchor_of(cell.astext()))
    elif page.startswith(LINKED):
        text = (app.env.srcdir / f"{GLOSSARY}.md").read_text(encoding="utf-8")
        terms = re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE)[2:]
        _link(doctree, {name.lower(): anchor_of(term) for term in terms for name in names_of(term)})


def _cells(doctree: nodes.document) -> Iterator[nodes.entry]:
    for body in doctree.findall(nodes.tbody):
        for row in body.children:
            cell = row.children[0]
            assert isinstance(cell, nodes.entry)
            yield cell


def _link(doctree: nodes.document, anchors: dict[str, str]) -> None:
    longest_first = sorted(anchors, key=len, reverse=True)
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, longest_first))})(?:s|es)?\b", re.IGNORECASE)
    seen: set[str] = set()
    for text in list(doctree.findall(nodes.Text)):
        if not _is_prose(text):
            continue
        parts: list[nodes.Node] = []
        end = 0
        for found in pattern.finditer(text):
            anchor = anchors[found[1].lower()]
            if anchor in seen:
                continue
            seen.add(anchor)
            link = nodes.reference("", found[0], refuri=f"../{GLOSSARY}.html#{anchor}", internal=True)
            parts += [nodes.Text(text[end : found.start()]), link]
            end = found.end()
        if parts:
            assert text.parent is not None
            text.parent.replace(text, [*parts, nodes.Text(text[end:])])


def _is_prose(text: nodes.Text) -> bool:
    node: Any = text.parent
    while node is not None:
        if isinstance(node, _KEPT):
            return False
        node = node.parent
    return True
