# SPDX-License-Identifier: Apache-2.0
"""Debian's U-Boot for the emulator's board, from flash."""

from __future__ import annotations

from collections.abc import Iterator

from guests.case import RAM, Case


def cases() -> Iterator[Case]:
    """To its prompt."""
    memory = [
        {"at": RAM, "size": "128 MiB"},
        {"at": 0, "size": "2 MiB", "flash": "u-boot:debian"},
        {"at": 64 << 20, "size": "256 KiB", "flash": "erased"},
    ]
    image = {"entry": 0, "device_tree_at": RAM}
    expect = {"line": "=> ", "no_line": "Synchronous Abort"}
    yield Case("Debian", "U-Boot (qemu_arm64)", {"image": image, "memory": memory}, 10, expect=expect)
