# SPDX-License-Identifier: Apache-2.0
"""C sources of programs that run as components of the microkernel, from Debian's source packages.

Called by the build: `python -m bulkhead.env.c_sources NAME DIRECTORY` copies the C files of `sqlite` or
`duktape` to DIRECTORY. The authors' original sources are used, without Debian's changes; SQLite's own scripts
join its many files into one.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bulkhead.env import aptroot, store
from bulkhead.env.errors import MissingTool
from bulkhead.env.linux import SUITE
from bulkhead.env.lock import LockedPackage
from bulkhead.env.progress import Update

TAIL = 600  # characters of a failed program's output that are shown


@dataclass(frozen=True)
class CSources:
    """A source package, and the files made from it. `make(unpacked, content)` writes them to `content`."""

    package: str
    files: tuple[str, ...]
    make: Callable[[Path, Path], None]


def _join_sqlite(unpacked: Path, content: Path) -> None:
    """Runs SQLite's makefile to generate its parser and to join its sources. Raises MissingTool."""
    work = unpacked.parent / "joined"
    work.mkdir()
    if not (shutil.which("make") and shutil.which("tclsh")):
        hint = (
            "They are needed to join SQLite's sources into one file. Install them with: scripts/setup "
            "packages"
        )
        raise MissingTool("make, tclsh", "make, tcl", hint)
    variables = [f"TOP={unpacked}", "BCC=gcc", "TCC=gcc", "NAWK=awk", "TCLSH_CMD=tclsh"]
    command = ["make", "-f", str(unpacked / "main.mk"), *variables, "sqlite3.c"]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        hint = f"SQLite's makefile could not join its sources:\n{done.stderr.strip()[-TAIL:]}"
        raise MissingTool("sqlite3.c", "sqlite3", hint)
    for name in SQLITE.files:
        shutil.copyfile(work / name, content / name)


def _copy_duktape(unpacked: Path, content: Path) -> None:
    for name in DUKTAPE.files:
        shutil.copyfile(unpacked / "src" / name, content / name)


SQLITE = CSources("sqlite3", ("sqlite3.c", "sqlite3.h"), _join_sqlite)
DUKTAPE = CSources("duktape", ("duktape.c", "duktape.h", "duk_config.h"), _copy_duktape)


def _extract(archive: Path, directory: Path) -> None:
    with tarfile.open(archive) as opened:
        opened.extractall(directory, filter="data")


def _main_archive(files: Sequence[Path]) -> Path:
    """The archive with the authors' original sources. Raises AptFailed."""
    found = [file for file in files if re.search(r"\.orig\.tar\.\w+$", file.name)]
    if len(found) != 1:
        names = ", ".join(file.name for file in files) or "nothing"
        raise aptroot.AptFailed(f"the download does not contain the authors' archive; it contains: {names}")
    return found[0]


def _version(description: Path) -> str:
    """The version in a .dsc file. Raises AptFailed."""
    found = re.search(r"^Version: (\S+)$", description.read_text(), re.MULTILINE)
    if found is None:
        raise aptroot.AptFailed(f"{description.name} names no version")
    return found[1]


def _fill(
    sources: CSources, request: store.FetchRequest, content: Path, update: Update
) -> list[LockedPackage]:
    what = f"sources of {sources.package}"
    root = aptroot.create(
        request.apt, [SUITE], "all", like_machine=False, what=what, pins=request.pins, kind="deb-src"
    )
    root.update_lists(update)
    files = root.download_source(sources.package, request.pins, update)
    archive = _main_archive(files)
    update(0.8, f"unpack {archive.name}")
    unpacked = request.apt / "unpacked"
    _extract(archive, unpacked)
    for changes in (file for file in files if ".debian.tar." in file.name):
        _extract(changes, unpacked)
    document = content / "usr/share/doc" / sources.package
    document.mkdir(parents=True)
    shutil.copyfile(unpacked / "debian/copyright", document / "copyright")
    sources.make(next(unpacked.glob(f"{sources.package}-*")), content)
    version = _version(next(file for file in files if file.suffix == ".dsc"))
    return [LockedPackage(sources.package, version, "source", store.sha256(archive))]


def _fill_of(sources: CSources) -> store.Fill:
    return lambda request, content, update: _fill(sources, request, content, update)


def _files_of(sources: CSources) -> Callable[[Path], Sequence[Path]]:
    return lambda directory: [directory / file for file in sources.files]


@cache
def sqlite_source() -> Path:
    """A directory with sqlite3.c and sqlite3.h; fetched on first use. Raises MissingTool."""
    return store.obtain(store.Fetch("source-sqlite", SQLITE.package, _files_of(SQLITE), _fill_of(SQLITE)))


@cache
def duktape_source() -> Path:
    """A directory with duktape.c and its two headers; fetched on first use. Raises MissingTool."""
    return store.obtain(store.Fetch("source-duktape", DUKTAPE.package, _files_of(DUKTAPE), _fill_of(DUKTAPE)))


KNOWN = {"sqlite": (SQLITE, sqlite_source), "duktape": (DUKTAPE, duktape_source)}


def copy(name: str, directory: Path) -> None:
    """Copies the C files of `name` to `directory`. Raises MissingTool."""
    sources, obtain = KNOWN[name]
    directory.mkdir(parents=True, exist_ok=True)
    for file in sources.files:
        shutil.copyfile(obtain() / file, directory / file)


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 2 or arguments[0] not in KNOWN:
        sys.stderr.write(f"usage: c_sources {'|'.join(KNOWN)} DIRECTORY\n")
        return 2
    try:
        copy(arguments[0], Path(arguments[1]))
    except MissingTool as missing:
        sys.stderr.write(f"{missing}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
