# SPDX-License-Identifier: Apache-2.0
"""Builds bare-metal programs from a few macros, runs them in the emulator under a plugin, gives the results.

Used by the tests of this directory only. Memory of the programs: code, tables and the start word belong to
the hypervisor, in pages of color 7 (of 8); each test defines the owners of other memory."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RAM_PA = 0x40000000
RAM_BYTES = 128 << 20
PAGE_BYTES = 4096
START_WORD_PA = 0x4020F000
UART_PA = 0x09000000
NAMES = ("nobody", "hypervisor", "alpha", "beta")
KIB = 1024
TIMEOUT_S = 60

Result = dict[str, Any]


def emulator() -> str:
    return os.environ.get("BULKHEAD_QEMU", "qemu-system-aarch64")


def plugin(name: str) -> Path:
    build = Path(os.environ.get("BULKHEAD_BUILD", ROOT / "build" / "host"))
    return build / "observe" / f"lib{name}.so"


@dataclass(frozen=True)
class Caches:
    """Cache shapes: (bytes, ways). The LLC's 32 KiB ways give eight colors."""

    l1: tuple[int, int] = (32 * KIB, 4)
    llc: tuple[int, int] = (1024 * KIB, 16)
    replacement: str = "lru"


COLORED = Caches(l1=(4 * KIB, 4), llc=(128 * KIB, 4))


@dataclass(frozen=True)
class Owned:
    """[pa, pa + size) belongs to this owner."""

    owner: str
    pa: int
    size: int


@dataclass(frozen=True)
class Setup:
    """A program with its configuration."""

    body: str
    owned: tuple[Owned, ...] = ()
    caches: Caches = Caches()
    cores: int = 1
    cpu: str = "cortex-a53"
    start: bool = True
    config: dict[str, object] = field(default_factory=dict)  # merged into the observer's configuration


def build(directory: Path, body: str) -> Path:
    """The program as an ELF file."""
    (directory / "body.S").write_text(body)
    program = directory / "program.elf"
    source = HERE / "bare_metal.S"
    compiler = ["aarch64-linux-gnu-gcc", "-nostdlib", "-static", "-no-pie", "-march=armv8.1-a"]
    options = [f"-Wa,-I{directory}", "-Wl,--build-id=none", "-T", str(HERE / "bare_metal.ld")]
    subprocess.run([*compiler, *options, str(source), "-o", str(program)], check=True)
    return program


def owners_map(owned: tuple[Owned, ...]) -> bytes:
    """All memory is the hypervisor's except these ranges."""
    owners = bytearray(b"\x01" * (RAM_BYTES // PAGE_BYTES))
    for part in owned:
        first = (part.pa - RAM_PA) // PAGE_BYTES
        pages = -(-part.size // PAGE_BYTES)
        owners[first : first + pages] = bytes([NAMES.index(part.owner)]) * pages
    return bytes(owners)


def configure(directory: Path, setup: Setup) -> Path:
    """The observer's configuration file."""

    def shape(cache: tuple[int, int]) -> dict[str, object]:
        return {"size": cache[0], "ways": cache[1], "line": 64, "replacement": setup.caches.replacement}

    (directory / "owners.bin").write_bytes(owners_map(setup.owned))
    config: dict[str, object] = {
        "ram": [{"pa": RAM_PA, "bytes": RAM_BYTES}],
        "owners": "owners.bin",
        "names": list(NAMES),
        "cores": setup.cores,
        "l1d": shape(setup.caches.l1),
        "l1i": shape(setup.caches.l1),
        "llc": shape(setup.caches.llc),
        "seed": 1,
    }
    if setup.start:
        config["start"] = {"pa": START_WORD_PA, "value": 1}
    config |= setup.config
    path = directory / "observe.json"
    path.write_text(json.dumps(config))
    return path


def command(setup: Setup, program: Path, plugin_argument: str, *more: str) -> list[str]:
    return [
        emulator(),
        *("-machine", "virt,virtualization=on,gic-version=3", "-cpu", setup.cpu, "-smp", str(setup.cores)),
        *("-m", str(RAM_BYTES >> 20), "-display", "none", "-nic", "none", "-serial", "none"),
        *("-kernel", str(program), "-plugin", plugin_argument),
        *more,
    ]


def observer_command(directory: Path, setup: Setup, *more: str) -> list[str]:
    program = build(directory, setup.body)
    config = configure(directory, setup)
    argument = f"{plugin('observe')},config={config},out={directory / 'out.json'}"
    return command(setup, program, argument, "-accel", "tcg,thread=multi", *more)


def run(command_line: list[str]) -> subprocess.CompletedProcess[str]:
    """An emulator that ends by itself."""
    return subprocess.run(command_line, timeout=TIMEOUT_S, capture_output=True, text=True, check=False)


def observe(directory: Path, setup: Setup) -> Result:
    """Runs to the end of the program; returns the observer's result."""
    done = run(observer_command(directory, setup))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    result: Result = json.loads((directory / "out.json").read_text())
    return result


@contextmanager
def running(command_line: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """An emulator that does not end by itself; killed if the test left it running."""
    with subprocess.Popen(command_line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)


def quit_by_qmp(path: Path) -> None:
    """Over a QMP socket in the file system."""
    with socket.socket(socket.AF_UNIX) as channel:
        channel.connect(str(path))
        stream = channel.makefile("rw")
        stream.readline()
        for name in ("qmp_capabilities", "quit"):
            stream.write(json.dumps({"execute": name}) + "\n")
            stream.flush()
            stream.readline()


def wait_for(path: Path, *, gone: bool = False) -> None:
    """Waits until the file exists, or no longer exists."""
    deadline = time.monotonic() + TIMEOUT_S
    while path.exists() == gone:
        assert time.monotonic() < deadline, f"{path} {'stays' if gone else 'does not appear'}"
        time.sleep(0.02)
