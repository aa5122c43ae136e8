# SPDX-License-Identifier: Apache-2.0
"""`make notices`: writes docs/reference/third-party.md, the licences of everything that is fetched, installed
or linked.

Python packages state theirs in their metadata, Debian packages in /usr/share/doc/PACKAGE/copyright, which is
read from the cache or from the machine. Ends 1 if a package states none. tests/env/test_third_party.py
compares the page with the locked packages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageMetadata, distribution
from pathlib import Path

from bulkhead.env import store
from bulkhead.env.lock import LockedPackage, read_lock
from bulkhead.env.paths import cache_dir, repository

PAGE = "docs/reference/third-party.md"
LONGEST = 60  # characters of a licence's name; a longer text is the licence itself
HEAD = """# Third-party software

Licences of all software that Bulkhead fetches, installs to build with, or links. `make notices` writes this
page from the packages' own statements. The repository contains none of this software.
Full texts: `/usr/share/doc/PACKAGE/copyright` of Debian packages, in the cache or on the machine, and
`build/venv/lib/python*/site-packages/*.dist-info` of Python packages.
"""
FETCHED = """
## Fetched Debian packages

Unpacked in the cache and run as they are: emulator, boot loader, guests' kernel and programs
([versions.md](versions.md)). An image that `bulkhead build` makes for a Linux domain contains Debian's kernel
and busybox: whoever passes it on must meet their licences, which include an offer of the sources.
Sources of SQLite (public domain) and Duktape (MIT) are fetched, too, and compiled into components of the
microkernel.
"""
LINKED = """
## Debian packages to build and check with

`scripts/setup` installs them on the machine, in the machine's versions. Host programs link libfdt and libzstd
and contain nlohmann-json and GoogleTest; AArch64 programs for Linux contain glibc, and the microkernel's
applications picolibc.
"""
PYTHON = """
## Python packages

Installed in `build/venv`, in the versions of `constraints.txt`. The compiled Python modules contain nanobind.
"""


def copyright_file(name: str, roots: Iterable[Path]) -> Path | None:
    """A package's file, in the first root that has it; `root/` of the machine is one."""
    for root in roots:
        file = root / "usr/share/doc" / name / "copyright"
        if file.is_file():
            return file
    return None


def debian_licences(text: str) -> list[str]:
    """Short names: from the fields of a machine-readable file, else the common licences that the text refers
    to."""
    fields = re.findall(r"^License:[ \t]*(\S.*)$", text, re.MULTILINE)
    if not fields:
        fields = re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", text)
        fields += [name for name, words in BY_WORDS.items() if words in " ".join(text.split())]
    named = {NUMBERED.sub(r"\1", field) for field in fields}
    return sorted(named, key=lambda name: (name.lower(), name))


# Variants of one licence that a package distinguishes by numbers.
NUMBERED = re.compile(r"^(BSD2|BSD3|GPL2|AGPL3|UCB|FreeBSD|Default|Other)-[0-9]+$")

# Texts that packages without fields quote.
BY_WORDS = {
    "BSD": "Redistribution and use in source and binary forms",
    "MIT": "Permission is hereby granted, free of charge, to any person",
    "LGPL-2.1": "GNU Lesser General Public License, version 2.1",
    "MIT (X11)": "Permission to use, copy, modify, distribute, and sell this software",
    "ISC": "Permission to use, copy, modify, and/or distribute this software",
    "zlib": "This software is provided 'as-is', without any express or implied warranty",
    "public domain": "public domain",
}


# Packages whose metadata name a file instead of a licence.
BY_FILE = {"axe-playwright-python": "MIT; contains axe-core: MPL-2.0"}


def python_licence(metadata: PackageMetadata) -> str:
    """An expression, a short name, or the package's classifier."""
    classified = [
        value.rpartition(" :: ")[2]
        for value in metadata.get_all("Classifier") or []
        if value.startswith("License :: ") and not value.endswith("OSI Approved")
    ]
    fields = [*(metadata.get_all("License-Expression") or []), *(metadata.get_all("License") or [])]
    stated = next((field.strip() for field in fields if field != "UNKNOWN"), "")
    if stated and len(stated) <= LONGEST and "\n" not in stated:
        return stated
    first_line = stated.partition("\n")[0].strip()[:LONGEST]
    return ", ".join(classified) or first_line or BY_FILE.get(metadata["Name"], "")


def locked_python(text: str) -> list[tuple[str, str]]:
    """Name and version of each line of constraints.txt."""
    return re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)$", text, re.MULTILINE)


def installed_debian(setup: str) -> list[str]:
    """Packages that scripts/setup installs: what follows the colon of each need."""
    needs = re.findall(r'^(?:build|lint|browser)_needs="(.*?)"', setup, re.MULTILINE | re.DOTALL)
    return sorted({need.partition(":")[2] for text in needs for need in text.split()})


def _locked_debian() -> list[LockedPackage]:
    packages = {(one.name, one.version): one for entry in read_lock().values() for one in entry}
    return sorted(packages.values(), key=lambda one: (one.name, one.version))


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "or") for cell in cells) + " |\n"


def _debian_row(name: str, version: str | None, roots: list[Path]) -> Iterator[str]:
    file = copyright_file(name, roots)
    licences = debian_licences(file.read_text(errors="replace")) if file else []
    if not licences:
        print(f"{name}: {file or 'has no copyright file in the cache or on this machine'}", file=sys.stderr)
    cells = [name, *([version] if version else []), ", ".join(licences)]
    yield _row(*cells)


def page() -> str:
    """Raises PackageNotFoundError if build/venv lacks a locked package."""
    cached = [manifest.parent for manifest in cache_dir().glob(f"*-[0-9]*/{store.MANIFEST}")]
    roots = [*sorted(cached), Path("/")]
    text = HEAD + FETCHED + "\n" + _row("package", "version", "licences") + _row("---", "---", "---")
    for one in _locked_debian():
        text += "".join(_debian_row(one.name, one.version, roots))
    text += LINKED + "\n" + _row("package", "licences") + _row("---", "---")
    for name in installed_debian((repository() / "scripts/setup").read_text()):
        text += "".join(_debian_row(name, None, roots))
    text += PYTHON + "\n" + _row("package", "version", "licence") + _row("---", "---", "---")
    for name, version in locked_python((repository() / "constraints.txt").read_text()):
        text += _row(name, version, python_licence(distribution(name).metadata))
    return text


def main() -> int:
    text = page()
    (repository() / PAGE).write_text(text)
    silent = [line.split(" | ")[0].strip("| ") for line in text.splitlines() if line.endswith("|  |")]
    print(
        f"{PAGE}: " + (f"no licence is known of {', '.join(silent)}" if silent else "all licences are known")
    )
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
