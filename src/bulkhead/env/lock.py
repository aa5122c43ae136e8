# SPDX-License-Identifier: Apache-2.0
"""packages.lock: version and SHA-256 of each fetched Debian package, and which versions are wanted.

Called by `store`, which fetches, and by `bulkhead setup`, which writes the file. A mirror keeps few versions
of a package: locked ones are preferred, and only `setup --locked` requires them.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path

from bulkhead.env.errors import MissingTool
from bulkhead.env.paths import repository
from bulkhead.env.sources import codename

FILE = "packages.lock"
FORMAT = 1
HEADER = """# SPDX-License-Identifier: Apache-2.0
# The Debian packages that the tool fetches. `./bulkhead setup --locked` fetches exactly these, and
# `./bulkhead setup --update` writes this file with the versions that the mirror has now. What is fetched for
# the machine itself depends on its release and processor, which stand behind the slash.
"""


@dataclass(frozen=True)
class LockedPackage:
    """A package file of a mirror."""

    name: str
    version: str
    architecture: str
    sha256: str

    def text(self) -> str:
        return f"{self.name} {self.version} ({self.architecture})"


class Versions(Enum):
    """Which versions of packages to fetch."""

    CACHED = "what the cache has, the locked ones first; else as PREFERRED"
    PREFERRED = "the locked ones; the mirror's where it does not have them any more"
    LOCKED = "the locked ones, or none"
    NEWEST = "the mirror's"


_wanted: ContextVar[Versions] = ContextVar("versions", default=Versions.CACHED)


def wanted_versions() -> Versions:
    return _wanted.get()


@contextmanager
def want(versions: Versions) -> Iterator[None]:
    token = _wanted.set(versions)
    try:
        yield
    finally:
        _wanted.reset(token)


def lock_file() -> Path:
    return repository() / FILE


def key_of(name: str, *, native: bool) -> str:
    """Key of `name` in the file. `native`: its packages depend on this machine's release and processor."""
    return f"{name}/{codename() or 'other'}-{platform.machine()}" if native else name


def read_lock(file: Path | None = None) -> dict[str, tuple[LockedPackage, ...]]:
    """Locked packages by key, the main package first. Raises MissingTool if the file is damaged."""
    import yaml

    path = file or lock_file()
    if not path.is_file():
        return {}
    # The parser in C, if the package has it: each command that uses a fetched file reads the lock file.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 - a safe one
        if content["lock"] != FORMAT:
            raise ValueError(f"lock: {content['lock']} is not known; this version reads {FORMAT}")
        return {
            str(key): tuple(
                LockedPackage(**{name: str(value) for name, value in one.items()}) for one in packages
            )
            for key, packages in content["packages"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError) as error:
        hint = (
            f"{path}: {error}\nRestore the file from the repository, or write a new one with: bulkhead "
            "setup --update"
        )
        raise MissingTool("a readable lock file", FILE, hint) from error


def write_lock(entries: Mapping[str, Sequence[LockedPackage]], file: Path | None = None) -> list[str]:
    """Replace these entries and keep the others. Returns the changes, a line each."""
    path = file or lock_file()
    before = read_lock(path)
    after = before | {
        key: (packages[0], *sorted(packages[1:], key=lambda package: package.name))
        for key, packages in entries.items()
    }
    text = HEADER + f"lock: {FORMAT}\npackages:\n"
    for key, packages in sorted(after.items()):
        text += f"  {key}:\n"
        for package in packages:
            fields = ", ".join(f'{name}: "{value}"' for name, value in asdict(package).items())
            text += f"  - {{{fields}}}\n"
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
    return [line for key in sorted(after) for line in _changes(key, before.get(key, ()), after[key])]


def _changes(key: str, before: Sequence[LockedPackage], after: Sequence[LockedPackage]) -> Iterator[str]:
    old = {package.name: package for package in before}
    for package in after:
        had = old.pop(package.name, None)
        if had != package:
            yield f"{key}: {package.text()}" + (f", was {had.version}" if had else ", new")
    for gone in old.values():
        yield f"{key}: {gone.text()}, removed"


def deviations(fetched: Sequence[LockedPackage], locked: Sequence[LockedPackage]) -> list[str]:
    """Differences between packages and the locked ones, a sentence each. A locked library that was not
    fetched is no difference: the machine has it installed."""
    by_name = {package.name: package for package in locked}
    names = {package.name for package in fetched}
    found = [
        f"{package.text()} is locked, but has not been fetched"
        for package in locked[:1]
        if package.name not in names
    ]
    for package in fetched:
        want = by_name.get(package.name)
        if want is None:
            found.append(f"{package.text()} is not in {FILE}")
        elif (want.version, want.architecture) != (package.version, package.architecture):
            found.append(f"{want.text()} is locked, but {package.text()} has been fetched")
        elif want.sha256 != package.sha256:
            found.append(f"{package.text()} has SHA-256 {package.sha256}, but {want.sha256} is locked")
    return found
