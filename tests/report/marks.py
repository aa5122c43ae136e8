# SPDX-License-Identifier: Apache-2.0
"""The visible data of a plot: the shapes inside the axes of an SVG, without grid and texts.

Used by tests of the pages. A shape outside the axes, or without any extent, is not counted, since it is
invisible.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

import matplotlib.image
import numpy as np

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
NUMBER = r"-?\d+(?:\.\d+)?"


@dataclass(frozen=True)
class Mark:
    """A bar, a line or an area, clipped to the axes: y grows downwards."""

    color: str
    left: float
    top: float
    right: float
    bottom: float
    points: int  # corners of the shape inside the axes

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top


def pictures(page: str) -> dict[str, str]:
    """Every plot of a page by its title."""
    found = re.findall(r"<h3>([^<]*)</h3>(?:<figure>)?<div[^>]*>(<svg.*?</svg>)", page, re.DOTALL)
    assert len(found) == page.count("<svg")
    assert len(dict(found)) == len(found)
    return dict(found)


def marks(svg: str) -> list[Mark]:
    """The marks in drawing order."""
    root = ElementTree.fromstring(svg)
    frames = {
        clip.get("id"): tuple(float(clip[0].get(key, "nan")) for key in ("x", "y", "width", "height"))
        for clip in root.iter(f"{SVG}clipPath")
    }
    found = []
    for path in _inside(root):
        clip = re.fullmatch(r"url\(#(\w+)\)", path.get("clip-path", ""))
        if path.tag != f"{SVG}path" or not clip:
            continue
        left, top, width, height = frames[clip[1]]
        corners = re.findall(rf"[MLC] ({NUMBER}) ({NUMBER})", path.get("d", ""))
        places = np.array(corners, dtype=float)
        low, high = (left, top), (left + width, top + height)
        seen = ((places >= np.array(low) - 0.01) & (places <= np.array(high) + 0.01)).all(axis=1)
        cut = np.clip(places, low, high)
        (x, y), (x_end, y_end) = cut.min(axis=0), cut.max(axis=0)
        mark = Mark(_color(path), x, y, x_end, y_end, int(seen.sum()))
        if mark.width > 0 or mark.height > 0:
            found.append(mark)
    return found


def cells(svg: str, rows: int, columns: int) -> list[list[bool]]:
    """For a plot that is one picture of this many cells: which of them are colored."""
    (picture,) = (one for one in _inside(ElementTree.fromstring(svg)) if one.tag == f"{SVG}image")
    data = base64.b64decode(picture.get(HREF, "").partition("base64,")[2])
    alpha = matplotlib.image.imread(io.BytesIO(data))[..., 3]
    if "scale(1 -1)" in picture.get("transform", ""):
        alpha = alpha[::-1]
    height, width = alpha.shape
    middle = [
        [
            alpha[(2 * y + 1) * height // (2 * rows), (2 * x + 1) * width // (2 * columns)]
            for x in range(columns)
        ]
        for y in range(rows)
    ]
    return [[bool(one > 0.5) for one in row] for row in middle]


def _inside(element: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """All elements except the axes' own lines and ticks."""
    for child in element:
        if not child.get("id", "").startswith("matplotlib.axis") and child.tag != f"{SVG}defs":
            yield child
            yield from _inside(child)


def _color(path: ElementTree.Element) -> str:
    style = dict(part.split(": ") for part in path.get("style", "").split("; "))
    return style["stroke"] if style.get("fill", "none") == "none" else style["fill"]
