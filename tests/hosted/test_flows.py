# SPDX-License-Identifier: Apache-2.0
"""Flows on the simulated machine (F1, F2): packets arrive, in time by the analysis (F4), whatever else is
sent, and every run is the same."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.config.load import load_named
from bulkhead.run.samples import read_samples
from tests.command_line import run_json

from .systems import MS, domain

KIB = 1024
US = 1000
CHUNK = 4 * KIB


def system(*pairs: tuple[str, int, dict[str, Any]], **broker: Any) -> dict[str, Any]:
    """For each (name, bytes to send, flow): one domain sends as fast as it can, another receives."""
    domains: list[dict[str, Any]] = []
    flows = []
    for number, (name, total, flow) in enumerate(pairs):
        sender = domain(f"{name}-from", "socket_source", [number], params={"total": total})
        receiver = domain(f"{name}-to", "socket_sink", [number + len(pairs)], params={"times": 1})
        domains += [sender, receiver]
        flows.append({"name": name, "from": f"{name}-from", "to": f"{name}-to", "port": 5000, **flow})
    return {
        "bulkhead": 1,
        "name": "flows",
        "platform": "qemu-virt",
        "isolation": {"llc": "none"},
        "domains": domains,
        "broker": {"chunk": CHUNK, **broker},
        "flows": flows,
        "expect": {one["name"]: "stopped" for one in domains},
    }


def run(directory: Path, wanted: dict[str, Any], span: str = "400ms") -> dict[str, Any]:
    directory.mkdir(exist_ok=True)
    path = directory / "system.yaml"
    path.write_text(yaml.safe_dump(wanted, sort_keys=False))
    return run_file(path, directory, "--for", span)


def run_file(path: Path, directory: Path, *options: str) -> dict[str, Any]:
    arguments = ("run", path, "--on", "machine", "--no-page", *options)
    code, result = run_json(*arguments, "--directory", directory / "run")
    assert code == 0, result["reasons"]
    return result


def flow(result: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in result["flows"] if one["name"] == name)


def report(result: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in result["domains"] if one["name"] == name)["report"]
    return found


def reports(directory: Path, name: str) -> list[dict[str, Any]]:
    """All reports of a domain, one for each of its connections."""
    log = (directory / "run" / "console.log").read_text()
    lines = [line.partition("report ")[2] for line in log.splitlines() if f"{name}" in line]
    return [json.loads(line) for line in lines if line]


def assert_guaranteed(result: dict[str, Any], span_ns: int) -> None:
    """Checks that all flows have the declared pace, each packet is within its bound, and both witnesses
    agree."""
    for one in result["flows"]:
        assert one["packets"] >= 0.8 * span_ns // one["period_ns"]
        assert (one["misses"], one["lost"], one["refused"]) == (0, 0, 0)
        assert one["latency_ns"]["max"] <= one["bound_ns"] <= one["deadline_ns"]
    assert result["witnesses"]["machine"]["verdict"] == "held"
    assert result["witnesses"]["tables"]["verdict"] == "held"


FRAMES = {"size": "4 KiB", "period": "1 ms", "deadline": "2 ms"}
TOTAL = 128 * KIB


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run(tmp_path_factory.mktemp("frames"), system(("frames", TOTAL, FRAMES)))


def assert_all_arrived_in_time(frames: dict[str, Any]) -> None:
    sent, received = report(frames, "frames-from"), report(frames, "frames-to")
    assert sent["sent"] == received["received"] == TOTAL
    assert sent["crc"] == received["crc"]
    one = flow(frames, "frames")
    assert (one["packets"], one["bytes"]) == (TOTAL // (4 * KIB), TOTAL)
    assert (one["misses"], one["lost"], one["refused"]) == (0, 0, 0)
    latency = one["latency_ns"]
    assert US < latency["min"] <= latency["mean"] <= latency["max"] <= one["bound_ns"] <= one["deadline_ns"]


def test_f2_what_is_sent_arrives_in_time(frames: dict[str, Any]) -> None:
    assert_all_arrived_in_time(frames)


def test_d3_a_sender_whose_device_is_on_pci_keeps_the_same_bounds(
    frames: dict[str, Any], tmp_path: Path
) -> None:
    wanted = system(("frames", TOTAL, FRAMES))
    wanted["domains"][0] |= {"image": {"elf": "guests/socket_source_pci.elf"}, "socket_transport": "pci"}
    on_pci = run(tmp_path, wanted)
    assert_all_arrived_in_time(on_pci)
    assert flow(on_pci, "frames")["bound_ns"] == flow(frames, "frames")["bound_ns"]


def test_s3_a_run_with_flows_is_the_same_run_again(frames: dict[str, Any], tmp_path: Path) -> None:
    again = run(tmp_path, system(("frames", TOTAL, FRAMES)))
    assert again["digest"] == frames["digest"]
    assert again["flows"] == frames["flows"]


def test_f2_a_sender_that_sends_more_than_declared_delays_itself_alone(frames: dict[str, Any]) -> None:
    """It has the next packet ready at once, but only one packet goes in each millisecond."""
    packets = TOTAL // (4 * KIB)
    assert report(frames, "frames-to")["ns"] > (packets - 1) * MS
    assert report(frames, "frames-from")["ns"] < (packets + 5) * MS


SLOW = 40_000_000  # bytes/s: so slow that a chunk is visible
CHUNK_NS = CHUNK * 10**9 // SLOW
PATH_NS = 20 * US  # time of a packet's path besides its transfers
PACKETS = {"bulk": 6, "urgent": 30}


def competing(bulk_deadline: str, urgent_deadline: str, **bulk: int) -> dict[str, Any]:
    """Packets of 64 KiB from one domain and small ones from another, to the same receiver."""
    params = {name: {"packets": PACKETS[name]} for name in PACKETS}
    params["bulk"] |= bulk
    domains = [
        domain("bulk", "traffic", [0], params=params["bulk"]),
        domain("urgent", "traffic", [1], params=params["urgent"]),
        domain("receiver", "traffic", [2], params={"packets": 1}),
    ]
    large = {"size": "64 KiB", "period": "5500 us", "deadline": bulk_deadline}
    small = {"size": "256 B", "period": "1100 us", "deadline": urgent_deadline}
    return {
        "bulkhead": 1,
        "name": "competing",
        "platform": "qemu-virt",
        "isolation": {"llc": "none"},
        "domains": domains,
        "broker": {"cpu": 3, "chunk": CHUNK, "rate": f"{SLOW} B/s"},
        "flows": [
            {"name": "bulk", "from": "bulk", "to": "receiver", "port": 5000, **large},
            {"name": "urgent", "from": "urgent", "to": "receiver", "port": 5001, **small},
        ],
        "expect": {one["name"]: "stopped" for one in domains},
    }


@pytest.fixture(scope="module")
def urgent_first(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run(tmp_path_factory.mktemp("urgent"), competing("10 ms", "900 us"))


def test_f2_all_of_both_arrives(urgent_first: dict[str, Any]) -> None:
    received = report(urgent_first, "receiver")
    for number, name in enumerate(("bulk", "urgent")):
        sent = report(urgent_first, name)
        one = flow(urgent_first, name)
        assert one["packets"] == PACKETS[name]
        assert one["bytes"] == sent["sent0"] == received[f"received{number}"]
        assert sent["sent0_crc"] == received[f"received{number}_crc"]
        assert (one["misses"], one["lost"]) == (0, 0)
        assert one["latency_ns"]["max"] <= one["bound_ns"] <= one["deadline_ns"]


def test_f2_the_urgent_packet_waits_for_one_chunk_at_most(urgent_first: dict[str, Any]) -> None:
    assert flow(urgent_first, "bulk")["latency_ns"]["mean"] > 15 * CHUNK_NS
    urgent = flow(urgent_first, "urgent")
    assert CHUNK_NS / 4 < urgent["latency_ns"]["max"] < CHUNK_NS + PATH_NS


def test_f2_the_later_deadline_waits_for_the_whole_packet(tmp_path: Path) -> None:
    swapped = run(tmp_path, competing("4500 us", "8 ms"))
    assert flow(swapped, "urgent")["latency_ns"]["max"] > 8 * CHUNK_NS
    assert flow(swapped, "urgent")["misses"] == 0


def test_f2_who_sends_more_than_declared_delays_nobody_else(
    urgent_first: dict[str, Any], tmp_path: Path
) -> None:
    hurried = run(tmp_path, competing("10 ms", "900 us", hurry=4))
    assert report(hurried, "bulk")["skipped0"] > 0
    assert flow(hurried, "bulk")["packets"] == PACKETS["bulk"]
    for one in (flow(hurried, "bulk"), flow(hurried, "urgent")):
        assert one["misses"] == 0
        assert one["latency_ns"]["max"] <= one["bound_ns"]
    assert flow(hurried, "urgent")["latency_ns"]["max"] < CHUNK_NS + PATH_NS


def test_f4_the_example_keeps_what_the_analysis_guarantees(tmp_path: Path) -> None:
    """There are three domains, six flows, colors, all at the declared rate; broker and hypervisor share a
    color."""
    example = Path(__file__).parents[2] / "examples" / "flows.yaml"
    span_ns = 200 * MS
    result = run_file(example, tmp_path, "--for", f"{span_ns} ns")
    assert len(result["flows"]) == 6
    assert_guaranteed(result, span_ns)


def test_f7_each_receiver_of_a_multicast_flow_gets_all_of_it_in_time(tmp_path: Path) -> None:
    result = run_file(Path(__file__).parents[2] / "examples" / "multicast.yaml", tmp_path)
    sensor = report(result, "sensor")
    for name in ("control", "monitor"):
        one, got = flow(result, f"scan.{name}"), report(result, name)
        assert (got["received0"], got["received0_crc"]) == (sensor["sent0"], sensor["sent0_crc"])
        assert (one["from"], one["to"], one["packets"], one["bytes"]) == ("sensor", name, 20, 20 * 8 * KIB)
        assert (one["misses"], one["lost"], one["refused"]) == (0, 0, 0)
        assert one["latency_ns"]["max"] <= one["bound_ns"] <= one["deadline_ns"]
    assert flow(result, "state")["unread"] is None


def test_f7_a_receiver_that_ends_leaves_the_others_with_all_of_it(tmp_path: Path) -> None:
    """`hello` powers off before the sensor connects, or while it waits for an answer."""
    wanted = yaml.safe_load((Path(__file__).parents[2] / "examples" / "multicast.yaml").read_text())
    wanted["domains"][1] |= {"image": {"elf": "guests/hello.elf"}, "params": {}}
    wanted["domains"][2]["params"] = {}  # it reports whenever a stream has ended
    wanted["expect"] = {"control": "stopped", "sensor": "stopped"}
    result = run(tmp_path, wanted, "200ms")
    got, sensor = report(result, "monitor"), report(result, "sensor")
    assert (got["received0"], got["received0_crc"]) == (sensor["sent0"], sensor["sent0_crc"])
    assert flow(result, "scan.control")["packets"] == 0
    assert flow(result, "scan.monitor")["misses"] == 0


def test_f11_each_request_is_answered_along_its_connection(tmp_path: Path) -> None:
    """Both directions are within their bounds, and the answer arrives at the planner within the sum of
    both."""
    example = Path(__file__).parents[2] / "examples" / "flows-both-ways.yaml"
    result = run_file(example, tmp_path)
    planner = report(result, "planner")
    ask, back = flow(result, "ask"), flow(result, "ask.back")
    assert (planner["answered"], planner["wrong"]) == (40, 0)
    assert (back["from"], back["to"], back["port"]) == ("controller", "planner", 5000)
    assert ask["packets"] == back["packets"] == 40
    assert back["bytes"] == 8 * KIB * 40
    for one in (ask, back):
        assert (one["misses"], one["lost"], one["refused"]) == (0, 0, 0)
        assert one["latency_ns"]["max"] <= one["bound_ns"] < one["deadline_ns"]
    both = ask["latency_ns"]["mean"] + back["latency_ns"]["mean"]
    assert both < planner["mean_ns"] < planner["most_ns"] < ask["bound_ns"] + back["bound_ns"]


def test_f11_who_answers_more_than_declared_delays_nobody_else(tmp_path: Path) -> None:
    """Answers that are four times as frequent are sent at the pace of the way back."""
    wanted = yaml.safe_load((Path(__file__).parents[2] / "examples" / "flows-both-ways.yaml").read_text())
    wanted["flows"][0]["back"] |= {"period": "4 ms", "deadline": "4 ms"}
    wanted["domains"][1]["params"] = {"requests": 0}
    wanted["expect"] = {}
    result = run(tmp_path, wanted, "60ms")
    back = flow(result, "ask.back")
    assert 10 <= back["packets"] <= 16
    assert back["misses"] == flow(result, "ask")["misses"] == 0


def with_costs(platform: str, directory: Path) -> Path:
    """A platform's file, with the costs of qemu-virt for a packet's path if none were measured for it."""
    root = Path(__file__).parents[2] / "platforms"
    costs = yaml.safe_load((root / "qemu-virt.yaml").read_text())["flow_costs"]
    path = directory / f"{platform}.yaml"
    text = (root / path.name).read_text()
    path.write_text(text if "flow_costs" in text else text + yaml.safe_dump({"flow_costs": costs}))
    return path


@pytest.mark.parametrize("platform", ["qemu-virt-gicv2", "zcu102", "s32v234"])
def test_f1_other_boards_other_interrupt_controllers(platform: str, tmp_path: Path) -> None:
    wanted = system(("frames", TOTAL // 4, FRAMES))
    wanted["platform"] = f"./{with_costs(platform, tmp_path).name}"
    if platform == "zcu102":  # its memory's part is checked, and nothing bounds the traffic of these domains
        wanted["regulation"] = {"overcommit": True}
    result = run(tmp_path, wanted)
    sent, received = report(result, "frames-from"), report(result, "frames-to")
    assert sent["sent"] == received["received"] == TOTAL // 4
    assert sent["crc"] == received["crc"]
    one = flow(result, "frames")
    assert (one["misses"], one["lost"], one["refused"]) == (0, 0, 0)
    assert US < one["latency_ns"]["mean"] <= one["latency_ns"]["max"] <= one["bound_ns"]


EXAMPLE = Path(__file__).parents[2] / "examples" / "admission.yaml"
MOST_FLOWS = 32  # of a system


def changed(extra: int, **params: int) -> dict[str, Any]:
    """The example with this many more flows, from its sink to its manager."""
    wanted: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text())
    wanted["domains"][0]["params"] |= params
    rare = {"from": "sink", "to": "switchboard", "size": "64 B", "period": "100 ms", "deadline": "50 ms"}
    wanted["flows"] += [{"name": f"rare-{i}", "port": 7000 + i, **rare} for i in range(extra)]
    return wanted


def test_f6_a_flow_that_is_admitted_while_the_system_runs_is_in_time(tmp_path: Path) -> None:
    """Before it, the source's connections are reset; a flow that needs too much is refused."""
    result = run(tmp_path, changed(0))
    manager = report(result, "switchboard")
    assert manager["wrong"] == 0
    sent, received = report(result, "source"), report(result, "sink")
    assert sent["sent"] == received["received"] == 1 << 20
    assert sent["crc"] == received["crc"]
    added = flow(result, f"added {manager['number']}")
    assert (added["from"], added["to"], added["port"]) == ("source", "sink", 6000)
    assert added["packets"] == 256
    assert (added["misses"], added["lost"], added["state"]) == (0, 0, "closed")
    assert flow(result, "ready")["state"] == "open"


def full() -> dict[str, Any]:
    """The example with as many flows as there can be with the one that is added."""
    wanted = changed(MOST_FLOWS - 2, period_ns=5 * MS, deadline_ns=20 * MS)
    wanted["domains"][1]["params"]["total"] = 16 * CHUNK
    wanted["expect"] |= dict.fromkeys(("source", "sink"), "stopped")  # with less than the example's data
    return wanted


def longest_wake_ns(platform: str) -> int:
    _, description, _ = load_named(platform)
    assert description is not None and description.flow_costs is not None
    return description.flow_costs.wake.max


@pytest.mark.req("F6", "F8")
@pytest.mark.parametrize("platform", ["qemu-virt", "zcu102"])
def test_f8_a_test_keeps_the_broker_from_looking_no_longer_than_a_wake_up(
    tmp_path: Path, platform: str
) -> None:
    """The analysis takes a test for a sleep, after which the broker may need `wake` to begin its look. The
    manager's calls are short: they only ask for the result."""
    on = {"platform": platform, "run": {}, "regulation": {"overcommit": True}}
    few = report(run(tmp_path / "few", changed(0) | on), "switchboard")
    many = report(run(tmp_path / "many", full() | on), "switchboard")
    assert (few["wrong"], many["wrong"]) == (0, 0)
    assert many["number"] == MOST_FLOWS - 1
    for manager in (few, many):
        away_ns = manager["longest_away_ns"]
        logging.info("%s, %s flows: away for %s ns at most", platform, manager["number"] + 1, away_ns)
        assert 0 < manager["longest_away_ns"] < longest_wake_ns(platform)
        assert manager["longest_away_ns"] <= 2 * US
        assert manager["longest_call_ns"] < 10 * US
    assert many["calls"] > few["calls"]


@pytest.mark.req("F8")
def test_f8_packets_that_come_during_tests_are_in_time(tmp_path: Path) -> None:
    """One test follows another while packets are sent. Packets need no more time than without tests, beside
    what the displaced lines of the first-level caches take. A broker that tests does not have to wake up."""
    wanted = changed(MOST_FLOWS - 6)
    source, sink = wanted["domains"][1:]
    source["params"] |= {"send_port": 5001, "total": 128 * CHUNK}
    sink["params"]["receive_port"] = 5001
    ends = {"from": "source", "to": "sink", "port": 5001}
    wanted["flows"].append({"name": "busy", **ends, "size": CHUNK, "period": "700 us", "deadline": "3 ms"})
    wanted["broker"]["stamps"] = True
    wanted["expect"] = dict.fromkeys(("source", "sink"), "stopped")
    figures: list[tuple[dict[str, Any], int]] = []
    for params in ({"after_ms": 1000}, {"after_ms": 1, "refusals": 1_000_000}):
        wanted["domains"][0]["params"] |= params
        result = run(tmp_path / str(len(figures)), wanted, "200ms")
        busy = flow(result, "busy")
        assert (busy["packets"], busy["misses"], busy["lost"]) == (128, 0, 0)
        assert busy["latency_ns"]["max"] <= busy["bound_ns"]
        figures.append((result["path_costs"]["parts"], busy["latency_ns"]["mean"]))
    (quiet, quiet_ns), (tested, tested_ns) = figures
    logging.info("without tests: %s, mean latency %s ns", quiet, quiet_ns)
    logging.info("with tests: %s, mean latency %s ns", tested, tested_ns)
    for part in ("parse", "program_dma", "finalize"):
        assert tested[part]["avg"] < 1.25 * quiet[part]["avg"], part
    # It sleeps only while the rate permits no transfer.
    assert tested["wake"]["count"] < quiet["wake"]["count"] / 2
    assert tested_ns < 1.1 * quiet_ns


@pytest.mark.req("F8")
def test_f8_a_broker_that_is_restarted_goes_on_with_devices_that_work(tmp_path: Path) -> None:
    """A manager restarts it at random instants: every driver learns that its connections are gone, gets its
    buffers back and connects again, without a reset of its device. The last streams begin after the last
    restart."""
    total = 96 * KIB
    wanted = system(("stream", total, {**FRAMES, "period": "460 us"}))
    sender, receiver = wanted["domains"]
    sender["params"]["times"] = 26
    del receiver["params"]["times"], wanted["expect"]["stream-to"]
    params = {"victim": 3, "rounds": 12, "gap_us": 20000, "seed": 7, "stops": 0, "end_machine": 0}
    wanted["domains"].append(domain("reaper", "reaper", [2], manager=True, params=params))
    wanted["expect"]["reaper"] = "stopped"
    wanted["hypervisor"] = {"console": {"default": "reaper"}}  # the lines of others stay whole
    result = run(tmp_path, wanted, "480ms")
    reaper = report(result, "reaper")
    assert (reaper["wrong"], reaper["rounds"]) == (0, 12)
    broker = next(one for one in result["domains"] if one["name"] == "broker")
    assert broker["restarts"] == reaper["restarts"] >= 8
    sent = reports(tmp_path, "stream-from")
    received = reports(tmp_path, "stream-to")
    assert len(sent) == 26
    cut = [one for one in sent if one["reset"]]
    assert len(cut) >= 4, "connections end with the broker that knew them"
    whole = [one for one in received if not one["reset"]]
    assert len(whole) >= 4
    assert {(one["sent"], one["crc"]) for one in sent if not one["reset"]} == {
        (one["received"], one["crc"]) for one in whole
    }
    assert all(one["received"] == total for one in whole)
    assert not sent[-1]["reset"]
    one = flow(result, "stream")
    assert one["bytes"] >= sum(stream["received"] for stream in whole)
    assert one["misses"] == 0


def test_f2_a_recorded_run_shows_each_packet_as_the_statistics_count_it(tmp_path: Path) -> None:
    """Recording delays no packet beyond its bound."""
    wanted = system(
        ("stream", 64 * KIB, {"size": "4 KiB", "period": "2 ms", "deadline": "2 ms"}), samples=True
    )
    result = run(tmp_path, wanted, "50ms")
    recorded = read_samples(tmp_path / "run")
    payload = [packet for packet in recorded["packets"] if packet.bytes]
    counted = flow(result, "stream")
    assert recorded["dropped_packets"] == 0
    assert len(payload) == counted["packets"] > 10
    assert sum(packet.bytes for packet in payload) == counted["bytes"]
    assert len(recorded["packets"]) - len(payload) == counted["control_packets"]
    longest = max(packet.delivered - packet.release for packet in payload) * 10**9 // recorded["counter_hz"]
    assert abs(longest - counted["latency_ns"]["max"]) <= 1000
    assert counted["latency_ns"]["max"] <= counted["bound_ns"]
