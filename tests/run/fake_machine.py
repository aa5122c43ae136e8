#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for the simulated machine's program: behaves as described by the request's key `script`.

Reads a request, writes JSON lines like machine/hosted/main.cpp. Used by test_simulator.py.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

FRAME_BYTES = 4096


def say(**what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def main() -> int:
    request = json.load(sys.stdin)
    script = request["script"]
    if script == "refuse":
        say(error="no such platform")
        return 1
    say(console="[bulkhead 0.000001] 1 domain\n[one 0.5", simulated_ps=2000)
    if script == "die":
        sys.stderr.write("assertion failed\n")
        os.kill(os.getpid(), signal.SIGABRT)
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    if script == "hang":
        Path(request["frames_file"]).with_suffix(".hangs").touch()
    while script == "hang" and not stopped:
        time.sleep(0.01)
    say(console="00000] bulkhead: ready\n\u00e9\n", simulated_ps=4000)
    Path(request["frames_file"]).write_bytes(b"\x07" * FRAME_BYTES * len(request["frames"]))
    say(
        ending="stopped" if stopped else request.get("ending", "off"),
        trouble="EL2 writes 0x0",
        started_ps=1,
        simulated_ps=7000,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
