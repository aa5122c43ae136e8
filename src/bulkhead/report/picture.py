# SPDX-License-Identifier: Apache-2.0
"""A piece of SVG as an element of a page: its ids are its own, and a screen reader hears what it shows.

Every page that has pictures puts them in by the filter `picture` of its template engine. Matplotlib gives the
elements of each picture the same ids; on a page with several of them each id may stand once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count

from markupsafe import Markup, escape

_ID = re.compile(r'(\bid=")([^"]+)(")')
_REFERENCE = re.compile(r'(url\(#|href="#)([^)"]+)')


def pictures() -> Callable[[str, str], Markup]:
    """The filter for one page: SVG of ours and a title give what the page shows."""
    numbers = count(1)

    def picture(svg: str, title: str) -> Markup:
        number = next(numbers)
        text = _ID.sub(rf"\g<1>\g<2>_in_{number}\g<3>", str(svg))
        text = _REFERENCE.sub(rf"\g<1>\g<2>_in_{number}", text)
        return Markup(text.replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1))  # noqa: S704 (our own)

    return picture
