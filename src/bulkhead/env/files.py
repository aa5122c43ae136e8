# SPDX-License-Identifier: Apache-2.0
"""Questions about files that a user names. A name that the system cannot take, as one of 300 characters,
names no file; Path.is_file() and Path.exists() raise OSError for it.
"""

from __future__ import annotations

from pathlib import Path


def is_file(path: Path) -> bool:
    """Whether it is the path of a regular file."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_directory(path: Path) -> bool:
    """Whether it is the path of a directory."""
    try:
        return path.is_dir()
    except OSError:
        return False


def exists(path: Path) -> bool:
    """Whether anything has this path."""
    try:
        return path.exists()
    except OSError:
        return False
