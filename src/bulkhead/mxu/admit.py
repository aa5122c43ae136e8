# SPDX-License-Identifier: Apache-2.0
"""Admission of a system of components (X2, X9): the allocations that the memory manager makes, in its order.

Allocations at fixed addresses come first, then those that need a free place. core/ decides each
(bindings/mxu/), so the results are the kernel's; this module makes the requests, and records which component
has what.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from bulkhead.config.components import ComponentSystem
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.mxu import native
from bulkhead.mxu.costs import Cost, region_cost, translation_cost
from bulkhead.mxu.hardware import KERNEL_BYTES, OWN_COMPONENTS, Checker, books_of, checker_of
from bulkhead.mxu.jobs import job_of
from bulkhead.mxu.layout import SYSTEM_COMPONENTS, MxuLayout, Sizes, layout_of
from bulkhead.mxu.model import Job, MxuAdmission, MxuResource, Served
from bulkhead.mxu.refusal import AskedResource, refused
from bulkhead.units import size_text

PLACED = native.SPECS["l2"] | native.SPECS["l3"] | native.SPECS["independent"]
LOCKED = native.SPECS["deterministic"] | native.SPECS["l1"]
OF_NODES = (native.OCM_BYTES, native.WAY_BYTES, native.ASIDS)


def admit(system: ComponentSystem, platform: Platform, sizes: Sequence[Sizes | None] = ()) -> MxuAdmission:
    """Admits a system that was cross-checked. A refusal is a finding; the remaining allocations are still
    admitted.

    `sizes`: those of components that are linked, by number.
    """
    checker = checker_of(system, platform)
    layout = layout_of(system, checker.kernel, checker.mmu, sizes)
    books = _Books(system, platform, checker, books_of(checker, len(system.components)))
    books.findings += [_no_room(number, what, checker) for number, what in layout.no_room]
    for asked in _asked(system, checker, layout) if not layout.no_room else ():
        books.allocate(asked)
    books.give_kernel()
    for asked in _with_room(system):
        books.allocate(asked)
    served = tuple(books.finished(one) for one in books.served)
    jobs, slots = _jobs(system, platform, books, served)
    return MxuAdmission(
        system,
        platform,
        checker,
        layout,
        served,
        jobs,
        slots,
        tuple(books.resources()),
        tuple(books.findings),
    )


def _no_room(number: int, what: str, checker: Checker) -> Finding:
    kernel = checker.kernel
    area = kernel.code if what == "code" else kernel.frames
    path: KeyPath = ("components", max(0, number - OWN_COMPONENTS))
    room = f"{size_text(area.size)} at {area.at:#x} for that of all components"
    cause = f"has no room for its {what}: the board has {room}"
    key = (*path, what) if what != "code" else (*path, "image")
    return Finding(key, "mxu-enomem", cause, "a smaller one, or fewer components")


@dataclass
class _Books:
    """The manager's records, with the names of the allocations in them."""

    system: ComponentSystem
    platform: Platform
    checker: Checker
    memory: native.NativeMemory
    served: list[Served] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)  # components for which a request was refused

    def allocate(self, asked: AskedResource) -> None:
        status, answer, number = self.memory.malloc(
            asked.number,
            bytes=asked.nbytes,
            spec=native.spec_flags(asked.spec),
            rights=native.RIGHTS[asked.rights],
            shared=asked.shared_id,
            address=asked.at,
        )
        if status != native.OK or number is None:
            others = tuple(self.resources())
            self.findings.append(refused(asked, status, answer, self.checker, self.served, others))
            self.refused.add(asked.component)
            return
        at, nbytes = self.memory.span(number)
        self.served.append(
            Served(
                component=asked.component,
                name=asked.name,
                asked=asked.nbytes,
                rights=asked.rights,
                shared_id=asked.shared_id,
                fixed=asked.at is not None,
                admitted=answer.mechanism,
                path=asked.path,
                spec=asked.spec,
                at=at,
                nbytes=nbytes,
                shared=asked.shared,
                mechanism=answer.mechanism,
                independence=answer.independence,
                ranges=self.memory.ranges(number),
                entries=answer.taken[native.LOCKED_ENTRIES],
            )
        )

    def give_kernel(self) -> None:
        """Frames for the kernel's data about each component except the memory manager."""
        frame = self.checker.kernel.frame
        for number in range(1, OWN_COMPONENTS + len(self.system.components)):
            given = self.memory.give(-(-KERNEL_BYTES // frame))
            if given and self.checker.kernel.tables:
                given = self.memory.give(self.checker.kernel.tables)
            if not given:
                path: KeyPath = ("components", max(0, number - OWN_COMPONENTS))
                cause = (
                    "has no frame for the kernel's data about it: memory at fixed addresses takes all frames"
                )
                self.findings.append(Finding(path, "mxu-enomem", cause))

    def finished(self, one: Served) -> Served:
        """The allocation with the place of its component's table nodes, which is the same for all of them,
        and the cost."""
        flags = native.spec_flags(one.spec)
        if self.checker.mmu and flags & PLACED and not flags & LOCKED:
            one = replace(one, mechanism=self.memory.nodes_taken(self.number_of(one.component)).mechanism)
        return replace(one, cost=self._cost(one))

    def _cost(self, one: Served) -> Cost:
        if self.checker.mmu:
            return translation_cost(self.platform, one.mechanism)
        number = self.number_of(one.component)
        slots = self.memory.dynamic_slots(number)
        dynamic = native.mxu().Dynamic(slots, self.checker.policy, 0)
        touch = max(1, self.memory.needed_at_once(number))
        return region_cost(self.platform, one.mechanism, native.mxu().instruction_misses(touch, dynamic))

    def number_of(self, component: str) -> int:
        names = [*SYSTEM_COMPONENTS, *(one.name for one in self.system.components)]
        return names.index(component)

    def resources(self) -> Iterator[MxuResource]:
        """Resources that all components share. The regions of an MPU belong to each component."""
        names = [*SYSTEM_COMPONENTS, *(one.name for one in self.system.components)]
        for number in (native.LOCKED_ENTRIES, *OF_NODES) if self.checker.mmu else ():
            if number == native.LOCKED_ENTRIES:
                holders = [(f"{one.component}.{one.name}", one.entries) for one in self.served]
            else:
                holders = [(name, self.memory.nodes_taken(i).taken[number]) for i, name in enumerate(names)]
            held = tuple((name, amount) for name, amount in holders if amount)
            limit = self.checker.limits[number]
            if limit or held:
                name = native.mxu().resource_name(number)
                yield MxuResource(number, name, limit, self.memory.left(number), held)
        frame = self.checker.kernel.frame
        held = tuple((name, amount) for name in names if (amount := self._memory_of(name)))
        free = self.memory.free_frames() * frame
        yield MxuResource(native.FRAMES, "memory", self.checker.kernel.frames.size, free, held)

    def _memory_of(self, component: str) -> int:
        """Shared memory counts for the first component that has it."""
        first = {one.shared: one.component for one in reversed(self.served) if one.shared is not None}
        own = [one for one in self.served if one.component == component]
        return sum(one.nbytes for one in own if one.shared is None or first[one.shared] == component)


def _asked(system: ComponentSystem, checker: Checker, layout: MxuLayout) -> Iterator[AskedResource]:
    """Allocations at fixed addresses: stack and data of each component, then those with `at`."""
    stack_spec = () if checker.mmu else ("deterministic",)  # an exception stores its frame there (X4)
    specs = [
        *((name, ()) for name in SYSTEM_COMPONENTS),
        *((one.name, one.spec) for one in system.components),
    ]
    for number, (name, spec) in enumerate(specs):
        path: KeyPath = ("components", number - OWN_COMPONENTS) if number >= OWN_COMPONENTS else ()
        places = layout.places[number]
        for key, place, asked in (("stack", places.stack, stack_spec), ("data", places.data, spec)):
            yield AskedResource(
                number, name, key, (*path, key) if path else (), place.size, asked, at=place.at
            )
    for index, component in enumerate(system.components):
        for i, one in enumerate(component.memory):
            if one.at is not None:
                place_path: KeyPath = ("components", index, "memory", i)
                number = index + OWN_COMPONENTS
                yield AskedResource(
                    number, component.name, one.name, place_path, one.size, one.spec, one.rights, at=one.at
                )


def _with_room(system: ComponentSystem) -> Iterator[AskedResource]:
    names = sorted({one.shared for component in system.components for one in component.memory if one.shared})
    for index, component in enumerate(system.components):
        number = index + OWN_COMPONENTS
        for i, one in enumerate(component.memory):
            if one.at is None:
                path: KeyPath = ("components", index, "memory", i)
                shared_id = names.index(one.shared) + 1 if one.shared is not None else 0
                yield AskedResource(
                    number,
                    component.name,
                    one.name,
                    path,
                    one.size,
                    one.spec,
                    one.rights,
                    one.shared,
                    shared_id,
                )
        if component.heap is not None:
            path = ("components", index, "heap")
            spec = component.spec if component.heap_spec is None else component.heap_spec
            yield AskedResource(number, component.name, "heap", path, component.heap, spec)


def _jobs(
    system: ComponentSystem, platform: Platform, books: _Books, served: tuple[Served, ...]
) -> tuple[tuple[Job, ...], dict[str, int]]:
    jobs, slots = [], {}
    for index, component in enumerate(system.components):
        number = index + OWN_COMPONENTS
        at_once = 0
        if not books.checker.mmu:
            slots[component.name] = books.memory.dynamic_slots(number)
            at_once = books.memory.needed_at_once(number)
        if component.period is None or component.name in books.refused:
            continue
        own = [one for one in served if one.component == component.name]
        job, findings = job_of(
            index, component, platform, books.checker, own, slots.get(component.name, 0), at_once
        )
        jobs.append(job)
        books.findings += findings
    return tuple(jobs), slots
