# SPDX-License-Identifier: Apache-2.0
"""Flows between domains on the emulator (F1, F2): bare-metal programs and unmodified Linux at either end.

The sent data are known, so received data are compared with their CRC, not only the two ends with each other.
Times are not checked, since an emulator depends on its host.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bulkhead.config.locate import limits
from bulkhead.env.linux import linux_kernel

from .harness import Run, S, attached, boot, domain, said, write_system

ROOT = Path(__file__).parents[2]
FIRST_CID = 3  # of the first domain
DRIVER = "/sys/bus/virtio/drivers/vmw_vsock_virtio_transport"
VIRTIO_DEVICE = "virtio0"
REBIND = tuple(f"echo {VIRTIO_DEVICE} >{DRIVER}/{how}" for how in ("unbind", "bind"))
KIB = 1 << 10
MIB = 1 << 20
PATTERN_BYTES = 1 << 24
STREAM_MIB = int(os.environ.get("BULKHEAD_STREAM_MIB", "8"))  # 1024 is the long run of docs/design/testing.md
CMDLINE = "console=ttyAMA0 quiet cryptomgr.notests"

pytestmark = [pytest.mark.emulator, pytest.mark.slow, pytest.mark.timeout(600 + 2 * STREAM_MIB)]


def pattern_crc(size: int) -> int:
    """CRC-32 of the data that the programs send, which repeat (socket_source.c, guests/linux/socket.c)."""
    i = np.arange(min(size, PATTERN_BYTES), dtype=np.uint32)
    once = (i * 7 + (i >> 8) + (i >> 16)).astype(np.uint8).tobytes()
    crc = 0
    for at in range(0, size, PATTERN_BYTES):
        crc = zlib.crc32(once[: size - at], crc)
    return crc


def linux(name: str, core: int, *commands: str) -> dict[str, Any]:
    """A Linux domain that runs commands of its shell, and then powers off."""
    run = "; ".join((*commands, "sleep 1", "poweroff -f")).replace("&;", "&")
    image = {
        "kernel": "linux:debian",
        "initrd": "busybox",
        "cmdline": f'{CMDLINE} bulkhead_run="{run}"',
    }
    memory = [{"at": 0x4000_0000, "size": "256 MiB"}]
    return {"name": name, "cpus": [core], "image": image, "memory": memory}


def flow(
    name: str,
    source: str,
    to: str | list[str],
    port: int,
    size: int,
    period: str = "12 ms",
    deadline: str = "20 ms",
) -> dict[str, Any]:
    """A flow with as many transfers for a packet as its receiver's buffers and its own pieces need."""
    times = {"period": period, "deadline": deadline, "transfers": -(-size // (2 * KIB))}
    return {"name": name, "from": source, "to": to, "port": port, "size": size, **times}


def system(directory: Path, *domains: dict[str, Any], flows: list[dict[str, Any]], **expect: str) -> Path:
    return write_system(directory, *domains, broker={"cpu": 3}, flows=flows, expect=expect)


def reports(run: Run, name: str, what: str) -> list[dict[str, int]]:
    """All reports of a domain that have the key `what`."""
    found = [json.loads(line) for line in re.findall(r"^report (\{.*\})$", said(run.console, name), re.M)]
    return [report for report in found if what in report]


def flow_of(run: Run, name: str) -> dict[str, Any]:
    return next(entry for entry in run.result["flows"] if entry["name"] == name)


def assert_whole(report: dict[str, int], what: str, size: int) -> None:
    assert (report[what], report["crc"], report["reset"]) == (size, pattern_crc(size), 0)


def assert_both_ways(run: Run, up: int, down: int) -> None:
    """Checks that a stream from Linux to `sink`, and one from `source` to Linux, are complete."""
    assert not run.result["reasons"]
    assert_whole(reports(run, "linux", "sent")[0], "sent", up)
    assert_whole(reports(run, "sink", "received")[0], "received", up)
    assert_whole(reports(run, "source", "sent")[0], "sent", down)
    assert_whole(reports(run, "linux", "received")[0], "received", down)


@pytest.mark.req("D3")
def test_f1_streams_between_linux_and_bare_metal_arrive_whole(tmp_path: Path) -> None:
    """Both directions run at once; packets of 64 KiB are split over buffers of 4 KiB. One bare-metal program
    has its device on PCI."""
    up, down = STREAM_MIB * MIB, MIB
    sink = FIRST_CID + 2
    path = system(
        tmp_path,
        linux(
            "linux",
            0,
            "bulkhead-socket receive 5001 1 &",
            f"bulkhead-socket send {sink} 5000 {up}",
            "wait",
        ),
        domain("source", "socket_source_pci", 1, params={"total": down}, socket_transport="pci"),
        domain("sink", "socket_sink", 2, params={"times": 1}),
        flows=[
            flow("up", "linux", "sink", 5000, 64 * KIB),
            flow("down", "source", "linux", 5001, 4 * KIB, "2 ms"),
        ],
        linux="stopped",
        source="stopped",
        sink="stopped",
    )
    run = boot(path, tmp_path / "run", timeout_s=300 + STREAM_MIB)
    assert_both_ways(run, up, down)
    assert flow_of(run, "up")["bytes"] == up
    assert flow_of(run, "down")["bytes"] == down
    assert flow_of(run, "down")["packets"] == down // (4 * KIB)
    assert flow_of(run, "up")["lost"] == flow_of(run, "down")["lost"] == 0


def test_f8_streams_through_pools_arrive_whole_and_a_kernel_without_pools_is_named(tmp_path: Path) -> None:
    """The tool's kernel does not know `restricted-dma-pool`, which `check` cannot see in a file of the user.
    Its driver keeps queues elsewhere: its device asks for a reset, and the run says so."""
    size, pool = MIB, {"socket_pool": "auto"}
    shutil.copy(linux_kernel(), tmp_path / "kernel")
    stranger = linux("stranger", 2, f"cat /sys/bus/virtio/devices/{VIRTIO_DEVICE}/status")
    stranger["image"]["kernel"] = "./kernel"
    path = system(
        tmp_path,
        domain("source", "socket_source_pci", 0, params={"total": size}, socket_transport="pci", **pool),
        domain("sink", "socket_sink", 1, params={"times": 1}, **pool),
        stranger | pool,
        flows=[
            flow("bulk", "source", "sink", 5000, 64 * KIB),
            flow("unheard", "sink", "stranger", 5001, 4 * KIB),
        ],
        source="stopped",
        sink="stopped",
        stranger="stopped",
    )
    run = boot(path, tmp_path / "run")
    assert not run.result["reasons"]
    assert "0x0000004f" in said(run.console, "stranger"), "its driver is ready, its device needs a reset"
    assert_whole(reports(run, "source", "sent")[0], "sent", size)
    assert_whole(reports(run, "sink", "received")[0], "received", size)
    failures = {one["name"]: one["socket_failures"] for one in run.result["domains"]}
    assert failures["stranger"] > 0
    assert failures["source"] == failures["sink"] == 0
    assert any("stranger" in text and "outside of the pool" in text for text in run.result["not_shown"])
    assert run.result["witnesses"]["tables"]["verdict"] == "held"


def test_f2_the_example_streams_64_mib_beside_five_other_flows(tmp_path: Path) -> None:
    """Linux reads two of them all the time, and sends credit after each read: far more often than the pace of
    control packets allows, and yet its own stream continues."""
    size = 64 * MIB
    with attached(ROOT / "examples" / "flows.yaml", tmp_path / "run", "--for", "300s") as terminal:
        terminal.wait_for(f'"sent": {size}')
        terminal.wait_for(f'"received0": {size}', "control")
        run = terminal.leave()
    assert_whole(reports(run, "linux", "sent")[1], "sent", size)
    assert reports(run, "control", "received0")[-1]["received0_crc"] == pattern_crc(size)
    assert flow_of(run, "camera")["bytes"] == size
    for name in ("setpoint", "state", "heartbeat", "alarm", "log"):
        assert flow_of(run, name)["packets"] > 0
        assert flow_of(run, name)["lost"] == 0


def test_f7_linux_sends_one_stream_to_two_receivers(tmp_path: Path) -> None:
    """Linux's stock driver sees one connection, to the CID of the group, with the credit of the slower
    receiver. A receiver that holds up the other one for longer than the deadline is left behind, so the
    deadline is longer than a busy host stops one of the emulator's processors."""
    size = 2 * MIB
    group = limits()["first_group_cid"]
    path = system(
        tmp_path,
        linux("linux", 0, f"bulkhead-socket send {group} 5000 {size}"),
        domain("left", "socket_sink", 1, params={"times": 1}),
        domain("right", "socket_sink", 2, params={"times": 1}),
        flows=[flow("frames", "linux", ["left", "right"], 5000, 64 * KIB, deadline="700 ms")],
        linux="stopped",
        left="stopped",
        right="stopped",
    )
    run = boot(path, tmp_path / "run", timeout_s=300)
    assert not run.result["reasons"]
    assert_whole(reports(run, "linux", "sent")[0], "sent", size)
    for name in ("left", "right"):
        assert_whole(reports(run, name, "received")[0], "received", size)
        assert flow_of(run, f"frames.{name}")["bytes"] == size
        assert flow_of(run, f"frames.{name}")["lost"] == 0


CONNECTIONS = 2000


def test_f1_linux_to_linux_a_stalled_flow_delays_no_other(tmp_path: Path) -> None:
    """One end does not read a stream; meanwhile another stream arrives, and thousands of connections are
    opened and closed. When that end powers off, the sender sees a reset."""
    size = 4 * MIB
    other = FIRST_CID + 1
    path = system(
        tmp_path,
        linux(
            "linux",
            0,
            f"bulkhead-socket send {other} 5002 {4 * MIB} &",
            f"bulkhead-socket send {other} 5000 {size}",
            f"bulkhead-socket storm {other} 5001 {CONNECTIONS}",
            "wait",
        ),
        linux(
            "other",
            1,
            "bulkhead-socket stall 5002 &",
            "bulkhead-socket receive 5000 1 &",
            f"bulkhead-socket receive 5001 {CONNECTIONS + 1} >/dev/null",
        ),
        flows=[
            flow("stream", "linux", "other", 5000, 64 * KIB),
            flow("storm", "linux", "other", 5001, KIB, "1 ms"),
            flow("stalled", "linux", "other", 5002, 64 * KIB),
        ],
        linux="stopped",
        other="stopped",
    )
    run = boot(path, tmp_path / "run")
    assert not run.result["reasons"]
    first, stalled = reports(run, "linux", "sent")
    assert_whole(first, "sent", size)
    assert_whole(reports(run, "other", "received")[0], "received", size)
    (storm,) = reports(run, "linux", "connections")
    refusals = [line for line in said(run.console, "linux").splitlines() if "socket: connection" in line]
    assert storm == {"connections": CONNECTIONS, "refused": 0, "unclean": 0}, refusals
    assert flow_of(run, "storm")["control_packets"] >= 4 * CONNECTIONS, "both ends open and close"
    assert 0 < stalled["sent"] < 4 * MIB, "no more than the buffers at both ends hold"
    assert stalled["reset"] == 1
    assert flow_of(run, "stalled")["lost"] == 0, "it waited for credit, not on the way"


@pytest.mark.req("D3")
def test_f11_linux_asks_linux_in_streams_and_in_packets(tmp_path: Path) -> None:
    """Requests and answers use one connection; a message of packets, split over many buffers, stays one. One
    end has its device on PCI, and resets it at last: the driver that is loaded again finds it as it was."""
    other, sizes = FIRST_CID + 1, "20000 50000 40"
    on_pci = linux(
        "linux",
        0,
        f"readlink -f /sys/bus/virtio/devices/{VIRTIO_DEVICE}",
        "grep virtio /proc/interrupts",
        f"bulkhead-socket ask {other} 5000 {sizes}",
        f"bulkhead-socket ask {other} 5001 {sizes} packets",
        *REBIND,
        f"bulkhead-socket ask {other} 5000 {sizes}",
    )
    path = system(
        tmp_path,
        on_pci | {"socket_transport": "pci"},
        linux(
            "other",
            1,
            f"bulkhead-socket answer 5000 {sizes}",
            f"bulkhead-socket answer 5001 {sizes} packets",
            f"bulkhead-socket answer 5000 {sizes}",
        ),
        flows=[
            flow(name, "linux", "other", port, 64 * KIB)
            | {"back": {"size": 64 * KIB, "period": "12 ms", "deadline": "12 ms", "transfers": 24}}
            for name, port in (("stream", 5000), ("packets", 5001))
        ],
        linux="stopped",
        other="stopped",
    )
    run = boot(path, tmp_path / "run")
    assert not run.result["reasons"]
    assert "/pci0000:00/0000:00:00.0/virtio0" in said(run.console, "linux")
    assert reports(run, "linux", "answered") == [{"answered": 40, "wrong": 0}] * 3
    for name, times in (("stream", 2), ("packets", 1)):
        assert flow_of(run, name)["bytes"] == times * 40 * 20_000
        assert flow_of(run, f"{name}.back")["bytes"] == times * 40 * 50_000


def test_f1_a_domain_that_is_restarted_in_mid_transfer_leaves_a_clean_reset(tmp_path: Path) -> None:
    """A manager stops and restarts the sender at random instants; the receiver sees complete streams, and
    others that end in a reset, and serves the next one each time. Other streams are not affected."""
    size = 128 * KIB
    steady = "steady-from", "steady-to"
    path = system(
        tmp_path,
        domain("source", "socket_source", 0, params={"total": size, "times": 1_000_000}),
        domain("sink", "socket_sink", 1),
        domain(
            "manager",
            "reaper",
            2,
            manager=True,
            params={"victim": 0, "rounds": 15, "gap_us": 1_500_000, "seed": 3},
        ),
        domain(steady[0], "socket_source", 2, params={"total": size, "times": 1_000_000}),
        domain(steady[1], "socket_sink", 1),
        flows=[
            flow("stream", "source", "sink", 5000, 4 * KIB, "2 ms"),
            flow("steady", *steady, 5000, 4 * KIB, "2 ms"),
        ],
        manager="stopped",
    )
    run = boot(path, tmp_path / "run")
    assert not run.result["reasons"]
    assert reports(run, "manager", "wrong")[0]["wrong"] == 0
    received = reports(run, "sink", "received")
    torn = [report for report in received if report["reset"]]
    assert torn, "some were in mid-transfer"
    assert all(report["crc"] == pattern_crc(report["received"]) for report in received), "no byte is wrong"
    assert [report for report in received if not report["reset"] and report["received"] == size]
    kept = reports(run, steady[1], "received")
    assert len(kept) > 1
    for report in kept:
        assert_whole(report, "received", size)
    assert flow_of(run, "steady")["lost"] == 0


def test_f1_a_driver_that_is_unloaded_resets_its_device(tmp_path: Path) -> None:
    """This also holds in mid-transfer: the receiver sees a reset, and the driver that is loaded again
    works."""
    size, long, packet = 256 * KIB, 64 * MIB, 16 * KIB
    sink = FIRST_CID + 1
    path = system(
        tmp_path,
        linux(
            "linux",
            0,
            f"bulkhead-socket send {sink} 5000 {size} {packet}",
            f"bulkhead-socket send {sink} 5000 {long} {packet} &",
            "sleep 2",
            *REBIND,
            "wait",
            f"bulkhead-socket send {sink} 5000 {size} {packet}",
        ),
        domain("sink", "socket_sink", 1, params={"times": 3}),
        flows=[flow("stream", "linux", "sink", 5000, packet, "10 ms")],
        linux="stopped",
        sink="stopped",
    )
    run = boot(path, tmp_path / "run")
    assert not run.result["reasons"]
    first, torn, last = reports(run, "sink", "received")
    assert_whole(first, "received", size)
    assert_whole(last, "received", size)
    assert torn["reset"] == 1
    assert 0 < torn["received"] < long
    assert torn["crc"] == pattern_crc(torn["received"])


def test_f6_a_manager_adds_a_flow_while_its_ends_run(tmp_path: Path) -> None:
    run = boot(ROOT / "examples" / "admission.yaml", tmp_path / "run")
    assert not run.result["reasons"]
    (manager,) = reports(run, "switchboard", "wrong")
    assert manager["wrong"] == 0
    for name, what in (("source", "sent"), ("sink", "received")):
        assert_whole(reports(run, name, what)[0], what, MIB)
    added = flow_of(run, f"added {manager['number']}")
    assert (added["bytes"], added["state"], added["lost"]) == (MIB, "closed", 0)


def by_engine(directory: Path, *domains: dict[str, Any], flows: list[dict[str, Any]], **expect: str) -> Path:
    """On the ZCU102, where the broker's DMA engine copies; the cores' own traffic is not limited."""
    broker = {"cpu": 3, "engine": "zdma"}
    more = {"platform": "zcu102-published", "regulation": {"overcommit": True}}
    return write_system(directory, *domains, broker=broker, flows=flows, expect=expect, **more)


def test_f2_the_dma_engine_copies_between_linux_and_bare_metal(tmp_path: Path) -> None:
    """Both directions run at once; for the table witness the engine's page is EL2's, and the broker sees no
    domain's memory."""
    up, down = MIB, 256 * KIB
    sink = FIRST_CID + 2
    receive, send = "bulkhead-socket receive 5001 1 &", f"bulkhead-socket send {sink} 5000 {up}"
    path = by_engine(
        tmp_path,
        linux("linux", 0, receive, send, "wait"),
        domain("source", "socket_source", 1, params={"total": down}),
        domain("sink", "socket_sink", 2, params={"times": 1}),
        flows=[
            flow("up", "linux", "sink", 5000, 64 * KIB),
            flow("down", "source", "linux", 5001, 4 * KIB, "2 ms"),
        ],
        linux="stopped",
        source="stopped",
        sink="stopped",
    )
    run = boot(path, tmp_path / "run", timeout_s=300 + STREAM_MIB)
    assert_both_ways(run, up, down)
    assert flow_of(run, "up")["lost"] == flow_of(run, "down")["lost"] == 0
    assert run.domain("broker")["exit_reasons"]["irq_device"] > up // (4 * KIB)
    assert run.result["witnesses"]["tables"]["verdict"] == "held"


def test_f2_a_broker_that_is_restarted_again_and_again_tears_nothing(tmp_path: Path) -> None:
    """The engine is stopped or restarted in any state: a stream ends with a reset, or is complete."""
    size = 64 * KIB
    broker = 3  # after the three others
    path = by_engine(
        tmp_path,
        domain("source", "socket_source", 0, params={"total": size, "times": 60}),
        domain("sink", "socket_sink", 1),
        domain(
            "manager",
            "reaper",
            2,
            manager=True,
            params={"victim": broker, "rounds": 20, "gap_us": 100_000, "seed": 5, "end_machine": 0},
        ),
        flows=[flow("stream", "source", "sink", 5000, 4 * KIB, "2 ms")],
        manager="stopped",
        source="stopped",
    )
    run = boot(path, tmp_path / "run", icount=True, for_ns=9 * S)
    assert not run.result["reasons"]
    manager = reports(run, "manager", "wrong")[0]
    assert manager["wrong"] == 0
    assert manager["stops"] > 4
    assert run.domain("broker")["restarts"] == manager["restarts"] > 10
    received = reports(run, "sink", "received")
    whole = [report for report in received if not report["reset"]]
    assert len(received) - len(whole) > 4, "connections end with the broker that knew them"
    assert len(whole) > 4
    assert {report["received"] for report in whole} == {size}
    assert {report["crc"] for report in whole} == {pattern_crc(size)}
    assert not reports(run, "source", "sent")[-1]["reset"]


def test_f8_linux_goes_on_after_a_restart_of_the_broker(tmp_path: Path) -> None:
    """Its stock driver learns that connections are gone, ends their sockets, and connects again, without a
    reset of the device."""
    size = MIB
    sink = FIRST_CID + 1
    many = " ".join(str(number) for number in range(12))
    path = system(
        tmp_path,
        linux(
            "linux",
            0,
            f"for i in {many}; do bulkhead-socket send {sink} 5000 {size}; done",
            "sleep 2",
            f"bulkhead-socket send {sink} 5000 {size}",
        ),
        domain("sink", "socket_sink", 1),
        domain(
            "manager",
            "reaper",
            2,
            manager=True,
            params={"victim": 3, "rounds": 46, "gap_us": 400_000, "stops": 0, "end_machine": 0},
        ),
        flows=[flow("up", "linux", "sink", 5000, 64 * KIB)],
        linux="stopped",
        manager="stopped",
    )
    run = boot(path, tmp_path / "run", icount=True, for_ns=15 * S)
    assert not run.result["reasons"]
    sent = reports(run, "linux", "sent")
    received = reports(run, "sink", "received")
    assert len(sent) == 13
    cut = [report for report in sent if report["sent"] < size]
    assert cut, "a broker that was restarted while it streamed"
    whole = [report for report in received if not report["reset"]]
    assert whole
    assert {(report["received"], report["crc"]) for report in whole} == {(size, pattern_crc(size))}
    assert_whole(sent[-1], "sent", size)
    assert_whole(received[-1], "received", size)
    assert run.domain("broker")["restarts"] > 10
