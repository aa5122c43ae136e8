# SPDX-License-Identifier: Apache-2.0
"""Files that cannot be images: refused at once, and endless files are not read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bulkhead.package import files
from bulkhead.package.errors import PackageError
from bulkhead.package.files import read_image


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(b"content")
    assert read_image(tmp_path / "image") == b"content"


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("pipe", "not a regular file"),
        ("/dev/zero", "not a regular file"),
        ("directory", "not a regular file"),
        ("missing", "No such file"),
        ("loop", "symbolic links"),
        ("huge", "bytes, and an image may have at most"),
    ],
)
def test_what_is_no_image_is_refused(tmp_path: Path, name: str, reason: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(files.MAX_IMAGE_BYTES + 1)  # a hole: takes no space
    with pytest.raises(PackageError, match=reason):
        read_image(tmp_path / name)
