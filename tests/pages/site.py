# SPDX-License-Identifier: Apache-2.0
"""The site of the manual for tests, as `make docs` builds it.

Lint and the Python tests use it in processes of their own. It takes a quarter of a minute of a processor to
build and depends on files of the repository only, so that it is built once for the same files.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from bulkhead.env.paths import locked

ROOT = Path(__file__).parents[2]
SITES = ROOT / "build" / "test-site"


def built_site() -> Path:
    """Where the pages are. A warning of Sphinx fails."""
    place = SITES / _fingerprint()
    with locked(SITES.with_suffix(".lock")):
        if not place.exists():
            shutil.rmtree(SITES, ignore_errors=True)
            part = SITES / "part"
            _build(part)
            part.rename(place)
    return place / "html"


def _fingerprint() -> str:
    """Of the names and contents of all files of the repository, committed or not, and of the Python
    environment."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    digest = hashlib.sha256(sys.prefix.encode())
    for path in (ROOT / name for name in names.split("\0") if name):
        if path.is_file():
            digest.update(f"{path}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _build(directory: Path) -> None:
    options = ["-b", "html", "-q", "-W", "-d", str(directory / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(directory / "html")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
