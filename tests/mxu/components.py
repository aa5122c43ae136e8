# SPDX-License-Identifier: Apache-2.0
"""Systems of components in C for tests: written beside their system file, built, run on the emulator."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bulkhead.admission.load_components import load_components
from bulkhead.env.native import ensure_built
from bulkhead.env.qemu import qemu_binary
from bulkhead.microkernel.build import TARGETS, ComponentsImage, build_image
from bulkhead.microkernel.session import Ending, command_line, run_emulator
from bulkhead.mxu.layout import SYSTEM_COMPONENTS
from bulkhead.package.errors import PackageError
from bulkhead.run.console import ConsoleLine, ConsoleParser
from tests.command_line import invoked
from tests.json_results import parsed

Json = dict[str, Any]
INCLUDES = "".join(f'#include "microkernel/include/microkernel/{name}.h"\n' for name in ("component", "rt"))
BOARDS = ("mps2-an500", "xilinx-zynq-a9")
TIMEOUT_S = 100.0


def written(directory: Path, board: str, *components: Json, **keys: Any) -> Path:
    """The system file. `code` of a component is its source; common includes are put before it."""
    listed = []
    for one in components:
        own = dict(one)
        if "code" in own:
            source = directory / f"{own['name']}.c"
            source.write_text(INCLUDES + own.pop("code"))
            own["image"] = {"source": [source.name]}
        listed.append(own)
    tree = {"bulkhead": 1, "name": "system", "platform": board, "components": listed, **keys}
    path = directory / "system.yaml"
    path.write_text(yaml.safe_dump(tree, sort_keys=False))
    return path


def built(path: Path, run_ns: int = 0) -> ComponentsImage:
    ensure_built(["target"], TARGETS)
    loaded = load_components(path)
    assert not loaded.problems, [problem.text() for problem in loaded.problems]
    return build_image(loaded, path.parent / "image", run_ns)


def refused(path: Path) -> list[str]:
    """Why there is no image: key and cause of each reason."""
    loaded = load_components(path)
    try:
        built(path)
    except PackageError as error:
        return [loaded.locate(finding).text() for finding in error.findings]
    return []


def run(path: Path, *more: str) -> tuple[int, Json]:
    """Exit code and result of the command."""
    place = path.parent / "run"
    done = invoked("run", path, "--json", "--no-page", "--directory", place, *more)
    return done.exit_code, parsed(done.stdout)


@dataclass(frozen=True)
class Boot:
    ending: Ending
    lines: dict[str, list[str]]
    untagged: list[str]


def boot(image: ComponentsImage, directory: Path, content: bytes) -> Boot:
    """Boots an image that may differ from the built one."""
    elf = directory / "changed.elf"
    elf.write_bytes(content)
    parser = ConsoleParser(["kernel", *SYSTEM_COMPONENTS])
    assert image.platform.emulator is not None
    command = command_line(qemu_binary(), image.platform.emulator.machine, elf, None)
    ending = run_emulator(command, directory, parser, _Silent(), TIMEOUT_S)
    lines = {name: list(console.lines) for name, console in parser.domains.items()}
    return Boot(ending, lines, list(parser.untagged))


class _Silent:
    def line(self, line: ConsoleLine) -> None: ...

    def raw(self, data: bytes) -> None: ...

    def tick(self, parser: ConsoleParser) -> None: ...
