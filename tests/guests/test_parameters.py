# SPDX-License-Identifier: Apache-2.0
"""The table of parameters says what the programs' sources read: each name in it is read, and no other."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

from bulkhead.config.program_parameters import (
    ALL_WORKLOADS,
    OF_WORKLOADS,
    guest_programs,
    is_read,
    nearest_parameter,
    parameters_of,
    program_of,
    workloads,
)
from bulkhead.env.native import ensure_built, known_targets
from bulkhead.env.paths import build_dir, repository

CALL = re.compile(r"\bparam\(([^,;]*),")
FLOW_CALL = re.compile(r"\bflow_param\(([^;]*?)\)")
ADDED = re.compile(r"(in|out)\*_|flows_|send_|receive_port|memory_pa|event$")  # by the tool
NUMBERED = re.compile(r"^(in|out)\d+_")
# They pass on the name that their caller gives.
PASSES_ON = ("guests/runtime/params.c", "guests/runtime/flow_params.c", "workloads/hosts/guest.c")


@cache
def tree() -> Path:
    known_targets("target", [])  # configures the build tree
    return build_dir() / "target"


def ninja(*arguments: str) -> list[str]:
    done = subprocess.run(["ninja", "-C", tree(), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def built_programs() -> set[str]:
    """Names of the programs that the build makes in guests/."""
    outputs = (line.partition(":")[0] for line in ninja("-t", "targets", "all"))
    return {Path(one).stem for one in outputs if re.fullmatch(r"guests/\w+\.elf", one)}


def sources_of(program: str) -> list[Path]:
    """Sources of the repository that are compiled into a program."""
    inputs = ((tree() / one).resolve() for one in ninja("-t", "inputs", f"guests/{program}.elf"))
    below = repository().resolve()
    return [one for one in inputs if one.suffix == ".c" and one.is_relative_to(below)]


def definitions_of(program: str) -> set[str]:
    """Names that the preprocessor has while the sources of a program's own are compiled."""
    own = f"guests/CMakeFiles/{program}.elf.dir/"
    commands = (line for line in ninja("-t", "commands", f"guests/{program}.elf") if own in line)
    return {name for line in commands for name in re.findall(r"-D(\w+)", line)}


def compiled(text: str, defined: set[str]) -> str:
    """A source without what `#ifdef` and its `#else` leave out. What other conditions leave out stays."""
    kept = []
    inside: list[tuple[bool, bool]] = []  # whether the condition is known, and whether it holds here
    for line in text.splitlines():
        word = (line.split() or [""])[0]
        if word.startswith("#if"):
            known = word == "#ifdef"
            inside.append((known, not known or line.split()[1] in defined))
        elif word == "#else":
            known, holds = inside.pop()
            inside.append((known, not (known and holds)))
        elif word == "#endif":
            inside.pop()
        elif all(holds for _, holds in inside):
            kept.append(line)
    return "\n".join(kept)


def read_in(text: str, where: str) -> set[str]:
    """Names of the parameters that a source asks for, numbers of flows as `*`."""
    found = set()
    for (asked,) in (call.groups() for call in CALL.finditer(text)):
        names = re.findall(r'"(\w+)"', asked)
        assert names, f"{where}: param({asked}): its name is not in the source"
        found |= {NUMBERED.sub(r"\1*_", name) for name in names}
    for (asked,) in (call.groups() for call in FLOW_CALL.finditer(text)):
        names = re.findall(r'"(\w+)"', asked)
        assert len(names) == 2, f"{where}: flow_param({asked}): its name is not in the source"
        found.add("{}*_{}".format(*names))
    return found


def test_each_guest_reads_the_parameters_of_the_table() -> None:
    for program in guest_programs():
        found: set[str] = set()
        defined = definitions_of(program)
        for source in sources_of(program):
            name = str(source.relative_to(repository().resolve()))
            text = compiled(source.read_text(), defined)
            found |= read_in(text, name) if name not in PASSES_ON else set()
        assert found == set(parameters_of(program) or ()), program


def test_only_the_program_with_a_socket_reads_parameters_of_its_device() -> None:
    alone, listening = parameters_of("periodic") or (), parameters_of("listening") or ()
    assert set(listening) - set(alone) == {"pace_us", "flows_out", "out*_cid", "out*_port", "out*_bytes"}
    assert compiled("#ifdef A\none\n#else\ntwo\n#endif\nthree", {"A"}) == "one\nthree"
    assert compiled("#ifdef A\none\n#else\ntwo\n#endif\nthree", {"B"}) == "two\nthree"


def documented() -> dict[str, str]:
    """Rows of the table of programs in the reference, by program."""
    page = (repository() / "docs/reference/guests.md").read_text()
    table = page[page.index("## Programs") :]
    return dict(re.findall(r"^\| `(\w+)` (\|.*)$", table[: table.index("## Linux")], re.MULTILINE))


def test_the_reference_has_each_program_with_its_parameters() -> None:
    """A row may name another one whose parameters it has. Parameters that the tool adds need no name."""
    rows = documented()
    assert set(rows) == {*guest_programs()}
    for program, row in rows.items():
        others = [rows[name] for name in re.findall(r"(?:those|as) of `(\w+)`", row)]
        named = {name for one in (row, *others) for name in re.findall(r"`(\w+)`", one)}
        needed = {name for name in parameters_of(program) or () if not ADDED.match(name)}
        assert program == "broker" or needed <= named, (program, needed - named)


def test_the_table_has_all_programs() -> None:
    assert built_programs() == {*guest_programs(), *workloads(), ALL_WORKLOADS}


def test_each_workload_reads_the_parameters_of_the_table() -> None:
    ensure_built(["host"], ["workload"])
    program = build_dir() / "host" / "workloads" / "workload"
    listing = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    found: dict[str, list[str]] = {}
    for line in listing.splitlines():
        if not line.startswith(" "):
            own = found.setdefault(line.split()[0], [])
        else:
            own.append(line.split()[0])
    expected = {name: (parameters_of(name) or ())[len(OF_WORKLOADS) :] for name in workloads()}
    assert {name: tuple(own) for name, own in found.items()} == expected
    driver = (repository() / "workloads/driver.c").read_text()
    assert set(re.findall(r'\bhost_parameter\("(\w+)"', driver)) == set(OF_WORKLOADS)


def test_parameters_about_flows_have_any_number() -> None:
    known = parameters_of("traffic") or ()
    assert all(is_read(name, known) for name in ("packets", "out0_bytes", "out31_bytes", "in7_port"))
    assert not any(is_read(name, known) for name in ("packet", "out0_byte", "out07_bytes", "out_bytes"))
    assert nearest_parameter("out12_byte", known) == "out12_bytes"


def test_only_the_tools_programs_have_a_table() -> None:
    assert program_of("guests/hog.elf") == "hog"
    assert program_of("guests/sift.elf") == "sift"
    assert [program_of(one) for one in ("hog.elf", "guests/mine.elf", "guests/a/hog.elf")] == [None] * 3
