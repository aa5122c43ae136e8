# SPDX-License-Identifier: Apache-2.0
"""Version and commit of the tool, for results and for `--version`."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from bulkhead import __version__
from bulkhead.env.paths import checkout, commit_file


@cache
def commit() -> str:
    """The commit of this checkout, or the one from which the package was built. `+changes` follows if the
    checkout differs from it; "unknown" if there is no commit.
    """
    root = checkout()
    if root is None:
        recorded = commit_file()
        return recorded.read_text(encoding="utf-8").strip() if recorded.is_file() else "unknown"
    if not (root / ".git").exists():
        return "unknown"
    try:
        head = _git(root, "rev-parse", "--short=12", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return head + ("+changes" if changed else "")


def version_text() -> str:
    return f"bulkhead {__version__} ({commit()})"


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True, timeout=10
    )
    return done.stdout.strip()
