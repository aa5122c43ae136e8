# SPDX-License-Identifier: Apache-2.0
"""File systems for disks: files, modes and links of a directory, with root as the owner (D7)."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from bulkhead.images.ext4 import make_ext4

DEBUGFS = "/usr/sbin/debugfs"


@pytest.mark.req("D7")
def test_files_belong_to_root_and_keep_their_modes(tmp_path: Path) -> None:
    tree, image = tmp_path / "tree", tmp_path / "image"
    (tree / "bin").mkdir(parents=True)
    program = tree / "bin" / "a program"
    program.write_bytes(b"content")
    (tree / "link").symlink_to("bin/a program")
    for path in (program, tree / "bin"):
        with contextlib.suppress(PermissionError):  # then the files belong to the user
            os.chown(path, 1000, 1000)
    program.chmod(0o4755)  # after chown(2), which clears the bit
    make_ext4(tree, image, 4 << 20)
    assert image.stat().st_size == 4 << 20

    def shown(command: str) -> str:
        done = subprocess.run([DEBUGFS, "-R", command, image], capture_output=True, text=True, check=True)
        return done.stdout

    for name in ("/bin", "/bin/a program", "/link", "/"):
        owner = " ".join(shown(f'stat "{name}"').split())
        assert "User: 0 Group: 0" in owner, (name, owner)
    assert "Mode: 04755" in " ".join(shown('stat "/bin/a program"').split())
    assert shown('cat "/bin/a program"') == "content"
