# SPDX-License-Identifier: Apache-2.0
"""Addresses of code, stack and data of each component, decided before linking, so that users need not know
any address.

Code is one region of the MPU (or pages), after the kernel. Stacks are adjacent at the start of the
components' memory, largest first: below each is another component's stack, or nothing, so that an overflow is
a violation. Data follow. Nothing is placed at addresses that a system file gives to memory (`memory[].at`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bulkhead.config.components import ComponentSystem
from bulkhead.config.microkernel import Microkernel
from bulkhead.mxu import native

# Stacks of the components that no file names: the memory manager and the scheduler.
SYSTEM_COMPONENTS = ("manager", "scheduler")

ADDRESS_BITS = 32
# Code has a size of whole KiB, and so have the eighths of its region: the emulator translates code again at
# each execution if only a part of one of its pages of 1 KiB is executable.
LEAST_CODE_BITS = 10
LEAST_PARTED = 4096
PAGE_BITS, SECTION_BITS = 12, 20
LEAST_STACK = 256


@dataclass(frozen=True)
class Sizes:
    """A component's needs, before rounding. `code` is None if nothing is linked."""

    code: int | None
    data: int


@dataclass(frozen=True)
class Span:
    at: int
    size: int

    @property
    def end(self) -> int:
        return self.at + self.size


@dataclass(frozen=True)
class MxuPlaces:
    """Addresses of one component."""

    stack: Span
    data: Span
    code: Span | None


@dataclass(frozen=True)
class MxuLayout:
    places: tuple[MxuPlaces, ...]  # by number: memory manager, scheduler, the system's
    no_room: tuple[tuple[int, str], ...] = ()  # number of a component, and which part of it has no place


@dataclass(frozen=True)
class _Fit:
    """A size that the hardware can protect, its alignment, and a block whose bounds it must not cross."""

    size: int
    align: int
    block: int


def layout_of(
    system: ComponentSystem, kernel: Microkernel, mmu: bool, sizes: Sequence[Sizes | None] = ()
) -> MxuLayout:
    """`sizes`: by number, for those that are known; the others are those of the file or the platform."""
    count = len(SYSTEM_COMPONENTS) + len(system.components)
    known = [*sizes, *[None] * (count - len(sizes))]
    fit = _fit_pages if mmu else _fit_region
    taken = [
        Span(one.at, _up(one.size, kernel.frame))
        for component in system.components
        for one in component.memory
        if one.at is not None
    ]
    no_room: list[tuple[int, str]] = []

    def place(number: int, what: str, area: Span, wanted: _Fit) -> Span:
        found = _free(area, wanted, taken)
        if found is None:
            no_room.append((number, what))
            return Span(area.at, wanted.size)
        taken.append(found)
        return found

    frames = Span(kernel.frames.at, kernel.frames.size)
    code_area = Span(kernel.code.at, kernel.code.size)
    stacks = [_stack_fit(_stack_bytes(system, kernel, n), kernel.frame, mmu) for n in range(count)]
    stack_at = {
        number: place(number, "stack", frames, stacks[number])
        for number in sorted(range(count), key=lambda n: -stacks[n].size)
    }
    data_at = [
        place(n, "data", frames, fit(_up(_data_bytes(system, kernel, n, known[n]), kernel.frame)))
        for n in range(count)
    ]
    code_at = []
    for number in range(count):
        one = known[number]
        code = one.code if one is not None else None
        code_at.append(None if code is None else place(number, "code", code_area, _code_fit(code, mmu)))
    places = tuple(MxuPlaces(stack_at[number], data_at[number], code_at[number]) for number in range(count))
    return MxuLayout(places, tuple(no_room))


def _stack_bytes(system: ComponentSystem, kernel: Microkernel, number: int) -> int:
    own = number - len(SYSTEM_COMPONENTS)
    asked = system.components[own].stack if own >= 0 else None
    return kernel.stack if asked is None else asked


def _data_bytes(system: ComponentSystem, kernel: Microkernel, number: int, known: Sizes | None) -> int:
    own = number - len(SYSTEM_COMPONENTS)
    asked = system.components[own].data if own >= 0 else kernel.manager if number == 0 else None
    if asked is not None:
        return asked
    return kernel.data if known is None else max(1, known.data)


def _up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def _stack_fit(nbytes: int, frame: int, mmu: bool) -> _Fit:
    """On an MPU the size is a power of two, so that stacks leave no gaps."""
    least = max(_up(nbytes, frame), LEAST_STACK)
    size = least if mmu else 1 << (least - 1).bit_length()
    return _Fit(size, frame if mmu else size, 1 << ADDRESS_BITS)


def _fit_region(nbytes: int) -> _Fit:
    return _Fit(*native.mxu().fit(nbytes))


def _fit_pages(nbytes: int) -> _Fit:
    return _Fit(_up(nbytes, 1 << PAGE_BITS), 1 << PAGE_BITS, 1 << ADDRESS_BITS)


def _code_fit(nbytes: int, mmu: bool) -> _Fit:
    """On an MMU the kernel has one table for a component's code: more code takes whole sections."""
    if not mmu:
        power = 1 << max(LEAST_CODE_BITS, (nbytes - 1).bit_length())
        return _fit_region(nbytes) if nbytes > LEAST_PARTED else _Fit(power, power, power)
    size, section = _up(nbytes, 1 << PAGE_BITS), 1 << SECTION_BITS
    return _Fit(size, section, 1 << ADDRESS_BITS) if size >= section else _Fit(size, 1 << PAGE_BITS, section)


def _free(area: Span, wanted: _Fit, taken: Sequence[Span]) -> Span | None:
    """The first free place."""
    at = _up(area.at, wanted.align)
    while at + wanted.size <= area.end:
        last = at + wanted.size - 1
        if at // wanted.block != last // wanted.block:
            at = _up(at + 1, wanted.block)
            continue
        other = next((one for one in taken if one.at <= last and at < one.end), None)
        if other is None:
            return Span(at, wanted.size)
        at = _up(other.end, wanted.align)
    return None
