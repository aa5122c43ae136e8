# SPDX-License-Identifier: Apache-2.0
"""S7, cross-checks: the machine's DRAM compared with a peer's. The peer itself is not available here: a
program that answers in the same form stands in for it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bulkhead.machine.native import dram_alone
from bulkhead.validation.peer import MIXES, PeerFailed, memory_of, ours, requests_of

from ..command_line import invoked, run_json

pytestmark = pytest.mark.usefixtures("machine_built")

CONFIGURATION = """
[dram_structure]
protocol = DDR3
bankgroups = 1
banks_per_group = 8
rows = 32768
columns = 1024
device_width = 16
BL = 8

[timing]
tCK = 1.25
CL = 11
CWL = 8
tRCD = 11
tRP = 12
tRAS = 28
tRFC = 208
tREFI = 6240
tRRD_S = 5 ; of 7.5 ns
tRRD_L = 5
tFAW = 32
tWR = 12
tWTR_S = 6
tWTR_L = 6
tRTP = 6
tCCD_S = 4
tCCD_L = 4
tRTRS = 1

[system]
channel_size = 2048
channels = 1
bus_width = 64
address_mapping = rochrababgco
queue_structure = PER_BANK
trans_queue_size = 8
"""
CLOCK_PS = 1250
# Serves this many requests, and each read in this many clocks.
STAND_IN = """#!{python}
import json, sys
arguments = dict(zip(sys.argv[2::2], sys.argv[3::2]))
assert "PER_RANK" in open(sys.argv[1]).read()
last = [int(line.split()[2]) for line in open(arguments["-t"])][-1]
found = {{"num_reads_done": {reads}, "num_writes_done": 0, "average_read_latency": {clocks}}}
json.dump({{"0": found}}, open(arguments["-o"] + "/dramsim3.json", "w"))
"""


def configured(directory: Path, text: str = CONFIGURATION) -> Path:
    file = directory / "configs" / "small.ini"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


def test_a_configuration_becomes_the_machines_dram(tmp_path: Path) -> None:
    memory = memory_of(configured(tmp_path))
    dram = memory.settings["dram"]
    assert (memory.size, memory.line_bytes, memory.peak_bytes_per_s) == (2 << 30, 64, 12.8e9)
    assert dram["shape"] == {
        "channels": 1,
        "ranks": 1,
        "groups": 1,
        "banks": 8,
        "rows": 32768,
        "columns": 128,
        "burst_bytes": 64,
    }
    assert dram["map"]["column"][0] == 64
    assert dram["map"]["bank"] == [1 << 13, 1 << 14, 1 << 15]
    assert (dram["timings"]["rrd_s"], dram["timings"]["refi"], dram["timings"]["rp"]) == (5, 6240, 12)


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ("rochrababgco", "rochrababgxx", "unknown field 'xx'"),
        ("columns = 1024", "", "columns"),
        ("tCK = 1.25", "tCK = fast", "fast"),
        ("[system]", "[sytem]", "system"),
    ],
)
def test_what_is_no_configuration_is_refused_by_name(
    tmp_path: Path, was: str, becomes: str, said: str
) -> None:
    with pytest.raises(PeerFailed, match=said):
        memory_of(configured(tmp_path, CONFIGURATION.replace(was, becomes)))


def test_a_lone_read_takes_what_the_data_sheet_says(tmp_path: Path) -> None:
    """A row is opened, data come CL later and take 4 clocks; a second read of the row needs no activate."""
    settings = json.dumps(memory_of(configured(tmp_path)).settings)
    far_apart = [(0, 0, 0), (100 * CLOCK_PS, 64, 0)]
    taken, read, written = dram_alone(settings, far_apart, 1000 * CLOCK_PS)
    assert [ps // CLOCK_PS for ps in taken] == [11 + 11 + 4, 11 + 4]
    assert (read, written) == (128, 0)


def test_requests_whose_times_fall_are_refused(tmp_path: Path) -> None:
    settings = json.dumps(memory_of(configured(tmp_path)).settings)
    with pytest.raises(ValueError, match="times of the requests fall"):
        dram_alone(settings, [(1000, 0, 0), (0, 64, 0)], 10**6)


def test_a_mix_that_saturates_asks_for_more_than_there_is(tmp_path: Path) -> None:
    memory = memory_of(configured(tmp_path))
    for mix in MIXES:
        found = ours(memory, requests_of(mix, memory, 20_000), 20_000)
        asked = mix.share * memory.peak_bytes_per_s
        if mix.saturates:
            assert found.bytes_per_s < memory.peak_bytes_per_s < asked
        else:
            assert found.bytes_per_s == pytest.approx(asked, rel=0.01)


def stand_in(directory: Path, reads: int, clocks: float) -> None:
    program = directory / "dramsim3main"
    program.write_text(STAND_IN.format(python=sys.executable, reads=reads, clocks=clocks))
    program.chmod(0o755)


def test_a_peer_that_says_something_else_fails_the_command(tmp_path: Path) -> None:
    configured(tmp_path)
    stand_in(tmp_path, 100_000, 50)
    code, result = run_json("crosscheck", tmp_path, "--configuration", "small")
    assert code == 1
    assert result["verdict"] == "failed"
    assert any("random reads, 10 % of the peak" in reason for reason in result["reasons"])
    judged = {row["mix"]: row["judged"] for row in result["mixes"]}
    assert judged["random reads"]
    assert not judged["random, one write in three"]


def test_without_the_peers_program_it_is_a_usage_error(tmp_path: Path) -> None:
    ended = invoked("crosscheck", tmp_path)
    assert ended.exit_code == 2
    assert "no dramsim3main" in ended.output
