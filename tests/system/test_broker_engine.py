# SPDX-License-Identifier: Apache-2.0
"""An engine that the broker programs itself, on the emulator's board with an SMMU: `edu` copies the packets
of flows, reaches nothing but what the broker reaches, and is quiet before a broker that has ended leaves
memory to others (D3, F2). A transfer of `edu` takes 200 ms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bulkhead.admission.load import Loaded, load_system
from bulkhead.config.locate import limits
from bulkhead.config.system import BROKER, WITH_CONSOLE, Image
from bulkhead.planning.plan import plan_memory

from . import harness
from .harness import EXAMPLES, MIB, Run, S, boot, domain, write_system
from .test_flows import KIB, flow_of, pattern_crc, reports

pytestmark = [pytest.mark.emulator, pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.req("D3", "F2")]

EXAMPLE = EXAMPLES / "flows-iommu.yaml"
CODE = 512 * KIB  # of a bare-metal program, in its memory (guests/arch/aarch64/guest.ld)
IN_ONE_PIECE = ("isolation.llc=none",)  # each domain's memory is contiguous


def test_packets_are_copied_by_the_brokers_own_engine(tmp_path: Path) -> None:
    run = boot(EXAMPLE, tmp_path / "run", for_ns=20 * S)
    assert run.result["verdict"] == "ok", run.result["reasons"]
    sensor, control = run.domain("sensor")["report"], run.domain("control")["report"]
    for sender, receiver, name in ((sensor, control, "samples"), (control, sensor, "commands")):
        assert sender["sent0"] == receiver["received0"] == flow_of(run, name)["bytes"] > 0
        assert sender["sent0_crc"] == receiver["received0_crc"]
        assert flow_of(run, name)["lost"] == 0
        assert flow_of(run, name)["latency_ns"]["min"] > S // 10, "no core is as slow"
    assert run.domain(BROKER)["refused_accesses"] == 0
    assert run.domain(BROKER)["unconfined_devices"] == []
    assert "irq_device" not in run.domain(BROKER)["exit_reasons"], "EL2 takes no interrupt of an engine"
    assert run.result["witnesses"]["tables"]["verdict"] == "held"


def taken_over(monkeypatch: pytest.MonkeyPatch, directory: Path, params: Mapping[str, int]) -> Run:
    """A run in which the broker's domain executes a program that lets the engine access any addresses. It
    writes to `foreign`, and then reads at `foreign` + `step`."""

    def load(*arguments: Any, **keys: Any) -> Loaded:
        loaded = load_system(*arguments, **keys)
        assert loaded.system is not None
        change = {"image": Image(elf="guests/edu.elf"), "console": WITH_CONSOLE, "params": dict(params)}
        domains = (
            one.model_copy(update=change if one.name == BROKER else {}) for one in loaded.system.domains
        )
        return replace(loaded, system=loaded.system.model_copy(update={"domains": tuple(domains)}))

    monkeypatch.setattr(harness, "load_system", load)
    return boot(EXAMPLE, directory / "run", overrides=IN_ONE_PIECE, for_ns=8 * S)


def physical(name: str) -> int:
    """Where the domain's memory begins in the runs of `taken_over`."""
    loaded = load_system(EXAMPLE, IN_ONE_PIECE)
    assert loaded.system is not None and loaded.platform is not None
    plan = plan_memory(loaded.system, loaded.platform)
    return next(one for one in plan.domains if one.name == name).segments[0].pa


def in_window(name: str, offset: int = 0) -> int:
    """Where the broker would find memory of a domain."""
    return limits()["broker_window"] + physical(name) + offset


@pytest.mark.parametrize("name", ["witness", BROKER])
def test_a_broker_that_is_taken_over_reaches_no_other_memory_with_its_engine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """Memory of a domain without a socket, and of the broker itself, where the window would have it."""
    place = in_window(name, 64 * KIB)
    run = taken_over(monkeypatch, tmp_path, {"foreign": place, "step": 64 * KIB, "attempts": 2})
    report = run.domain(BROKER)["report"]
    assert (report["leaked"], report["wrong"], report["unfinished"]) == (0, 0, 0)
    assert run.domain(BROKER)["refused_accesses"] > 0
    assert [run.domain(other)["refused_accesses"] for other in ("sensor", "control", "witness")] == [0, 0, 0]
    assert run.result["hypervisor"]["smmu"]["unowned_accesses"] == 0
    assert "SMMU: stream 8 of 'broker': write of " in "\n".join(run.lines())


def test_the_engine_reaches_memory_of_flows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The counterpart: the same program reads the code of `control`, which has a socket."""
    place = in_window("sensor", 8 * MIB)
    step = in_window("control", CODE) - place
    assert step > 0
    run = taken_over(monkeypatch, tmp_path, {"foreign": place, "step": step, "attempts": 2})
    assert run.domain(BROKER)["report"]["leaked"] > KIB
    assert run.domain(BROKER)["refused_accesses"] == 0


def test_a_broker_that_is_restarted_during_transfers_tears_nothing(tmp_path: Path) -> None:
    """A stream ends with a reset, or is complete; what an old transfer has left in the engine reaches
    nobody."""
    size = 3 * KIB
    times = {"period": "2 s", "deadline": "2 s"}
    path = write_system(
        tmp_path,
        domain("source", "socket_source", 0, params={"total": size, "times": 20}),
        domain("sink", "socket_sink", 1),
        domain(
            "manager",
            "reaper",
            2,
            manager=True,
            params={"victim": 3, "rounds": 12, "gap_us": 1_500_000, "seed": 5, "end_machine": 0},
        ),
        platform="qemu-virt-smmu",
        broker={"cpu": 3, "engine": "edu", "rate": "1 MB/s"},
        flows=[{"name": "stream", "from": "source", "to": "sink", "port": 5000, "size": "4 KiB", **times}],
        expect={"manager": "stopped", "source": "stopped"},
    )
    run = boot(path, tmp_path / "run", icount=True, for_ns=60 * S)
    assert not run.result["reasons"]
    manager = reports(run, "manager", "wrong")[0]
    assert manager["wrong"] == 0
    assert run.domain(BROKER)["restarts"] == manager["restarts"] > 5
    received = reports(run, "sink", "received")
    whole = [report for report in received if not report["reset"]]
    assert len(whole) > 4 and len(received) > len(whole)
    assert {report["received"] for report in whole} == {size}
    assert {report["crc"] for report in whole} == {pattern_crc(size)}
    assert run.result["hypervisor"]["smmu"]["unanswered"] == 0
