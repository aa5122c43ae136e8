# SPDX-License-Identifier: Apache-2.0
"""Checks that span several keys: names that must exist, ranges that must not overlap, limits.

load.py calls these with models that are valid on their own. All findings are returned together. Whether
memory and colors suffice is checked by the planner.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.admission.bandwidth import check_admission
from bulkhead.admission.crosscheck_brokers import check_brokers
from bulkhead.admission.crosscheck_budgets import check_budgets
from bulkhead.admission.crosscheck_chains import check_chains
from bulkhead.admission.crosscheck_colors import check_colors
from bulkhead.admission.crosscheck_passthrough import check_given
from bulkhead.admission.crosscheck_regulation import check_regulation
from bulkhead.admission.crosscheck_shares import check_shares
from bulkhead.admission.devices import check_device_rates, check_regulators
from bulkhead.admission.flash import wrong_flash
from bulkhead.admission.regulated_devices import check_regulated_devices
from bulkhead.admission.socket_transport import check_transports
from bulkhead.config.crosscheck_platform import check_aligned
from bulkhead.config.firmware import wrong_calls
from bulkhead.config.locate import limits
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath, nearest_of, quoted
from bulkhead.config.references import check_image
from bulkhead.config.regions import MAX_GUEST_ADDRESS, guest_windows
from bulkhead.config.system import Domain, Flow, Region, System
from bulkhead.planning.socket_pool import check_pools

SHORTEST_SLICE_NS, LONGEST_SLICE_NS = 10_000, 10**10  # the same as in core/manifest_domains.c
RESERVED_NAMES = ("bulkhead", "hypervisor", "nobody")

Findings = Iterator[Finding]


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
        *check_regulated_devices(system, platform),
        *_flows(system, platform),
        *check_chains(system, platform),
    ]
    for index, domain in enumerate(system.domains):
        at: KeyPath = ("domains", index)
        findings += _cpus(at, domain, platform)
        findings += _regions(at, domain, platform)
        findings += check_given(at, domain, system, platform)
        findings += check_device_rates(at, system, domain, platform)
        findings += check_image(at, domain.image)
    findings += check_regulators(system, platform)
    findings += check_colors(system, platform)
    findings += check_shares(system, platform)
    findings += check_budgets(system, platform)
    return findings + list(check_admission(system, platform))


def _names(system: System) -> Findings:
    names = [domain.name for domain in system.domains]
    for index, name in enumerate(names):
        if name in RESERVED_NAMES:
            cause = f"'{name}' is reserved: reports use this name for something else"
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
            cause = "a raw console has no tagged lines, so it does not show when its domain is ready"
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
            yield Finding(
                path, "conflict", "a domain without a console cannot have a raw console", "present: true"
            )
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
        yield Finding(
            (*at, "memory"), "missing-key", "has only flash: a domain needs RAM", "a region without `flash`"
        )
    for number, region in enumerate(domain.memory):
        path: KeyPath = (*at, "memory", number)
        yield from check_aligned(path, region.at, region.size)
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
                yield Finding(path, "overlap", cause, "addresses that do not overlap the platform's devices")


def _overlap(region: Region, start: int, end: int) -> bool:
    return region.at < end and start < region.end


def _flows(system: System, platform: Platform) -> Findings:
    names = [domain.name for domain in system.domains]
    yield from check_brokers(system, platform)
    for index, domain in enumerate(system.domains):
        if domain.socket and not system.flows:
            cause = "the system has no flows and so no broker, which moves the packets of sockets"
            yield Finding(("domains", index, "socket"), "conflict", cause, "a system with `flows`")
    yield from check_transports(system, platform)
    yield from check_pools(system, platform)
    seen: set[str] = set()
    for number, flow in enumerate(system.flows):
        at: KeyPath = ("flows", number)
        if flow.name in seen:
            yield Finding(
                (*at, "name"), "duplicate-name", f"a second flow is named '{flow.name}'", "each name once"
            )
        seen.add(flow.name)
        same = next((f for f in system.flows[:number] if _connections(f) & _connections(flow)), None)
        if same is not None:
            to = next(name for name in flow.receivers if name in same.receivers)
            cause = f"flow '{same.name}' goes from '{flow.from_}' to '{to}' with port {flow.port} already"
            yield Finding((*at, "port"), "duplicate-name", cause, "another port")
        if flow.from_ not in names:
            yield _unknown((*at, "from"), flow.from_, names)
        yield from _receivers(flow, number, names)
        if len(flow.receivers) > 1:
            yield from _multicast(flow, number)


def _receivers(flow: Flow, number: int, names: list[str]) -> Findings:
    for place, name in enumerate(flow.receivers):
        at: KeyPath = ("flows", number, "to", *((place,) if len(flow.receivers) > 1 else ()))
        if name not in names:
            yield _unknown(at, name, names)
        elif name == flow.from_:
            cause = f"flow '{flow.name}' goes from '{name}' to itself"
            yield Finding(at, "conflict", cause, "another domain")
        elif name in flow.receivers[:place]:
            cause = f"flow '{flow.name}' names the receiver '{name}' twice"
            yield Finding(at, "duplicate-name", cause, "each receiver once")


def _multicast(flow: Flow, number: int) -> Findings:
    at: KeyPath = ("flows", number)
    if flow.back is not None:
        cause = f"flow '{flow.name}' has several receivers, and data of such a flow goes one way"
        allowed = "no `back`; a flow from each receiver to the sender"
        yield Finding((*at, "back"), "conflict", cause, allowed)
    if "connections" in flow.model_fields_set and flow.connections != 1:
        cause = f"flow '{flow.name}' has several receivers, and one connection to all of them"
        yield Finding((*at, "connections"), "conflict", cause, "1, or no `connections`")


def _connections(flow: Flow) -> set[tuple[str, str, int]]:
    """The keys by which packets are assigned to a flow."""
    return {(flow.from_, to, flow.port) for to in flow.receivers}
