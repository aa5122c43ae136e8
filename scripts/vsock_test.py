# SPDX-License-Identifier: Apache-2.0
"""Linux's own test of sockets (tools/testing/vsock/vsock_test) between two Linux domains, along a flow with a
way back (F11).

    make sockets

Kernel and test are of one version, from Debian's backports: fetched to build/vsock-test on the first run (250
MB, which no other command needs). Both ends of the test communicate by TCP, which the domains do not have
between them: scripts/vsock/relay.c forwards it along a second flow. Prints a table; ends 1 unless every test
has passed. `--debian` (SOCKETS=--debian) takes the kernel that other tests run, with the test of the
backports.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table

from bulkhead.env import aptroot, store
from bulkhead.env.linux import linux_kernel
from bulkhead.env.progress import Update, progress
from bulkhead.package.images import module_initrd
from bulkhead.package.socket_driver import modules_of

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "vsock-test"
SUITES = ("bookworm", "bookworm-backports")
METAPACKAGE = "linux-image-arm64/bookworm-backports"
COMPILER = "aarch64-linux-gnu-gcc"
TESTS = ("vsock_test", "vsock_test_zerocopy", "timeout", "control", "util", "msg_zerocopy_common")
CLIENT, SERVER = 3, 4  # CIDs
TEST_PORT, CONTROL_PORT = 1234, 6000
TCP_PORT = 7000
SECONDS = 300  # of guest time
MIB = 1 << 20


def fetch_packages(update: Update) -> tuple[Path, Path]:
    """The kernel's directory and that of the test's source. Raises MissingTool, AptFailed."""
    kernel, source = WORK / "kernel", WORK / "source"
    if not (WORK / "complete").exists():
        shutil.rmtree(WORK, ignore_errors=True)
        apt = WORK / "apt"
        apt.mkdir(parents=True)
        root = aptroot.create(apt, SUITES, "arm64", like_machine=False, what="a current kernel")
        root.update_lists(update)
        (image,) = (one for one in root.dependencies(METAPACKAGE) if one.startswith("linux-image-"))
        store.unpack(root.download(image, update), kernel, update)
        for package in root.archives.glob("*.deb"):
            package.unlink()
        series = ".".join(image.removeprefix("linux-image-").split(".")[:2])
        store.unpack(root.download(f"linux-source-{series}", update), source, update)
        shutil.rmtree(apt)
        _extract_tests(source, update)
        (WORK / "complete").touch()
    return kernel, source


def _extract_tests(source: Path, update: Update) -> None:
    (archive,) = source.glob("usr/src/linux-source-*.tar.xz")
    update(0.9, f"unpack {archive.name}")
    with tarfile.open(archive) as opened:
        for member in opened:
            _, _, name = member.name.partition("/")
            if name.startswith(("tools/testing/vsock/", "tools/include/linux/")):
                opened.extract(member, source, filter="data")
    archive.unlink()


def compile_programs(source: Path) -> dict[str, bytes]:
    """Programs in the guests' /bin: arm64 programs without libraries."""
    (tests,) = source.glob("linux-source-*/tools/testing/vsock")
    include = tests.parents[1] / "include"
    files = [str(tests / f"{name}.c") for name in TESTS]
    ours = ROOT / "scripts" / "vsock" / "relay.c"
    for name, arguments in (("vsock_test", [f"-I{include}", "-w", *files]), ("relay", [str(ours)])):
        command = [COMPILER, "-O2", "-static", "-D_GNU_SOURCE", "-o", str(WORK / name), *arguments]
        subprocess.run(command, check=True, capture_output=True)
    return {f"/bin/{name}": (WORK / name).read_bytes() for name in ("vsock_test", "relay")}


def write_system(kernel: Path, initrd: Path) -> Path:
    """Two Linux domains, one flow for the test and one for its control connection, both with a way back."""

    def domain(name: str, core: int, *commands: str) -> dict[str, Any]:
        run = "; ".join(["ifconfig lo 127.0.0.1 up", *commands, "sleep 1", "poweroff -f"]).replace("&;", "&")
        cmdline = f'console=ttyAMA0 quiet cryptomgr.notests bulkhead_run="{run}"'
        image = {"kernel": str(kernel), "initrd": str(initrd), "cmdline": cmdline}
        return {"name": name, "cpus": [core], "image": image, "memory": [{"at": 1 << 30, "size": 512 * MIB}]}

    def flow(name: str, port: int, size: str, period: str, **more: Any) -> dict[str, Any]:
        way = {"size": size, "period": period, "deadline": "20 ms"}
        return {"name": name, "from": "client", "to": "server", "port": port, **way, "back": way, **more}

    mode = "vsock_test --mode"
    host = f"--control-host=127.0.0.1 --control-port={TCP_PORT}"
    system = {
        "bulkhead": 1,
        "name": "vsock-test",
        "platform": "qemu-virt",
        "isolation": {"llc": "none"},
        "domains": [
            domain(
                "client",
                0,
                f"relay out {TCP_PORT} {SERVER} {CONTROL_PORT} &",
                "sleep 1",
                f"{mode}=client {host} --peer-cid={SERVER}",
            ),
            domain(
                "server",
                1,
                f"relay in {CONTROL_PORT} {TCP_PORT} &",
                f"{mode}=server --control-port={TCP_PORT} --peer-cid={CLIENT}",
            ),
        ],
        "broker": {"cpu": 3, "chunk": "4 KiB", "rate": "2 GB/s"},
        "flows": [
            flow("test", TEST_PORT, "64 KiB", "5 ms", connections=128),  # 100 at once is one of the tests
            flow("control", CONTROL_PORT, "4 KiB", "1 ms"),
        ],
        "expect": {"client": "stopped", "server": "stopped"},
    }
    path = WORK / "system.yaml"
    path.write_text(yaml.safe_dump(system, sort_keys=False))
    return path


def run(system: Path) -> tuple[str, dict[str, Any]]:
    """The console, and the result."""
    directory = WORK / "run"
    command = [sys.executable, "-m", "bulkhead.cli", "run", str(system), "--json", "--no-page"]
    command += ["--for", f"{SECONDS}s", "--directory", str(directory)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(done.stderr)
    return (directory / "console.log").read_text(errors="replace"), json.loads(done.stdout)


def outcomes(console: str, names: list[str]) -> Iterator[tuple[str, list[str]]]:
    """For each test, the report of each end: `ok`, `skip`, or its last output."""
    said = dict.fromkeys(("client", "server"), "")
    for line in console.splitlines():
        if found := re.match(r"\[(client|server)(\+?) +\S+\] (.*)", line):
            before = said[found[1]]  # a line that goes on has a `+`
            said[found[1]] = (before.removesuffix("\n") if found[2] else before) + found[3] + "\n"
    for number, name in enumerate(names):
        start = re.escape(f"{number} - {name}...")
        ends = [re.search(rf"{start}\s*(.*)", text) for text in said.values()]
        yield name, ["not run" if end is None else end[1].strip() or "no end" for end in ends]


def names_of(source: Path) -> list[str]:
    (file,) = source.glob("linux-source-*/tools/testing/vsock/vsock_test.c")
    cases = file.read_text().partition("test_cases[]")[2].partition("longopts[]")[0]
    return re.findall(r'\.name = "([^"]+)"', cases)


def main() -> int:
    parser = argparse.ArgumentParser(description="vsock_test between two Linux domains.")
    parser.add_argument("--debian", action="store_true", help="the kernel that other tests run")
    arguments = parser.parse_args()
    with progress("vsock_test") as update:
        directory, source = fetch_packages(update)
        kernel = linux_kernel() if arguments.debian else next(directory.glob("boot/vmlinuz-*"))
        update(0.95, "compile")
        initrd = WORK / "initrd"
        initrd.write_bytes(module_initrd(modules_of(kernel), compile_programs(source)))
    console, result = run(write_system(kernel, initrd))
    table = Table(title=f"vsock_test, {kernel.name}", title_justify="left")
    for heading in ("test", "client", "server"):
        table.add_column(heading)
    rows = list(outcomes(console, names_of(source)))
    for name, ends in rows:
        table.add_row(name, *ends)
    Console().print(table)
    passed = sum(ends == ["ok", "ok"] for _, ends in rows)
    print(f"{passed} of {len(rows)} tests have passed at both ends")
    for flow in result.get("flows", []):
        print(f"{flow['name']}: {flow['packets']} packets, lost {flow['lost']}, refused {flow['refused']}")
    return 0 if passed == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
