# SPDX-License-Identifier: Apache-2.0
"""Reads the files that users name as images: regular ones of a size that can be, never a device or a pipe.

Used by the loaders of this package. Every way in which it can fail is a `PackageError`."""

from __future__ import annotations

import stat
from pathlib import Path

from bulkhead.package.errors import PackageError, missing

MAX_IMAGE_BYTES = (
    1 << 30
)  # no image of a guest comes near; without a limit, one file could eat the host's memory


def read_image(path: Path) -> bytes:
    """The content of a regular file. Raises PackageError without the file's name: callers add it."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise PackageError("cannot be read: it is not a regular file")
        if found.st_size > MAX_IMAGE_BYTES:
            raise PackageError(f"has {found.st_size} bytes, an image at most {MAX_IMAGE_BYTES}")
        return path.read_bytes()
    except OSError as error:
        raise missing(f"cannot be read: {error.strerror}") from error
