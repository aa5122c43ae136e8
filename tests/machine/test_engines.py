# SPDX-License-Identifier: Apache-2.0
"""DMA engines beside cores, limited by QoS-400 regulators (F2; S2: interconnect, DMA)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bulkhead.machine.engines import BadEngine, Space, described, rate_of
from bulkhead.machine.patterns import rows_of_core
from bulkhead.machine.placement import Placement
from bulkhead.machine.point import job_platform, job_settings, run_point

pytestmark = pytest.mark.usefixtures("machine_built")

KIB, MIB = 1024, 1 << 20
PS_PER_S = 10**12
ZCU102 = {"platform": "zcu102", "parts": []}


def engine(chunk: int, **more: Any) -> dict[str, Any]:
    return {"engine": "adma", "memory_bytes": 16 * MIB, "chunk_bytes": chunk, "chunks": 16} | more


def bandwidth(chunk: int, **job: Any) -> float:
    """Bytes a second of an engine that is alone, from its first start to its last interrupt."""
    [found] = run_point({**ZCU102, "engines": [engine(chunk)], **job})["engines"]
    assert found["chunks"] == 16
    return float(found["bytes"] * PS_PER_S / (found["last_ps"] - found["first_ps"]))


def test_the_engine_alone_is_as_fast_as_published() -> None:
    """It is within 3 %: the three times of the channel are fitted to five measured rates."""
    budget = job_platform(ZCU102).memory_budget
    assert budget is not None
    for row in budget.dma:
        assert bandwidth(row.chunk) == pytest.approx(row.rate, rel=0.03)


@pytest.mark.parametrize("rate", [1, 10, 32, 64, 128, 192])
def test_the_regulator_lets_pass_what_its_register_says(rate: int) -> None:
    """F2: b = S_b * a * f_clk / 2^12, if that is less than the engine's own rate."""
    interconnect = job_platform(ZCU102).interconnect
    assert interconnect is not None
    wanted = rate_of(interconnect.regulators[0], rate)
    assert wanted == 15_625_000 * rate
    got = bandwidth(MIB // 2, qos={"adma": {"rate": rate}})
    assert wanted * 0.99 <= got <= wanted * 1.0001  # the first transaction does not wait


def test_a_rate_beyond_the_engine_changes_nothing() -> None:
    assert bandwidth(4 * KIB, qos={"adma": {"rate": 4095}}) == bandwidth(4 * KIB)


def test_an_engine_without_end_runs_beside_a_core_until_that_is_done() -> None:
    part = {"name": "reader", "core": 0, "memory_bytes": MIB, "kind": "read", "walks": 4}
    alone = run_point({**ZCU102, "parts": [part]})
    beside = run_point({**ZCU102, "parts": [part], "engines": [engine(4 * KIB, chunks=0)]})
    assert beside["ending"] == "stopped"
    assert beside["walks"][0]["walk_ps"][-1] > alone["walks"][0]["walk_ps"][-1]
    assert beside["engines"][0]["bytes"] > MIB // 4
    assert (
        beside["digest"]
        == run_point({**ZCU102, "parts": [part], "engines": [engine(4 * KIB, chunks=0)]})["digest"]
    )


def test_what_was_counted_before_is_left_out() -> None:
    """Counts of an engine in a steady state: its rate in a window."""
    window = 10**9
    job = {"from_ps": 10**8, "until_ps": 10**8 + window, "qos": {"adma": {"rate": 10}}}
    [found] = run_point({**ZCU102, "engines": [engine(4 * KIB, chunks=0)], **job})["engines"]
    assert found["bytes"] * PS_PER_S / window == pytest.approx(156_250_000, rel=0.1)
    assert found["busy_ps"] <= window * 1.1


def stress(core: int) -> dict[str, Any]:
    walk = {"kind": "write", "walks": 0, "instructions": 4}
    return {"name": f"stress-{core}", "core": core, "memory_bytes": MIB, "pattern": "same-bank", **walk}


@pytest.mark.parametrize("chunk", [KIB, 4 * KIB, 8 * KIB])
def test_chunks_of_the_same_bank_pattern_have_rows_that_are_no_core_s(chunk: int) -> None:
    """By the mapping's masks each source and each destination has another row."""
    settings = job_settings({**ZCU102, "parts": []})
    platform = job_platform(ZCU102)
    space = Space(Placement(platform, colored=False), settings, [0, 1, 2])
    text, pages = described(engine(chunk, pattern="same-bank"), platform, space, 1)
    wanted = json.loads(text)

    def field(address: int, which: str) -> int:
        masks = settings["dram"]["map"].get(which, [])
        return sum(((address & mask).bit_count() & 1) << bit for bit, mask in enumerate(masks))

    chunks = wanted["from"] + wanted["to"]
    assert len(wanted["from"]) == len(wanted["to"]) == min(8 * MIB // chunk, 2048)
    lines = [line for begin in chunks for line in range(begin, begin + chunk, 64)]
    assert {(field(line, "bank"), field(line, "group")) for line in lines} == {(0, 0)}
    rows = [field(begin, "row") for begin in chunks]
    assert len(set(rows)) == len(rows)
    assert set(rows) <= set(rows_of_core(settings, 3))
    assert {field(begin + chunk - 1, "row") for begin in chunks} == set(rows)
    assert {line // 4096 * 4096 for line in lines} == set(pages)


def test_an_engine_takes_more_from_cores_in_their_bank_than_in_all() -> None:
    window = {"from_ps": 6 * 10**8, "until_ps": 9 * 10**8, "qos": {"adma": {"rate": 32}}}

    def lines(**more: Any) -> int:
        job = {**ZCU102, **window, "parts": [stress(core) for core in range(3)]}
        found = run_point({**job, "engines": [engine(8 * KIB, chunks=0, **more)]})
        return sum(int(core["events"]["l2d_refill"]) for core in found["cores"])

    assert lines(pattern="same-bank") < 0.95 * lines(pattern="pages")


def test_a_chunk_longer_than_a_row_is_in_more_than_one_bank() -> None:
    with pytest.raises(BadEngine, match=r"16384 bytes does not lie in a row of one bank: .* up to 8192"):
        run_point({**ZCU102, "engines": [engine(16 * KIB, pattern="same-bank")]})


@pytest.mark.parametrize(
    "job",
    [
        {"engines": [engine(4 * KIB, pattern="same-row")]},
        {"engines": [engine(4 * KIB, pattern="same-bank")], "parts": [stress(core) for core in range(4)]},
        {"engines": [engine(4 * KIB, engine="none")]},
        {"engines": [engine(16 * MIB)]},
        {"engines": [engine(4 * KIB, color=1)]},
        {"qos": {"adma": {"rat": 1}}},
        {"qos": {"none": {"rate": 1}}},
        {"qos": {"cores-l2": {"rate": 1}}},
    ],
)
def test_what_cannot_be_is_refused(job: dict[str, Any]) -> None:
    with pytest.raises(BadEngine):
        run_point({**ZCU102, **job})


def test_register_values_have_their_bits() -> None:
    with pytest.raises(ValueError, match="below 4096"):
        run_point({**ZCU102, "qos": {"adma": {"rate": 4096}}})
