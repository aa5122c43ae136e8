# SPDX-License-Identifier: Apache-2.0
"""Builds everything that a run needs from a plan: package, device trees, owners map, configuration of the
observer.

Called by `bulkhead build` and `bulkhead run`. Equal inputs give equal bytes. Writes only below the output
directory.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from bulkhead.admission.load import Loaded
from bulkhead.config.problem import KeyPath
from bulkhead.env import paths
from bulkhead.geometry import PAGE_BYTES, Frames
from bulkhead.package.bundle import bundle
from bulkhead.package.errors import Collector
from bulkhead.package.hypervisor import read_hypervisor
from bulkhead.package.images import Surroundings, find_program, load_domain
from bulkhead.package.memory import LoadedMemory, LoadRegion, regions_of, socket_pool_of
from bulkhead.package.owners import observe_config, owners_map
from bulkhead.package.program import FILES, FULL, Program, smallest_program
from bulkhead.planning.broker import broker_parameters, cids_of, parameters_of, windows_of
from bulkhead.planning.broker_parts import part_of, parts_of
from bulkhead.planning.budgets import CountedEvent, counted_event
from bulkhead.planning.model import DomainPlan, Hooks, Plan
from bulkhead.planning.plan import plan_memory
from bulkhead.schema import Layout, load_layout

_RAW_IMAGE = "system.img"


@dataclass(frozen=True)
class Build:
    """The files of a build, and its data for the runner and the evidence."""

    plan: Plan
    layout: Layout
    seed: int
    run_for_ns: int
    directory: Path
    elf: Path
    img: Path | None  # raw image; None if some images are only in the ELF file
    manifest: Path
    device_trees: dict[str, Path]  # by domain
    entries: dict[str, int]  # the address of each domain's first instruction
    owners: Path
    observe: Path
    program: Program  # the hypervisor variant of the board
    hypervisor_elf: Path
    status_pages: tuple[int, ...]  # physical addresses: status_system, then status_core of each core
    pool_pages: Frames  # physical address of each of the hypervisor's frames, in virtual order
    package_bytes: int


@dataclass(frozen=True)
class BuildOptions:
    """Options of a build that are not in the plan."""

    seed: int = 0
    run_for_ns: int = 0  # 0: no limit
    in_place: bool = True  # the ELF file loads images of uncolored domains directly to their memory
    target_dir: Path | None = None  # build tree of preset `target` [the checkout's]
    hosted: bool = False  # for the simulated machine: programs of `build/host/hosted`
    board: bool = False  # for the board itself, which has memory events and regulators; the emulator has none
    program: Program | None = None  # hypervisor variant [the smallest with all that the system needs]

    @property
    def emulated(self) -> bool:
        """For the emulator."""
        return not (self.hosted or self.board)


def build_system(
    loaded: Loaded, out_dir: Path, options: BuildOptions | None = None, hooks: Hooks | None = None
) -> Build:
    """Plans and builds a system that was loaded without problems. Raises PlanningError or PackageError.

    If the hook `miscolor` names no page, the page in which the domain starts is misplaced: the domain surely
    uses it, so the observer can see it.
    """
    assert loaded.system is not None, "callers stop at problems"
    assert loaded.platform is not None
    assert loaded.path is not None
    options = options or BuildOptions()
    hooks = hooks or Hooks()
    name = hooks.miscolor
    if name is not None and ":" not in name and loaded.system.domain(name) is not None:
        right = plan_memory(loaded.system, loaded.platform)
        page = _entry_page(right, name, surroundings(right, loaded.path.parent, options))
        hooks = replace(hooks, miscolor=f"{name}:{page}")
    plan = plan_memory(loaded.system, loaded.platform, hooks)
    return build_plan(plan, loaded.path.parent, out_dir, options)


def surroundings(plan: Plan, base: Path, options: BuildOptions) -> Surroundings:
    target_dir = options.target_dir or (
        paths.host_dir() / "hosted" if options.hosted else paths.build_dir() / "target"
    )
    system = plan.system
    around = Surroundings(
        plan.platform,
        base,
        target_dir,
        options.seed,
        system.name,
        shared_cores=system.shared_cores(),
        hosted=options.hosted,
    )
    physical = {domain.name: _physical(plan, domain.name) for domain in system.domains}
    if not system.flows:
        return replace(around, flow_params={name: found for name, found in physical.items() if found})
    cids = cids_of(system)
    windows = tuple(
        LoadRegion(region.at, region.size)
        for region in windows_of(plan.platform, load_layout().constant("broker_window"))
    )
    params = {
        domain.name: parameters_of(system, domain.name, cids) | physical[domain.name]
        for domain in system.domains
    }
    for part in parts_of(system):
        params[part.name] |= broker_parameters(part.system, plan.platform, emulated=options.emulated)
    pools = {domain.name: pool for domain in plan.domains if (pool := socket_pool_of(domain)) is not None}
    brokers = frozenset(part.name for part in parts_of(system))
    return replace(
        around, brokers=brokers, windows=windows, cids=cids, flow_params=params, socket_pools=pools
    )


def _physical(plan: Plan, name: str) -> dict[str, int]:
    """For a program that programs a device which nothing translates for: where its memory is."""
    domain = plan.system.domain(name)
    segments = next((one.segments for one in plan.domains if one.name == name), ())
    if domain is None or domain.dma != "trusted" or not segments or segments[0].colors is not None:
        return {}
    return {"memory_pa": segments[0].pa}


def event_of(plan: Plan, options: BuildOptions) -> CountedEvent | None:
    """The event that budgets count for this build; None: nothing is counted."""
    return counted_event(plan.platform, emulated=options.emulated)


def program_of(plan: Plan, options: BuildOptions) -> Program:
    """The hypervisor variant of the board that the plan boots with."""
    return options.program or (FULL if options.hosted else smallest_program(plan, event_of(plan, options)))


def hypervisor_file(plan: Plan, around: Surroundings, program: Program) -> Path:
    return around.target_dir / "hypervisor" / plan.platform.board / FILES[program]


def key_of(plan: Plan, domain: DomainPlan) -> KeyPath:
    """The domain's key in the system file."""
    part = part_of(plan.system, domain.name)
    return ("domains", domain.index) if part is None else part.key


def images_of(plan: Plan, domain: DomainPlan, around: Surroundings) -> LoadedMemory:
    """The domain's images, placed. Raises PackageError."""
    configured = plan.system.domain(domain.name)
    assert configured is not None
    return load_domain(configured, regions_of(domain), around)


def program_of_domain(build: Build, base: Path, options: BuildOptions, name: str) -> Path | None:
    """Path of the ELF file that the domain was built with; None: its image is no ELF file."""
    domain = build.plan.system.domain(name)
    if domain is None or domain.image.elf is None:
        return None
    return find_program(domain.image.elf, surroundings(build.plan, base, options))


def programs_of(build: Build, base: Path, options: BuildOptions) -> list[Path]:
    """Paths of the ELF files of all domains that have one, as they were built."""
    around = surroundings(build.plan, base, options)
    elves = [domain.image.elf for domain in build.plan.system.domains]
    return [find_program(elf, around) for elf in elves if elf is not None]


def _entry_page(plan: Plan, name: str, around: Surroundings) -> int:
    """Number of the page in which a domain starts, counted over its segments."""
    domain = next(domain for domain in plan.domains if domain.name == name)
    configured = plan.system.domain(name)
    assert configured is not None
    entry = load_domain(configured, regions_of(domain), around).entry_ipa
    page = 0
    for segment in domain.segments:
        if segment.ipa <= entry < segment.ipa + segment.bytes:
            return page + (entry - segment.ipa) // PAGE_BYTES
        page += segment.bytes // PAGE_BYTES
    raise AssertionError("images lie in the domain's memory")


def build_plan(plan: Plan, base: Path, out_dir: Path, options: BuildOptions | None = None) -> Build:
    """Builds `plan` into `out_dir`; paths of images are relative to `base`. Raises PackageError."""
    options = options or BuildOptions()
    layout = load_layout()
    around = surroundings(plan, base, options)
    event = event_of(plan, options)
    program = program_of(plan, options)
    hypervisor_elf = hypervisor_file(plan, around, program)

    errors = Collector()
    loaded: list[LoadedMemory] = []
    for domain in plan.domains:
        with errors.step(*key_of(plan, domain)):
            loaded.append(images_of(plan, domain, around))
    with errors.step("platform"):
        cores = plan.platform.cores.count
        hypervisor = read_hypervisor(hypervisor_elf, layout, cores, hosted=options.hosted)
    errors.check()

    package = bundle(
        plan,
        loaded,
        hypervisor,
        layout,
        run_for_ns=options.run_for_ns,
        in_place=options.in_place,
        event=event,
        emulated=options.emulated,
    )
    pool_pages = plan.pool.pages(plan.space)
    first = hypervisor.status_offset // layout.constant("page_bytes")
    status = tuple(int(pool_pages[first + n]) for n in range(1 + plan.platform.cores.count))

    out_dir.mkdir(parents=True, exist_ok=True)
    build = Build(
        plan=plan,
        layout=layout,
        seed=options.seed,
        run_for_ns=options.run_for_ns,
        directory=out_dir,
        elf=out_dir / "system.elf",
        img=None if package.in_place else out_dir / _RAW_IMAGE,
        manifest=out_dir / "manifest.bin",
        device_trees={domain.name: out_dir / f"{domain.name}.dtb" for domain in plan.domains},
        entries={domain.name: one.entry_ipa for domain, one in zip(plan.domains, loaded, strict=True)},
        owners=out_dir / "owners.bin",
        observe=out_dir / "observe.json",
        program=program,
        hypervisor_elf=hypervisor_elf,
        status_pages=status,
        pool_pages=pool_pages,
        package_bytes=len(package.flat),
    )
    build.elf.write_bytes(package.elf)
    build.manifest.write_bytes(package.manifest)
    if build.img is not None:
        build.img.write_bytes(package.flat)
    else:
        (out_dir / _RAW_IMAGE).unlink(missing_ok=True)  # an old image would boot another system
    for images, path in zip(loaded, build.device_trees.values(), strict=True):
        path.write_bytes(images.device_tree)
    build.owners.write_bytes(owners_map(plan).tobytes())
    start_pa = status[0] + layout.offset("status_system", "phase")
    observe = observe_config(plan, build.owners.name, start_pa=start_pa, seed=options.seed)
    build.observe.write_text(json.dumps(observe, indent=2) + "\n", encoding="utf-8")
    return build
