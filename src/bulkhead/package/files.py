# SPDX-License-Identifier: Apache-2.0
"""Reads files that users name as images: only regular files of a limited size, no devices or pipes.

Used by the loaders of this package. All failures raise PackageError.
"""

from __future__ import annotations

import stat
from pathlib import Path

from bulkhead.package.errors import PackageError, missing

MAX_IMAGE_BYTES = 1 << 30  # far above any guest's image; limits the memory that one file can use


def read_image(path: Path) -> bytes:
    """The content of a regular file. Raises PackageError without the file's name, which callers add."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise PackageError("cannot be read: it is not a regular file")
        if found.st_size > MAX_IMAGE_BYTES:
            raise PackageError(f"has {found.st_size} bytes, and an image may have at most {MAX_IMAGE_BYTES}")
        return path.read_bytes()
    except OSError as error:
        raise missing(f"cannot be read: {error.strerror}") from error
