# SPDX-License-Identifier: Apache-2.0
"""Several brokers in a system file (F8): which systems are refused and what is allowed instead, and that each
broker is planned with its own flows while the memory serves all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.admission.flows import check_flows, least_bandwidths
from bulkhead.admission.load import Loaded, load_system
from bulkhead.planning.broker_parts import number_of, parts_of
from bulkhead.planning.model import Plan
from bulkhead.planning.plan import PlanningError, plan_memory
from tests.command_line import run_json

EXAMPLE = Path(__file__).parents[2] / "examples" / "two-brokers.yaml"


def system(directory: Path, change: dict[str, Any] | None = None, **keys: Any) -> Loaded:
    wanted = yaml.safe_load(EXAMPLE.read_text())
    wanted["brokers"] |= change or {}
    wanted |= keys
    path = directory / "system.yaml"
    path.write_text(yaml.safe_dump(wanted, sort_keys=False))
    return load_system(path)


def flows_of() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(EXAMPLE.read_text())["flows"]
    return found


CONTROL = {"domains": ["controller", "supervisor"]}
VIDEO = {"domains": ["camera", "display"]}
ACROSS = {"name": "across", "from": "controller", "to": "display", "port": 6000}
ACROSS |= {"size": "64 B", "period": "5 ms", "deadline": "5 ms"}


@pytest.mark.parametrize(
    ("change", "keys", "key", "code", "allowed"),
    [
        (
            {},
            {"flows": [*flows_of(), ACROSS]},
            "flows[3].to",
            "two-brokers",
            "'camera' and 'display' in `domains` of 'control', or 'controller' and 'supervisor' in `domains` "
            "of 'video', or one broker",
        ),
        ({"video": {"domains": ["camera"]}}, {}, "domains[3].name", "no-broker", "'display' in `domains` of"),
        (
            {"video": {"domains": ["camera", "display", "controller"]}},
            {},
            "brokers.video.domains[2]",
            "duplicate-name",
            "each domain at one broker",
        ),
        (
            {"video": {"domains": ["camera", "display", "nobody"]}},
            {},
            "brokers.video.domains[2]",
            "unknown-name",
            "",
        ),
        ({"video": {}}, {}, "brokers.video.domains", "missing-key", "the domains that it serves"),
        ({"third": {"domains": ["camera"]}}, {}, "brokers", "limit", "at most 2"),
        ({}, {"broker": {}}, "brokers", "conflict", "the broker as one of `brokers`"),
        ({"video": {**VIDEO, "cpu": 2}}, {}, "brokers.video.cpu", "conflict", "another core, or auto"),
        ({"video": {**VIDEO, "cpu": 9}}, {}, "brokers.video.cpu", "out-of-range", "auto, or 0 to 3"),
        ({}, {"flows": flows_of()[:2]}, "brokers.video.domains", "no-effect", "or no such broker"),
    ],
)
def test_f8_what_brokers_cannot_be_is_refused_with_the_nearest_that_can(
    tmp_path: Path, change: dict[str, Any], keys: dict[str, Any], key: str, code: str, allowed: str
) -> None:
    found = {(one.key, one.code): one for one in system(tmp_path, change, **keys).problems}
    assert (key, code) in found, found
    assert allowed in (found[key, code].allowed or "")


def test_f8_the_only_broker_serves_all_domains(tmp_path: Path) -> None:
    wanted = yaml.safe_load(EXAMPLE.read_text())
    del wanted["brokers"]
    loaded = system(tmp_path, broker={"domains": ["controller"]}, brokers={})
    (problem,) = loaded.problems
    assert (problem.key, problem.code) == ("broker.domains", "conflict")


def test_f8_a_name_of_a_broker_is_no_name_of_a_domain(tmp_path: Path) -> None:
    wanted = yaml.safe_load(EXAMPLE.read_text())["brokers"]
    brokers = {"camera": wanted["control"], "video": wanted["video"]}
    found = {(one.key, one.code) for one in system(tmp_path, brokers=brokers).problems}
    assert ("domains[2].name", "bad-name") in found


def test_f8_one_engine_does_not_copy_for_two_brokers(tmp_path: Path) -> None:
    both = {"control": {**CONTROL, "engine": "zdma"}, "video": {**VIDEO, "engine": "zdma"}}
    loaded = system(tmp_path, both, platform="zcu102", isolation={"llc": "none"}, hypervisor={})
    (problem,) = [one for one in loaded.problems if one.key == "brokers.video.engine"]
    assert problem.code == "conflict"
    assert problem.allowed == "another engine, or cpu-copy"


def test_f8_each_broker_has_a_core_of_its_own(tmp_path: Path) -> None:
    loaded = system(tmp_path, {"control": CONTROL, "video": VIDEO})
    assert loaded.ok and loaded.system is not None, loaded.problems
    cores = {one.name: one.cpus for one in loaded.system.domains[-2:]}
    assert cores == {"control": (3,), "video": (2,)}, "the last free core for the first one"


def test_f8_each_broker_is_planned_with_its_own_flows() -> None:
    loaded = load_system(EXAMPLE)
    assert loaded.system is not None and loaded.platform is not None
    plan = plan_memory(loaded.system, loaded.platform)
    names = {one.broker.name: {way.name for way in one.model.ways} for one in plan.brokers}
    assert names == {"control": {"setpoint", "state"}, "video": {"frames"}}
    assert [len(one.model.domains) for one in plan.brokers] == [2, 2], "each looks at its own sockets"
    assert [number_of(loaded.system, name) for name in ("supervisor", "display", "video")] == [0, 1, 1]
    colors = {one.name: one.colors or frozenset() for one in plan.domains[-2:]}
    assert colors["control"] and colors["video"] and not colors["control"] & colors["video"]
    least = {one.broker: one.bytes_per_s for one in least_bandwidths(loaded)}
    assert least["control"] == plan.brokers[0].rate, "the smallest that is enough, as if it were alone"
    assert (least["video"] or 0) < plan.brokers[1].rate == 300_000_000


def test_f8_a_finding_about_a_broker_names_its_key_in_the_file(tmp_path: Path) -> None:
    flows = flows_of()
    flows[2]["deadline"] = "2 us"
    loaded = system(tmp_path, flows=flows)
    problems = check_flows(loaded).problems
    assert problems and all(one.key.startswith("flows[2]") for one in problems), problems
    loaded = system(tmp_path, {"video": {**VIDEO, "rate": "1 MB/s"}})
    (problem,) = check_flows(loaded).problems
    assert problem.key == "brokers.video.rate"


def engines(directory: Path, rate: str, budget: str, copied: str = "20 MB/s") -> Loaded:
    """On the ZCU102: one broker with the engine at a rate, one whose core copies."""
    wanted = yaml.safe_load(EXAMPLE.read_text())
    for one in wanted["domains"]:
        one["bandwidth"] = {"budget": budget, "period": "1 ms"}
    brokers = {
        "control": {**CONTROL, "rate": copied},
        "video": {**VIDEO, "engine": "zdma", "rate": rate},
    }
    for flow in wanted["flows"]:
        flow |= {"period": "20 ms", "deadline": "20 ms"}
    keys = {"platform": "zcu102", "isolation": {"llc": "none"}, "hypervisor": {}}
    return system(directory, brokers, domains=wanted["domains"], flows=wanted["flows"], **keys)


def test_f3_the_memory_serves_both_brokers_together(tmp_path: Path) -> None:
    loaded = engines(tmp_path, "200 MB/s", "20 MB/s")
    assert loaded.system is not None and loaded.platform is not None, loaded.problems
    plan = plan_memory(loaded.system, loaded.platform)
    first, second = (one.memory for one in plan.brokers)
    assert first is not None and second is not None
    for memory, own, other in ((first, "control", "video"), (second, "video", "control")):
        parts = {part.name: part for part in memory.parts}
        assert memory.broker == own
        assert parts[own].utilization > 0 and parts[other].utilization > 0
    assert abs(first.utilization - second.utilization) < 1e-3, "both see the same memory"
    alone = second.sustained.broker_bytes_per_s - plan.brokers[1].memory.rate  # type: ignore[union-attr]
    assert alone > 0, "EL2 counts the other broker beside the one with the engine"


def test_f3_two_brokers_that_the_memory_cannot_serve_together_are_refused(tmp_path: Path) -> None:
    def planned(rate: str, copied: str) -> Plan:
        loaded = engines(tmp_path, rate, "60 MB/s", copied)
        assert loaded.system is not None and loaded.platform is not None, loaded.problems
        return plan_memory(loaded.system, loaded.platform)

    memory = planned("200 MB/s", "20 MB/s").brokers[1].memory
    assert memory is not None
    rate = f"{memory.largest_rate - 20_000_000} B/s"  # less by more than a step of its regulator
    planned(rate, "20 MB/s")
    with pytest.raises(PlanningError) as refused:
        planned(rate, "60 MB/s")
    codes = {(one.path[:2], one.code) for one in refused.value.findings}
    assert (("brokers", "video"), "memory-budget") in codes


def test_f6_the_commands_show_each_broker() -> None:
    _, checked = run_json("flows", "check", EXAMPLE)
    assert checked["broker"]["name"] == "control"
    (further,) = checked["further_brokers"]
    assert further["broker"]["name"] == "video"
    assert [one["name"] for one in further["flows"]] == ["frames"]
    _, least = run_json("flows", "min-bandwidth", EXAMPLE)
    assert set(least["brokers"]) == {"control", "video"}
    assert least["bytes_per_s"] == least["brokers"]["control"]


def test_a_system_with_one_broker_is_one_part(tmp_path: Path) -> None:
    loaded = load_system(EXAMPLE.parent / "flows.yaml")
    assert loaded.system is not None
    (part,) = parts_of(loaded.system)
    assert (part.name, part.key) == ("broker", ("broker",))
    assert part.system is loaded.system
