# SPDX-License-Identifier: Apache-2.0
"""A plan as the binary manifest that the hypervisor reads (schema/manifest.yaml, docs/reference/manifest.md).

Called by `bundle`. Decides only the order of tables; planner and image loaders decided all places. Equal
plans and images give equal bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bulkhead.admission.masters import incoherent
from bulkhead.config.flow_costs import no_costs
from bulkhead.config.platform import Platform
from bulkhead.config.regions import BROKERS, addresses, ram_of
from bulkhead.config.system import Broker, Domain
from bulkhead.config.ways import ways_of
from bulkhead.package.bandwidth import bandwidth_row, bandwidth_tables
from bulkhead.package.device_regulators import device_regulators_row
from bulkhead.package.errors import PackageError
from bulkhead.package.images import DEFAULT_UART_CLOCK_HZ
from bulkhead.package.memory import LoadedMemory, align_up
from bulkhead.package.mpam import mpam_of_domain, mpam_row, mpam_tables
from bulkhead.package.pci import bridge_rows, function_rows, its_row, pci_row
from bulkhead.package.resets import reset_pages_row, reset_rows
from bulkhead.package.smmu import smmu_row, stream_rows
from bulkhead.planning.broker import (
    LEAST_RATE,
    PATIENCE_NS,
    cids_of,
    engine_of,
    is_broker,
    own_engine_of,
)
from bulkhead.planning.broker_parts import BrokerPart, number_of, parts_of
from bulkhead.planning.budgets import Budget, CountedEvent
from bulkhead.planning.console import console_core
from bulkhead.planning.flows import FlowPlan
from bulkhead.planning.model import DomainPlan, Plan, Segment
from bulkhead.planning.regulation import budget_in, regulator_of
from bulkhead.schema import Layout, LayoutError, Value

_TABLE_ALIGN = 8
# A table of the header, its record, and the constant that limits its rows.
_TABLES = (
    ("cpus", "manifest_cpu", "max_cores"),
    ("ram", "manifest_ram", "max_ram"),
    ("color_sets", "color_set_record", "max_color_sets"),
    ("domains", "manifest_domain", "max_domains"),
    ("vcpus", "manifest_vcpu", "max_vcpus"),
    ("segments", "manifest_segment", "max_segments"),
    ("images", "manifest_image", "max_images"),
    ("irqs", "manifest_irq", "max_irqs"),
    ("devices", "manifest_device", "max_devices"),
    ("calls", "manifest_call", "max_calls"),
    ("flows", "manifest_flow", "max_flows"),
    ("bandwidth_curve", "manifest_bandwidth_point", "max_bandwidth_points"),
    ("bandwidth_table", "manifest_bandwidth_row", "max_bandwidth_rows"),
    ("mpam_components", "manifest_mpam_component", "max_mpam_components"),
    ("mpam_instances", "manifest_mpam_instance", "max_mpam_instances"),
    ("mpam_settings", "manifest_mpam_setting", "max_mpam_settings"),
    ("mpam_words", "manifest_mpam_word", "max_mpam_words"),
    ("streams", "manifest_stream", "max_streams"),
    ("functions", "manifest_function", "max_functions"),
    ("bridges", "manifest_bridge", "max_bridges"),
    ("resets", "manifest_reset", "max_resets"),
)
# Fields that are zero if the system does not have the feature.
_UTILIZATION = tuple(
    f"utilization_{name}" for name in ("pa", "busy", "cycles", "bits", "control", "clear", "enable")
)
_BUDGET = tuple(
    f"budget_{name}"
    for name in ("events", "period_ns", "chunk_events", "second_events", "slack_events", "counts")
)
_BROKER = ("domain", "chunk_bytes", "bytes_per_s", "patience_ns", "stamps", "run_bytes", "reserved")
_SOCKET = ("socket_ipa", "socket_root_ipa", "socket_cid", "socket_irq", "socket_broker", "interrupted_ns")
_TABLE_MEMORY = (
    "on_chip_pa",
    "on_chip_bytes",
    "colored_pa",
    "colored_bytes",
    "colored_set",
    "on_chip_cached",
)
_ENGINE = ("engine", "engine_irq", "engine_pa", "qos_pa", "qos_rate")
_REGULATION = (
    "policy",
    "hold",
    "threshold",
    "step",
    "members",
    "regulated",
    "store_samples",
    "horizon_intervals",
    "interval_ns",
    "bandwidth_threshold_events",
    "floor_events",
    "ceiling_events",
    "saturation_events",
)

Row = Mapping[str, Value]


@dataclass(frozen=True)
class PlacedPiece:
    """A piece of a domain's image and the place of its source."""

    ipa: int
    bytes: int
    offset: int  # in the package; 0 if it is in place
    in_place: bool = False


@dataclass
class _ColorSets:
    """Color sets in the order of first use; equal sets share an index."""

    colors: int
    words: int
    index: dict[frozenset[int], int] = field(default_factory=dict)

    def of(self, colors: frozenset[int] | None) -> int:
        """Index of a set. None (memory that is not colored) means all colors."""
        chosen = frozenset(range(self.colors)) if colors is None else colors
        return self.index.setdefault(chosen, len(self.index))

    def rows(self) -> list[Row]:
        return [{"word": self._pack(colors)} for colors in self.index]

    def _pack(self, colors: frozenset[int]) -> list[int]:
        return [sum(1 << (c % 64) for c in colors if c // 64 == word) for word in range(self.words)]


def pack_manifest(
    plan: Plan,
    loaded: Sequence[LoadedMemory],
    placed: Sequence[Sequence[PlacedPiece]],
    layout: Layout,
    *,
    run_for_ns: int = 0,
    event: CountedEvent | None = None,
    emulated: bool = False,
) -> bytes:
    """The manifest; `loaded` and `placed` have one entry per domain, in the plan's order.

    `event`: the event that budgets count; None: there is none. `emulated`: for the emulator.
    """
    tables: dict[str, list[Row]] = {name: [] for name, _, _ in _TABLES}
    sets = _ColorSets(plan.space.count, layout.constant("color_set_words"))
    hypervisor = _hypervisor(plan, layout, sets.of(plan.pool.colors), run_for_ns)
    tables["cpus"] = [
        {"mpidr": mpidr, "pmu_irq": plan.platform.pmu_interrupt(core), "reserved": 0}
        for core, mpidr in enumerate(plan.platform.mpidrs())
    ]
    tables["ram"] = [{"pa": pa, "bytes": size} for pa, size in ram_of(plan.platform)]
    table_memory = _table_memory(plan, sets)
    domains = plan.domains if plan.wrong_domains is None else plan.wrong_domains
    for domain, images, pieces in zip(domains, loaded, placed, strict=True):
        _add_domain(tables, plan, domain, images, pieces, sets, layout, event)
    tables["color_sets"] = sets.rows()
    tables["flows"] = flow_rows(plan)
    tables |= bandwidth_tables(plan, event)
    tables |= mpam_tables(plan, layout)
    tables["streams"] = stream_rows(plan)
    tables["functions"] = function_rows(plan)
    tables["bridges"] = bridge_rows(plan)
    tables["resets"] = reset_rows(plan)
    header: dict[str, Value] = {
        "magic": layout.constant("manifest_magic"),
        "version": layout.version,
        "layout_hash": layout.hash,
        "platform": _platform(plan, layout, event),
        "hypervisor": hypervisor,
        "tables": table_memory,
        "regulation": _regulation(plan, layout, event),
        "delays": _delays(plan, layout, event),
        **_brokers(plan, layout),
        "bandwidth": bandwidth_row(plan, event),
        "device_regulators": device_regulators_row(plan, layout, event, emulated=emulated),
        "reset_pages": reset_pages_row(plan),
        "mpam": mpam_row(plan),
        "smmu": smmu_row(plan.platform),
        "pci": pci_row(plan.platform),
        "its": its_row(plan.platform),
    }
    try:
        return _assemble(header, tables, layout)
    except LayoutError as error:
        raise PackageError(f"manifest: {error}") from error


def manifest_crc(manifest: bytes, layout: Layout) -> int:
    """CRC-32 of the whole manifest, with the checksum's own field as zero."""
    place = layout.offset("manifest_header", "crc32")
    return zlib.crc32(manifest[:place] + bytes(4) + manifest[place + 4 :])


def _assemble(header: dict[str, Value], tables: Mapping[str, list[Row]], layout: Layout) -> bytes:
    body = bytearray(layout.size("manifest_header"))
    for name, record, limit in _TABLES:
        rows = tables[name]
        if len(rows) > layout.constant(limit):
            raise PackageError(f"manifest: {len(rows)} {name}, at most {layout.constant(limit)} are possible")
        body += bytes(align_up(len(body), _TABLE_ALIGN) - len(body))
        header[name] = {"offset": len(body), "count": len(rows)}
        for row in rows:
            body += layout.pack(record, row)
    limit_bytes = layout.constant("max_manifest_bytes")
    if len(body) > limit_bytes:
        raise PackageError(f"manifest: {len(body)} bytes, at most {limit_bytes} are possible")
    header |= {"total_bytes": len(body), "crc32": 0}
    body[: layout.size("manifest_header")] = layout.pack("manifest_header", header)
    place = layout.offset("manifest_header", "crc32")
    body[place : place + 4] = manifest_crc(bytes(body), layout).to_bytes(4, "little")
    return bytes(body)


def _platform(plan: Plan, layout: Layout, event: CountedEvent | None) -> Row:
    platform = plan.platform
    gic, timers, uart = platform.interrupt_controller, platform.timers, platform.uart
    assert gic is not None, "only boards that boot come here"
    assert uart is not None
    return {
        "gic_version": layout.enum_value("gic_version", gic.type),
        "uart_type": layout.enum_value("uart_type", uart.type),
        "psci_method": layout.enum_value("psci_method", platform.psci),
        "uart_irq": uart.interrupt,
        **addresses(platform),
        "uart_clock_hz": uart.clock or DEFAULT_UART_CLOCK_HZ,
        "cnthp_irq": timers.hypervisor,
        "cntv_irq": timers.virtual,
        "cntp_irq": timers.physical,
        "maintenance_irq": timers.maintenance,
        "traffic_event": event.number if event else 0,
        "overflow_backup_events": event.backup_events if event else 0,
        "writeback_event": event.writeback_number if event else 0,
        "access_event": event.access_number if event else 0,
        "s2fwb": int(platform.cores.s2fwb),
        "color_bits": plan.space.bits,
        **_utilization(platform, event),
        **_sram(plan, event),
        **_broadcasts(platform),
    }


def _broadcasts(platform: Platform) -> Row:
    """Events that a broadcast counts in a budget."""
    costs = platform.maintenance
    if costs is None:
        return {"broadcast_events": 0, "broadcast_icache_events": 0}
    return {"broadcast_events": costs.events, "broadcast_icache_events": costs.icache_events}


def _sram(plan: Plan, event: CountedEvent | None) -> Row:
    """On-chip memory for samples, if events are counted: the part that stage-2 tables do not use."""
    ocm = plan.platform.ocm
    if ocm is None or event is None:
        return {"sram_pa": 0, "sram_bytes": 0}
    taken = 0 if plan.tables is None else plan.tables.plan.on_chip_bytes
    left = ocm.free_bytes - taken
    return {"sram_pa": ocm.at if left else 0, "sram_bytes": left}


def _table_memory(plan: Plan, sets: _ColorSets) -> Row:
    tables = plan.tables
    if tables is None:
        return dict.fromkeys(_TABLE_MEMORY, 0)
    colored = tables.colored
    return {
        "on_chip_pa": tables.on_chip_pa,
        "on_chip_bytes": tables.plan.on_chip_bytes,
        "colored_pa": colored.pa if colored else 0,
        "colored_bytes": colored.bytes if colored else 0,
        "colored_set": sets.of(colored.colors) if colored else 0,
        "on_chip_cached": int(tables.plan.on_chip_cached),
    }


def _utilization(platform: Platform, event: CountedEvent | None) -> Row:
    """Counters of DRAM utilization. Zero if no memory event is counted, since nothing is regulated then."""
    counters = platform.dram.utilization if platform.dram is not None else None
    if counters is None or event is None or event.bytes is None:
        return dict.fromkeys(_UTILIZATION, 0)
    return {
        "utilization_pa": counters.at,
        "utilization_busy": counters.busy,
        "utilization_cycles": counters.cycles,
        "utilization_bits": counters.width,
        "utilization_control": counters.control,
        "utilization_clear": counters.clear,
        "utilization_enable": counters.enable,
    }


def _regulation(plan: Plan, layout: Layout, event: CountedEvent | None) -> Row:
    found = regulator_of(plan.system, plan.platform, event)
    if found is None:
        return {**dict.fromkeys(_REGULATION, 0), "budget_events": [0] * layout.constant("max_cores")}
    unlimited = layout.constant("unlimited_events")
    limits = found.budget_events
    return {
        "policy": layout.enum_value("regulation_policy", found.policy.replace("-", "_")),
        "hold": layout.enum_value("regulation_hold", found.hold),
        "threshold": found.threshold,
        "step": found.step,
        "members": sum(1 << core for core in found.members),
        "regulated": sum(1 << core for core in found.regulated),
        "store_samples": int(found.store_samples),
        "horizon_intervals": found.horizon_intervals,
        "interval_ns": found.interval_ns,
        "bandwidth_threshold_events": found.bandwidth_threshold_events,
        "floor_events": found.floor_events,
        "ceiling_events": found.ceiling_events,
        "saturation_events": found.saturation_events,
        "budget_events": [
            unlimited if (limit := limits.get(core, 0)) is None else limit
            for core in range(layout.constant("max_cores"))
        ],
    }


def _delays(plan: Plan, layout: Layout, event: CountedEvent | None) -> Row:
    found = regulator_of(plan.system, plan.platform, event)
    delays = {} if found is None else found.event_delays_ps
    return {"event_ps": [delays.get(core, 0) for core in range(layout.constant("max_cores"))]}


def _hypervisor(plan: Plan, layout: Layout, color_set: int, run_for_ns: int) -> Row:
    focus = _console_domain(plan)
    return {
        "pool_pa": plan.pool.pa,
        "pool_bytes": plan.pool.bytes,
        "pool_color_set": color_set,
        "console_core": console_core(plan.system, plan.platform),
        "console_domain": layout.constant("all_domains") if focus is None else focus,
        "scheduler": layout.enum_value("scheduler", plan.system.hypervisor.scheduler.replace("-", "_")),
        "slice_ns": plan.system.hypervisor.slice,
        "run_for_ns": run_for_ns,
    }


def _brokers(plan: Plan, layout: Layout) -> dict[str, Row]:
    nothing: Row = {**dict.fromkeys((*_BROKER, *_ENGINE), 0), "costs": {**no_costs(), "reserved": 0}}
    found = dict.fromkeys(BROKERS, nothing)
    planned: list[FlowPlan | None] = list(plan.brokers)
    for number, (name, part) in enumerate(zip(BROKERS, parts_of(plan.system), strict=False)):
        found[name] = _broker(plan, part, planned[number] if planned else None, layout)
    return found


def _broker(plan: Plan, part: BrokerPart, planned: FlowPlan | None, layout: Layout) -> Row:
    broker = part.system.broker
    assert broker is not None
    costs = plan.platform.flow_costs if planned is None else planned.model.costs
    return {
        "domain": next(domain.index for domain in plan.domains if domain.name == part.name),
        "chunk_bytes": broker.chunk,
        "bytes_per_s": _rate(planned, broker),
        "patience_ns": PATIENCE_NS,
        "stamps": int(broker.stamps),
        "run_bytes": 0 if planned is None else planned.model.run_bytes,
        "reserved": 0,
        "costs": {**(no_costs() if costs is None else costs.analyzed()), "reserved": 0},
        **_engine(plan, part, planned, layout),
    }


def _rate(planned: FlowPlan | None, broker: Broker) -> int:
    """Rate to which the hypervisor limits the broker, in bytes/s; with an engine, the rate set in its
    regulator."""
    if planned is None:
        return broker.rate or 0
    register = planned.register
    return max(planned.rate if register is None else int(register.bytes_per_s), LEAST_RATE)


def _engine(plan: Plan, part: BrokerPart, planned: FlowPlan | None, layout: Layout) -> Row:
    """The engine that copies for the broker: the first channel of the hypervisor's, or the broker's own."""
    hypervisors, own = engine_of(part.system, plan.platform), own_engine_of(part.system, plan.platform)
    engine = hypervisors or own
    if engine is None:
        return dict.fromkeys(_ENGINE, 0)
    register = planned.register if planned is not None else None
    held = engine.qos is not None and register is not None
    return {
        "engine": layout.enum_value("broker_engine", "own" if hypervisors is None else hypervisors.type),
        "engine_irq": 0 if hypervisors is None else hypervisors.interrupts[0],
        "engine_pa": 0 if hypervisors is None else hypervisors.at,
        "qos_pa": engine.qos or 0 if held else 0,
        "qos_rate": register.value if held and register is not None else 0,
    }


def flow_rows(plan: Plan) -> list[Row]:
    """The table of flows: one entry for each direction and receiver."""
    index = {domain.name: domain.index for domain in plan.domains}
    return [
        {
            "source": index[flow.from_],
            "destination": index[flow.to],
            "port": flow.port,
            "packet_bytes": flow.size,
            "period_ns": flow.period,
            "deadline_ns": flow.deadline,
            "transfers": flow.transfers or 0,
            "connections": 0 if flow.answers else flow.connections,
            "answers": flow.other + 1 if flow.answers and flow.other is not None else 0,
            "group": 0 if flow.group is None else flow.group + 1,
        }
        for flow in ways_of(plan.system.flows)
    ]


def _socket(plan: Plan, name: str) -> Row:
    """A domain's socket device; a broker has only the device's interrupt."""
    cid = cids_of(plan.system).get(name)
    socket = plan.platform.socket
    if socket is None or (cid is None and not is_broker(plan.system, name)):
        return dict.fromkeys(_SOCKET, 0)
    domain = plan.system.domain(name)
    on_root = domain is not None and domain.socket_transport == "pci"
    return {
        "socket_ipa": 0 if cid is None else socket.at,
        "socket_root_ipa": socket.root if on_root and socket.root is not None else 0,
        "socket_cid": cid or 0,
        "socket_irq": socket.interrupt,
        "socket_broker": number_of(plan.system, name) or 0,
        "interrupted_ns": sum(one.model.costs.interrupts.ends.get(name, 0) for one in plan.brokers),
    }


def _console_domain(plan: Plan) -> int | None:
    default = plan.system.hypervisor.console.default
    with_console = [d.index for d in plan.domains if _configured(plan, d).console.present]
    named = [d.index for d in plan.domains if d.name == default]
    return next(iter(named or with_console), None)


def _configured(plan: Plan, domain: DomainPlan) -> Domain:
    configured = plan.system.domain(domain.name)
    assert configured is not None
    return configured


def _flags(plan: Plan, domain: DomainPlan, budget: Budget | None, layout: Layout) -> int:
    configured = _configured(plan, domain)
    maintenance = plan.system.maintenance_of(configured)
    chosen = {
        "realtime": domain.realtime,
        "premap": domain.premap,
        "console": configured.console.present,
        "console_raw": configured.console.raw,
        "manager": configured.manager,
        "restart_on_failure": configured.restart == "on-failure",
        "budget": budget is not None,
        "pmu": configured.pmu,
        "reclaim": budget is not None and budget.reclaim,
        "own_attributes": bool(incoherent(configured, plan.platform)),
        "translations_trapped": maintenance in ("translations", "trapped"),
        "caches_trapped": maintenance == "trapped",
        "faults_abort": configured.faults == "abort",
    }
    return sum(layout.enum_value("domain_flag", name) for name, on in chosen.items() if on)


def _segment_flags(segment: Segment, layout: Layout) -> int:
    chosen = {
        "tables_placed": segment.tables_placed,
        "read_only": segment.read_only,
        "programmable": segment.programmable,
        "socket_pool": segment.socket_pool,
    }
    return sum(layout.enum_value("segment_flag", name) for name, on in chosen.items() if on)


def _add_domain(
    tables: dict[str, list[Row]],
    plan: Plan,
    domain: DomainPlan,
    images: LoadedMemory,
    pieces: Sequence[PlacedPiece],
    sets: _ColorSets,
    layout: Layout,
    event: CountedEvent | None,
) -> None:
    configured = _configured(plan, domain)
    budget = budget_in(plan.system, configured, event)
    first = {name: len(tables[name]) for name in ("vcpus", "segments", "images", "irqs", "devices", "calls")}
    tables["vcpus"] += [{"domain": domain.index, "core": core} for core in domain.cpus]
    tables["segments"] += [
        {
            "ipa": s.ipa,
            "bytes": s.bytes,
            "pa": s.pa,
            "color_set": sets.of(s.colors),
            "flags": _segment_flags(s, layout),
        }
        for s in domain.segments
    ]
    in_place = layout.enum_value("image_flag", "in_place")
    tables["images"] += [
        {"offset": p.offset, "bytes": p.bytes, "ipa": p.ipa, "flags": in_place if p.in_place else 0}
        for p in pieces
    ]
    _add_devices(tables, plan.platform, configured)
    tables["calls"] += [{"first": calls.first, "last": calls.last} for calls in configured.firmware]
    row: dict[str, Value] = {
        "name": domain.name,
        "entry_ipa": images.entry_ipa,
        "boot_argument": images.device_tree_ipa,
        "color_set": sets.of(domain.colors),
        "flags": _flags(plan, domain, budget, layout),
    }
    for table, start in first.items():
        row[f"first_{table[:-1]}"] = start
        row[f"{table[:-1]}_count"] = len(tables[table]) - start
    row |= _budget(budget, layout)
    row["priority"] = configured.priority
    cpu_budget_ns, cpu_period_ns = plan.system.enforced_cpu_time(configured) or (0, 0)
    row |= {"cpu_budget_ns": cpu_budget_ns, "cpu_period_ns": cpu_period_ns}
    row |= _socket(plan, domain.name)
    row |= mpam_of_domain(plan, domain.name)
    row["table_memory"] = layout.enum_value("table_memory", domain.tables)
    tables["domains"].append(row)


def _budget(budget: Budget | None, layout: Layout) -> Row:
    if budget is None:
        return dict.fromkeys(_BUDGET, 0)
    return {
        "budget_events": layout.constant("unlimited_events") if budget.events is None else budget.events,
        "budget_period_ns": budget.period_ns,
        "budget_chunk_events": budget.chunk_events,
        "budget_second_events": budget.second_events,
        "budget_slack_events": budget.slack_events,
        "budget_counts": layout.enum_value("budget_counts", budget.counts),
    }


def _add_devices(tables: dict[str, list[Row]], platform: Platform, configured: Domain) -> None:
    given = [platform.passable()[name] for name in configured.devices]
    lines = dict.fromkeys(intid for device in given for intid in device.interrupts)
    tables["irqs"] += [{"intid": intid, "vcpu": 0} for intid in lines]
    tables["devices"] += device_rows(platform, configured)


def device_rows(platform: Platform, configured: Domain) -> list[Row]:
    """The pages that hold the registers of a domain's devices; each page once, even if devices share it."""
    rows: list[Row] = []
    end = 0
    windows = [window for name in configured.devices for window in platform.passable()[name].windows]
    for pages in sorted(windows, key=lambda w: w.at):
        start, end = max(pages.at, end), max(pages.end, end)
        if start < end:
            rows.append({"ipa": start, "pa": start, "bytes": end - start})
    return rows
