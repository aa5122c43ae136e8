# SPDX-License-Identifier: Apache-2.0
"""SVG as an element of a page, with unique ids and a label for screen readers.

On a narrow screen a picture keeps the size at which its labels can be read. It scrolls in its own box, which
the keyboard can reach.

Every page with pictures inserts them by the filter `picture` of its template engine. Matplotlib uses the same
ids in each picture, but on a page each id may occur only once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count

from markupsafe import Markup, escape

_ID = re.compile(r'(\bid=")([^"]+)(")')
_REFERENCE = re.compile(r'(url\(#|href="#)([^)"]+)')


def pictures() -> Callable[[str, str], Markup]:
    """The filter for one page: takes our own SVG and a title, and returns the element."""
    numbers = count(1)

    def picture(svg: str, title: str) -> Markup:
        number = next(numbers)
        text = _ID.sub(rf"\g<1>\g<2>_in_{number}\g<3>", str(svg))
        text = _REFERENCE.sub(rf"\g<1>\g<2>_in_{number}", text)
        text = text.replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1)
        return Markup(f'<div class="scroll" tabindex="0">{text}</div>')  # noqa: S704 (our own)

    return picture
