# SPDX-License-Identifier: Apache-2.0
"""Brokers as domains: bare-metal programs that move packets between domains, each on a core of its own if one
is free.

A system file with flows describes its brokers but does not list them as domains. `with_broker` adds the
domains when the file is loaded, so that everything done for domains is also done for them. CIDs of the other
domains' sockets follow from their order. Used by admission/load.py, the planner and the builder.

What concerns one broker takes the system as this broker sees it (planning/broker_parts.py): `system.broker`
is this one, `system.flows` are its flows, and only domains that it serves have sockets.
"""

from __future__ import annotations

from collections.abc import Mapping

from bulkhead.config.devices import Device, Dma
from bulkhead.config.locate import limits
from bulkhead.config.pci import SLOTS, PciDevice, bus_bytes
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding
from bulkhead.config.quantity import GIB, KIB, MIB
from bulkhead.config.regions import check_engine
from bulkhead.config.shares import AUTO_BANKS, AUTO_LLC, Llc
from bulkhead.config.system import (
    BROKER,
    CPU_COPY,
    HYPERVISORS_ENGINE,
    WITHOUT_CONSOLE,
    Broker,
    Domain,
    Flow,
    Image,
    Region,
    System,
)
from bulkhead.config.ways import groups_of, ways_of
from bulkhead.planning.mechanism import llc_mechanism
from bulkhead.schema import load_layout
from bulkhead.units import size_text

LEAST_CHUNK_BYTES = 64  # core/manifest_flows.c
MOST_PACKET_BYTES = 64 * KIB  # the largest packet that the Linux driver sends
LEAST_RATE = 1000  # bytes/s; the hypervisor's minimum (core/manifest_flows.c)
PATIENCE_NS = 1_000_000_000  # a receiver without a free buffer for this time is treated as not reading
# Kinds of engines for which the broker has a driver (guests/programs/broker/engine.h), and their largest
# chunks: `edu` copies by way of a buffer (QEMU docs/specs/edu).
LARGEST_CHUNKS = {"zdma": MOST_PACKET_BYTES, "edu": 4 * KIB}
_FIRST_CID = 3  # 0 to 2 are reserved
_MEMORY = Region.model_validate({"at": 0x4000_0000, "size": 4 * MIB})
SAMPLES = Region.model_validate({"at": 0x4040_0000, "size": 256 * KIB})  # with `samples`: the packets' ring


def core_of(system: System, platform: Platform) -> int | None:
    """The broker's core: the one that the file names, else the last core without a domain, else the last core
    with best-effort domains only, which the broker then shares; None: there is none. No two brokers have the
    same core unless the file says so."""
    others = _others(system)
    taken = {core for domain in others for core in domain.cpus}
    real_time = {core for domain in others if domain.criticality == "rt" for core in domain.cpus}
    asked: Mapping[str, Broker | None] = system.brokers or {BROKER: system.broker}
    given = {name: None if broker is None else broker.cpu for name, broker in asked.items()}
    brokers = {core for core in given.values() if core is not None}
    own = BROKER if system.broker is None else system.broker.name
    for name, core in given.items():
        if core is None:
            core = _free_core(platform, taken | brokers, real_time | brokers)
            brokers |= set() if core is None else {core}
        if name == own:
            return None if core in real_time else core
    return None


def _free_core(platform: Platform, taken: set[int], real_time: set[int]) -> int | None:
    for unwanted in (taken, real_time):
        left = [core for core in range(platform.cores.count) if core not in unwanted]
        if left:
            return left[-1]
    return None


def _others(system: System) -> list[Domain]:
    """The domains of the file, whether it has flows or not."""
    return [domain for domain in system.domains if domain.name not in names_of(system)]


def names_of(system: System) -> tuple[str, ...]:
    """Names of the brokers' domains, in the order of their numbers."""
    return tuple(system.brokers) or (BROKER,)


def shares_core_with(system: System, core: int) -> list[str]:
    """Domains on the broker's core. If there are any, the broker's costs differ from the measured ones."""
    return [domain.name for domain in _others(system) if core in domain.cpus]


def findings(system: System, platform: Platform) -> list[Finding]:
    """Findings about why a broker is not possible."""
    found: list[Finding] = []
    if system.broker is not None and core_of(system, platform) is None:
        if system.broker.cpu is not None:
            which = f"core {system.broker.cpu} has"
        else:
            which = f"all {platform.cores.count} cores have"
        cause = f"{which} a real-time domain, and the broker needs a core without one"
        found.append(Finding(("broker", "cpu"), "conflict", cause, "a core that no real-time domain names"))
    return found + _chunk_findings(system) + _engine_findings(system, platform)


def _chunk_findings(system: System) -> list[Finding]:
    """EL2 refuses other chunks."""
    if system.broker is None or LEAST_CHUNK_BYTES <= system.broker.chunk <= most_chunk_bytes():
        return []
    cause = f"is {size_text(system.broker.chunk)}"
    return [Finding(("broker", "chunk"), "out-of-range", cause, chunk_range())]


def most_chunk_bytes() -> int:
    """The longest chunk that EL2 accepts."""
    return load_layout().constant("most_chunk_bytes")


def chunk_range() -> str:
    """The chunks that EL2 accepts, for messages."""
    return f"{LEAST_CHUNK_BYTES} B to {size_text(most_chunk_bytes())}"


def flow_findings(system: System, platform: Platform) -> list[Finding]:
    """Findings about why no broker can move the packets of the system's flows."""
    found = []
    if platform.socket is None:
        cause = f"platform '{platform.name}' does not state where guests see a socket device"
        found.append(Finding(("flows",), "missing-key", cause, "the key 'socket' in the platform file"))
    for index, domain in enumerate(system.domains):
        if domain.name in names_of(system):
            cause = "the name is reserved for the domain that moves the packets of flows"
            found.append(Finding(("domains", index, "name"), "bad-name", cause, "another name"))
    for way in ways_of(system.flows):
        if way.size > MOST_PACKET_BYTES:
            cause = f"packets of {size_text(way.size)} are larger than the packets of a socket driver"
            allowed = f"1 B to {size_text(MOST_PACKET_BYTES)}"
            found.append(Finding((*way.key, "size"), "out-of-range", cause, allowed))
    return found


def _engine_findings(system: System, platform: Platform) -> list[Finding]:
    engine = engine_of(system, platform)
    if engine is None:
        return []
    found = []
    path = ("broker", "engine")
    if not engine.coherent:
        cause = f"'{engine.name}' is not cache-coherent, and the hypervisor does not clean caches for it"
        found.append(Finding(path, "not-on-platform", cause, "cpu-copy"))
    if not engine.interrupts:
        cause = f"platform '{platform.name}' does not state the interrupt of '{engine.name}'"
        found.append(Finding(path, "not-on-platform", cause, "cpu-copy"))
    found += check_engine(platform, engine, path)
    for index, domain in enumerate(system.domains):
        if engine.name in domain.devices:
            number = domain.devices.index(engine.name)
            cause = f"'{engine.name}' is the broker's engine: a domain that has it could access all memory"
            place = ("domains", index, "devices", number)
            found.append(
                Finding(place, "conflict", cause, "cpu-copy, or a system in which no domain has the device")
            )
    return found


def broker_domain(system: System, platform: Platform) -> Domain | None:
    """The broker as a domain; None: no core is free, or there are no flows."""
    core = core_of(system, platform)
    if not system.flows or core is None:
        return None
    given = system.broker
    own = own_engine_of(system, platform)
    return Domain(
        name=BROKER if given is None else given.name,
        criticality="rt",
        cpus=(core,),
        image=Image(elf="guests/broker.elf"),
        memory=(_MEMORY, SAMPLES) if system.broker is not None and system.broker.samples else (_MEMORY,),
        llc=_default_llc(system, platform) if given is None or given.llc is None else given.llc,
        banks=AUTO_BANKS if given is None else given.banks,
        console=WITHOUT_CONSOLE,
        restart="on-failure",
        devices=() if own is None else (own.name,),
        dma="refuse" if given is None else given.dma,
    )


def _default_llc(system: System, platform: Platform) -> Llc:
    """The broker acts for the hypervisor: colors that the file gives to the hypervisor are the broker's, too.
    Portions do not take memory away, so with MPAM the broker has its own. Several brokers have no colors in
    common, so each has its own."""
    colored = llc_mechanism(system, platform) == "coloring" and len(names_of(system)) == 1
    colors = system.hypervisor.llc.colors if colored else None
    return AUTO_LLC if colors is None else Llc(colors=colors)


def is_broker(system: System, name: str) -> bool:
    """Whether this is a domain that `with_broker` added."""
    return bool(system.flows) and name in names_of(system)


def sockets_of(system: System) -> tuple[str, ...]:
    """Names of domains with a socket: ends of flows, and domains with `socket: true`."""
    ends = {name for flow in system.flows for name in (flow.from_, *flow.receivers)}
    return tuple(domain.name for domain in system.domains if domain.name in ends or domain.socket)


def cids_of(system: System) -> dict[str, int]:
    """CID of each domain with a socket, by name."""
    names = sockets_of(system)
    return {
        domain.name: _FIRST_CID + index for index, domain in enumerate(system.domains) if domain.name in names
    }


def windows_of(platform: Platform, window: int) -> tuple[Region, ...]:
    """Where the broker sees the memory of other domains, rounded to whole GiB, which a guest's tables map.
    Not every address in these windows has memory behind it."""
    regions = []
    for memory in platform.memory:
        start = memory.at // GIB * GIB
        end = -(-(memory.at + memory.size) // GIB) * GIB
        regions.append(Region.model_validate({"at": window + start, "size": end - start}))
    return tuple(regions)


def engine_of(system: System, platform: Platform) -> Dma | None:
    """The DMA engine whose first channel the hypervisor programs for the broker; None: there is none."""
    if not system.flows or system.broker is None or system.broker.engine != HYPERVISORS_ENGINE:
        return None
    return engine_on(platform)


def own_engine_of(system: System, platform: Platform) -> Device | Dma | None:
    """The engine that the broker programs itself; None: it has none, or the platform has no such device."""
    if not system.flows or system.broker is None or system.broker.own_engine is None:
        return None
    return platform.passable().get(system.broker.own_engine)


def kind_of(device: Device | Dma) -> str | None:
    """The kind of a DMA engine; None: the device is no engine that the broker can program."""
    kind = device.type if isinstance(device, Dma) else None
    if isinstance(device, PciDevice):
        kind = device.engine
    return kind if kind in LARGEST_CHUNKS else None


def engine_kind(system: System, platform: Platform) -> str:
    """The kind of what copies packets; `cpu-copy` if that is the broker's core."""
    own = own_engine_of(system, platform)
    if own is not None:
        return kind_of(own) or CPU_COPY
    return CPU_COPY if system.broker is None else system.broker.engine


def engine_on(platform: Platform) -> Dma | None:
    """The first DMA engine with a regulator, which limits its rate; None: there is none."""
    regulators = platform.interconnect.regulators if platform.interconnect is not None else ()
    held = {regulator.master for regulator in regulators}
    return next((one for one in platform.dma if one.type == "zdma" and one.name in held), None)


def waits_for_events(system: System, platform: Platform, *, emulated: bool) -> bool:
    """Whether the broker waits for events (WFE) and is not interrupted for a packet. On a core that it
    shares it must give the core to others, and an event would not preempt them. On the emulator, WFE does
    not wait."""
    broker = system.broker
    if broker is None or broker.wait != "auto":
        return broker is not None and broker.wait == "event"
    core = core_of(system, platform)
    return not emulated and core is not None and not shares_core_with(system, core)


def broker_parameters(system: System, platform: Platform, *, emulated: bool) -> dict[str, int]:
    """Parameters of the broker's program."""
    if platform.socket is None:
        return {}
    by_event = waits_for_events(system, platform, emulated=emulated)
    recorded = system.broker is not None and system.broker.samples
    return {
        "interrupt": platform.socket.interrupt,
        "event": int(by_event),
        **_engine_parameters(system, platform),
        **({"samples": SAMPLES.at, "samples_bytes": SAMPLES.size} if recorded else {}),
    }


def parameters_of(system: System, name: str, cids: Mapping[str, int]) -> dict[str, int]:
    """Parameters that tell a bare-metal program about its flows: its own CID, and for each flow the other
    end's CID and the port, named after the flow. The other end of a multicast flow is its group for the
    sender.

    The first flow that it sends on or receives from also has plain names (`send_...`, `receive_...`).
    Programs that use all flows find those that begin there as `out0_...` and those that end there as
    `in0_...`, with the sizes of packets in both directions, and the period of the way back.
    """
    if name not in cids:
        return {}
    found = {"socket_cid": cids[name]}
    for flow in system.flows:
        if name in (flow.from_, *flow.receivers):
            other = _destination(system, flow, cids) if name == flow.from_ else cids[flow.from_]
            found |= {f"{flow.name}_cid": other, f"{flow.name}_port": flow.port}
    for flow in reversed(system.flows):
        if name == flow.from_:
            cid = _destination(system, flow, cids)
            found |= {"send_cid": cid, "send_port": flow.port, "send_bytes": flow.size}
        elif name in flow.receivers:
            found["receive_port"] = flow.port
    out = [flow for flow in system.flows if flow.from_ == name]
    into = [flow for flow in system.flows if name in flow.receivers]
    found |= {"flows_out": len(out), "flows_in": len(into)}
    for number, flow in enumerate(out):
        values = {"cid": _destination(system, flow, cids), "period_ns": flow.period} | _ends_know(flow)
        found |= {f"out{number}_{key}": value for key, value in values.items()}
    for number, flow in enumerate(into):
        found |= {f"in{number}_{key}": value for key, value in _ends_know(flow).items()}
    return found


def _engine_parameters(system: System, platform: Platform) -> dict[str, int]:
    """What the broker is told of its own engine: its kind, where its registers or its configuration space
    are, and where the engine finds physical address 0: behind an IOMMU, where the broker does."""
    engine = own_engine_of(system, platform)
    kind = None if engine is None else kind_of(engine)
    if engine is None or kind is None:
        return {}
    layout = load_layout()
    at = engine.at
    if isinstance(engine, PciDevice):
        assert platform.pci is not None, "it has the function"
        at = platform.pci.at + engine.guest_slot * (bus_bytes() // SLOTS)
    return {
        "engine": layout.enum_value("own_engine", kind),
        "engine_at": at,
        "engine_base": layout.constant("broker_window") if platform.confines(engine) else 0,
    }


def _destination(system: System, flow: Flow, cids: Mapping[str, int]) -> int:
    """The CID to which a flow's sender connects."""
    group = groups_of(system.flows).get(flow.name)
    return cids[flow.receivers[0]] if group is None else limits()["first_group_cid"] + group


def _ends_know(flow: Flow) -> dict[str, int]:
    back = {} if flow.back is None else {"back_bytes": flow.back.size, "back_period_ns": flow.back.period}
    return {"port": flow.port, "bytes": flow.size} | back
