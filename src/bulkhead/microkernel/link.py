# SPDX-License-Identifier: Apache-2.0
"""Links a component with the microkernel's library: once to determine its size, and once at its final
address.

The compiler is that of the kernel; its options are files of the build (microkernel/systems.cmake).
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bulkhead.config.components import ComponentImage
from bulkhead.config.microkernel import Microkernel
from bulkhead.env.paths import repository
from bulkhead.microkernel.elf32 import Elf32Program, check_object, read_program
from bulkhead.mxu.layout import MxuPlaces, Sizes, Span
from bulkhead.package.errors import PackageError, located, missing, prefixed

COMPILER = "arm-none-eabi-gcc"
MOST_LINES = 12  # of a tool's output
_UNDEFINED = re.compile(r"undefined reference to [`'](.+?)'")
_TOO_LARGE = re.compile(r"(code|data) is too large")  # component.ld
_CONFLICT = "conflicting architecture profiles"


@dataclass(frozen=True)
class Toolbox:
    """Files with which components of one board are linked."""

    board: Path  # directory of the build
    scratch: Path  # directory for objects and linked components

    @property
    def compile_options(self) -> list[str]:
        root = repository()
        return [f"@{self.board / 'compile.options'}", f"-I{root}", f"-I{root / 'microkernel' / 'include'}"]

    @property
    def link_options(self) -> list[str]:
        script = repository() / "microkernel" / "lib" / "component.ld"
        # Small pages: otherwise a segment with the file's headers would begin before the code.
        pages = "-Wl,-z,max-page-size=32"
        return [f"@{self.board / 'link.options'}", "-Wl,--gc-sections", pages, "-T", str(script)]


def objects_of(name: str, image: ComponentImage, base: Path, tools: Toolbox) -> list[Path]:
    """Files to link: the image's own, or the objects of its sources. `base`: directory of the system file."""
    if image.elf is not None:
        path = base / image.elf
        with located("image", "elf"):
            if not path.is_file():
                raise missing(f"image '{image.elf}' not found (tried {path})")
            with prefixed(str(path)):
                check_object(path)
        return [path]
    if image.app is not None:
        return own_object(image.app, tools)
    found = []
    for index, source in enumerate(image.source):
        path = base / source
        with located("image", "source", index):
            if not path.is_file():
                raise missing(f"source '{source}' not found (tried {path})")
            found.append(_compile(name, index, path, tools))
    return found


def own_object(name: str, tools: Toolbox) -> list[Path]:
    """Object file of the memory manager, the scheduler or an application."""
    return [tools.board / "components" / f"{name}.o"]


def _compile(name: str, index: int, source: Path, tools: Toolbox) -> Path:
    out = tools.scratch / f"{name}-{index}.o"
    include = f"-I{source.parent}"
    out.unlink(missing_ok=True)  # of another source, which a compiler that makes nothing would leave
    _run([COMPILER, *tools.compile_options, include, "-c", str(source), "-o", str(out)], str(source))
    if not out.is_file():
        raise PackageError(f"{source}: {COMPILER} makes no object of it: it is no source of C or assembler")
    return out


def measure(name: str, objects: Sequence[Path], kernel: Microkernel, tools: Toolbox) -> Sizes:
    """Sizes of its code and data, which do not depend on its address."""
    anywhere = MxuPlaces(
        stack=Span(kernel.frames.at, kernel.stack),
        data=Span(kernel.frames.at, kernel.frames.size),
        code=Span(kernel.code.at, kernel.code.size),
    )
    symbols = link(name, objects, anywhere, tools).symbols
    data = symbols["component_data_used"]
    code = symbols["component_code_used"]
    return Sizes(code=code, data=data)


def link(name: str, objects: Sequence[Path], places: MxuPlaces, tools: Toolbox) -> Elf32Program:
    """The component linked at its address."""
    assert places.code is not None
    out = tools.scratch / f"{name}.elf"
    values = {
        "component_code": places.code.at,
        "component_code_bytes": places.code.size,
        "component_data": places.data.at,
        "component_data_bytes": places.data.size,
        "component_stack": places.stack.at,
        "component_stack_bytes": places.stack.size,
    }
    symbols = [f"-Wl,--defsym={key}={value:#x}" for key, value in values.items()]
    library = [f"-L{tools.board}", "-Wl,--start-group", "-lcomponent", "-lgcc", "-Wl,--end-group"]
    command = [COMPILER, *tools.link_options, *symbols, *map(str, objects), *library, "-o", str(out)]
    _run(command, f"component '{name}'")
    with prefixed(str(out)):
        return read_program(out)


def _run(command: list[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    undefined = sorted(set(_UNDEFINED.findall(done.stderr)))
    if undefined:
        names = ", ".join(undefined)
        raise PackageError(
            f"{what} uses {names}, which neither it nor the microkernel's library defines: link the "
            "missing objects into it (-r), or name their sources"
        )
    if (too_large := _TOO_LARGE.search(done.stderr)) is not None:
        raise PackageError(f"{what} has more {too_large[1]} than fits into the board's memory")
    if _CONFLICT in done.stderr:
        raise PackageError(f"{what} is compiled for another processor than the board's: {_CONFLICT}")
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    raise PackageError(f"{what}: {COMPILER} says:\n  " + "\n  ".join(lines[:MOST_LINES]))
