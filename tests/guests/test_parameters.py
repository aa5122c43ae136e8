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
        for source in sources_of(program):
            name = str(source.relative_to(repository().resolve()))
            found |= read_in(source.read_text(), name) if name not in PASSES_ON else set()
        assert found == set(parameters_of(program) or ()), program


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
