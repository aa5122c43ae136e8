# SPDX-License-Identifier: Apache-2.0
"""Guests on the bare emulator, without the hypervisor: their parameters are in their device tree.

The emulator's own device tree of the machine is used, with the node `/bulkhead` added, and passed as by the
builder. `BULKHEAD_QEMU` and `BULKHEAD_TARGET` name the emulator and the build tree of the target.
"""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

MACHINE = ["-M", "virt,gic-version=3", "-cpu", "cortex-a53", "-nographic", "-nic", "none"]
LONGEST_RUN_S = 60


@dataclass(frozen=True)
class Output:
    """The output of a guest until it powered off (`ended`) or had printed enough."""

    lines: list[str]
    ended: bool

    @property
    def reports(self) -> list[dict[str, Any]]:
        return [json.loads(line.removeprefix("report ")) for line in self.lines if line.startswith("report ")]


Run = Callable[..., Output]


@pytest.fixture(scope="session")
def emulator() -> str:
    return os.environ.get("BULKHEAD_QEMU", "qemu-system-aarch64")


@pytest.fixture(scope="session")
def guests() -> Path:
    repository = Path(__file__).parents[2]
    return Path(os.environ.get("BULKHEAD_TARGET", repository / "build" / "target")) / "guests"


def _device_tree(emulator: str, directory: Path, sizing: list[str], params: Mapping[str, int]) -> Path:
    blob = directory / "board.dtb"
    dump = [emulator, *MACHINE, *sizing, "-M", f"dumpdtb={blob}"]
    subprocess.run(dump, check=True, capture_output=True, timeout=LONGEST_RUN_S)
    decompile = ["dtc", "-q", "-I", "dtb", "-O", "dts", str(blob)]
    source = subprocess.run(decompile, check=True, capture_output=True, text=True).stdout
    numbers = "".join(f"{name} = /bits/ 64 <{value}>;\n" for name, value in params.items())
    source += f"/ {{ bulkhead {{ {numbers} }}; }};\n"
    tree = directory / "guest.dtb"
    compile_ = ["dtc", "-q", "-I", "dts", "-O", "dtb", "-o", str(tree)]
    subprocess.run(compile_, input=source, check=True, text=True)
    return tree


def _converse(command: list[str], enough: Callable[[list[str]], bool]) -> Output:
    lines: list[str] = []
    process = subprocess.Popen(
        ["timeout", str(LONGEST_RUN_S), *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            lines.append(line.rstrip("\r\n"))
            if enough(lines):
                return Output(lines, ended=False)
        return Output(lines, ended=process.wait() == 0)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


@pytest.fixture
def run(emulator: str, guests: Path, tmp_path: Path) -> Run:
    """`run(program, params, cpus=, ram=, reports=)`: until power-off, or until this number of reports was
    printed.

    The clock counts instructions: each takes `instruction_ns`, a power of two.
    """

    def run_guest(
        program: str,
        params: Mapping[str, int] | None = None,
        *,
        cpus: int = 1,
        ram: str = "16M",
        reports: int = 0,
        instruction_ns: int = 2,
    ) -> Output:
        sizing = ["-m", ram, "-smp", str(cpus)]
        tree = _device_tree(emulator, tmp_path, sizing, params or {})
        image = ["-kernel", str(guests / f"{program}.elf"), "-dtb", str(tree)]
        clock = ["-icount", f"shift={instruction_ns.bit_length() - 1},sleep=off"]
        command = [emulator, *MACHINE, *sizing, *clock, "-no-reboot", *image]

        def enough(lines: list[str]) -> bool:
            return reports > 0 and sum(line.startswith("report ") for line in lines) >= reports

        return _converse(command, enough)

    return run_guest
