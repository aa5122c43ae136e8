# SPDX-License-Identifier: Apache-2.0
"""The start of each command loads no library that only other commands need."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"elftools", "matplotlib", "numpy", "pandas", "polars", "pydantic", "ruamel", "scipy", "yaml"}

PROGRAM = """
import sys
from bulkhead.cli import build_app
build_app()
print(*sorted({module.partition(".")[0] for module in sys.modules}))
"""


def test_commands_are_known_without_models_and_libraries() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "typer" in loaded
    assert not loaded & HEAVY
