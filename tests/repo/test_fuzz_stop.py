# SPDX-License-Identifier: Apache-2.0
"""A fuzz run that is stopped by a signal leaves no program behind."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from checks.common import ROOT

# `make fuzz` with one target that never ends, and no build.
STARTER = """
import sys
from pathlib import Path
import fuzz
from fuzzing import target
target.TREE = target.ROOT = Path(sys.argv[1])
fuzz.install_tools = fuzz.ensure_built = lambda *_: None
fuzz.known_targets = lambda: ["made"]
sys.argv[1:] = ["--time", "600"]
sys.exit(fuzz.main())
"""
PROGRAM = "#!/bin/sh\necho $$ > pid\nexec sleep 600\n"
WAIT_S = 60.0


def wait_for(path: Path) -> str:
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        if path.exists() and path.read_text().strip():
            return path.read_text().strip()
        time.sleep(0.05)
    raise AssertionError(f"{path} does not come")


def test_a_run_that_is_terminated_ends_its_programs(tmp_path: Path) -> None:
    program = tmp_path / "tests" / "fuzz" / "fuzz_made"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM)
    program.chmod(0o755)
    run = subprocess.Popen(
        [sys.executable, "-c", STARTER, str(tmp_path)],
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'scripts'}", "PATH": "/usr/bin:/bin"},
        stderr=subprocess.PIPE,
        text=True,
    )
    child = Path("/proc") / wait_for(tmp_path / "pid")
    run.send_signal(signal.SIGTERM)
    _, said = run.communicate(timeout=WAIT_S)
    assert run.returncode == 130
    assert "with --resume the same command goes on" in said
    until = time.monotonic() + WAIT_S
    while child.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not child.exists()
