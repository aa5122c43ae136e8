# SPDX-License-Identifier: Apache-2.0
"""Builds the Linux module (linux/) for the kernel that guests boot, by kbuild with Debian's headers.

Called by `linux-module` and by tests. linux/Kbuild defines sources and flags; this module passes the places
of the headers and of the compiler.
"""

import os
import subprocess
from pathlib import Path

from bulkhead.env.errors import BuildFailed
from bulkhead.env.linux_headers import linux_headers
from bulkhead.env.native import install_tools
from bulkhead.env.paths import build_dir, locked, repository
from bulkhead.env.progress import progress

COMPILER_PREFIX = "aarch64-linux-gnu-"
_TAIL_LINES = 40
# Variables of the caller's own make that would change kbuild's behaviour.
_NOT_INHERITED = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "ARCH", "CROSS_COMPILE", "KDIR", "OUT", "O")


def build_linux_module() -> Path:
    """Path of bulkhead.ko, up to date. Raises MissingTool or BuildFailed."""
    repository("`linux-module`")
    install_tools("packages")
    sources, objects = linux_headers()
    out = build_dir() / "linux"
    log = build_dir() / "logs" / "build-linux.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [
        *("make", "-C", str(repository() / "linux"), f"KDIR={sources}", f"O={objects}", f"OUT={out}"),
        *(f"CROSS_COMPILE={COMPILER_PREFIX}", f"CC={COMPILER_PREFIX}gcc", f"-j{os.cpu_count() or 1}"),
    ]
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    with locked(build_dir() / ".linux.lock"), log.open("w") as output, progress("build bulkhead.ko"):
        done = subprocess.run(command, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        lines = log.read_text(errors="replace").splitlines()
        raise BuildFailed("linux", log, "\n".join(lines[-_TAIL_LINES:]))
    return out / "bulkhead.ko"
