# SPDX-License-Identifier: Apache-2.0
"""The server of `examples/server.yaml` on the emulator, whose board has the same DMA engine (D3, F7). Times
are the emulator's, and budgets are off: memory events are not counted there."""

from __future__ import annotations

from pathlib import Path

import pytest

from .harness import EXAMPLES, MS, boot

pytestmark = [pytest.mark.emulator, pytest.mark.req("D3", "F7")]
REQUESTS = 6


def test_the_same_server_and_client_run_on_the_emulator(tmp_path: Path) -> None:
    run = boot(EXAMPLES / "server.yaml", tmp_path / "run", unprotected=True, icount=True, for_ns=100 * MS)
    assert run.result["verdict"] == "ok", run.result["reasons"]
    client, server = run.domain("client")["report"], run.domain("server")["report"]
    for number in (0, 1):
        assert (client[f"answered{number}"], client[f"wrong{number}"]) == (REQUESTS, 0)
        assert server[f"answered{number}"] == REQUESTS
    assert server["errors"] == 0
