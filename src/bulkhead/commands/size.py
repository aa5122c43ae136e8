# SPDX-License-Identifier: Apache-2.0
"""`bulkhead size`: size of the hypervisor as linked (text, rodata, data, bss) and as written (SLOC), and the
memory of flows: the broker's program, and EL2's bytes for each flow and each domain with a socket (F2).

All figures come from the build: the sections of the linked program, the structures in its debug information,
and the sources and headers of its object files. This module keeps no figure and no list of files.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.table import Table

from bulkhead.commands.output import print_json
from bulkhead.env import native
from bulkhead.env.paths import build_dir, repository
from bulkhead.envelope import result_object
from bulkhead.report.fitting import FittingConsole

if TYPE_CHECKING:
    from bulkhead.results.size import FlowSizesResult, SizeResult

# Directories whose objects make the hypervisor; generated headers are not counted as written.
WRITTEN = ("core", "hypervisor")
# What is kept of flows, by structure: EL2's door and devices and the statistics page; the broker's exchange.
FLOW_STRUCTURES = {
    "of each flow": ("door_flow", "status_flow"),
    "of each domain with a socket": ("socket_device",),
}
BROKER_STRUCTURES = {
    "of each flow": ("flow_path",),
    "of each domain with a socket": ("vsock_device",),
    "of all": ("flow_exchange",),
}
BROKER = Path("guests") / "broker.elf"
# Text of the broker that is counted apart (guest.ld): what runs at its start and for its messages, and the
# test of flows that managers add, which runs only when nothing else is to be done.
START_SECTION = ".text_start"
ADMISSION_SECTION = ".text_admission"


def section_sizes(elf: Path) -> dict[str, int]:
    """Bytes of a linked program by kind, from the flags of its sections (names do not matter)."""
    from elftools.elf.constants import SH_FLAGS
    from elftools.elf.elffile import ELFFile

    sizes = Counter({"text": 0, "rodata": 0, "data": 0, "bss": 0})
    with elf.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            flags = section["sh_flags"]
            if not flags & SH_FLAGS.SHF_ALLOC:
                continue
            if section["sh_type"] == "SHT_NOBITS":
                kind = "bss"
            elif flags & SH_FLAGS.SHF_EXECINSTR:
                kind = "text"
            else:
                kind = "data" if flags & SH_FLAGS.SHF_WRITE else "rodata"
            sizes[kind] += section["sh_size"]
    return dict(sizes)


def programs_of(tree: Path) -> dict[str, dict[str, dict[str, int]]]:
    """Sizes of each board's programs, as far as the build tree has them."""
    from bulkhead.package.program import FILES

    programs: dict[str, dict[str, dict[str, int]]] = {}
    for program, file in FILES.items():
        for elf in sorted(tree.glob(f"hypervisor/*/{file}")):
            programs.setdefault(elf.parent.name, {})[program] = section_sizes(elf)
    return programs


def structure_sizes(elf: Path, names: set[str]) -> dict[str, int]:
    """Bytes of structures of a linked program, by name, as its debug information has them."""
    from elftools.elf.elffile import ELFFile

    sizes: dict[str, int] = {}
    with elf.open("rb") as file:
        for unit in ELFFile(file).get_dwarf_info().iter_CUs():
            for entry in unit.iter_DIEs():
                name = entry.attributes.get("DW_AT_name")
                nbytes = entry.attributes.get("DW_AT_byte_size")
                if entry.tag == "DW_TAG_structure_type" and name is not None and nbytes is not None:
                    sizes[name.value.decode()] = nbytes.value
    return {name: sizes[name] for name in names}


def flow_sizes(tree: Path) -> FlowSizesResult:
    """Memory of flows: sections of the broker, and bytes at EL2 and in the broker for each kind of object."""
    from bulkhead.package.program import FILES

    hypervisor = next(iter(sorted(tree.glob(f"hypervisor/*/{FILES['full']}"))))
    return {
        "broker": _broker_sizes(tree / BROKER),
        "bytes_at_el2": _summed(hypervisor, FLOW_STRUCTURES),
        "bytes_in_broker": _summed(tree / BROKER, BROKER_STRUCTURES),
    }


def _broker_sizes(elf: Path) -> dict[str, int]:
    """Sections of the broker's program. Text that does not compete for the cache with the handling of packets
    is counted separately."""
    from elftools.elf.elffile import ELFFile

    sizes = section_sizes(elf)
    with elf.open("rb") as file:
        sections = Counter({section.name: section["sh_size"] for section in ELFFile(file).iter_sections()})
    admission = sections[ADMISSION_SECTION]
    return {
        "text after the start": sizes["text"] - sections[START_SECTION] - admission,
        "text for admission tests": admission,
        **sizes,
    }


def _summed(elf: Path, structures: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    sizes = structure_sizes(elf, {name for names in structures.values() for name in names})
    return {what: sum(sizes[name] for name in names) for what, names in structures.items()}


def compiled_sources(tree: Path) -> list[Path]:
    """Sources and headers of the checkout that the hypervisor's objects depend on, as Ninja recorded them."""
    commands = json.loads((tree / "compile_commands.json").read_text())
    sources = {Path(command["file"]) for command in commands}
    shown = subprocess.run(["ninja", "-C", tree, "-t", "deps"], capture_output=True, text=True, check=True)
    recorded = (line.strip() for line in shown.stdout.splitlines() if line.startswith("    "))
    sources |= {(tree / name).resolve() for name in recorded}
    roots = tuple(repository() / name for name in WRITTEN)
    return sorted(file for file in sources if any(file.is_relative_to(root) for root in roots))


def source_lines(files: list[Path]) -> dict[str, int]:
    """SLOC (no blanks, no comments) by the directory two levels down, e.g. `hypervisor/arch`."""
    # Loaded only here: it takes longer than most commands do.
    from pygount import SourceAnalysis

    lines: Counter[str] = Counter()
    for file in files:
        inside = file.relative_to(repository())
        group = str(Path(*inside.parts[:2])) if len(inside.parts) > 2 else inside.parts[0]
        lines[group] += SourceAnalysis.from_file(str(file), "bulkhead").code_count
    return dict(sorted(lines.items()))


def size(
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object instead of text."),
) -> None:
    """Show the size of the hypervisor: sections of its program, and lines of its sources."""
    repository("`size`")
    native.ensure_built(["target"])
    tree = build_dir() / "target"
    programs, flows = programs_of(tree), flow_sizes(tree)
    lines = source_lines(compiled_sources(tree))
    total = sum(lines.values())
    if as_json:
        result: SizeResult = {
            **result_object("size", verdict="ok"),
            "programs": programs,
            "flows": flows,
            "sloc": {**lines, "total": total},
        }
        print_json(result)
        return
    console = FittingConsole()
    table = Table(
        "board", "program", "text", "rodata", "text+rodata", "data", "bss", title="Bytes, as linked"
    )
    largest: dict[str, int] = {}
    for board, of_board in programs.items():
        for program, sizes in of_board.items():
            code = sizes["text"] + sizes["rodata"]
            columns = (sizes["text"], sizes["rodata"], code, sizes["data"], sizes["bss"])
            table.add_row(board, program, *(f"{value:,}" for value in columns))
            largest[program] = max(sizes["text"], largest.get(program, 0))
    console.print(table)
    table = Table("directory", "SLOC", title="What runs at EL2, as written")
    for name, count in lines.items():
        table.add_row(name, f"{count:,}")
    table.add_row("total", f"{total:,}", end_section=True)
    console.print(table)
    _show_flows(console, flows)
    texts = ", ".join(f"{program} {text / 1024:.1f} KiB" for program, text in largest.items())
    console.print(f"text at most: {texts}; {total:,} SLOC at EL2")


def _show_flows(console: FittingConsole, flows: FlowSizesResult) -> None:
    table = Table("of flows", "bytes", title="What flows take")
    for kind, nbytes in flows["broker"].items():
        table.add_row(f"{kind} of the broker's program", f"{nbytes:,}")
    for what, nbytes in flows["bytes_at_el2"].items():
        table.add_row(f"{what}, at EL2", f"{nbytes:,}")
    for what, nbytes in flows["bytes_in_broker"].items():
        table.add_row(f"{what}, in the broker", f"{nbytes:,}")
    console.print(table)


def register(app: typer.Typer) -> None:
    app.command()(size)
