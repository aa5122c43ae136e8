# SPDX-License-Identifier: Apache-2.0
"""Guests that a directory describes: each `NAME.guest.yaml` there has the keys of a domain, and may have
those of the run. Example for NuttX:

    image: { elf: nuttx }                       # beside the file
    memory: [{ at: 0x40000000, size: 128 MiB }]
    expect: { line: "nsh>" }
    seconds: 5                                  # of guest time [30]
    platform: qemu-virt                         # [qemu-virt]
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from guests.case import Case

SUFFIX = ".guest.yaml"


def cases(directory: Path) -> Iterator[Case]:
    """Of each description, by name."""
    for path in sorted(directory.glob(f"*{SUFFIX}")):
        domain: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
        seconds, platform = domain.pop("seconds", 30), domain.pop("platform", "qemu-virt")
        expect = domain.pop("expect", {})
        name = path.name.removesuffix(SUFFIX)
        yield Case(directory.name, name, _beside(directory, domain), seconds, platform, expect=expect)


def _beside(directory: Path, value: Any) -> Any:
    """The same with absolute paths of the files that it names in the directory."""
    if isinstance(value, dict):
        return {key: _beside(directory, one) for key, one in value.items()}
    if isinstance(value, list):
        return [_beside(directory, one) for one in value]
    if isinstance(value, str) and value and (directory / value).is_file():
        return str((directory / value).resolve())
    return value
