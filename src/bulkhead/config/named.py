# SPDX-License-Identifier: Apache-2.0
"""Names of the tool's own images, which a system file can have in place of a path."""

from __future__ import annotations

from pathlib import Path

KERNELS = ("linux:debian",)
INITRDS = ("busybox",)
DISKS = ("debian",)  # package/disks.py makes them
FIRMWARE = ("u-boot:debian", "edk2:debian")  # env/board_firmware.py fetches them
ERASED = "erased"  # contents of flash: no file
TRACE_SUFFIX = ".trace"  # of a recorded program that runs in place of a workload
PROGRAMS = "guests"  # directory of the tool's programs, which are used if the user has no such file


def is_own_program(name: str, beside: Path) -> bool:
    """Whether a program is the tool's. `beside`: the directory of the system file."""
    return Path(name).parts[:1] == (PROGRAMS,) and not (beside / name).is_file()
