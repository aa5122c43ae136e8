# SPDX-License-Identifier: Apache-2.0
"""Makes a run's target from a built system: the only module here that uses the builder's and the planner's
types.

Called by `run_system`. The plan's promises are converted for the witnesses here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bulkhead.admission.load import Loaded
from bulkhead.admission.masters import incoherent, unconfined
from bulkhead.config.locate import limits
from bulkhead.config.platform import Platform
from bulkhead.config.regions import pending_memory, ram_of
from bulkhead.config.ways import ways_of
from bulkhead.evidence import streams
from bulkhead.evidence.contexts import Places
from bulkhead.evidence.promise import (
    DomainPromise,
    Exchange,
    ItsPromise,
    Promise,
    PromisedMessages,
    PromisedWindow,
    SmmuPromise,
    Smmuv2Promise,
    TablePromise,
)
from bulkhead.evidence.translations import its_registers
from bulkhead.flows.response import bounds_ns
from bulkhead.geometry import PAGE_BYTES, Frames
from bulkhead.machine.request import request_of
from bulkhead.package.build import Build, BuildOptions, program_of_domain
from bulkhead.package.disks import disk_files
from bulkhead.package.elf import read_elf
from bulkhead.package.pci import all_functions, has_messages
from bulkhead.planning.broker import SAMPLES, cids_of, engine_of, is_broker, own_engine_of
from bulkhead.planning.broker_parts import BrokerPart, number_of, parts_of
from bulkhead.planning.budgets import CountedEvent, counted_event
from bulkhead.planning.device_rates import device_rates, rates_of
from bulkhead.planning.mechanism import bandwidth_by_mpam, choices
from bulkhead.planning.model import DomainPlan, Plan
from bulkhead.planning.regulation import budget_in, regulator_of
from bulkhead.run.boot import boot_by, in_one_piece
from bulkhead.run.debug import BadDebugger, DebugProgram, gdb_script
from bulkhead.run.emulator import EmulatedMachine
from bulkhead.run.partitions import mpam_promise, portion_promise
from bulkhead.run.pci import pci_arguments
from bulkhead.run.target import (
    MACHINE,
    ChainTarget,
    DomainTarget,
    FlowTarget,
    Policy,
    RunOptions,
    Target,
)

_KIB = 1024
_OBSERVER_RESULT = "observe-result.json"
_MEMORY = "memory.bin"


def make_target(
    loaded: Loaded, build: Build, options: RunOptions, *, binary: Path, plugin: Path | None, directory: Path
) -> Target:
    """The target for the emulator. `plugin`: the observer; None if the run is not observed. Raises
    NotBootable, PackageError or MissingTool."""
    plan = build.plan
    disks = disk_files(plan.system, Path(loaded.file).parent)
    emulator = plan.platform.emulator
    gic = plan.platform.interrupt_controller
    assert emulator is not None, "the command refuses platforms that the emulator does not have"
    result = directory / _OBSERVER_RESULT if plugin else None
    # A comma separates arguments of the plugin, so it is doubled in a value.
    observer = f"{_quoted(plugin)},config={_quoted(build.observe)},out={_quoted(result)}" if result else None
    boot = boot_by(options.boot, emulator.machine, elf=build.elf, image=build.img, load_pa=plan.load_area[0])
    booted = build.img if in_one_piece(options.boot) else build.elf
    assert booted is not None
    machine = EmulatedMachine(
        binary=binary,
        machine=boot.machine,
        cpu=emulator.cpu,
        cores=plan.platform.cores.count,
        ram_bytes=sum(ram.size for ram in plan.platform.memory),
        kernel=booted,
        observer=observer,
        icount=options.icount,
        seed=options.seed & 0xFFFF_FFFF,
        start=(*emulator.options, *pci_arguments(plan.platform, directory, disks), *boot.arguments),
        answers=boot.answers,
        wires=tuple(emulator.wires.items()),
        gicv2=gic is not None and gic.type == "gicv2",
        debugger=options.debugger.stub if options.debugger is not None else None,
    )
    return replace(
        _target(loaded, build, options, directory, booted), machine=machine, observer_result=result
    )


def debugger_script(target: Target, build: Build, base: Path) -> Path | None:
    """Writes GDB's script for the domain of `--gdb`; None without that option. Raises BadDebugger.

    `base`: the directory of the system file.
    """
    debugger = target.options.debugger
    if debugger is None:
        return None
    domain = next((one for one in target.domains if one.name == debugger.domain), None)
    if domain is None:
        names = ", ".join(one.name for one in target.domains)
        raise BadDebugger(f"there is no domain '{debugger.domain}' (there are: {names})")
    entry = build.entries[domain.name]
    path = program_of_domain(build, base, BuildOptions(), domain.name)
    program = None
    if path is not None:
        program = DebugProgram(path, entry - read_elf(path, movable=True).entry)
    script = target.directory / f"{domain.name}.gdb"
    script.write_text(gdb_script(debugger, domain.cores, entry, program), encoding="utf-8")
    return script


def make_simulated_target(
    loaded: Loaded, build: Build, options: RunOptions, programs: Sequence[Path], directory: Path
) -> Target:
    """The target for the simulated machine; `programs`: those of the domains. Raises NotSimulated."""
    target = _target(loaded, build, options, directory, build.elf)
    request = request_of(build, programs, frames_of(target), directory / _MEMORY)
    return replace(target, request=request)


def registers_of(target: Target) -> list[int]:
    """Addresses of the registers of devices that are read at the end of a run."""
    smmu, its = target.promise.smmu, target.promise.its
    found = []
    if smmu is not None:
        offsets = smmu.places.registers() if isinstance(smmu, Smmuv2Promise) else streams.REGISTERS
        found = [smmu.registers + offset for offset in offsets]
    if its is not None:
        found += its_registers(its.registers, its.redistributors, its.cores)
    return found


def frames_of(target: Target) -> list[int]:
    """Addresses of the frames that are read at the end of a run."""
    pool = target.promise.pool_frames.tolist()
    tables = [
        pa for one in target.promise.domains if one.tables is not None for pa in one.tables.frames.tolist()
    ]
    packets = [pa for ring in target.packet_frames for pa in ring]
    return list(dict.fromkeys((*target.status_frames, *pool, *target.on_chip_frames, *packets, *tables)))


def _target(loaded: Loaded, build: Build, options: RunOptions, directory: Path, booted: Path) -> Target:
    plan = build.plan
    emulated = options.on != MACHINE
    event = counted_event(plan.platform, emulated=emulated)
    return Target(
        system=plan.system.name,
        system_file=loaded.file,
        platform=plan.platform.name,
        platform_sha256=loaded.platform_sha256,
        package_sha256=hashlib.sha256(booted.read_bytes()).hexdigest(),
        program=build.program,
        machine=None,
        layout=build.layout,
        status_frames=build.status_pages,
        promise=make_promise(plan),
        domains=tuple(_domain(domain, plan, event, emulated=emulated) for domain in plan.domains),
        options=options,
        directory=directory,
        policy=_policy(plan, options),
        color_count=plan.space.count,
        granule_bytes=plan.space.granule,
        miscolored_pa=plan.miscolored_pa,
        on_chip_frames=_on_chip_frames(plan.platform, event),
        packet_frames=_packet_frames(plan),
        regulator=regulator_of(plan.system, plan.platform, event),
        flows=_flows_of(plan),
        chains=_chains_of(plan),
        mechanism=choices(plan.system, plan.platform, unprotected=options.unprotected),
        mpam=mpam_promise(plan),
        portions=portion_promise(plan),
        notices=tuple(notice.json() for notice in loaded.notices),
    )


def _policy(plan: Plan, options: RunOptions) -> Policy:
    """Scheduling parameters. The bound of release delays applies to the simulated machine only: the
    emulator's cores run by turns."""
    hypervisor, bound = plan.system.hypervisor, plan.platform.release_delay
    return Policy(
        scheduler=hypervisor.scheduler,
        slice_ns=hypervisor.slice,
        release_bound_ns=bound.bound if bound is not None and options.on == MACHINE else None,
    )


def _on_chip_frames(platform: Platform, event: CountedEvent | None) -> tuple[int, ...]:
    """On-chip frames for the rings of all cores, if there are rings."""
    if platform.ocm is None or event is None:
        return ()
    most = platform.cores.count * limits()["sample_frames"] * PAGE_BYTES
    end = platform.ocm.at + min(platform.ocm.free_bytes, most)
    return tuple(range(platform.ocm.at, end, PAGE_BYTES))


def _packet_frames(plan: Plan) -> tuple[tuple[int, ...], ...]:
    """Frames of each broker's record of packets, in order, of brokers that have one."""
    return tuple(
        tuple(segment.pages(plan.space).tolist())
        for domain in plan.domains
        if is_broker(plan.system, domain.name)
        for segment in domain.segments
        if segment.ipa == SAMPLES.at
    )


def make_promise(plan: Plan) -> Promise:
    """The promise that the tables of a run must keep. Pass-through devices are at the platform's
    addresses."""
    load_pa, load_bytes = plan.load_area
    return Promise(
        color_bits=plan.space.bits,
        cache_colored=bool(plan.space.llc_bits),
        domains=tuple(
            DomainPromise(
                name=domain.name,
                colors=domain.colors or frozenset(),
                frames=np.sort(np.concatenate([segment.pages(plan.space) for segment in domain.segments])),
                devices=_devices_of(domain, plan),
                tables=_tables_of(domain, plan),
                flash=tuple(range(s.ipa, s.ipa + s.bytes) for s in domain.segments if s.read_only),
                own_attributes=_own_attributes(domain, plan),
            )
            for domain in plan.domains
        ),
        hypervisor_colors=plan.pool.colors or frozenset(),
        pool_frames=np.sort(plan.pool.pages(plan.space)),
        ram=tuple(PromisedWindow(at, size, "RAM") for at, size in ram_of(plan.platform)),
        load_area=PromisedWindow(load_pa, load_bytes, "load area"),
        hypervisor_devices=_hypervisor_devices(plan),
        exchanges=tuple(_exchange(plan, part) for part in parts_of(plan.system)),
        table_frames=_table_frames(plan),
        table_colors=_table_colors(plan),
        smmu=_smmu_of(plan),
        its=_its_of(plan),
        s2fwb=plan.platform.cores.s2fwb,
    )


def _smmu_of(plan: Plan) -> SmmuPromise | Smmuv2Promise | None:
    """Beside a GICv2 no device reaches the interrupt registers that stage 2 maps for VCPUs."""
    iommu, gic = plan.platform.driven_iommu, plan.platform.interrupt_controller
    if iommu is None:
        return None
    owners = {
        stream: domain.name
        for domain in plan.system.domains
        for device in plan.platform.confined(domain.devices)
        for stream in device.streams
    }
    if iommu.type == "smmuv3":
        return SmmuPromise(iommu.at, owners)
    for_vcpus = gic.cpu_interface if gic is not None and gic.type == "gicv2" else None
    return Smmuv2Promise(
        registers=iommu.at,
        streams=owners,
        places=Places(iommu.size, iommu.stream_entries or 0, iommu.context_banks or 0),
        input_bits=48 if for_vcpus is None else for_vcpus.bit_length() - 1,
    )


def _its_of(plan: Plan) -> ItsPromise | None:
    """Each function has as many LPIs as a function can have, in the order of the manifest."""
    platform = plan.platform
    gic = platform.interrupt_controller
    if gic is None or gic.its is None or platform.pci is None or gic.redistributors is None:
        return None
    first, each = limits()["first_lpi"], limits()["max_messages"]
    functions = tuple(
        PromisedMessages(
            domain=one.domain.name,
            device=one.device.requester,
            first_lpi=first + number * each,
            count=one.messages,
            mpidr=platform.mpidrs()[one.domain.cpus[0]],
        )
        for number, one in enumerate(all_functions(plan))
        if one.messages
    )
    memory = pending_memory(platform.cores.count, gic.its)
    return ItsPromise(
        registers=gic.its.at,
        redistributors=gic.redistributors,
        cores=platform.cores.count,
        pending=PromisedWindow(memory.at, memory.bytes, "memory of the redistributors"),
        functions=functions,
    )


def _table_frames(plan: Plan) -> Frames:
    colored = plan.tables.colored if plan.tables is not None else None
    return np.empty(0, dtype=np.uint64) if colored is None else np.sort(colored.pages(plan.space))


def _table_colors(plan: Plan) -> frozenset[int]:
    colored = plan.tables.colored if plan.tables is not None else None
    return frozenset() if colored is None else colored.colors or frozenset()


def _tables_of(domain: DomainPlan, plan: Plan) -> TablePromise | None:
    if plan.tables is None or domain.tables == "pool":
        return None
    on_chip = domain.tables == "on_chip"
    return TablePromise(
        frames=plan.tables.on_chip_pages() if on_chip else _table_frames(plan),
        marked=tuple(range(s.ipa, s.ipa + s.bytes) for s in domain.segments if s.tables_placed),
        on_chip=on_chip,
        cached=not on_chip or plan.tables.plan.on_chip_cached,
    )


def _own_attributes(domain: DomainPlan, plan: Plan) -> bool:
    configured = plan.system.domain(domain.name)
    return configured is not None and bool(incoherent(configured, plan.platform))


def _flows_of(plan: Plan) -> tuple[FlowTarget, ...]:
    flows = ways_of(plan.system.flows)
    bounds: dict[tuple[str, str], int | None] = {}
    for planned in plan.brokers:
        if planned.checked.schedulable:
            found = bounds_ns(planned.model, planned.rate)
            bounds |= {
                (way.name, way.to): bound for way, bound in zip(planned.model.ways, found, strict=True)
            }
    return tuple(
        FlowTarget(
            f.name,
            f.from_,
            f.to,
            f.port,
            f.size,
            f.period,
            f.deadline,
            bounds.get((f.name, f.to)),
            number_of(plan.system, f.from_) or 0,
        )
        for f in flows
    )


def _chains_of(plan: Plan) -> tuple[ChainTarget, ...]:
    planned = [chain for broker in plan.brokers for chain in broker.chains]
    return tuple(
        ChainTarget(
            one.chain.name,
            one.client,
            one.server,
            [f.name for f in plan.system.flows if f.from_ == one.client].index(one.chain.request),
            one.bound.total,
            one.chain.deadline,
        )
        for one in planned
    )


def _exchange(plan: Plan, part: BrokerPart) -> Exchange:
    ends = cids_of(part.system)
    frames = [
        segment.pages(plan.space)
        for domain in plan.domains
        if domain.name in ends
        for segment in domain.reached_segments
    ]
    broker = [
        segment.pages(plan.space)
        for domain in plan.domains
        if domain.name == part.name
        for segment in domain.segments
    ]
    return Exchange(
        part.name,
        limits()["broker_window"],
        np.sort(np.concatenate(frames)),
        np.sort(np.concatenate(broker)),
    )


def _domain(domain: DomainPlan, plan: Plan, event: CountedEvent | None, *, emulated: bool) -> DomainTarget:
    configured = plan.system.domain(domain.name)
    assert configured is not None
    budget = budget_in(plan.system, configured, event)
    wanted = plan.system.expect.get(domain.name)
    return DomainTarget(
        name=domain.name,
        cores=domain.cpus,
        realtime=domain.realtime,
        colors=tuple(sorted(domain.colors)) if domain.colors is not None else None,
        expected=wanted.state if wanted is not None else None,
        expects=wanted,
        budget=budget,
        event=event.counted_as(budget.counts) if event and budget else None,
        event_bytes=event.bytes if event and budget else None,
        cpu_ns=plan.system.enforced_cpu_time(configured),
        limited_by_mpam=configured.bandwidth.max is not None and bandwidth_by_mpam(plan.platform),
        raw_console=configured.console.raw,
        unconfined=tuple(device.name for device in unconfined(configured, plan.platform)),
        device_rates=tuple(
            replace(one, is_emulated=emulated) for one in rates_of(plan.system, configured, plan.platform)
        ),
    )


def _devices_of(domain: DomainPlan, plan: Plan) -> tuple[PromisedWindow, ...]:
    """The domain's pass-through devices; on GICv2 the virtual CPU interface, which every guest accesses
    directly; with message interrupts the page to which functions write them."""
    configured = plan.system.domain(domain.name)
    passable = plan.platform.passable()
    found = [
        PromisedWindow(window.at, window.bytes, name)
        for name in (configured.devices if configured else ())
        if name in passable
        for window in passable[name].windows
    ]
    gic = plan.platform.interrupt_controller
    assert gic is not None, "only boards that boot come here"
    if gic.type == "gicv2" and gic.virtual_cpu is not None:
        found.append(PromisedWindow(gic.virtual_cpu, 8 * _KIB, "virtual CPU interface"))
    if gic.its and configured and has_messages(configured, plan.platform, plan.system.shared_cores()):
        page = gic.its.at + limits()["its_frame_bytes"]
        found.append(PromisedWindow(page, PAGE_BYTES, "the ITS's page that takes messages"))
    return tuple(found)


def _hypervisor_devices(plan: Plan) -> tuple[PromisedWindow, ...]:
    platform = plan.platform
    gic = platform.interrupt_controller
    assert gic is not None, "only boards that boot come here"
    assert platform.uart is not None
    windows = [PromisedWindow(platform.uart.at, 4 * _KIB, "UART")]
    if gic.type == "gicv3":
        # The hypervisor searches the redistributors of all the chip's cores for those of each core.
        every = gic.redistributors_size or limits()["max_cores"] * 256 * _KIB
        frames = [(gic.distributor, 64 * _KIB, "distributor"), (gic.redistributors, every, "redistributors")]
    else:
        frames = [
            (gic.distributor, 4 * _KIB, "distributor"),
            (gic.cpu_interface, 8 * _KIB, "CPU interface"),
            (gic.hypervisor, 4 * _KIB, "hypervisor interface"),
        ]
    windows += [PromisedWindow(at, size, name) for at, size, name in frames if at is not None]
    if platform.dram is not None and platform.dram.utilization is not None:
        windows.append(
            PromisedWindow(platform.dram.utilization.at, 4 * _KIB, "counters of the memory controller")
        )
    if platform.ocm is not None:
        windows.append(
            PromisedWindow(platform.ocm.at, platform.ocm.free_bytes, "on-chip memory for samples and tables")
        )
    if platform.pci is not None:
        windows.append(PromisedWindow(platform.pci.at, platform.pci.used_bytes, "configuration space of PCI"))
    if platform.pci is not None and gic.its is not None:
        memory = pending_memory(platform.cores.count, gic.its)
        windows.append(PromisedWindow(gic.its.at, limits()["its_bytes"], "ITS"))
        windows.append(PromisedWindow(memory.at, memory.bytes, "memory of the redistributors"))
    if platform.mpam is not None:
        windows += [
            PromisedWindow(one.at, one.end - one.at, f"MPAM of {one.name}")
            for one in platform.mpam.components
        ]
    driven = platform.driven_iommu
    if driven is not None:
        windows.append(PromisedWindow(driven.at, driven.size, f"SMMU {driven.name}"))
    windows += _engine_windows(plan)
    for one in device_rates(plan.system, platform):
        if one.register is not None:
            windows.append(PromisedWindow(one.register.page, 4 * _KIB, f"regulator of {one.device}"))
    return tuple(windows)


def _engine_windows(plan: Plan) -> list[PromisedWindow]:
    """Registers of the engines that the hypervisor programs for brokers, and of the regulators in front of
    engines that copy."""
    found = []
    for part in parts_of(plan.system):
        engine, own = engine_of(part.system, plan.platform), own_engine_of(part.system, plan.platform)
        if engine is not None:
            found.append(PromisedWindow(engine.at, 4 * _KIB, f"{engine.name}, first channel"))
        for copier in (engine, own):
            if copier is not None and copier.qos is not None:
                found.append(PromisedWindow(copier.qos, 4 * _KIB, f"regulator of {copier.name}"))
    return found


def _quoted(path: Path | None) -> str:
    return str(path).replace(",", ",,")
