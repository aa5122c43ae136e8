# SPDX-License-Identifier: Apache-2.0
"""Results of a run: the contents of the statistics pages, and the verdict that follows from them (C5)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bulkhead.planning.budgets import Budget
from bulkhead.planning.regulation import RegulatorPlan
from bulkhead.report.load import load_run
from bulkhead.report.sentences import verdict_text
from bulkhead.run.flows import flow_reasons
from bulkhead.run.status import FlowStatus
from bulkhead.run.target import MACHINE, QEMU, FlowTarget, RunOptions

from .made_up import HZ, LAYOUT, UNPROTECTED_EVICTIONS, MadeUp

CRASHED = {
    "state": 3,
    "end": 3,
    "ended_at": 1000 + 62_500_000,
    "fault_pc": 0x4008_0000,
    "fault_address": 0x9999_0000,
    "fault_syndrome": 0x9200_0046,
}
FLOWS = (("fast", 5_000_000), ("slow", 20_000_000))  # and their deadlines in ns
STOPPED = {"state": 2, "end": 1, "ended_at": 1000 + 2 * 62_500_000}


def domain(result: dict[str, Any], name: str) -> dict[str, Any]:
    return next(d for d in result["domains"] if d["name"] == name)


def test_run_that_kept_its_promises(tmp_path: Path) -> None:
    result = MadeUp(tmp_path).result()
    assert (result["verdict"], result["reasons"]) == ("ok", [])
    assert {d["state"] for d in result["domains"]} == {"running"}
    assert all(d["llc"]["evicted_by_others"] == 0 for d in result["domains"])
    assert result["witnesses"]["tables"]["verdict"] == result["witnesses"]["observer"]["verdict"] == "held"
    assert result["guest_ns"] == 20 * 10**9
    linux = domain(result, "linux")
    assert linux["prompt_ns"] == linux["ready_ns"] == 2_104_311_000
    assert [(v["vcpu"], v["core"]) for v in linux["vcpus"]] == [(0, 1), (1, 2)]
    assert linux["exit_reasons"] == {"hvc": 6, "wfx": 2400, "gicd_access": 80, "irq_timer": 10000}
    assert domain(result, "control")["report"]["releases"] == 19000


def test_every_result_carries_what_it_came_from(tmp_path: Path) -> None:
    result = MadeUp(tmp_path).result()
    assert result["bulkhead"] == {"version": "0.1.0", "commit": "0123456789ab"}
    assert result["platform_sha256"] == "ab" * 32 and result["seed"] == 7
    assert json.loads((tmp_path / "report.json").read_text()) == result
    assert json.loads((tmp_path / "run.json").read_text())["qemu_version"] == "10.0.2"


def test_same_facts_give_the_same_bytes(tmp_path: Path) -> None:
    MadeUp(tmp_path / "a").result()
    MadeUp(tmp_path / "b").result()
    assert (tmp_path / "a/report.json").read_bytes() == (tmp_path / "b/report.json").read_bytes()


def test_c5_eviction_breaks_a_promise_of_colors(tmp_path: Path) -> None:
    result = MadeUp(tmp_path, evicted={("control", "hog"): 2, ("control", "hypervisor"): 1}).result()
    assert result["verdict"] == "failed"
    assert result["reasons"] == [
        "domain control: others evicted 3 of its LLC lines, although no other domain has its colors"
    ]
    llc = domain(result, "control")["llc"]
    assert (llc["evicted_by_others"], llc["evicted_by_hypervisor"]) == (3, 1)


def test_c5_eviction_without_colors_breaks_none(tmp_path: Path) -> None:
    result = MadeUp(tmp_path, colored=False, evicted=UNPROTECTED_EVICTIONS).result()
    assert result["verdict"] == "ok"
    assert domain(result, "control")["llc"]["evicted_by_others"] == 61_204 + 2_310 + 187
    assert result["witnesses"]["observer"]["verdict"] == "nothing promised"


def test_c5_one_miscolored_frame_fails_the_run(tmp_path: Path) -> None:
    result = MadeUp(tmp_path, miscolored=True).result()
    assert result["verdict"] == "failed"
    assert result["witnesses"]["tables"]["findings_total"] == 1
    assert "color 0 is not among its colors {3, 4, 5}" in result["reasons"][0]


@pytest.mark.req("B1")
def test_a_budget_that_was_exceeded_fails_the_run(tmp_path: Path) -> None:
    """50 times the budget in a period, as if the overflow's interrupt were never delivered."""
    made_up = MadeUp(tmp_path / "kept", budgets={"hog": Budget(1000, 1_000_000, 0)})
    counts = {"events": 20_000_000, "periods": 20_000, "period_max_events": 1010, "overshoot_max_events": 10}
    made_up.counted = {"hog": counts}
    assert made_up.result()["reasons"] == []
    made_up.directory = tmp_path / "exceeded"
    made_up.counted = {"hog": {**counts, "period_max_events": 50_000, "overshoot_max_events": 49_000}}
    result = made_up.result()
    assert result["verdict"] == "failed"
    assert result["reasons"] == [
        "domain hog: VCPU 0 had 50000 events in a period, of a budget of 1000 and at most 64 beyond it"
    ]
    made_up.directory = tmp_path / "restarted"
    made_up.counted = {"hog": {**counts, "period_max_events": 1200, "overshoot_max_events": 200}}
    made_up.domains = {"hog": {"restarts": 1}}
    assert made_up.result()["reasons"] == []


@pytest.mark.req("B5")
def test_a_regulator_that_never_stepped_fails_the_run(tmp_path: Path) -> None:
    regulator = RegulatorPlan(
        policy="dynamic", hold="keep", threshold=1, step=1, bandwidth_threshold_events=0,
        interval_ns=1_000_000, members=frozenset({3}), regulated=frozenset({3}), budget_events={3: 1000},
        floor_events=1, ceiling_events=9000, saturation_events=0, store_samples=False, horizon_intervals=0,
        event_delays_ps={},
    )  # fmt: skip
    budget = Budget(1000, 1_000_000, 0, regulated=True)
    made_up = MadeUp(tmp_path / "never", budgets={"hog": budget}, regulator=regulator)
    (reason,) = made_up.result()["reasons"]
    assert reason.startswith("the regulator of policy 'dynamic' never changed a budget")
    made_up.directory = tmp_path / "stopped"
    made_up.domains, made_up.expected = {"hog": STOPPED}, {"hog": "stopped"}
    assert made_up.result()["reasons"] == [], "there was nobody to regulate"


def test_crash_is_a_reason_with_the_place_and_the_others_run_on(tmp_path: Path) -> None:
    result = MadeUp(tmp_path, domains={"hog": CRASHED}).result()
    place = "(pc 0x40080000, syndrome 0x92000046, address 0x99990000)"
    assert result["reasons"] == [f"domain hog crashed after 1.000 s: stage2 data abort {place}"]
    assert domain(result, "hog")["fault"]["address"] == "0x99990000"
    assert domain(result, "linux")["state"] == "running"


@pytest.mark.parametrize(
    ("expected", "end", "verdict"),
    [
        ({}, STOPPED, "failed"),
        ({"hog": "stopped"}, STOPPED, "ok"),
        ({"hog": "stopped"}, {}, "ok"),  # a domain that still runs is no failure either
        ({"hog": "stopped"}, CRASHED, "failed"),
        ({"hog": "crashed"}, CRASHED, "ok"),
    ],
)
def test_expected_ends(tmp_path: Path, expected: dict[str, str], end: dict[str, Any], verdict: str) -> None:
    assert MadeUp(tmp_path, expected=expected, domains={"hog": end}).result()["verdict"] == verdict


def test_refused_manifest_gives_code_and_offset(tmp_path: Path) -> None:
    console = b"[bulkhead     0.000001] refused: checksum (error 6) at offset 16 of the manifest\r\n"
    code = LAYOUT.enum_value("manifest_error", "checksum")
    refused = {"phase": 3, "refusal": code, "refusal_offset": 16}
    result = MadeUp(tmp_path, system=refused, console=console, options=RunOptions()).result()
    assert result["verdict"] == "failed"
    assert result["reasons"][0].startswith(
        "the hypervisor refused the manifest: checksum at offset 16 (refused: checksum"
    )


def test_missing_statistics_page_is_a_reason(tmp_path: Path) -> None:
    result = MadeUp(tmp_path, system={"magic": 0}, options=RunOptions()).result()
    assert "ended before it wrote its statistics page" in result["reasons"][0]
    assert {d["state"] for d in result["domains"]} == {"unknown"}


def test_domain_without_a_root_is_no_proof(tmp_path: Path) -> None:
    result = MadeUp(tmp_path, domains={"hog": {"vttbr": 0}}).result()
    assert result["reasons"] == ["tables: the stage-2 root of hog is not known"]


def test_silent_observer_is_a_reason(tmp_path: Path) -> None:
    result = MadeUp(tmp_path, observer=False).result()
    assert result["witnesses"]["observer"]["verdict"] == "missing" and result["verdict"] == "failed"


def test_an_observer_without_known_addresses_makes_no_statement(tmp_path: Path) -> None:
    result = MadeUp(tmp_path, verified=False).result()
    witness = result["witnesses"]["observer"]
    assert (witness["verdict"], result["verdict"]) == ("missing", "failed")
    assert witness["reason"].startswith("its check of addresses failed")


@pytest.mark.parametrize(
    ("how", "detail", "options", "reason"),
    [
        (
            "timeout",
            "nothing ended the run within 5 s",
            RunOptions(),
            "nothing ended the run within 5 s (wall time)",
        ),
        (
            "died",
            "the emulator ended by itself (code 3)",
            RunOptions(),
            "the emulator ended by itself (code 3)",
        ),
        ("interrupted", "by SIGINT", RunOptions(for_ns=10**9), "interrupted by SIGINT"),
        ("interrupted", "by SIGTERM", RunOptions(), "interrupted by SIGTERM"),
        ("interrupted", "by SIGINT", RunOptions(), None),  # how a run without --for ends
        ("left", "", RunOptions(), None),
    ],
)
def test_ways_to_end(tmp_path: Path, how: str, detail: str, options: RunOptions, reason: str | None) -> None:
    result = MadeUp(tmp_path, how=how, detail=detail, options=options).result()
    assert (result["verdict"] == "ok") == (reason is None)
    assert reason is None or result["reasons"][0].startswith(reason)


@pytest.mark.parametrize(
    ("told_ns", "host_ns", "guest_ns", "clock", "words"),
    [
        (45_000_000_000, 44_900_000_000, 45_000_000_000, "hypervisor", "held for 45 s of guest time"),
        (None, 44_900_000_000, 44_900_000_000, "host", "held for 44.9 s of guest time"),
        (None, None, 19_000_000_000, "console", "held for at least 19 s of guest time"),
    ],
)
def test_a_run_that_was_left_lasted_until_it_was_left(
    tmp_path: Path, told_ns: int | None, host_ns: int | None, guest_ns: int, clock: str, words: str
) -> None:
    """The newest line of the console does not matter; rates use the same time, or are missing."""
    system = {"phase": 1, "ended_at": 0}
    made = MadeUp(tmp_path, how="left", system=system, options=RunOptions(), told_ns=told_ns, host_ns=host_ns)
    result = made.result()
    assert (result["verdict"], result["guest_ns"], result["guest_ns_by"]) == ("ok", guest_ns, clock)
    run = load_run(tmp_path)
    assert words in verdict_text(run)
    assert run.rated_ns == (None if clock == "console" else guest_ns)


@pytest.mark.parametrize("packets", [0, 1])
def test_a_flow_in_which_nothing_moved_was_not_tried_and_the_verdict_says_so(
    tmp_path: Path, packets: int
) -> None:
    blank: Any = LAYOUT.unpack("status_system", bytes(LAYOUT.size("status_system")))["flows"]
    state = LAYOUT.enum_value("flow_state", "open")
    flows = [{**blank[0], "state": state, "packets": packets}, *blank[1:]]
    result = MadeUp(tmp_path, system={"flows": flows}).result()
    said = [] if packets else ["flow added 0: no packet was delivered, so its deadline was not tested"]
    assert (result["verdict"], result["not_shown"]) == ("ok", said)
    text = verdict_text(load_run(tmp_path))
    assert text.endswith("guest time" if packets else "of guest time; 1 promise was not tested, see above")


@pytest.mark.parametrize(
    ("on", "unheard_ns", "transfer_ns", "reasons"),
    [
        (MACHINE, 5_000_000, 5_000_000, []),
        (MACHINE, 5_001_000, 0, ["had not handled a notification of 'linux' for 5.001 ms"]),
        (MACHINE, 0, 5_001_000, ["had worked on one transfer for 5.001 ms"]),
        (QEMU, 5_001_000, 5_001_000, []),
    ],
)
def test_what_the_broker_owes_at_the_end_is_late(
    on: str, unheard_ns: int, transfer_ns: int, reasons: list[str]
) -> None:
    """It is late if it waits longer than a deadline: on the machine, whose time is meaningful."""
    flow = FlowStatus(
        packets=1,
        bytes=64,
        control_packets=0,
        misses=0,
        latency_min_ns=0,
        latency_max_ns=0,
        latency_sum_ns=0,
        lost=0,
        refused=0,
        state="open",
        source=1,
        destination=0,
        port=5000,
        packet_bytes=64,
        period_ns=10**7,
        deadline_ns=5_000_000,
    )
    targets = [
        FlowTarget(name, "linux", "control", 5000, 64, 10**7, deadline_ns) for name, deadline_ns in FLOWS
    ]
    found = flow_reasons([(target, flow) for target in targets], on, {"linux": unheard_ns}, [transfer_ns])
    assert len(found) == len(reasons)
    assert all(words in reason for words, reason in zip(reasons, found, strict=True))
    earlier = replace(flow, replaced_misses=2)
    of_earlier = flow_reasons([(targets[0], earlier)], on, {}, [])
    assert of_earlier == (
        [f"flow {targets[0].name}: 2 packets of flows that had its place before were late"]
        if on == MACHINE
        else []
    )
    closed = replace(flow, state="closed")
    assert (
        flow_reasons([(target, closed) for target in targets], on, {"linux": unheard_ns}, [transfer_ns]) == []
    )


def test_an_interrupted_run_says_how_far_the_simulated_machine_came(tmp_path: Path) -> None:
    """Domains may be silent; the time is counted from the hypervisor's start."""
    system = {"phase": 1, "ended_at": 0, "started_at": HZ // 1000}
    made = MadeUp(tmp_path, how="interrupted", detail="by SIGTERM", system=system, options=RunOptions())
    assert "after at least 19.000 s of guest time" in made.result()["reasons"][0], "the console's last word"
    made.simulated_ns = 21_501_000_000
    result = made.result()
    assert "interrupted by SIGTERM after 21.500 s of guest time" in result["reasons"]
    assert result["guest_ns"] == 21_500_000_000
