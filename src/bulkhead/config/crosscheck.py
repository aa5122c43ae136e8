# SPDX-License-Identifier: Apache-2.0
"""Checks that span several keys: names that must exist, ranges that must not overlap, limits.

load.py calls these with models that are valid on their own. All findings are returned together. Whether
memory and colors suffice is checked by the planner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bulkhead.config.crosscheck_budgets import check_budgets
from bulkhead.config.crosscheck_colors import check_colors
from bulkhead.config.crosscheck_devices import MAX_GUEST_ADDRESS, check_devices, check_given
from bulkhead.config.crosscheck_interrupts import check_interrupts
from bulkhead.config.crosscheck_machine import check_machine
from bulkhead.config.crosscheck_mpam import check_mpam
from bulkhead.config.crosscheck_regulation import check_regulation
from bulkhead.config.crosscheck_shares import check_shares
from bulkhead.config.firmware import wrong_calls
from bulkhead.config.flash import wrong_flash
from bulkhead.config.locate import limits
from bulkhead.config.platform import Platform, Range
from bulkhead.config.problem import Finding, KeyPath, nearest_of, quoted
from bulkhead.config.quantity import GIB
from bulkhead.config.references import check_image
from bulkhead.config.regions import check_regions, guest_windows, own_regions, redistributor_sizes
from bulkhead.config.system import Domain, Flow, Region, System
from bulkhead.geometry import PAGE_BYTES, CacheShape, GeometryError
from bulkhead.planning import broker
from bulkhead.planning.admission import check_admission

MAX_MEMORY_BYTES = 64 * GIB  # of a platform: the planner's tables have an entry for each granule
SHORTEST_SLICE_NS, LONGEST_SLICE_NS = 10_000, 10**10  # the same as in core/manifest_domains.c
RESERVED_NAMES = ("bulkhead", "hypervisor", "nobody")

Findings = Iterator[Finding]


def check_platform(platform: Platform) -> list[Finding]:
    """All findings about a platform file that span keys."""
    checks: tuple[Callable[[Platform], Findings], ...] = (
        _memory,
        _on_chip,
        _cores,
        _controller,
        check_regions,
        _load_area,
        check_interrupts,
        _caches,
        check_devices,
        check_mpam,
    )
    return [*(finding for check in checks for finding in check(platform)), *check_machine(platform)]


def check_system(system: System, platform: Platform) -> list[Finding]:
    """All findings about a system file that span keys, on its platform."""
    findings = [
        *_names(system),
        *_raw_consoles(system),
        *_counts(system, platform),
        *_scheduler(system),
        *wrong_calls(system),
        *wrong_flash(system, platform),
        *check_regulation(system, platform),
        *_flows(system, platform),
    ]
    for index, domain in enumerate(system.domains):
        at: KeyPath = ("domains", index)
        findings += _cpus(at, domain, platform)
        findings += _regions(at, domain, platform)
        findings += check_given(at, domain, system, platform)
        findings += check_image(at, domain.image)
    findings += check_colors(system, platform)
    findings += check_shares(system, platform)
    findings += check_budgets(system, platform)
    return findings + list(check_admission(system, platform))


def _memory(platform: Platform) -> Findings:
    ranges: list[tuple[KeyPath, Range]] = [(("memory", i), ram) for i, ram in enumerate(platform.memory)]
    for number, (path, ram) in enumerate(ranges):
        yield from _aligned(path, ram.at, ram.size)
        for other_path, other in ranges[:number]:
            if ram.at < other.end and other.at < ram.end:
                yield Finding(path, "overlap", f"overlaps memory[{other_path[1]}]")
    if sum(ram.size for ram in platform.memory) > MAX_MEMORY_BYTES:
        yield Finding(
            ("memory",), "out-of-range", "is more memory than can be planned", "at most 64 GiB in all"
        )
    inner: list[tuple[KeyPath, Range]] = [(("reserved", i), hole) for i, hole in enumerate(platform.reserved)]
    if platform.load is not None:
        inner.append((("load",), platform.load))
        if not any(ram.at <= platform.load.at and platform.load.end <= ram.end for ram in platform.memory):
            yield Finding(
                ("load",), "out-of-range", "the load area is not inside memory", "a part of one memory range"
            )
    for path, part in inner:
        yield from _aligned(path, part.at, part.size)
    for hole in platform.reserved:
        if platform.load is not None and hole.at < platform.load.end and platform.load.at < hole.end:
            yield Finding(("load",), "overlap", "the load area overlaps reserved memory")


def _on_chip(platform: Platform) -> Findings:
    """The hypervisor keeps on-chip memory for itself: it must not overlap devices or RAM, which domains can
    be given."""
    ocm = platform.ocm
    if ocm is None:
        return
    yield from _aligned(("ocm",), ocm.at, ocm.size)
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
    for name, cache in platform.caches.items():
        for number, core in enumerate(cache.shared_by):
            if core >= platform.cores.count:
                yield Finding(
                    ("caches", name, "shared_by", number),
                    "out-of-range",
                    f"there is no core {core}",
                    f"0 to {platform.cores.count - 1}",
                )


def _controller(platform: Platform) -> Findings:
    for missing in ("interrupt_controller", "uart"):
        if getattr(platform, missing) is None and platform.not_bootable is None:
            cause = f"a platform without '{missing}' cannot boot the hypervisor"
            yield Finding((missing,), "missing-key", cause, "the key, or `not_bootable` with the reason")
    if platform.not_bootable is not None and platform.load is not None:
        yield Finding(("load",), "conflict", "nothing is loaded on a platform that is `not_bootable`")
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


def _aligned(path: KeyPath, at: int, size: int) -> Findings:
    if at % PAGE_BYTES:
        yield Finding((*path, "at"), "alignment", f"{at:#x} is not at a page", "a multiple of 4 KiB")
    if size % PAGE_BYTES:
        yield Finding(
            (*path, "size"), "alignment", f"{size} bytes are not whole pages", "a multiple of 4 KiB"
        )


def _names(system: System) -> Findings:
    names = [domain.name for domain in system.domains]
    for index, name in enumerate(names):
        if name in RESERVED_NAMES:
            cause = f"'{name}' is not a name for a domain: reports use it"
            yield Finding(
                ("domains", index, "name"), "bad-name", cause, f"any other than {', '.join(RESERVED_NAMES)}"
            )
        if name in names[:index]:
            cause = f"domains[{names.index(name)}] is already named '{name}'"
            yield Finding(("domains", index, "name"), "duplicate-name", cause, "each name once")
    for name, wanted in system.expect.items():
        domain = system.domain(name)
        if domain is None:
            yield _unknown(("expect", name), name, names)
        elif domain.console.raw and wanted.ready is not None:
            cause = "a raw console has no tags, so nobody knows when its domain is ready"
            yield Finding(("expect", name, "ready"), "conflict", cause)
    focus = system.hypervisor.console.default
    path: KeyPath = ("hypervisor", "console", "default")
    if focus is not None:
        domain = system.domain(focus)
        if domain is None:
            yield _unknown(path, focus, names)
        elif not domain.console.present:
            having = [domain.name for domain in system.domains if domain.console.present]
            cause = f"domain '{focus}' has no console"
            yield Finding(path, "conflict", cause, ", ".join(having) or "a domain with `console: true`")


def _raw_consoles(system: System) -> Findings:
    """A domain with a raw console owns the terminal: no other domain may have a console."""
    having = [domain.name for domain in system.domains if domain.console.present]
    for index, domain in enumerate(system.domains):
        if not domain.console.raw:
            continue
        path: KeyPath = ("domains", index, "console", "raw")
        others = [name for name in having if name != domain.name]
        if not domain.console.present:
            yield Finding(path, "conflict", "a domain without a console has no terminal", "present: true")
        elif others:
            cause = f"'{domain.name}' has the terminal for itself, and {_listed(others)} a console"
            yield Finding(path, "conflict", cause, f"`console: false` for {', '.join(others)}")


def _listed(names: list[str]) -> str:
    have = "has" if len(names) == 1 else "have"
    return ", ".join(f"'{name}'" for name in names) + " " + have


def _unknown(path: KeyPath, name: str, names: list[str]) -> Finding:
    return Finding(
        path, "unknown-name", f"there is no domain {quoted(name)}", ", ".join(names), nearest_of(name, names)
    )


def _counts(system: System, platform: Platform) -> Findings:
    limit = limits()
    vcpus = sum(len(domain.cpus) for domain in system.domains)
    for path, count, what, most in (
        (("domains",), len(system.domains), "domains", limit["max_domains"]),
        (("domains",), vcpus, "VCPUs", limit["max_vcpus"]),
        (("platform",), platform.cores.count, "cores", limit["max_cores"]),
        (
            ("domains",),
            sum(len(d.devices) for d in system.domains),
            "pass-through devices",
            limit["max_devices"],
        ),
    ):
        if count > most:
            yield Finding(
                path, "limit", f"{count} {what} are more than the hypervisor's tables hold", f"at most {most}"
            )


def _cpus(at: KeyPath, domain: Domain, platform: Platform) -> Findings:
    """Several domains may share a core, but a domain names each core only once."""
    for number, core in enumerate(domain.cpus):
        path: KeyPath = (*at, "cpus", number)
        if core >= platform.cores.count:
            cause = f"platform '{platform.name}' has no core {core}"
            yield Finding(path, "out-of-range", cause, f"0 to {platform.cores.count - 1}")
        elif core in domain.cpus[:number]:
            yield Finding(path, "duplicate-name", f"core {core} is listed twice", "each core once")


def _scheduler(system: System) -> Findings:
    if not SHORTEST_SLICE_NS <= system.hypervisor.slice <= LONGEST_SLICE_NS:
        cause = f"is {system.hypervisor.slice} ns"
        yield Finding(("hypervisor", "slice"), "out-of-range", cause, "10 us to 10 s")


def _regions(at: KeyPath, domain: Domain, platform: Platform) -> Findings:
    if not domain.ram:
        yield Finding((*at, "memory"), "missing-key", "has nothing but flash", "a region without `flash`")
    for number, region in enumerate(domain.memory):
        path: KeyPath = (*at, "memory", number)
        yield from _aligned(path, region.at, region.size)
        if region.end > MAX_GUEST_ADDRESS:
            yield Finding(path, "out-of-range", f"ends at {region.end:#x}", f"up to {MAX_GUEST_ADDRESS:#x}")
        for other_number, other in enumerate(domain.memory[:number]):
            if _overlap(region, other.at, other.end):
                yield Finding(path, "overlap", f"overlaps memory[{other_number}] of '{domain.name}'")
        for window in guest_windows(platform):
            if _overlap(region, window.at, window.end):
                cause = (
                    f"overlaps the {window.name} at {window.at:#x}..{window.end - 1:#x} of '{platform.name}'"
                )
                yield Finding(path, "overlap", cause, "memory beside the platform's devices")


def _overlap(region: Region, start: int, end: int) -> bool:
    return region.at < end and start < region.end


def _flows(system: System, platform: Platform) -> Findings:
    names = [domain.name for domain in system.domains]
    if system.flows and system.broker is None:
        yield Finding(("broker",), "missing-key", "flows need the key 'broker'", "broker: { cpu: auto, ... }")
    if (
        system.broker is not None
        and system.broker.cpu is not None
        and system.broker.cpu >= platform.cores.count
    ):
        cause = f"platform '{platform.name}' has no core {system.broker.cpu}"
        yield Finding(("broker", "cpu"), "out-of-range", cause, f"auto, or 0 to {platform.cores.count - 1}")
    if system.flows:
        yield from broker.findings(system, platform)
    for index, domain in enumerate(system.domains):
        if domain.socket and not system.flows:
            cause = "without flows there is no broker, which moves what sockets send"
            yield Finding(("domains", index, "socket"), "conflict", cause, "a system with `flows`")
    seen: set[str] = set()
    for number, flow in enumerate(system.flows):
        at: KeyPath = ("flows", number)
        if flow.name in seen:
            yield Finding(
                (*at, "name"), "duplicate-name", f"a second flow is named '{flow.name}'", "each name once"
            )
        seen.add(flow.name)
        same = next((f for f in system.flows[:number] if _connection(f) == _connection(flow)), None)
        if same is not None:
            cause = (
                f"flow '{same.name}' goes from '{flow.from_}' to '{flow.to}' with port {flow.port} already"
            )
            yield Finding((*at, "port"), "duplicate-name", cause, "another port")
        for key, name in (("from", flow.from_), ("to", flow.to)):
            if name not in names:
                yield _unknown((*at, key), name, names)
        if flow.from_ == flow.to and flow.to in names:
            yield Finding(
                (*at, "to"),
                "conflict",
                f"flow '{flow.name}' goes from '{flow.to}' to itself",
                "another domain",
            )


def _connection(flow: Flow) -> tuple[str, str, int]:
    """The key by which packets are assigned to a flow."""
    return flow.from_, flow.to, flow.port
