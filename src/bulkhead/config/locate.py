# SPDX-License-Identifier: Apache-2.0
"""Where the tool's own files are: platform descriptions and the layout's limits.

In a checkout they are at its root; an installed package carries them in `bulkhead/data`. Nothing here
writes.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ruamel.yaml import YAML


def data_root() -> Path:
    """The directory that holds `platforms/` and `schema/`."""
    packaged = Path(__file__).resolve().parents[1] / "data"
    return packaged if packaged.is_dir() else Path(__file__).resolve().parents[3]


def platform_names() -> list[str]:
    return sorted(path.stem for path in (data_root() / "platforms").glob("*.yaml"))


def platform_path(reference: str, beside: Path | None = None) -> Path | None:
    """The file of a platform given by name, or by path (relative to the file that names it)."""
    if "/" not in reference and not reference.endswith((".yaml", ".yml")):
        return data_root() / "platforms" / f"{reference}.yaml" if reference in platform_names() else None
    path = Path(reference)
    return path if path.is_absolute() or beside is None else beside / path


@cache
def limits() -> dict[str, int]:
    """The constants of the layout that bound what a manifest can say."""
    layout = YAML(typ="safe", pure=True).load(data_root() / "schema" / "manifest.yaml")
    return {str(name): int(value) for name, value in layout["constants"].items()}
