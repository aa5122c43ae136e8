# SPDX-License-Identifier: Apache-2.0
"""The user-mode emulator for AArch64 and Arm programs, and programs of Debian's arm64 packages that it runs.

Called by commands that record and count. The emulator is Debian 12's, independent of the machine's: its later
packages are linked statically and load no plugins. A private apt fetches both, and they are only unpacked.
"""

import re
import subprocess
from functools import cache
from pathlib import Path

from bulkhead.env import aptroot, store
from bulkhead.env.linux import SUITE
from bulkhead.env.lock import LockedPackage
from bulkhead.env.progress import Update

PROGRAM = "qemu-aarch64"
PACKAGE = "qemu-user"
# Valid names of Debian packages.
PACKAGE_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")

WRAPPER = """#!/bin/sh
# Runs the unpacked emulator beside this file with its own libraries, which the program in it must not see.
root=$(dirname "$(readlink -f "$0")")
export LD_LIBRARY_PATH="$root/usr/lib/{triplet}:$root/lib/{triplet}"
exec "$root/usr/bin/{program}" -U LD_LIBRARY_PATH "$@"
"""


def _fill_emulator(request: store.FetchRequest, content: Path, update: Update) -> list[LockedPackage]:
    native = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True)
    architecture = native.stdout.strip()
    root = aptroot.create(
        request.apt, [SUITE], architecture, like_machine=True, what=PACKAGE, pins=request.pins
    )
    root.update_lists(update)
    debs = root.download_with_libraries(PACKAGE, SUITE, update)
    packages = store.unpack(_main_first(debs, PACKAGE), content, update)
    request.others.extend(root.closure(PACKAGE, SUITE))
    found = next(content.glob("usr/lib/*-linux-gnu*"), None)
    wrapper = content / PROGRAM
    wrapper.write_text(WRAPPER.format(triplet=found.name if found else "none", program=PROGRAM))
    wrapper.chmod(0o755)
    shown = subprocess.run([wrapper, "-h"], capture_output=True, text=True, check=False)
    if "-plugin" not in shown.stdout:
        raise aptroot.AptFailed(f"the unpacked {PROGRAM} loads no plugins: {shown.stderr.strip()[-300:]}")
    return packages


def _main_first(debs: list[Path], package: str) -> list[Path]:
    return sorted(debs, key=lambda deb: not deb.name.startswith(f"{package}_"))


@cache
def qemu_user() -> Path:
    """The emulator's path; fetched on first use. Raises MissingTool."""

    def key_files(directory: Path) -> list[Path]:
        return [directory / PROGRAM, directory / "usr/bin" / PROGRAM]

    fetch = store.Fetch("qemu-user", PACKAGE, key_files, _fill_emulator, native=True)
    return store.obtain(fetch) / PROGRAM


def qemu_arm() -> list[str]:
    """The beginning of a command that runs a 32-bit Arm program: another emulator of the same package."""
    root = qemu_user().parent
    libraries = [*root.glob("usr/lib/*-linux-gnu*"), *root.glob("lib/*-linux-gnu*")]
    path = ":".join(str(each) for each in libraries)
    return ["env", f"LD_LIBRARY_PATH={path}", str(root / "usr/bin/qemu-arm"), "-U", "LD_LIBRARY_PATH"]


@cache
def arm64_root(package: str) -> Path:
    """A directory with an arm64 package and its dependencies; fetched on first use. Raises MissingTool."""

    def fill(request: store.FetchRequest, content: Path, update: Update) -> list[LockedPackage]:
        root = aptroot.create(
            request.apt, [SUITE], "arm64", like_machine=False, what=package, pins=request.pins
        )
        root.update_lists(update)
        debs = root.download_with_libraries(package, SUITE, update)
        return store.unpack(_main_first(debs, package), content, update)

    def key_files(directory: Path) -> list[Path]:
        programs = (file for file in directory.glob("usr/bin/*") if file.is_file() and not file.is_symlink())
        return sorted(programs)

    return store.obtain(store.Fetch(f"arm64-{package}", package, key_files, fill))
