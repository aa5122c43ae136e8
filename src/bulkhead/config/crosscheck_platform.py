# SPDX-License-Identifier: Apache-2.0
"""Checks that span several keys of a platform file: ranges that must not overlap, alignment, missing parts.

load.py calls this with a platform that is valid key by key. All findings are returned together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bulkhead.config.crosscheck_devices import check_devices
from bulkhead.config.crosscheck_interrupts import check_interrupts
from bulkhead.config.crosscheck_its import check_its
from bulkhead.config.crosscheck_machine import check_machine
from bulkhead.config.crosscheck_mpam import check_mpam
from bulkhead.config.crosscheck_pci import check_pci
from bulkhead.config.platform import Platform, Range
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.quantity import GIB
from bulkhead.config.regions import (
    ADDRESS_LIMIT,
    MAX_GUEST_ADDRESS,
    check_regions,
    guest_windows,
    own_regions,
    redistributor_sizes,
    root_window,
)
from bulkhead.geometry import PAGE_BYTES, CacheShape, GeometryError
from bulkhead.schema import load_layout

MAX_MEMORY_BYTES = 64 * GIB  # of a platform: the planner's tables have an entry for each granule

Findings = Iterator[Finding]


def check_platform(platform: Platform) -> list[Finding]:
    """All findings about a platform file that span keys."""
    checks: tuple[Callable[[Platform], Findings], ...] = (
        _memory,
        _on_chip,
        _cores,
        _controller,
        _socket,
        _virtual_root,
        check_regions,
        _load_area,
        check_interrupts,
        _caches,
        check_devices,
        check_pci,
        check_its,
        check_mpam,
    )
    return [*(finding for check in checks for finding in check(platform)), *check_machine(platform)]


def _memory(platform: Platform) -> Findings:
    ranges: list[tuple[KeyPath, Range]] = [(("memory", i), ram) for i, ram in enumerate(platform.memory)]
    for number, (path, ram) in enumerate(ranges):
        yield from check_aligned(path, ram.at, ram.size)
        if ram.end > ADDRESS_LIMIT:
            yield Finding(path, "out-of-range", f"ends at {ram.end:#x}", f"up to {ADDRESS_LIMIT:#x}")
        for other_path, other in ranges[:number]:
            if ram.at < other.end and other.at < ram.end:
                yield Finding(path, "overlap", f"overlaps memory[{other_path[1]}]")
    if sum(ram.size for ram in platform.memory) > MAX_MEMORY_BYTES:
        yield Finding(
            ("memory",),
            "out-of-range",
            "adds up to more memory than the planner supports",
            "at most 64 GiB in total",
        )
    first, most = min(ram.at for ram in platform.memory), load_layout().constant("mapped_limit")
    if first >= most and platform.not_bootable is None:
        cause = f"begins at {first:#x}, and the hypervisor maps no memory of its own there at its address"
        yield Finding(("memory",), "out-of-range", cause, f"memory below {most:#x}, or `not_bootable`")
    inner: list[tuple[KeyPath, Range]] = [(("reserved", i), hole) for i, hole in enumerate(platform.reserved)]
    if platform.load is not None:
        inner.append((("load",), platform.load))
        if not any(ram.at <= platform.load.at and platform.load.end <= ram.end for ram in platform.memory):
            yield Finding(
                ("load",), "out-of-range", "the load area is not inside memory", "a part of one memory range"
            )
    for path, part in inner:
        yield from check_aligned(path, part.at, part.size)
    for hole in platform.reserved:
        if platform.load is not None and hole.at < platform.load.end and platform.load.at < hole.end:
            yield Finding(("load",), "overlap", "the load area overlaps reserved memory")


def _socket(platform: Platform) -> Findings:
    """The socket device is emulated: no device that a domain can have is there or has its interrupt."""
    socket = platform.socket
    if socket is None:
        return
    for device in platform.passable().values():
        if device.pages.at < socket.at + PAGE_BYTES and socket.at < device.pages.end:
            cause = f"the page at {socket.at:#x} holds registers of '{device.name}'"
            yield Finding(("socket", "at"), "overlap", cause, "a page without a device")
        if socket.interrupt in device.interrupts:
            cause = f"{socket.interrupt} is an interrupt of '{device.name}'"
            yield Finding(("socket", "interrupt"), "conflict", cause, "an interrupt that no device has")


def _virtual_root(platform: Platform) -> Findings:
    """The configuration space of the virtual PCI root: one whole bus, beside everything that guests see."""
    root = root_window(platform)
    if root is None:
        return
    path: KeyPath = ("socket", "root")
    if root.at == 0 or root.end > MAX_GUEST_ADDRESS:
        cause = f"is at {root.at:#x}, where a guest cannot have it"
        yield Finding(path, "out-of-range", cause, f"above 0, up to {MAX_GUEST_ADDRESS - root.bytes:#x}")
    if root.at % root.bytes:
        yield Finding(path, "misaligned", f"is at {root.at:#x}", f"a multiple of {root.bytes:#x}")
    for window in guest_windows(platform):
        if window.at < root.end and root.at < window.end:
            yield Finding(path, "overlap", f"overlaps the {window.name} at {window.at:#x}", "a free MiB")


def _on_chip(platform: Platform) -> Findings:
    """The hypervisor keeps on-chip memory for itself: it must not overlap devices or RAM, which domains can
    be given."""
    ocm = platform.ocm
    if ocm is None:
        return
    yield from check_aligned(("ocm",), ocm.at, ocm.size)
    if ocm.free_bytes > ocm.size or ocm.free_bytes % PAGE_BYTES:
        cause = f"{ocm.free_bytes} bytes are not whole pages of {ocm.size} bytes"
        yield Finding(("ocm", "free"), "out-of-range", cause, "a multiple of 4 KiB, at most `size`")
    own = [region for region in own_regions(platform) if region.key[0] != "ocm"]
    taken = [(region.name, region.at, region.end) for region in own]
    taken += [(one.name, one.pages.at, one.pages.end) for one in platform.registers()]
    taken += [("memory", ram.at, ram.end) for ram in platform.memory]
    for name, start, end in taken:
        if ocm.at < end and start < ocm.end:
            yield Finding(("ocm",), "overlap", f"on-chip memory overlaps '{name}' at {start:#x}")


def _cores(platform: Platform) -> Findings:
    mpidr = platform.cores.mpidr
    if mpidr is not None and len(mpidr) != platform.cores.count:
        cause = f"has {len(mpidr)} entries for {platform.cores.count} cores"
        yield Finding(("cores", "mpidr"), "conflict", cause, "one for each core")
    if mpidr is not None and len(set(mpidr)) != len(mpidr):
        yield Finding(
            ("cores", "mpidr"), "duplicate-name", "two cores have the same affinity", "each one once"
        )


def _controller(platform: Platform) -> Findings:
    for missing in ("interrupt_controller", "uart"):
        if getattr(platform, missing) is None and platform.not_bootable is None:
            cause = f"a platform without '{missing}' cannot boot the hypervisor"
            yield Finding((missing,), "missing-key", cause, "the key, or `not_bootable` with the reason")
    if platform.not_bootable is not None and platform.load is not None:
        yield Finding(
            ("load",),
            "conflict",
            "a platform with `not_bootable` loads nothing, so it must not have a load area",
        )
    gic = platform.interrupt_controller
    if gic is None:
        return
    needed = ["redistributors"] if gic.type == "gicv3" else ["cpu_interface", "hypervisor", "virtual_cpu"]
    for key in needed:
        if getattr(gic, key) is None:
            yield Finding(("interrupt_controller", key), "missing-key", f"a {gic.type} needs the key '{key}'")
    sizes = redistributor_sizes(platform.cores.count)
    if gic.redistributors_size is not None and gic.redistributors_size not in sizes:
        cause = f"redistributors of {platform.cores.count} cores in {gic.redistributors_size:#x} bytes"
        allowed = f"a multiple of {sizes.step:#x} from {sizes.start:#x} to {sizes[-1]:#x}"
        yield Finding(("interrupt_controller", "redistributors_size"), "out-of-range", cause, allowed)


def _load_area(platform: Platform) -> Findings:
    """The area where the boot package is loaded must be memory and must not overlap registers."""
    load = platform.load
    if load is None:
        return
    windows = [(region.name, region.at, region.end) for region in own_regions(platform)]
    windows += [(one.name, one.pages.at, one.pages.end) for one in platform.registers()]
    for name, start, end in windows:
        if load.at < end and start < load.end:
            yield Finding(("load",), "overlap", f"the load area overlaps '{name}' at {start:#x}")


def _caches(platform: Platform) -> Findings:
    for name, cache in platform.caches.items():
        try:
            CacheShape(cache.size, cache.ways, cache.line).index_bits()
        except GeometryError as error:
            yield Finding(("caches", name), "geometry", str(error), "size = sets * ways * line")


def check_aligned(path: KeyPath, at: int, size: int) -> Findings:
    if at % PAGE_BYTES:
        yield Finding(
            (*path, "at"), "alignment", f"{at:#x} is not the address of a page", "a multiple of 4 KiB"
        )
    if size % PAGE_BYTES:
        yield Finding(
            (*path, "size"), "alignment", f"{size} bytes are not whole pages", "a multiple of 4 KiB"
        )
