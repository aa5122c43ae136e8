# SPDX-License-Identifier: Apache-2.0
"""Which platforms there are, where the file of one is, and the layout's limits. Nothing here writes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from bulkhead.env.paths import examples_dir, platforms_dir
from bulkhead.schema.layout import load_layout

EXAMPLES = "examples"


def platform_names() -> list[str]:
    return sorted(path.stem for path in platforms_dir().glob("*.yaml"))


def part_names() -> list[str]:
    """Parts that platforms are made of: core types, memory controllers with their interconnect."""
    return sorted(path.stem for path in parts_dir().glob("*.yaml"))


def parts_dir() -> Path:
    return platforms_dir() / "parts"


def platform_path(reference: str, beside: Path | None = None) -> Path | None:
    """The file of a platform given by name, or by path (relative to the file that names it)."""
    if "/" not in reference and not reference.endswith((".yaml", ".yml")):
        return platforms_dir() / f"{reference}.yaml" if reference in platform_names() else None
    path = Path(reference)
    return path if path.is_absolute() or beside is None else beside / path


def system_path(reference: str | Path) -> Path:
    """The file of a system: a path, or `examples/…` of the tool where there is no such path."""
    path = Path(reference)
    ours = examples_dir() / Path(*path.parts[1:])
    named = path.parts[:1] == (EXAMPLES,) and not path.exists() and ours.is_file()
    return ours if named else path


@cache
def limits() -> dict[str, int]:
    """The constants of the layout that bound what a manifest can say."""
    return {name: constant.value for name, constant in load_layout().schema.constants.items()}
