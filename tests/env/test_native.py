# SPDX-License-Identifier: Apache-2.0
"""The message of a failed native build: the first failure, without successful steps."""

from pathlib import Path

from bulkhead.env.errors import BuildFailed
from bulkhead.env.native import TAIL_LINES, failure_text

LOG = """[1/9] Building C object core/good.c.o
[2/9] Building C object core/bad.c.o
FAILED: core/bad.c.o
core/bad.c:3:1: error: expected ';'
[3/9] Building C object core/late.c.o
ninja: build stopped: subcommand failed.
"""


def test_a_failure_is_shown_without_the_steps_around_it(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_text(LOG)
    assert failure_text(log).splitlines() == [
        "FAILED: core/bad.c.o",
        "core/bad.c:3:1: error: expected ';'",
        "ninja: build stopped: subcommand failed.",
    ]


def test_a_log_without_a_marked_failure_shows_its_end(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_text("\n".join(f"line {number}" for number in range(100)))
    shown = failure_text(log).splitlines()
    assert len(shown) == TAIL_LINES
    assert shown[-1] == "line 99"


def test_the_message_names_preset_and_log() -> None:
    text = str(BuildFailed("host", Path("logs/build-host.log"), "error: no"))
    assert "`host`" in text
    assert "logs/build-host.log" in text
    assert text.endswith("error: no")
