# SPDX-License-Identifier: Apache-2.0
"""The cache of unpacked Debian packages: one directory per name and version, complete or absent.

All fetched packages use it (`bulkhead.fetches` lists them). A directory gets its name only when it is
complete, with a manifest of its contents (packages, SHA-256 of each file). A directory that does not match
its manifest is not used but fetched again.
"""

import hashlib
import json
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bulkhead.env.aptroot import AptFailed
from bulkhead.env.errors import MissingTool
from bulkhead.env.lock import FILE, LockedPackage, Versions, deviations, key_of, read_lock, wanted_versions
from bulkhead.env.paths import cache_dir, locked
from bulkhead.env.progress import Update, notice, progress

MANIFEST = "manifest.json"


def sha256(file: Path) -> str:
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def describe_deb(deb: Path) -> LockedPackage:
    """Name, version, architecture and hash of a package file."""
    fields = ["Package", "Version", "Architecture"]
    command = ["dpkg-deb", "--show", "--showformat", "\t".join(f"${{{field}}}" for field in fields), str(deb)]
    name, version, architecture = subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.split("\t")
    return LockedPackage(name, version, architecture, sha256(deb))


def unpack(debs: Sequence[Path], directory: Path, update: Update) -> list[LockedPackage]:
    """Unpack packages on top of each other without running their scripts. Returns the packages."""
    packages = []
    for index, deb in enumerate(debs):
        update(0.8 + 0.2 * index / len(debs), f"unpack {deb.name.partition('_')[0]}")
        subprocess.run(["dpkg-deb", "--extract", str(deb), str(directory)], check=True)
        packages.append(describe_deb(deb))
    return packages


def _write_manifest(
    directory: Path, packages: Sequence[LockedPackage], others: Sequence[LockedPackage]
) -> None:
    files = sorted(file for file in directory.rglob("*") if file.is_file() and not file.is_symlink())
    hashes = {str(file.relative_to(directory)): sha256(file) for file in files}
    content = {
        "packages": [asdict(package) for package in packages],
        "others": [asdict(package) for package in others if package not in packages],
        "files": hashes,
    }
    text = json.dumps(content, indent=1)
    (directory / MANIFEST).write_text(text + "\n")


def read_manifest(directory: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((directory / MANIFEST).read_text())
    return manifest


def packages_in(directory: Path) -> tuple[LockedPackage, ...]:
    """The packages that were unpacked in the directory, the main package first."""
    return tuple(LockedPackage(**one) for one in read_manifest(directory)["packages"])


def lockable(directory: Path) -> tuple[LockedPackage, ...]:
    """The packages that were unpacked, and those that a machine with fewer installed packages needs in
    addition."""
    others = read_manifest(directory).get("others", [])
    return (*packages_in(directory), *(LockedPackage(**one) for one in others))


def damaged(directory: Path, only: Sequence[str] | None = None) -> list[str]:
    """Files that differ from the manifest (all, or `only` these); the manifest itself if it cannot be
    read."""
    try:
        files: dict[str, str] = dict(read_manifest(directory)["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return [MANIFEST]
    names = files.keys() if only is None else only
    return [name for name in names if not _intact(directory / name, files.get(name))]


def _intact(file: Path, expected: str | None) -> bool:
    return file.is_file() and sha256(file) == expected


def find(name: str, wanted: Sequence[LockedPackage] = ()) -> Path | None:
    """The complete directory of `name` with the wanted packages, else the newest one; None: there is none."""
    complete = [found.parent for found in cache_dir().glob(f"{name}-[0-9]*/{MANIFEST}")]

    def rank(directory: Path) -> tuple[bool, float]:
        return bool(wanted) and has(directory, wanted), (directory / MANIFEST).stat().st_mtime

    return max(complete, key=rank, default=None)


def has(directory: Path, wanted: Sequence[LockedPackage]) -> bool:
    """Whether the directory has the wanted packages; False if its manifest cannot be read."""
    try:
        return not deviations(packages_in(directory), wanted)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def discard(directory: Path) -> None:
    """Remove a cached directory: its manifest first, so that a partly removed one is never found."""
    (directory / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _scratch(name: str) -> Iterator[Path]:
    """A temporary directory in the cache, from which results can be renamed; it is always removed."""
    directory = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=cache_dir()))
    directory.chmod(0o755)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@dataclass(frozen=True)
class FetchRequest:
    """Input for `fill`."""

    apt: Path  # directory for a private apt
    pins: tuple[LockedPackage, ...]  # versions to prefer if the mirror has them
    # `fill` adds packages that machines with fewer installed packages need: they are locked, too.
    others: list[LockedPackage] = field(default_factory=list)


# fill(request, directory to unpack in, update) -> the unpacked packages, the main one first
Fill = Callable[[FetchRequest, Path, Update], list[LockedPackage]]


@dataclass(frozen=True)
class Fetch:
    """A package to fetch from the Debian mirror, often with others that it needs."""

    name: str  # prefix of its directories in the cache
    package: str
    key_files: Callable[[Path], Sequence[Path]]  # files that are checked at each use
    fill: Fill
    native: bool = False  # its packages depend on this machine's release and processor
    locked_as: str | None = None  # its key in the lock file, if different from `name`

    @property
    def key(self) -> str:
        return key_of(self.locked_as or self.name, native=self.native)


@dataclass(frozen=True)
class Obtained:
    """A directory of the cache that this process uses."""

    directory: Path
    packages: tuple[LockedPackage, ...]
    locked: bool  # the packages are the locked ones


_obtained: dict[str, Obtained] = {}  # by key of the lock file


def obtained() -> dict[str, Obtained]:
    """All directories used so far, by key of the lock file."""
    return dict(_obtained)


def use_own(fetch: Fetch, program: Path, version: str) -> None:
    """Record that the machine's own program is used instead."""
    own = LockedPackage(program.name, version, platform.machine(), sha256(program))
    _obtained[fetch.key] = Obtained(program.parent, (own,), locked=False)


def obtain(fetch: Fetch) -> Path:
    """The cached directory; it is fetched if it is missing or damaged, or if other versions are wanted.

    Several processes may call this at once: one fetches, the others wait. Raises MissingTool.
    """
    wanted = read_lock().get(fetch.key, ())
    with locked(cache_dir() / f".{fetch.name}.lock"):
        present = _undamaged(fetch, wanted)
        directory = present if present and _suits(present, wanted) else _fetched(fetch, wanted, present)
        packages = packages_in(directory)
    _obtained[fetch.key] = Obtained(directory, packages, bool(wanted) and not deviations(packages, wanted))
    return directory


def _undamaged(fetch: Fetch, wanted: Sequence[LockedPackage]) -> Path | None:
    while present := find(fetch.name, wanted):
        keys = [str(file.relative_to(present)) for file in fetch.key_files(present)]
        if keys and not damaged(present, keys):
            return present
        discard(present)
    return None


def _suits(present: Path, wanted: Sequence[LockedPackage]) -> bool:
    versions = wanted_versions()
    if versions is Versions.NEWEST:
        return False
    return versions is Versions.CACHED or has(present, wanted) or not (wanted or versions is Versions.LOCKED)


def _fetched(fetch: Fetch, wanted: tuple[LockedPackage, ...], present: Path | None) -> Path:
    versions = wanted_versions()
    if versions is Versions.LOCKED and not wanted:
        hint = f"{FILE} has no entry {fetch.key}; `bulkhead setup --update` writes one."
        raise MissingTool(fetch.name, fetch.package, hint)
    try:
        return _fetch(fetch, () if versions is Versions.NEWEST else wanted)
    except MissingTool as missing:
        if versions is not Versions.PREFERRED or present is None:
            raise
        notice(f"{missing}\n{present} is used instead of the version in {FILE}.")
        return present


def _fetch(fetch: Fetch, pins: tuple[LockedPackage, ...]) -> Path:
    with _scratch(fetch.name) as scratch, progress(f"fetch {fetch.package}") as update:
        content = scratch / "content"
        content.mkdir()
        try:
            request = FetchRequest(scratch / "apt", pins)
            packages = fetch.fill(request, content, update)
        except AptFailed as failure:
            hint = f"The download from the Debian mirror of this computer failed; apt printed:\n{failure}"
            raise MissingTool(fetch.name, fetch.package, hint) from failure
        if pins:
            _compare(fetch, packages, pins)
        _write_manifest(content, packages, request.others)
        final = cache_dir() / f"{fetch.name}-{packages[0].version.replace(':', '_')}"
        if (final / MANIFEST).exists() and has(final, packages) and not damaged(final):
            shutil.copyfile(content / MANIFEST, final / MANIFEST)  # its time stamp makes it the newest
            return final
        discard(final)
        return content.rename(final)


def _compare(fetch: Fetch, packages: Sequence[LockedPackage], pins: Sequence[LockedPackage]) -> None:
    differences = deviations(packages, pins)
    if not differences:
        return
    text = f"The mirror does not have all packages that {FILE} lists for {fetch.name}:\n  " + "\n  ".join(
        differences
    )
    if wanted_versions() is Versions.LOCKED:
        text += (
            "\n`bulkhead setup` fetches the mirror's versions instead, and `bulkhead setup --update` "
            "locks them."
        )
        raise MissingTool(fetch.name, fetch.package, text)
    notice(f"{text}\nThe mirror's versions are used; `bulkhead setup --update` locks them.")
