# SPDX-License-Identifier: Apache-2.0
"""Programs of ours for other people's real-time kernels (guests/rtos), built with a user's checkout: each
sends a stream through the socket library to another domain, while another task runs every millisecond."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from checks.common import ROOT
from guests.case import Verdict, as_expected, run_file

SOURCES = ROOT / "guests" / "rtos"
TOOLCHAIN = ROOT / "cmake" / "aarch64.cmake"
_ZEPHYR = {"ZEPHYR_TOOLCHAIN_VARIANT": "cross-compile", "CROSS_COMPILE": "/usr/bin/aarch64-linux-gnu-"}


@dataclass(frozen=True)
class KernelCase:
    """A directory of guests/rtos, which has a CMakeLists.txt and a system file."""

    suite: str
    name: str
    sources: Path
    image: str  # of the built program
    target: str  # that builds it
    options: Sequence[str] = ()  # of cmake
    environment: Mapping[str, str] = field(default_factory=dict)  # if the user's own does not set it

    def run(self, directory: Path) -> Verdict:
        """Builds and boots it; files of both are left in `directory`."""
        shutil.rmtree(directory, ignore_errors=True)
        build = directory / "build"
        build.mkdir(parents=True)
        environment = {**self.environment, **os.environ}
        for command in (
            ["cmake", "-S", str(self.sources), "-B", str(build), "-G", "Ninja", *self.options],
            ["cmake", "--build", str(build), "--target", self.target],
        ):
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                log = directory / "build.log"
                log.write_text(done.stdout + done.stderr, encoding="utf-8")
                return Verdict(False, f"is not built: {log}")
        image = f"domains.rtos.image={{elf: {build / self.image}}}"
        return as_expected(run_file(self.sources / "system.yaml", directory / "run", image))


def freertos(kernel: Path) -> Iterator[KernelCase]:
    """`kernel`: a checkout of the FreeRTOS kernel."""
    options = (f"-DFREERTOS_KERNEL={kernel}", "--toolchain", str(TOOLCHAIN))
    yield KernelCase("FreeRTOS", "sockets", SOURCES / "freertos", "freertos.elf", "freertos.elf", options)


def zephyr(base: Path) -> Iterator[KernelCase]:
    """`base`: a checkout of Zephyr; the `python3` of PATH has its Python packages."""
    options = ("-DBOARD=qemu_cortex_a53", "-DZEPHYR_MODULES=")
    environment = {"ZEPHYR_BASE": str(base), **_ZEPHYR}
    yield KernelCase(
        "Zephyr", "sockets", SOURCES / "zephyr", "zephyr/zephyr.elf", "all", options, environment
    )
