# SPDX-License-Identifier: Apache-2.0
"""The template engine of all pages: texts are escaped, and an unknown name in a page is an error."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from bulkhead.report.picture import pictures


def page_templates() -> Environment:
    """An environment with the templates in this directory, `NAME.html.j2`, for one page, whose pictures it
    numbers."""
    made = Environment(
        loader=PackageLoader("bulkhead.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["picture"] = pictures()
    return made
