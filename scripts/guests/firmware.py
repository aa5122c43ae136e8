# SPDX-License-Identifier: Apache-2.0
"""Debian's firmware for the emulator's board, from flash: U-Boot and EDK2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from guests.case import RAM, Case


def cases() -> Iterator[Case]:
    """Each is run to its prompt."""
    u_boot = _keys("u-boot:debian", "128 MiB", "1 MiB")
    yield Case(
        "Debian", "U-Boot (qemu_arm64)", u_boot, 10, expect={"line": "=> ", "no_line": "Synchronous Abort"}
    )
    edk2 = {**_keys("edk2:debian", "256 MiB", "1 MiB"), "devices": ["rtc"]}
    yield Case("Debian", "EDK2 (qemu-efi-aarch64)", edk2, 15, expect={"line": "Shell> "})


def _keys(code: str, ram: str, variables: str) -> dict[str, Any]:
    """Code at 0, its variables at 64 MiB, and the device tree at the start of RAM."""
    memory = [
        {"at": RAM, "size": ram},
        {"at": 0, "size": "2 MiB", "flash": code},
        {"at": 64 << 20, "size": variables, "flash": "erased", "programmable": True},
    ]
    return {"image": {"entry": 0, "device_tree_at": RAM}, "memory": memory}
