# SPDX-License-Identifier: Apache-2.0
"""The cache of unpacked Debian packages: one directory per name and version, complete or absent.

Used by `qemu` and `linux`. A directory gets its name only when it is whole, with a manifest of what is in it
(packages, SHA-256 of each file); a directory that does not match its manifest is fetched again, never used.
"""

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bulkhead.env.aptroot import AptFailed
from bulkhead.env.errors import MissingTool
from bulkhead.env.paths import cache_dir, locked
from bulkhead.env.progress import Update, progress

MANIFEST = "manifest.json"


def sha256(file: Path) -> str:
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def describe_deb(deb: Path) -> dict[str, str]:
    """Name, version, architecture and hash of a package file."""
    fields = ["Package", "Version", "Architecture"]
    command = ["dpkg-deb", "--show", "--showformat", "\t".join(f"${{{field}}}" for field in fields), str(deb)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\t")
    return dict(zip(("name", "version", "architecture"), shown, strict=True)) | {"sha256": sha256(deb)}


def unpack(debs: Sequence[Path], directory: Path, update: Update) -> list[dict[str, str]]:
    """Unpack packages on top of each other without running anything of theirs; returns what they are."""
    packages = []
    for index, deb in enumerate(debs):
        update(0.8 + 0.2 * index / len(debs), f"unpack {deb.name.partition('_')[0]}")
        subprocess.run(["dpkg-deb", "--extract", str(deb), str(directory)], check=True)
        packages.append(describe_deb(deb))
    return packages


def _write_manifest(directory: Path, packages: list[dict[str, str]]) -> None:
    files = sorted(file for file in directory.rglob("*") if file.is_file() and not file.is_symlink())
    hashes = {str(file.relative_to(directory)): sha256(file) for file in files}
    text = json.dumps({"packages": packages, "files": hashes}, indent=1)
    (directory / MANIFEST).write_text(text + "\n")


def read_manifest(directory: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((directory / MANIFEST).read_text())
    return manifest


def damaged(directory: Path, only: Sequence[str] | None = None) -> list[str]:
    """Files that are not what the manifest says (all, or `only` these); the manifest, if it says nothing."""
    try:
        files: dict[str, str] = dict(read_manifest(directory)["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return [MANIFEST]
    names = files.keys() if only is None else only
    return [name for name in names if not _intact(directory / name, files.get(name))]


def _intact(file: Path, expected: str | None) -> bool:
    return file.is_file() and sha256(file) == expected


def find(name: str) -> Path | None:
    """The newest complete directory of `name`."""
    complete = [found.parent for found in cache_dir().glob(f"{name}-[0-9]*/{MANIFEST}")]
    return max(complete, key=lambda directory: (directory / MANIFEST).stat().st_mtime, default=None)


def discard(directory: Path) -> None:
    """Remove a cached directory: its manifest first, so that a half-removed one is never found."""
    (directory / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _scratch(name: str) -> Iterator[Path]:
    """A directory beside the final one (so that it can be renamed); removed whatever happens."""
    directory = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=cache_dir()))
    directory.chmod(0o755)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


# fill(private apt directory, directory to unpack in, update) -> what was unpacked, the main package first
Fill = Callable[[Path, Path, Update], list[dict[str, str]]]


def obtain(name: str, package: str, key_files: Callable[[Path], Sequence[Path]], fill: Fill) -> Path:
    """The cached directory of `name`; fetched by `fill` if it is not there or its key files are damaged.

    Several processes may ask at once: one fetches, the others wait and find it.
    """
    with locked(cache_dir() / f".{name}.lock"):
        present = find(name)
        if present:
            keys = [str(file.relative_to(present)) for file in key_files(present)]
            if keys and not damaged(present, keys):
                return present
            discard(present)
        with _scratch(name) as scratch, progress(f"fetch {package}") as update:
            content = scratch / "content"
            content.mkdir()
            try:
                packages = fill(scratch / "apt", content, update)
            except AptFailed as failure:
                hint = f"It is downloaded from this machine's Debian mirror, and apt said:\n{failure}"
                raise MissingTool(name, package, hint) from failure
            _write_manifest(content, packages)
            final = cache_dir() / f"{name}-{packages[0]['version'].replace(':', '_')}"
            discard(final)
            return content.rename(final)
