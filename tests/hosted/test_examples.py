# SPDX-License-Identifier: Apache-2.0
"""Examples show what their first comment states, on the simulated machine and in as short a run as possible,
and their verdict is negative if they do not. tests/config/test_examples.py lists the tests that run the
others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.command_line import run_json

OF_EL2 = 200  # lines that EL2 fetches for a domain while its events are counted
EXAMPLES = Path(__file__).parents[2] / "examples"
SHORT = {
    "banks": ("--for", "40ms"),
    "throttled": ("--for", "5ms"),
    "mpam": (),
    "mpam-budgets": (),
    "managed": (
        "--for",
        "15ms",
        "--set=domains.governor.params.after_ms=5",
        "--set=domains.governor.params.end_ms=10",
    ),
    "budget-refused": ("--for", "18ms"),
    "regulated": ("--solo",),
    "delay": ("--solo", "--for", "100ms"),
    "cpu-time": ("--for", "45ms"),
    "hostile-crash": ("--for", "25ms"),
    "hostile-shared-interrupts": ("--for", "25ms"),
    "hostile-device": ("--for", "25ms"),
    "hostile-restart": ("--for", "25ms"),
    "hostile-interrupts": ("--for", "25ms"),
    "hostile-maintenance": ("--for", "30ms"),
    "hostile-packets": ("--for", "25ms"),
    "hostile-partitions": ("--for", "25ms"),
    "hostile-uncached": ("--for", "25ms", "--solo"),
    "hostile-receiver": (),
    "hostile-connections": ("--for", "25ms"),
    "flows-many": ("--for", "60ms"),
}
# Claims of the examples, and changes that break each claim.
BROKEN = {
    "a budget that never bites": (
        "throttled",
        ("--for", "3ms", "--set=domains.hog.bandwidth.events=100000"),
        "domain hog: expected to be stopped by its budget in at least one period",
    ),
    "a manager to whom everything is admitted": (
        "budget-refused",
        ("--for", "18ms", "--set=regulation={ overcommit: true }"),
        "domain governor: expected",
    ),
    "a best-effort domain that nothing regulates": (
        "regulated",
        ("--solo", "--set=regulation.policy=none"),
        "domain vision: expected a slowdown of at most 1.12, but its slowdown was",
    ),
    "budgets that are spent at full speed": (
        "delay",
        ("--solo", "--for", "100ms", "--set=regulation.policy=dynamic", "--set=regulation.threshold=80 %"),
        "domain vision: expected a slowdown of at most 1.07, but its slowdown was",
    ),
    "a domain of the highest priority that never sleeps": (
        "cpu-time",
        ("--for", "5ms", "--set=domains.spinner.cpu=unlimited"),
        "core 1: control never had the core, although it was ready to run",
    ),
    "a budget that does not see what goes past the caches": (
        "hostile-uncached",
        ("--for", "20ms", "--solo", "--set=domains.hostile.bandwidth={ events: 2000, per: vcpu }"),
        "domain control: expected a slowdown of at most 1.1, but its slowdown was ",
    ),
    "maintenance that reaches all cores": (
        "hostile-maintenance",
        ("--for", "12ms", "--set=domains.hostile.maintenance=direct"),
        "domain control: expected release delays of at most 3.0 us, but its longest release delay was",
    ),
    "a domain with its neighbour's MPAM label": (
        "mpam",
        ("--for", "3ms", "--set=platform=mpam4", "--mislabel", "hog"),
        "lines of hog went into portions 0xFFF of control",
    ),
    "a hostile domain that has the label it wants": (
        "hostile-partitions",
        ("--for", "8ms", "--mislabel", "hostile"),
        "lines of control went into portions 0xF000000 of hostile",
    ),
    "components with a neighbour's settings for a domain": (
        "mpam",
        ("--for", "3ms", "--set=platform=mpam4", "--misprogram", "filter"),
        "PARTID 4 (filter): MPAMCFG_CPBM0 gives 0xFFF (0xFFF of control), planned is 0xFF000",
    ),
    "a domain that the run ends too soon for": (
        "regulated",
        ("--for", "5ms"),
        "domain vision: expected ready within 60.000 ms, but it was not ready when the run ended",
    ),
    "a domain that never has its core": (
        "shared-core",
        ("--for", "3ms", "--set=domains.filter.bandwidth=unlimited"),
        "core 1: batch never had the core, although it was ready to run",
    ),
}


def run(name: str, directory: Path, *options: str) -> dict[str, Any]:
    file = EXAMPLES / f"{name}.yaml"
    code, result = run_json("run", file, "--on", "machine", "--no-page", *options, "--directory", directory)
    assert code == (result["verdict"] != "ok")
    return result


@pytest.mark.parametrize("name", SHORT)
def test_an_example_shows_what_it_says(name: str, tmp_path: Path) -> None:
    result = run(name, tmp_path, *SHORT[name])
    assert result["reasons"] == []
    judged = [one["met"] for one in result["expectations"]]
    assert judged and all(judged), "nothing of it was left out"


def test_f9_a_receiver_without_buffers_holds_up_its_own_flow_alone(tmp_path: Path) -> None:
    result = run("hostile-receiver", tmp_path)
    bulk, setpoint = result["flows"]
    assert bulk["lost"] > 0, "its line held more descriptors than others could spare"
    assert setpoint["packets"] > 11, "one in each of its periods, and 11 when its receiver reports"
    assert setpoint["latency_ns"]["max"] <= setpoint["bound_ns"]


def test_f9_packets_of_17_flows_that_are_sent_at_once_are_within_their_bounds(tmp_path: Path) -> None:
    result = run("flows-many", tmp_path, "--for", "60ms")
    assert len(result["flows"]) == 17
    for flow in result["flows"]:
        assert flow["packets"] >= 2
        assert flow["latency_ns"]["max"] <= flow["bound_ns"]
    longest = max(flow["latency_ns"]["max"] for flow in result["flows"])
    assert longest > 0.4e6, "they were sent together"


def test_m7_the_example_of_shares_is_kept_by_mpam_where_a_platform_has_it(tmp_path: Path) -> None:
    """There a component enforces the maximum, and there is no budget whose periods could be counted."""
    result = run("mpam", tmp_path, "--set=platform=mpam4")
    assert result["reasons"] == []
    found = {name: one["verdict"] for name, one in result["witnesses"].items()}
    # There is no promise about evictions by owner: there may be a few, or by chance none.
    assert found.pop("machine") in ("nothing promised", "held")
    assert found == {"portions": "held", "mpam": "held", "tables": "held"}
    assert result["witnesses"]["machine"]["judged_by"] == "portions"
    limited = {
        one["domain"] for one in result["expectations"] if one["seen"] == "MPAM limits it, not a budget"
    }
    assert limited == {"filter", "hog"}
    assert all(one["met"] for one in result["expectations"] if one["domain"] not in limited)
    assert (result["mechanism"]["llc"], result["mechanism"]["bandwidth"]) == ("mpam", "mpam")


def test_b1_budgets_behind_an_l3_count_the_lines_that_memory_reads(tmp_path: Path) -> None:
    """EL2's counter, the misses of L3 and MPAM's monitor at the DRAM are three counts of the same lines. What
    EL2 fetches for the domain is in the first one only."""
    result = run("mpam-budgets", tmp_path)
    assert result["reasons"] == []
    domains = {domain["name"]: domain for domain in result["domains"]}
    for name in ("stream", "filter"):
        events, misses = domains[name]["events"], domains[name]["llc"]["misses"]
        assert events["event"] == "L3D_CACHE_REFILL"
        assert misses <= events["events"] <= misses + OF_EL2
    moved = {
        name: next(one["bytes"] for one in domain["mpam"] if one["kind"] == "bandwidth") // 64
        for name, domain in domains.items()
    }
    assert moved["filter"] == domains["filter"]["llc"]["misses"], "it gives up none of its dirty lines"
    assert domains["filter"]["llc"]["accesses"] > 100 * moved["filter"], "they come from L3"
    stream = domains["stream"]["events"]["events"]
    assert stream < moved["stream"] <= 2 * stream, "a refill writes back one dirty line at most"


def test_t5_where_cores_can_force_write_back_a_budget_of_refills_is_enough(tmp_path: Path) -> None:
    refills_alone = "--set=domains.hostile.bandwidth={ events: 2000, per: vcpu }"
    options = ("--for", "25ms", "--solo", "--set=platform=qemu-virt-max", refills_alone)
    result = run("hostile-uncached", tmp_path, *options)
    assert result["reasons"] == []
    assert all(one["met"] for one in result["expectations"])


@pytest.mark.slow
@pytest.mark.parametrize("what", BROKEN)
def test_the_verdict_is_no_where_an_example_does_not_show_it(what: str, tmp_path: Path) -> None:
    name, options, reason = BROKEN[what]
    result = run(name, tmp_path, *options)
    assert result["verdict"] == "failed"
    assert any(reason in found for found in result["reasons"]), result["reasons"]
