# SPDX-License-Identifier: Apache-2.0
"""Names of Python classes: each is used once in the tool, so that a name in an error or a page is
unambiguous."""

from __future__ import annotations

import re
from collections import defaultdict

from bulkhead.env.paths import repository

_CLASS = re.compile(r"^class (\w+)", re.MULTILINE)


def test_each_class_has_a_name_of_its_own() -> None:
    package = repository() / "src/bulkhead"
    places: dict[str, list[str]] = defaultdict(list)
    for file in sorted(package.rglob("*.py")):
        for name in _CLASS.findall(file.read_text(encoding="utf-8")):
            places[name].append(str(file.relative_to(package)))
    assert len(places) > 100
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
