# SPDX-License-Identifier: Apache-2.0
"""An ext4 file system with the files of a directory, made without root rights by mke2fs and debugfs.

Called for the disks that the tool makes. It knows no system file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from bulkhead.env.errors import MissingTool

PACKAGE = "e2fsprogs"
_SYSTEM_DIRECTORIES = ("/usr/sbin", "/sbin")  # not in the PATH of every user


def make_ext4(tree: Path, image: Path, size: int) -> None:
    """Makes `image`, a sparse file of `size` bytes, with the files of `tree`. All of them belong to root.
    Raises MissingTool."""
    _run("mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", "-d", str(tree), str(image), f"{size >> 10}k")
    owners = "".join(
        f'set_inode_field "{name}" {field} 0\n' for name in _names(tree) for field in ("uid", "gid")
    )
    _run("debugfs", "-w", "-f", "/dev/stdin", str(image), feed=owners)


def _names(tree: Path) -> Iterator[str]:
    yield "/"
    for directory, directories, files in os.walk(tree):
        for name in (*directories, *files):
            yield f"/{Path(directory, name).relative_to(tree)}"


def _run(program: str, *arguments: str, feed: str = "") -> None:
    path = os.pathsep.join((os.environ.get("PATH", ""), *_SYSTEM_DIRECTORIES))
    found = shutil.which(program, path=path)
    if found is None:
        raise MissingTool(program, PACKAGE, "It makes disks. Install it with: scripts/setup packages")
    done = subprocess.run([found, *arguments], input=feed, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MissingTool(program, PACKAGE, f"It failed:\n{done.stderr.strip()[-600:]}")
