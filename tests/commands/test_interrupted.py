# SPDX-License-Identifier: Apache-2.0
"""An interrupt ends a command with exit code 130 and a word, also while its modules are loaded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from bulkhead.env.paths import repository

INTERRUPTED_AT = """\
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from bulkhead.start import main
main()
"""


@pytest.mark.parametrize("module", ["bulkhead.cli", "typer", "bulkhead.commands.platforms"])
def test_an_interrupt_while_modules_are_loaded_ends_without_a_traceback(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_AT.format(module=module), "platforms"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(repository() / "src")},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
