# SPDX-License-Identifier: Apache-2.0
"""The site of the manual for tests, as `make docs` builds it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def build_site(directory: Path) -> Path:
    """Where the pages are. A warning of Sphinx fails."""
    options = ["-b", "html", "-q", "-W", "-d", str(directory / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(directory / "html")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return directory / "html"
