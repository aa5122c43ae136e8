# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/requirements.md: each requirement with the tests, proofs and examples that show it.

    PYTHONPATH=src:scripts build/venv/bin/python scripts/requirements.py [--check]

The texts are in docs/reference/requirements.yaml. A test names a requirement in its own name (`test_b2_…`,
`TEST(…, B2_…)`), by `pytest.mark.req("B2")`, at the start of its docstring, or as (B2) in a C++ comment.
`--check` writes nothing, and ends 1 if the page is not what would be written.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from generated import ROOT, write_or_check

SOURCE = ROOT / "docs/reference/requirements.yaml"
PAGE = ROOT / "docs/reference/requirements.md"
PROOFS = ROOT / "docs/design/proofs.md"
_IN_PYTHON = (
    re.compile(r"def test_([a-z]\d+)_"),
    re.compile(r"mark\.req\(([^)]*)\)"),
    re.compile(r'"""([A-Z]\d+(?:, [A-Z]\d+)*):'),
)
_IN_CPP = (re.compile(r"TEST(?:_[FP])?\(\w+, ([A-Z]\d+)_"), re.compile(r"^//.*\(([A-Z]\d+)\)", re.MULTILINE))
_ID = re.compile(r"[A-Za-z]\d+")
_LEVELS = ("L1", "L2", "L3")  # of caches, in names of tests


class BadRequirements(ValueError):
    """The file of requirements, or a test, names something that does not exist; the text says what."""


@dataclass(frozen=True)
class Requirement:
    """One requirement: its id and text, and its other keys in the file."""

    id: str
    text: str
    page: str
    is_open: bool
    examples: tuple[str, ...]
    proofs: tuple[str, ...]


def read(source: Path = SOURCE) -> dict[str, list[Requirement]]:
    """Requirements by group. Raises BadRequirements."""
    groups: dict[str, list[Requirement]] = {}
    seen: set[str] = set()
    proved = set(re.findall(r"^\| `(\w+)` \|", PROOFS.read_text(encoding="utf-8"), re.MULTILINE))
    for group in YAML(typ="safe").load(source.read_text(encoding="utf-8")):
        groups[group["group"]] = [
            _requirement(id_, one, group.get("page", ""), proved)
            for id_, one in group["requirements"].items()
        ]
        for one in groups[group["group"]]:
            if one.id in seen:
                raise BadRequirements(f"{one.id} is there twice")
            seen.add(one.id)
    return groups


def _requirement(id_: str, raw: Mapping[str, Any], page: str, proved: set[str]) -> Requirement:
    unknown = set(raw) - {"text", "page", "state", "examples", "proofs"}
    if unknown or raw.get("state", "open") != "open":
        raise BadRequirements(f"{id_}: {', '.join(sorted(unknown)) or 'state'} is not known")
    made = Requirement(
        id_,
        raw["text"],
        raw.get("page", page),
        "state" in raw,
        tuple(raw.get("examples", ())),
        tuple(raw.get("proofs", ())),
    )
    missing = [name for name in made.examples if _example(name) is None]
    missing += [name for name in made.proofs if name not in proved]
    if made.page and not (ROOT / "docs" / made.page).exists():
        missing.append(made.page)
    if missing:
        raise BadRequirements(f"{id_}: there is no {', '.join(missing)}")
    return made


def _example(name: str) -> Path | None:
    for directory in ("examples", "experiments"):
        path = ROOT / directory / f"{name}.yaml"
        if path.exists():
            return path
    return None


def tests_of(directory: Path = ROOT / "tests") -> dict[str, set[str]]:
    """By requirement: the files with tests that name it."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in sorted(directory.rglob("*")):
        patterns = {".py": _IN_PYTHON, ".cpp": _IN_CPP}.get(file.suffix, ())
        for pattern in patterns:
            for match in pattern.findall(file.read_text(encoding="utf-8")):
                for id_ in {id_.upper() for id_ in _ID.findall(match)} - {*_LEVELS}:
                    found[id_].add(str(file.relative_to(directory.parent)))
    return found


def page_of(groups: Mapping[str, list[Requirement]], tests: Mapping[str, Collection[str]]) -> str:
    """The page's text. Raises BadRequirements if a test names a requirement that does not exist."""
    known = {one.id for group in groups.values() for one in group}
    open_ones = sum(one.is_open for group in groups.values() for one in group)
    if unknown := {id_: files for id_, files in tests.items() if id_ not in known}:
        raise BadRequirements(
            "; ".join(f"{', '.join(files)}: there is no {id_}" for id_, files in unknown.items())
        )
    lines = [
        "<!-- Written by scripts/requirements.py from requirements.yaml and the tests. -->",
        "",
        "# Requirements",
        "",
        "What Bulkhead has to do, and what shows that it does. *Tests*: files in which some "
        "name the requirement. *Open*: not built, or not in all its parts. "
        f"Of {len(known)} requirements {open_ones} are open.",
    ]
    for name, group in groups.items():
        lines += [
            "",
            f"## {name}",
            "",
            "| | requirement | tests | proofs | examples |",
            "| --- | --- | --- | --- | --- |",
        ]
        lines += [_row(one, tests.get(one.id, ())) for one in group]
    return "\n".join(lines) + "\n"


def _row(one: Requirement, tests: Collection[str]) -> str:
    shown = ", ".join(f"[{Path(name).stem}](../../{name})" for name in sorted(tests)) or "–"
    examples = [
        f"[{name}](../../{path.relative_to(ROOT)})" for name in one.examples if (path := _example(name))
    ]
    text = f"{'*Open.* ' if one.is_open else ''}{one.text}" + (f" [More](../{one.page})" if one.page else "")
    proofs = ", ".join(f"`{name}`" for name in one.proofs) or "–"
    return f"| {one.id} | {text} | {shown} | {proofs} | {', '.join(examples) or '–'} |"


if __name__ == "__main__":
    sys.exit(write_or_check({PAGE: page_of(read(), tests_of())}, __doc__))
