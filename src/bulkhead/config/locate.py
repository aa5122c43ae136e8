# SPDX-License-Identifier: Apache-2.0
"""Names and files of platforms and parts, and the limits of the manifest's layout. Nothing here writes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from bulkhead.env.files import exists, is_file
from bulkhead.env.paths import examples_dir, platforms_dir
from bulkhead.schema.layout import load_layout

EXAMPLES = "examples"


def platform_names() -> list[str]:
    return sorted(path.stem for path in platforms_dir().glob("*.yaml"))


def part_names() -> list[str]:
    """Names of the parts that platforms are composed of: core types, memory controllers with their
    interconnect."""
    return sorted(path.stem for path in parts_dir().glob("*.yaml"))


def parts_dir() -> Path:
    return platforms_dir() / "parts"


def is_path(reference: str) -> bool:
    """Whether a reference to a platform is the path of a file, and not a name."""
    return "/" in reference or reference.endswith((".yaml", ".yml"))


def platform_path(reference: str, beside: Path | None = None) -> Path | None:
    """File of a platform. `reference`: its name, or a path relative to `beside`. None if the name is
    unknown."""
    if not is_path(reference):
        return platforms_dir() / f"{reference}.yaml" if reference in platform_names() else None
    path = Path(reference)
    return path if path.is_absolute() or beside is None else beside / path


def system_path(reference: str | Path) -> Path:
    """The file of a system: the path itself; `examples/...` without a file means the example that the tool
    ships."""
    path = Path(reference)
    ours = examples_dir() / Path(*path.parts[1:])
    named = path.parts[:1] == (EXAMPLES,) and not exists(path) and is_file(ours)
    return ours if named else path


@cache
def limits() -> dict[str, int]:
    """Constants of the manifest's layout, which limit what a manifest can hold."""
    return {name: constant.value for name, constant in load_layout().schema.constants.items()}
