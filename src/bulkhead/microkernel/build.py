# SPDX-License-Identifier: Apache-2.0
"""Builds an image from a system of components: sizes, admission, linking, description, one ELF file.

Each step can refuse; errors have their place in the system file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from bulkhead.admission.load_components import LoadedComponents
from bulkhead.config.components import Component, ComponentSystem
from bulkhead.config.microkernel import Microkernel
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding
from bulkhead.env.paths import build_dir
from bulkhead.microkernel import description as described
from bulkhead.microkernel.elf32 import Elf32Chunk, Elf32Program, read_program, write_image
from bulkhead.microkernel.link import Toolbox, link, measure, objects_of, own_object
from bulkhead.microkernel.parameters import with_parameters
from bulkhead.microkernel.priorities import priorities_of
from bulkhead.mxu import native
from bulkhead.mxu.admit import admit
from bulkhead.mxu.hardware import OWN_COMPONENTS
from bulkhead.mxu.layout import SYSTEM_COMPONENTS, MxuLayout, MxuPlaces, Sizes
from bulkhead.mxu.model import MxuAdmission, Served
from bulkhead.package.errors import Collector, PackageError, prefixed
from bulkhead.results.build import ImageComponentResult

TARGETS = ("microkernel",)  # of preset `target`
APP_TARGETS = ("microkernel", "apps")
DESCRIPTION = "board_system"  # symbol of the kernel: the address of the description
MOST_LOCKED_WAYS = 7  # that the kernel reserves for table nodes: ARCH_MOST_WAYS
MOST_UNSAID = ("stack", "data")  # allocations that a component has by its header


@dataclass(frozen=True)
class ComponentsImage:
    """The image, and what it promises."""

    elf: Path
    system: ComponentSystem
    platform: Platform
    admission: MxuAdmission
    sizes: tuple[Sizes, ...]  # by number
    layout: MxuLayout
    priorities: dict[str, int]

    @property
    def loaded_bytes(self) -> int:
        return sum(len(one.data) for one in read_program(self.elf).chunks)


def build_image(loaded: LoadedComponents, directory: Path, run_ns: int = 0) -> ComponentsImage:
    """Raises PackageError with findings about the file. The kernel of preset `target` has to be built."""
    system, platform = loaded.system, loaded.platform
    assert system is not None and platform is not None and platform.microkernel is not None
    kernel = platform.microkernel
    tools = Toolbox(board_directory(kernel), directory / "components")
    tools.scratch.mkdir(parents=True, exist_ok=True)
    base = Path(loaded.file).resolve().parent
    _check_board(kernel, tools.board)
    objects = _objects(system, base, tools)
    sizes = _measured(system, objects, kernel, tools)
    admission = admit(system, platform, sizes)
    findings = [*admission.findings, *_not_built(system)]
    if findings:
        raise PackageError(*findings)
    layout = admission.layout
    programs = _programs(system, objects, layout, tools)
    with prefixed("kernel"):
        core = read_program(tools.board / "kernel.elf")
    priorities = priorities_of(system)
    content = described.packed(_description(admission, priorities, run_ns))
    _check_description(content)
    chunks = [*core.chunks, Elf32Chunk(core.symbols[DESCRIPTION], content)]
    for program in programs:
        chunks += program.chunks
    elf = directory / f"{system.name}.elf"
    elf.write_bytes(write_image(core.entry, chunks))
    image = ComponentsImage(elf, system, platform, admission, sizes, layout, priorities)
    (directory / "system.bin").write_bytes(content)
    return image


def measured(system: ComponentSystem, kernel: Microkernel, base: Path, tools: Toolbox) -> tuple[Sizes, ...]:
    """Sizes of all components, by number, from linking them once. Raises PackageError."""
    return _measured(system, _objects(system, base, tools), kernel, tools)


def targets_of(system: ComponentSystem) -> tuple[str, ...]:
    """Targets of preset `target` that have to be built."""
    return APP_TARGETS if any(one.image.app is not None for one in system.components) else TARGETS


def _programs(
    system: ComponentSystem, objects: list[list[Path]], layout: MxuLayout, tools: Toolbox
) -> list[Elf32Program]:
    """The programs linked at their addresses, with the parameters of the file."""
    linked = [
        link(name, files, places, tools)
        for name, files, places in zip(_names(system), objects, layout.places, strict=True)
    ]
    collector = Collector()
    for index, component in enumerate(system.components):
        with collector.step("components", index, "params"):
            number = index + OWN_COMPONENTS
            linked[number] = with_parameters(linked[number], component.params)
    collector.check()
    return linked


def board_directory(kernel: Microkernel) -> Path:
    return build_dir() / "target" / "microkernel" / "board" / kernel.board


def _names(system: ComponentSystem) -> list[str]:
    return [*SYSTEM_COMPONENTS, *(one.name for one in system.components)]


def _check_board(kernel: Microkernel, board: Path) -> None:
    if not (board / "kernel.elf").is_file():
        cause = f"the microkernel does not support the board '{kernel.board}'"
        raise PackageError(Finding(("platform",), "not-on-platform", cause))


def _objects(system: ComponentSystem, base: Path, tools: Toolbox) -> list[list[Path]]:
    found = [own_object(name, tools) for name in SYSTEM_COMPONENTS]
    collector = Collector()
    for index, component in enumerate(system.components):
        with collector.step("components", index):
            found.append(objects_of(component.name, component.image, base, tools))
    collector.check()
    return found


def _measured(
    system: ComponentSystem, objects: list[list[Path]], kernel: Microkernel, tools: Toolbox
) -> tuple[Sizes, ...]:
    found: list[Sizes] = []
    collector = Collector()
    for number, (name, files) in enumerate(zip(_names(system), objects, strict=True)):
        with collector.step("components", max(0, number - OWN_COMPONENTS), "image"):
            found.append(measure(name, files, kernel, tools))
    collector.check()
    _check_sizes(system, tuple(found))
    return tuple(found)


def _check_sizes(system: ComponentSystem, sizes: tuple[Sizes, ...]) -> None:
    """`data` is a limit that the file sets."""
    findings = [
        Finding(
            ("components", index, "data"),
            "out-of-range",
            f"'{component.name}' has {sizes[index + OWN_COMPONENTS].data} bytes of .data and .bss",
            f"at least {sizes[index + OWN_COMPONENTS].data}, or no `data`, so that the size is computed",
        )
        for index, component in enumerate(system.components)
        if component.data is not None and component.data < sizes[index + OWN_COMPONENTS].data
    ]
    if findings:
        raise PackageError(*findings)


def _not_built(system: ComponentSystem) -> list[Finding]:
    if (system.hardware.locked_ways or 0) <= MOST_LOCKED_WAYS:
        return []
    cause = (
        f"the kernel can lock at most {MOST_LOCKED_WAYS} ways for table nodes, because one way must "
        "stay for all other data"
    )
    return [Finding(("hardware", "locked_ways"), "not-supported", cause, f"0 to {MOST_LOCKED_WAYS}, or OCM")]


def _description(admission: MxuAdmission, priorities: dict[str, int], run_ns: int) -> described.Description:
    system, checker, layout = admission.system, admission.checker, admission.layout
    kernel = checker.kernel
    callees = {name for one in system.components for name in one.channels}
    own = (
        _own("manager", layout.places[0], described.CONTROLS["console"] | described.END, serves=True),
        _own(
            "scheduler",
            layout.places[1],
            described.CONTROLS["console"] | described.SET_TICK | described.END,
            serves=False,
        ),
    )
    components = tuple(
        _component(system, one, places, priorities[one.name], one.name in callees)
        for one, places in zip(system.components, layout.places[OWN_COMPONENTS:], strict=True)
    )
    return described.Description(
        components=(*own, *components),
        memory=tuple(_memory(admission, one) for one in _listed(admission)),
        clock_hz=kernel.clock,
        timer_hz=kernel.timer,
        run_ns=run_ns,
        limits=checker.limits,
        system_regions=checker.system_regions,
        eviction=checker.policy,
        most_region_bits=checker.most_region_bits,
        table_frames=kernel.tables,
    )


def _check_description(content: bytes) -> None:
    """Runs the kernel's own check, so that no image is built that the kernel would refuse."""
    wrong = native.mxu().check_description(content)
    if wrong is not None:
        raise PackageError(f"the kernel would refuse the system's description: {wrong}")


def _own(name: str, places: MxuPlaces, hardware: int, *, serves: bool) -> described.DescribedComponent:
    assert places.code is not None
    return described.DescribedComponent(name, places.code.at, 0, 0, 0, 0, hardware, serves, ())


def _component(
    system: ComponentSystem, one: Component, places: MxuPlaces, priority: int, serves: bool
) -> described.DescribedComponent:
    assert places.code is not None
    names = _names(system)
    return described.DescribedComponent(
        name=one.name,
        code_at=places.code.at,
        period_ns=one.period or 0,
        budget_ns=(one.period if one.budget is None else one.budget) or 0,
        spec=native.spec_flags(one.spec),
        priority=priority,
        hardware=sum(described.CONTROLS[control] for control in one.controls),
        serves=serves,
        calls=tuple(names.index(name) for name in one.channels),
    )


def _listed(admission: MxuAdmission) -> list[Served]:
    """The allocations that the memory manager enters from the description, in the order of admission."""
    return [
        one
        for one in admission.served
        if one.component not in SYSTEM_COMPONENTS and one.name not in MOST_UNSAID
    ]


def _memory(admission: MxuAdmission, one: Served) -> described.DescribedMemory:
    flags = described.ADMITTED
    flags |= described.FIXED if one.fixed else 0
    flags |= described.HEAP if one.path and one.path[-1] == "heap" else 0
    return described.DescribedMemory(
        name=one.name,
        at=one.at,
        nbytes=one.asked,
        spec=native.spec_flags(one.spec),
        shared=one.shared_id,
        component=_names(admission.system).index(one.component),
        rights=native.RIGHTS[one.rights],
        flags=flags,
        mechanism=one.admitted,
        independence=one.independence,
    )


def summary(image: ComponentsImage) -> str:
    """For `--json`, and for who looks into a directory of results."""
    return json.dumps({"components": image_json(image)}, indent=1)


def image_json(image: ComponentsImage) -> list[ImageComponentResult]:
    """The components of the image, as results have them."""
    return [
        {
            "name": name,
            "code_bytes": sizes.code,
            "data_bytes": sizes.data,
            "code_at": places.code.at if places.code is not None else None,
            "data_at": places.data.at,
            "stack_at": places.stack.at,
            "stack_bytes": places.stack.size,
            "priority": image.priorities.get(name),
        }
        for name, sizes, places in zip(_names(image.system), image.sizes, image.layout.places, strict=True)
    ]
