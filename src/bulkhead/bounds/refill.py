# SPDX-License-Identifier: Apache-2.0
"""The most cycles of a refill of a dynamic region, from the fault to the return, of a kernel as it is linked
(X8, T6).

The costliest path through the MemManage handler and its callees. Each instruction takes its cycle, each
access to cached memory reads a line from DRAM that no cache has and writes one back, each line of code is
read once, and all writes that can be in flight at the fault are served first. DRAM serves each line as slowly
as possible: another row of the bank is open. Nothing is assumed about the contents of caches.

The bound is one of the model that the platform file describes and the simulated machine executes
(docs/design/machine.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from bulkhead.bounds.longest import longest_path, loop_heads
from bulkhead.bounds.thumb import Block, Function, Instruction, disassembled, functions_of
from bulkhead.config.platform import Platform
from bulkhead.errors import InvalidInput
from bulkhead.machine.settings import PICOSECONDS_PER_S, Settings, settings_of

HANDLER = "memory_fault"  # microkernel/arch/armv7m/entry.S
REFILLS = ("mxu_regions_refill", "mxu_regions_refill_fetch")
WATCH = "is_livelock"  # for components that are not admitted
LEVELS = 4  # MXU_TRIE_LEVELS: how often the look-up's loop is executed
FRAME_BYTES = 32  # that an exception stores
PRIVATE_BUS = 0xE0000000  # and beyond: no memory

# Objects to which pointers on the path lead: type of the object, offset, type of the object that is pointed
# to (microkernel/arch/armv7m/include/arch_offsets.h, core/mxu_trie.h). An access through any other pointer is
# an error.
POINTERS = {
    ("kernel", 0): "thread",
    ("thread", 36): "component",
    ("trie", 256): "nodes",
    ("trie", 260): "ranges",
}
INNER = {("component", 256): "trie"}
ARGUMENTS = {"r0": "component", "r1": "trie"}  # of a refill; its regions are the component's first member
IN_KERNEL = {"kernel", "thread", "component", "trie", "stack"}  # in the kernel's own data
CALLER_SAVED = ("r0", "r1", "r2", "r3", "ip", "lr")


class NotBounded(InvalidInput):
    """The platform or the kernel has a property for which no bound is known."""


@dataclass(frozen=True)
class RefillBound:
    """Parts of the bound, in cycles unless stated otherwise."""

    instructions: int  # cycles of instructions, including waits for values and further words
    exception: int  # entry and return
    code_lines: int
    data_lines: int  # accesses to cached memory, each to a line of its own
    read: int  # of a line
    write_back: int  # of a line
    before: int  # lines in flight to memory at the fault
    refreshes: int
    refresh: int

    @property
    def cycles(self) -> int:
        lines = self.code_lines * self.read + self.data_lines * (self.read + self.write_back)
        return (
            self.instructions
            + self.exception
            + lines
            + self.before * self.write_back
            + self.refreshes * self.refresh
        )

    def rows(self) -> list[tuple[str, int]]:
        return [
            ("instructions, with waits for values and further words of an access", self.instructions),
            ("entry and return of the exception", self.exception),
            (f"{self.code_lines} lines of code of {self.read} cycles", self.code_lines * self.read),
            (f"{self.data_lines} lines of data of {self.read} cycles", self.data_lines * self.read),
            (
                f"{self.data_lines} lines that these push out, of {self.write_back} cycles",
                self.data_lines * self.write_back,
            ),
            (
                f"{self.before} lines on their way to memory before, of {self.write_back} cycles",
                self.before * self.write_back,
            ),
            (f"{self.refreshes} refreshes of {self.refresh} cycles", self.refreshes * self.refresh),
        ]


def refill_bound(platform: Platform, kernel: Path) -> RefillBound:
    """Raises NotBounded, NotSimulated, or the exceptions of bulkhead.bounds for code that it cannot
    follow."""
    settings = settings_of(platform)
    if platform.cores.count != 1 or platform.dma or settings["levels"] or "l1i" not in settings["cores"][0]:
        raise NotBounded(
            f"'{platform.name}': a bound can be computed only for a single core with caches "
            "and without other masters"
        )
    with kernel.open("rb") as file:
        code = _Code(ELFFile(file))
    names = functions_of(disassembled(kernel), [HANDLER, *REFILLS])
    if set(names) != {HANDLER, *REFILLS}:
        raise NotBounded(f"{kernel}: the program has no handler of MemManage faults")
    refills = [names[name].without_calls_of(WATCH) for name in REFILLS]
    memory = _Memory(settings)
    inside = _is_uncached(platform, code.kernel)
    pipeline, exceptions = platform.cores.pipeline, platform.cores.exceptions
    assert pipeline is not None and exceptions is not None
    words_per_cycle = pipeline.words_per_cycle or 1

    def costs(
        function: Function, given: dict[str, str], called: dict[str, tuple[int, int]]
    ) -> tuple[int, int]:
        """Cycles, and accesses to lines, of the path on which both together cost the most."""
        accesses = _accesses(function, given, code)

        def cycles_of(block: Block) -> float:
            waits = sum(one.is_load for at in block.code for one in accesses[at.at]) * pipeline.load_use
            words = sum(
                math.ceil(one.words / words_per_cycle) - 1 for at in block.code for one in accesses[at.at]
            )
            own = math.ceil(block.instructions * pipeline.cycles_per_instruction)
            return (
                own
                + waits
                + words
                + max((called[name][0] for name in block.calls if name in called), default=0)
            )

        def lines_of(block: Block) -> float:
            own = sum(one.lines(inside) for at in block.code for one in accesses[at.at])
            return own + max((called[name][1] for name in block.calls if name in called), default=0)

        bounds = dict.fromkeys(loop_heads(function), LEVELS)
        line = memory.read + memory.write_back
        both = longest_path(function, bounds, lambda block: cycles_of(block) + line * lines_of(block))
        most_lines = longest_path(function, bounds, lines_of)
        # On paths with fewer lines there may be more cycles: each part is the maximum over all paths.
        return max(longest_path(function, bounds, cycles_of), both - line * most_lines), most_lines

    called = {one.name: costs(one, ARGUMENTS, {}) for one in refills}
    instructions, accesses = costs(names[HANDLER], {}, called)
    frame_lines = FRAME_BYTES // memory.line_bytes + 1
    found = RefillBound(
        instructions=instructions,
        exception=exceptions.entry + exceptions.exit + 2 * math.ceil(8 / words_per_cycle),
        code_lines=_code_lines(names[HANDLER], memory) + max(_code_lines(one, memory) for one in refills),
        data_lines=accesses + 2 * frame_lines + 1,  # the frame twice, and the vector
        read=memory.read,
        write_back=memory.write_back,
        before=memory.before,
        refreshes=0,
        refresh=memory.refresh,
    )
    return memory.with_refreshes(found)


@dataclass(frozen=True)
class _Access:
    to: str  # type of the object; "code": a literal
    is_load: bool
    words: int

    def lines(self, kernel_is_uncached: bool) -> int:
        if self.to == "device" or (self.to in IN_KERNEL and kernel_is_uncached):
            return 0
        return 1 if self.words == 1 else 2


class _Code:
    """The kernel's text, for literals, and where its data are."""

    def __init__(self, elf: ELFFile) -> None:
        self._sections = [
            (section["sh_addr"], section.data()) for section in elf.iter_sections() if section["sh_flags"] & 4
        ]
        table = elf.get_section_by_name(".symtab")
        symbols = table.get_symbol_by_name("kernel") if isinstance(table, SymbolTableSection) else None
        if not symbols:
            raise NotBounded("the kernel's image has no symbols")
        self.kernel: int = symbols[0]["st_value"]

    def word(self, at: int) -> int:
        for first, data in self._sections:
            if first <= at < first + len(data):
                return int.from_bytes(data[at - first : at - first + 4], "little")
        raise NotBounded(f"{at:#x}: the literal is outside the code")


class _Memory:
    """Worst-case time of a line from and to DRAM, in cycles."""

    def __init__(self, settings: Settings) -> None:
        core, master, dram = settings["cores"][0], settings["masters"][0], settings["dram"]
        self._hz = core["frequency_hz"]
        self.line_bytes: int = core["l1d"]["line_bytes"]
        self.code_sets: int = core["l1i"]["size_bytes"] // core["l1i"]["ways"] // core["l1i"]["line_bytes"]
        self._clocks = dram["timings"]
        t = self._clocks
        self._requests = math.ceil(self.line_bytes / dram["shape"]["burst_bytes"])
        # Precharge, activation, and the data of the previous access; one clock until the next edge.
        row = t["rp"] + t["rcd"] + max(0, t["ras"] - t["rcd"] - t["burst"]) + t["turnaround"] + 1
        read = row + t["cl"] + t["burst"]
        write = row + t["cwl"] + t["burst"] + t["wr"]
        way = master["request_ps"] + master["answer_ps"]
        way += dram["request_latency_ps"] + dram["answer_latency_ps"]
        self.read = self._cycles(self._requests * read, way)
        self.write_back = self._cycles(self._requests * write, 0)
        self.refresh = self._cycles(t["rfc"] + t["rp"] + 1, 0) if t["refi"] else 0
        self.before: int = settings["writes_in_flight"] + dram["how"]["write_queue"] + core["stores"]

    def _cycles(self, clocks: int, ps: int) -> int:
        total_fs = clocks * self._clocks["period_fs"] + ps * 1000
        return int(-(-total_fs * self._hz // (PICOSECONDS_PER_S * 1000)))

    def with_refreshes(self, found: RefillBound) -> RefillBound:
        """With the most refreshes that can occur in the time, including the time of the refreshes
        themselves."""
        if not self._clocks["refi"]:
            return found
        apart = self._clocks["refi"] * self._clocks["period_fs"] * self._hz / (PICOSECONDS_PER_S * 1000)
        while (most := math.ceil(found.cycles / apart) + 1) > found.refreshes:
            found = RefillBound(**{**vars(found), "refreshes": most})
        return found


def _is_uncached(platform: Platform, address: int) -> bool:
    """Whether the kernel's data are in on-chip memory that costs no more than the instruction (DTCM)."""
    ocm = platform.ocm
    return (
        ocm is not None
        and ocm.at <= address < ocm.at + ocm.size
        and not ocm.cached
        and not (ocm.latency or 0)
    )


def _code_lines(function: Function, memory: _Memory) -> int:
    """Lines of all of its blocks, each in a set of its own: none evicts another."""
    lines = {
        at // memory.line_bytes
        for block in function.blocks.values()
        for one in block.code
        for at in (one.at, one.at + 3)
    }
    if len({line % memory.code_sets for line in lines}) != len(lines):
        raise NotBounded(f"{function.name}: two of its lines share a set of the instruction cache")
    return len(lines)


# --- Objects that accesses refer to ---

_LOADS = re.compile(r"^(ldr(b|h|sb|sh|d)?|ldm(ia|db)?|pop)(\.[nw])?$")
_STORES = re.compile(r"^(str(b|h|d)?|stm(ia|db)?|push)(\.[nw])?$")
_ADDRESS = re.compile(r"\[(?P<base>\w+)(, #(?P<offset>-?\d+))?(?P<index>, \w+.*)?\]")
_LITERAL = re.compile(r"\[pc, #-?\d+\]")
_MOVES = re.compile(r"^(mov|add|sub|orr)s?(\.[nw])?$")
_CHANGES_NOTHING = re.compile(r"^(cmp|cmn|tst|it\w*|b|b\w\w|cbz|cbnz|dsb|isb|nop|bx)(\.[nw])?$")

Types = dict[str, str]  # contents of registers; a register that is missing is no pointer, or may be any


def _accesses(function: Function, given: Types, code: _Code) -> dict[int, list[_Access]]:
    """The objects that each instruction accesses, by what registers point to on all paths to it."""
    entering: dict[int, Types] = {function.entry: dict(given)}
    work = [function.entry]
    while work:
        at = work.pop()
        types = dict(entering[at])
        for one in function.blocks[at].code:
            _step(one, types, code)
        for to in function.blocks[at].next & set(function.blocks):
            before = entering.get(to)
            after = types if before is None else {r: t for r, t in before.items() if types.get(r) == t}
            if before != after:
                entering[to] = dict(after)
                work.append(to)
    found: dict[int, list[_Access]] = {}
    for at, block in function.blocks.items():
        types = dict(entering.get(at, {}))
        for one in block.code:
            found[one.at] = list(_of(one, types))
            _step(one, types, code)
    return found


def _registers(operands: str) -> int:
    """Of a list in braces."""
    count = 0
    for part in operands.partition("{")[2].partition("}")[0].split(","):
        first, _, last = (text.strip() for text in part.partition("-"))
        count += int(last[1:]) - int(first[1:]) + 1 if last else 1
    return count


def _of(one: Instruction, types: Types) -> Iterator[_Access]:
    is_load = _LOADS.match(one.name) is not None
    if not is_load and not _STORES.match(one.name):
        return
    if "{" in one.operands:
        base = "sp" if one.name.startswith(("push", "pop")) else one.operands.partition(",")[0].strip("! ")
        words = _registers(one.operands)
        to = _type(base, types)
        yield _Access(to, is_load, words)
        return
    words = 2 if "rd" in one.name.split(".")[0] and one.name.startswith(("ldrd", "strd")) else 1
    if _LITERAL.search(one.operands):
        yield _Access("code", is_load, words)
        return
    address = _ADDRESS.search(one.operands)
    if address is None:
        raise NotBounded(f"{one.at:x}: {one.name} {one.operands}: the address cannot be determined")
    to = _type(address["base"], types)
    if not to:
        raise NotBounded(f"{one.at:x}: {one.name} {one.operands}: the target of the pointer is not known")
    yield _Access(to, is_load, words)


def _type(register: str, types: Types) -> str:
    return "stack" if register == "sp" else types.get(register, "")


def _set(types: Types, register: str, to: str) -> None:
    types.pop(register, None)
    if to:
        types[register] = to


def _step(one: Instruction, types: Types, code: _Code) -> None:
    """The contents of registers after an instruction."""
    operands = [part.strip() for part in one.operands.split(",")]
    if one.name.split(".")[0] in ("bl", "blx"):
        for register in CALLER_SAVED:
            _set(types, register, "")
        if any(name in one.operands for name in REFILLS):
            _set(types, "r0", "component")  # the slot, in its image
        return
    if _CHANGES_NOTHING.match(one.name) or _STORES.match(one.name):
        return
    if one.name.startswith("mrs"):
        _set(types, operands[0], "frame" if operands[1] == "PSP" else "")
        return
    if _LOADS.match(one.name) and "{" not in one.operands:
        _set(types, operands[0], _loaded(one, types, code))
        if one.name.startswith("ldrd"):
            _set(types, operands[1], "")
        return
    if _MOVES.match(one.name):
        sources = [kind for register in operands[1:] if (kind := _type(register.split()[0], types))]
        two = operands if len(operands) > 2 else [operands[0], *operands]
        constant = int(two[2][1:]) if two[2].startswith("#") else None
        to = sources[0] if len(sources) == 1 else ""
        if to and constant is not None:
            to = INNER.get((to, constant), to)
        _set(types, operands[0], to)
        return
    if "{" in one.operands:  # registers that are restored: the return follows
        return
    _set(types, operands[0], "")


def _loaded(one: Instruction, types: Types, code: _Code) -> str:
    if _LITERAL.search(one.operands):
        at = re.search(r"@ \((\w+)", one.operands)
        offset = re.search(r"#(-?\d+)", one.operands)
        assert offset is not None
        value = code.word(int(at[1], 16) if at else ((one.at + 4) & ~3) + int(offset[1]))
        return "kernel" if value == code.kernel else "device" if value >= PRIVATE_BUS else ""
    address = _ADDRESS.search(one.operands)
    if address is None or address["index"]:
        return ""
    return POINTERS.get((_type(address["base"], types), int(address["offset"] or 0)), "")
