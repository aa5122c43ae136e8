# SPDX-License-Identifier: Apache-2.0
"""Files for the disks of the emulator to which a system file gives a content: the user's, or the tool's
`debian`.

Called by `check` and `run`. `debian` is made of the fetched packages and of the files in guests/linux/debian,
which stand for what the packages' maintainer scripts would have written.
"""

from __future__ import annotations

import hashlib
import shutil
import stat
import tempfile
from pathlib import Path

from bulkhead.config.named import DISKS
from bulkhead.config.system import System
from bulkhead.env import paths, store
from bulkhead.env.debian import debian_is_here, debian_root
from bulkhead.images.ext4 import make_ext4
from bulkhead.package.errors import Collector, NotHere, PackageError, located, missing, prefixed

SECTOR_BYTES = 512
DEBIAN_BYTES = 192 << 20  # half of it is free
# Not on the disk, as in Debian's images for containers.
_LEFT_OUT = ("usr/share/doc", "usr/share/info", "usr/share/locale", "usr/share/man", store.MANIFEST)
_MASTERS = "usr/share/base-passwd"


def check_disks(system: System, name: str, base: Path) -> None:
    """Raises PackageError if a content of the domain's disks cannot be used, and NotHere if one of the tool's
    is not fetched yet. Fetches and makes nothing."""
    domain = system.domain(name)
    for device, content in () if domain is None else domain.disks.items():
        with prefixed(f"domain '{name}'"), located("disks", device):
            if content not in DISKS:
                _check_file(base / content)
            elif not debian_is_here():
                raise NotHere(f"the packages of the disk '{content}' are not fetched yet")


def disk_files(system: System, base: Path) -> dict[str, Path]:
    """Contents of disks, by device. `base`: the directory that paths are relative to. Raises PackageError or
    MissingTool."""
    errors = Collector()
    files: dict[str, Path] = {}
    for index, domain in enumerate(system.domains):
        if any(content in DISKS for content in domain.disks.values()):
            debian_root()
        with errors.step("domains", index):
            check_disks(system, domain.name, base)
            files |= {
                device: _debian_disk() if content in DISKS else base / content
                for device, content in domain.disks.items()
            }
    errors.check()
    return files


def _check_file(path: Path) -> None:
    with prefixed(f"disk {path}"):
        try:
            found = path.stat()
        except OSError as error:
            raise missing(f"cannot be read: {error.strerror}") from error
        if not stat.S_ISREG(found.st_mode):
            raise PackageError("cannot be read: it is not a regular file")
        if found.st_size == 0 or found.st_size % SECTOR_BYTES:
            raise PackageError(f"has {found.st_size} bytes, and a disk has whole sectors of {SECTOR_BYTES}")


def _debian_disk() -> Path:
    """The disk `debian`. It is made anew when its packages or the tool's own files for it have changed."""
    own = paths.repository() / "guests" / "linux" / "debian"
    root = debian_root()
    digest = hashlib.sha256(repr((store.packages_in(root), DEBIAN_BYTES, _LEFT_OUT)).encode())
    for file in sorted(file for file in own.rglob("*") if file.is_file()):
        digest.update(f"{file.relative_to(own)}\0".encode() + file.read_bytes())
    directory = paths.build_dir() / "disks"
    disk = directory / f"debian-{digest.hexdigest()[:16]}.img"
    with paths.locked(directory / ".lock"):
        if not disk.is_file():
            for old in directory.glob("debian-*.img"):
                old.unlink()
            _make_debian(root, own, disk)
    return disk


def _make_debian(root: Path, own: Path, disk: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=".debian-", dir=disk.parent) as scratch:
        tree, image = Path(scratch, "tree"), Path(scratch, "image")
        left_out = {root / name for name in _LEFT_OUT}

        def ignored(directory: str, names: list[str]) -> set[str]:
            return {name for name in names if Path(directory, name) in left_out}

        shutil.copytree(root, tree, symlinks=True, ignore=ignored)
        shutil.copytree(own, tree, symlinks=True, dirs_exist_ok=True)
        masters = tree / _MASTERS
        (tree / "etc/group").write_text((masters / "group.master").read_text())
        # root has no password: its field is empty.
        users = (masters / "passwd.master").read_text().replace("root:*:", "root::", 1)
        (tree / "etc/passwd").write_text(users)
        make_ext4(tree, image, DEBIAN_BYTES)
        image.rename(disk)
