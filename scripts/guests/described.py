# SPDX-License-Identifier: Apache-2.0
"""Guests that a directory describes: each `NAME.guest.yaml` there has the keys of a domain, and may have
those of the run. As of NuttX:

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
_FILES = ("elf", "raw", "kernel", "initrd", "device_tree")


def cases(directory: Path) -> Iterator[Case]:
    """Of each description, by name."""
    for path in sorted(directory.glob(f"*{SUFFIX}")):
        domain: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
        seconds, platform = domain.pop("seconds", 30), domain.pop("platform", "qemu-virt")
        expect = domain.pop("expect", {})
        image = dict(domain["image"])
        for key in _FILES:
            if (directory / str(image.get(key, ""))).is_file():
                image[key] = str((directory / image[key]).resolve())
        name = path.name.removesuffix(SUFFIX)
        yield Case(directory.name, name, {**domain, "image": image}, seconds, platform, expect=expect)
