# SPDX-License-Identifier: Apache-2.0
"""Selects the emulator: the locked one if it is in the cache, the machine's own if it is new enough, else
Debian's backport from the cache.

Called by commands that start a system. The backport is unpacked, not installed: a wrapper in its directory
sets the paths of its libraries and firmware.
"""

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from bulkhead.env import aptroot, store
from bulkhead.env.lock import LockedPackage, Versions, read_lock, wanted_versions
from bulkhead.env.progress import Update
from bulkhead.env.sources import codename

PROGRAM = "qemu-system-aarch64"
PACKAGE = "qemu-system-arm"
# Before 10.0, virtual CPUs are scheduled unfairly with -icount.
OLDEST = (10, 0)

WRAPPER = """#!/bin/sh
# Runs the unpacked emulator beside this file with its own libraries and firmware.
root=$(dirname "$(readlink -f "$0")")
triplet={triplet}
export LD_LIBRARY_PATH="$root/usr/lib/$triplet:$root/lib/$triplet${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
export QEMU_MODULE_DIR="$root/usr/lib/$triplet/qemu"
exec "$root/usr/bin/{program}" -L "$root/usr/share/qemu" "$@"
"""


def version(program: Path) -> tuple[int, ...] | None:
    """The version that the program prints; None if it does not run."""
    try:
        shown = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r"version (\d+)\.(\d+)\.(\d+)", shown.stdout)
    return tuple(int(part) for part in match.groups()) if match else None


def _fill(request: store.FetchRequest, content: Path, update: Update) -> list[LockedPackage]:
    native = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True)
    architecture = native.stdout.strip()
    suites = ["{codename}", "{codename}-backports"]
    root = aptroot.create(
        request.apt, suites, architecture, like_machine=True, what=PACKAGE, pins=request.pins
    )
    root.update_lists(update)
    release = codename()
    debs = root.download_with_libraries(PACKAGE, f"{release}-backports", update)
    main_first = sorted(debs, key=lambda deb: not deb.name.startswith(f"{PACKAGE}_"))
    packages = store.unpack(main_first, content, update)
    request.others.extend(root.closure(PACKAGE, f"{release}-backports"))
    found = next(content.glob("usr/lib/*-linux-gnu*"), None)
    wrapper = content / PROGRAM
    wrapper.write_text(WRAPPER.format(triplet=found.name if found else "none", program=PROGRAM))
    wrapper.chmod(0o755)
    if version(wrapper) is None:
        ldd = subprocess.run([wrapper, "--version"], capture_output=True, text=True, check=False)
        raise aptroot.AptFailed(f"the unpacked emulator does not start: {ldd.stderr.strip()}")
    return packages


def _key_files(directory: Path) -> list[Path]:
    return [directory / PROGRAM, directory / "usr/bin" / PROGRAM]


FETCH = store.Fetch("qemu", PACKAGE, _key_files, _fill, native=True)


@cache
def own_qemu() -> Path | None:
    """The machine's own emulator; None if it is too old, or if the locked one is cached or requested."""
    installed = shutil.which(PROGRAM)
    if not installed or wanted_versions() in (Versions.LOCKED, Versions.NEWEST):
        return None
    locked = read_lock().get(FETCH.key, ())
    cached = store.find(FETCH.name, locked)
    if cached and locked and store.has(cached, locked):
        return None
    return Path(installed) if (version(Path(installed)) or (0,)) >= OLDEST else None


@cache
def qemu_binary() -> Path:
    """The emulator's path; fetched on first use. Raises MissingTool."""
    own = own_qemu()
    if own is None:
        return store.obtain(FETCH) / PROGRAM
    store.use_own(FETCH, own, ".".join(map(str, version(own) or ())))
    return own
