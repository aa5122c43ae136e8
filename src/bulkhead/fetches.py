# SPDX-License-Identifier: Apache-2.0
"""Everything that any command or test fetches, in one table. After `bulkhead setup` has fetched all of it,
the network is not needed any more.

Each `store.Fetch` must be listed here (tests/env/test_fetches.py finds missing ones). A package that a user
names (`record --package`) is fetched when it is named. scripts/setup installs compilers and Python packages.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from bulkhead.env.board_firmware import board_firmware
from bulkhead.env.c_sources import duktape_source, sqlite_source
from bulkhead.env.debian import debian_root
from bulkhead.env.linux import busybox, linux_kernel
from bulkhead.env.linux_headers import linux_headers
from bulkhead.env.qemu import qemu_binary
from bulkhead.env.qemu_user import arm64_root, qemu_user
from bulkhead.recording.known import known_names, load_recording

# By entry in the lock file; each returns a file or a directory, and raises MissingTool.
ALWAYS: dict[str, Callable[[], Path]] = {
    "qemu": qemu_binary,
    "linux": linux_kernel,
    "linux-headers": lambda: linux_headers()[1],  # of the kernel, which is fetched before
    "busybox": busybox,
    "debian": debian_root,
    "u-boot": partial(board_firmware, "u-boot"),
    "edk2": partial(board_firmware, "edk2"),
    "qemu-user": qemu_user,
    "source-sqlite": sqlite_source,
    "source-duktape": duktape_source,
}


def fetches() -> dict[str, Callable[[], Path]]:
    """The table, with the packages whose programs workloads/traces/ records."""
    packages = sorted({load_recording(name).package for name in known_names()})
    return ALWAYS | {f"arm64-{package}": partial(arm64_root, package) for package in packages}
