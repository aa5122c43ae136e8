# SPDX-License-Identifier: Apache-2.0
"""A pool for a socket device (F8): its place in the plan, the manifest and the guest's device tree, and what
`check` refuses. One domain of the system has a pool, the other has none."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fdt
import numpy as np
import pytest
from tests.command_line import run_json

from bulkhead.admission.load import load_system
from bulkhead.check.files import check_file
from bulkhead.package.devicetree import GuestBoard, TreeSocket, device_tree
from bulkhead.package.errors import PackageError
from bulkhead.package.manifest import _segment_flags, pack_manifest
from bulkhead.package.memory import LoadedMemory, LoadRegion, ram_of, regions_of, socket_pool_of
from bulkhead.package.pci import socket_root
from bulkhead.package.socket_driver import check_pool
from bulkhead.package.verdict import manifest_check
from bulkhead.planning.model import DomainPlan, Plan
from bulkhead.planning.resolve import resolved_system
from bulkhead.planning.socket_pool import pool_bytes_of, reach_of
from bulkhead.run.prepare import make_promise
from bulkhead.schema import load_layout

from .own_platform import plan_of

KIB, MIB = 1 << 10, 1 << 20
AT, BYTES = 0x4000_0000, 16 * MIB
POOL = 256 * KIB


def system(directory: Path, *, isolation: str = "none", flows: bool = True, **domain: Any) -> Path:
    """`domain`: keys of the domain with the pool."""
    plain = {"image": {"elf": "guests/hello.elf"}, "memory": [{"at": AT, "size": BYTES}]}
    frames = {"name": "frames", "from": "one", "to": "two", "port": 5000}
    frames |= {"size": "1 KiB", "period": "10 ms", "deadline": "10 ms"}
    pool = {"socket_pool": {"size": "256 KiB"}}
    wanted = {
        "bulkhead": 1,
        "name": "system",
        "platform": "qemu-virt",
        "isolation": {"llc": isolation},
        "domains": [
            {"name": "one", "cpus": [0], **plain, **pool, **domain},
            {"name": "two", "cpus": [1], **plain},
        ],
        **({"broker": {"cpu": 3}, "flows": [frames]} if flows else {}),
    }
    path = directory / "system.yaml"
    path.write_text(json.dumps(wanted))
    return path


def problems(path: Path) -> list[tuple[str, str]]:
    return [(one.code, one.cause) for one in check_file(str(path)).problems]


def domain_of(plan: Plan, name: str) -> DomainPlan:
    return next(domain for domain in plan.domains if domain.name == name)


@pytest.mark.parametrize("isolation", ["none", "coloring"])
def test_f8_the_pool_is_the_end_of_the_domains_memory(tmp_path: Path, isolation: str) -> None:
    plan = plan_of(system(tmp_path, isolation=isolation))
    whole = plan_of(system(tmp_path, isolation=isolation, socket_pool={"size": "512 KiB"}))
    one = domain_of(plan, "one")
    memory, pool = one.segments
    assert (memory.ipa, memory.bytes, memory.socket_pool) == (AT, BYTES - POOL, False)
    assert (pool.ipa, pool.bytes, pool.socket_pool) == (AT + BYTES - POOL, POOL, True)
    assert (memory.colors, memory.tables_placed) == (pool.colors, pool.tables_placed)
    assert regions_of(one) == (LoadRegion(AT, BYTES - POOL),)
    assert socket_pool_of(one) == LoadRegion(AT + BYTES - POOL, POOL)
    assert ram_of(regions_of(one), socket_pool_of(one)) == (LoadRegion(AT, BYTES),)
    frames = [segment.pages(plan.space) for segment in one.segments]
    others = [segment.pages(whole.space) for segment in domain_of(whole, "one").segments]
    assert np.array_equal(np.concatenate(frames), np.concatenate(others)), "the division moves no page"
    assert reach_of(plan) == {"one": POOL, "two": BYTES}


def test_f8_the_pool_is_in_whole_blocks_that_programs_map(tmp_path: Path) -> None:
    """The last 64 KiB of the region are in no whole block of 2 MiB."""
    memory = [{"at": AT, "size": BYTES + 64 * KIB}]
    first, pool, last = domain_of(plan_of(system(tmp_path, memory=memory)), "one").segments
    assert (pool.ipa, pool.bytes, pool.socket_pool) == (AT + BYTES - POOL, POOL, True)
    assert (last.ipa, last.bytes, last.socket_pool) == (AT + BYTES, 64 * KIB, False)
    assert (pool.pa, last.pa) == (first.pa + first.bytes, first.pa + BYTES)


def test_f8_auto_has_room_for_the_domains_flows(tmp_path: Path) -> None:
    plan = plan_of(system(tmp_path, socket_pool="auto"))
    assert reach_of(plan)["one"] == 256 * KIB
    resolved = resolved_system(plan).domain("one")
    assert resolved is not None
    assert resolved.socket_pool is not None
    assert resolved.socket_pool.size == 256 * KIB
    loaded = load_system(system(tmp_path, image={"kernel": "./vmlinuz"}, socket_pool="auto"))
    assert loaded.system is not None
    one = loaded.system.domain("one")
    assert one is not None
    assert pool_bytes_of(loaded.system, one) > MIB, "Linux has more receive buffers"


def test_f8_the_witness_lets_the_broker_reach_the_pool_alone(tmp_path: Path) -> None:
    plan = plan_of(system(tmp_path))
    (exchange,) = make_promise(plan).exchanges
    memory, pool = domain_of(plan, "one").segments
    assert np.isin(pool.pages(plan.space), exchange.frames).all()
    assert not np.isin(memory.pages(plan.space), exchange.frames).any()
    assert np.isin(domain_of(plan, "two").segments[0].pages(plan.space), exchange.frames).all()


def test_f8_the_manifest_marks_the_pool(tmp_path: Path) -> None:
    layout = load_layout()
    flags = [_segment_flags(one, layout) for one in domain_of(plan_of(system(tmp_path)), "one").segments]
    assert flags == [0, layout.enum_value("segment_flag", "socket_pool")]


@pytest.mark.parametrize("on_pci", [False, True])
def test_f8_the_tree_has_a_restricted_dma_pool_for_the_device(tmp_path: Path, *, on_pci: bool) -> None:
    root = socket_root(plan_of(system(tmp_path)).platform) if on_pci else None
    socket = None if on_pci else TreeSocket(0x0A00_0000, 48)
    board = GuestBoard(
        (LoadRegion(AT, BYTES),),
        1,
        "cortex-a53",
        0x0800_0000,
        b"",
        gicr=0x080A_0000,
        socket=socket,
        socket_root=root,
        socket_pool=LoadRegion(AT + BYTES - POOL, POOL),
    )
    tree = fdt.parse_dtb(device_tree(board))
    assert tree.get_node(f"/memory@{AT:x}").get_property("reg").data == [0, AT, 0, BYTES]
    reserved = tree.get_node("/reserved-memory")
    assert reserved.exist_property("ranges")
    assert [reserved.get_property(name).value for name in ("#address-cells", "#size-cells")] == [2, 2]
    pool = tree.get_node(f"/reserved-memory/socket-pool@{AT + BYTES - POOL:x}")
    assert pool.get_property("compatible").value == "restricted-dma-pool"
    assert pool.get_property("reg").data == [0, AT + BYTES - POOL, 0, POOL]
    assert not pool.exist_property("no-map"), "Linux refuses such a pool"
    device = tree.get_node("/pcie@a100000" if on_pci else "/virtio_mmio@a000000")
    assert device.get_property("memory-region").value == pool.get_property("phandle").value


def test_f8_pools_that_cannot_be_are_refused(tmp_path: Path) -> None:
    for keys, code, part in (
        ({"flows": False}, "conflict", "no socket device"),
        ({"socket_pool": {"size": "16 KiB"}}, "out-of-range", "cannot hold"),
        ({"socket_pool": {"size": "16 MiB"}}, "memory-exhausted", "has no room for 16 MiB"),
        (
            {"memory": [{"at": AT, "size": BYTES}, {"at": AT + BYTES, "size": "4 KiB"}]},
            "memory-exhausted",
            "the last region of RAM without a `spec`, where the pool is, has no room for 256 KiB",
        ),
        ({"image": {"kernel": "linux:debian"}}, "conflict", "CONFIG_DMA_RESTRICTED_POOL"),
        ({"table_placement": "ocm"}, "conflict", "on-chip"),
    ):
        found = problems(system(tmp_path, **keys))
        assert any(one == code and part in cause for one, cause in found), (keys, found)


@pytest.mark.parametrize("value", ["1 MiB", True, 5, None, {}])
def test_f8_a_pool_of_another_form_is_refused_with_both_forms(tmp_path: Path, value: object) -> None:
    (problem,) = check_file(str(system(tmp_path, socket_pool=value))).problems
    assert (problem.key, problem.allowed) == ("domains[0].socket_pool", "auto, { size: ... }")


def test_f8_a_kernel_that_says_that_it_knows_no_such_pool_is_refused(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel"
    start = bytearray(64)
    start[16:24] = (1 << 20).to_bytes(8, "little")
    start[56:60] = b"ARM\x64"
    for option, good in (("CONFIG_DMA_RESTRICTED_POOL=y", True), ("CONFIG_SMP=y", False)):
        inside = b"IKCFG_ST" + gzip.compress(f"{option}\n".encode())
        kernel.write_bytes(bytes(start) + inside)
        if good:
            check_pool(kernel)
        else:
            with pytest.raises(PackageError, match="CONFIG_DMA_RESTRICTED_POOL"):
                check_pool(kernel)
    kernel.write_bytes(bytes(start))
    check_pool(kernel)  # it does not say


def test_f8_plan_and_check_say_what_the_broker_reaches(tmp_path: Path) -> None:
    code, plan = run_json("plan", system(tmp_path))
    assert code == 0
    assert [one["broker_reach_bytes"] for one in plan["domains"]] == [POOL, BYTES, 0]
    code, checked = run_json("check", system(tmp_path))
    assert code == 0
    domains = checked["files"][0]["promised"]["domains"]
    assert [one["broker_reach_bytes"] for one in domains] == [POOL, BYTES, 0]


def test_f8_the_fuzz_target_also_begins_with_a_manifest_with_a_pool(
    tmp_path: Path, golden: Callable[[str, bytes], None]
) -> None:
    layout, plan = load_layout(), plan_of(system(tmp_path, isolation="coloring"))
    loaded = [LoadedMemory((), AT, 0, b"") for _ in plan.domains]
    manifest = pack_manifest(plan, loaded, [[] for _ in plan.domains], layout)
    error, _ = manifest_check("full").verdict_on(manifest, 1 << 24)
    assert layout.enum_name("manifest_error", error) == "none"
    golden("../fuzz/seeds/manifest/pooled", bytes((n * 13) % 256 for n in range(17)) + manifest)
