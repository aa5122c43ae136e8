# SPDX-License-Identifier: Apache-2.0
"""`bulkhead build SYSTEM -o IMAGE`: build a bootable image of a system.

All intermediate files are in the build directory; only the image goes to the path of `-o`. Nothing is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import (
    AsJson,
    Miscolor,
    Mislabel,
    Misplace,
    Misprogram,
    Overrides,
    Seed,
    SystemFile,
    Unprotected,
    refuse_no_file,
)
from bulkhead.commands.output import complain, console, print_json, print_problems

if TYPE_CHECKING:
    from bulkhead.microkernel.image import ComponentsBuilt
    from bulkhead.package.bootable import BootableImage

RAW_SUFFIXES = (".img", ".bin")
_PLACES = {"qemu": "the emulator", "board": "the board"}


def register(app: typer.Typer) -> None:
    app.command("build")(build)


def build(
    system: SystemFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="IMAGE",
            help="Image file to write: a raw image for boot loaders if the name ends with .img or .bin, "
            "else an ELF file.",
            show_default="in the build directory",
        ),
    ] = None,
    overrides: Overrides = None,
    unprotected: Unprotected = False,
    miscolor: Miscolor = None,
    mislabel: Mislabel = None,
    misprogram: Misprogram = None,
    misplace: Misplace = None,
    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            metavar="qemu|board",
            help="Where the image will run. The emulator counts no memory traffic, so an image for qemu "
            "has no budgets in bytes.",
            show_default="board for a raw image, else qemu",
        ),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Build a bootable image of a system."""
    from bulkhead.admission.load import load_system
    from bulkhead.admission.load_components import has_components
    from bulkhead.package.bootable import BOARD, QEMU, ImageRequest, build_bootable
    from bulkhead.planning.model import Hooks

    if on not in (None, QEMU, BOARD):
        raise typer.BadParameter(f"'{on}' is neither qemu nor board", param_hint="--on")
    refuse_no_file(output, "--output")
    raw = output is not None and output.suffix in RAW_SUFFIXES
    on = on or (BOARD if raw else QEMU)
    if has_components(system):
        from bulkhead.microkernel.image import build_components

        _refuse_of_domains(raw=raw, miscolor=miscolor, mislabel=mislabel, misprogram=misprogram)
        _end_components(
            build_components(system, tuple(overrides or ()), output, on=on, unprotected=unprotected), as_json
        )
        return
    loaded = load_system(system, overrides or (), unprotected=unprotected, emulated=on == QEMU)
    hooks = Hooks(miscolor, mislabel, misprogram, misplace)
    made = build_bootable(ImageRequest(loaded, on, raw, output, seed, hooks))
    if as_json:
        print_json(made.json())
    else:
        print_problems(loaded.notices, kind="notice")
        _say_errors(loaded.file, made.reasons)
    if not made.ok:
        raise typer.Exit(1)
    if not as_json:
        _show(made)


def _say_errors(file: str, reasons: Sequence[str]) -> None:
    for reason in reasons:
        complain(f"error: {reason}")
    if reasons:
        complain(f"{file}: {len(reasons)} error{'s' if len(reasons) != 1 else ''}")


def _show(made: BootableImage) -> None:
    from bulkhead.package.bootable import QEMU

    built, request = made.built, made.request
    assert built is not None
    domains = ", ".join(domain.name for domain in built.plan.domains)
    also = f" (raw: {built.img})" if request.output is None and built.img is not None else ""
    console().print(
        f"built {made.image}{also} for {_PLACES[request.on]}: {built.package_bytes} bytes in the load area,"
        f" hypervisor {built.program}, domains {domains}",
        style="green",
    )
    without = made.without_budget
    if without:
        complain(
            f"{_PLACES[request.on]} does not count what the budgets of {', '.join(without)} are of: "
            "these domains have no budget in this image"
            + (" (for the board: --on board)" if request.on == QEMU else "")
        )


def _end_components(made: ComponentsBuilt, as_json: bool) -> None:
    """Show the result of the build; if there is no image, end with exit code 1."""
    if as_json:
        print_json(made.json())
    else:
        for reason in made.reasons:
            complain(f"error: {reason}")
        if made.note:
            complain(made.note)
    if not made.ok:
        if not as_json:
            count = len(made.reasons)
            complain(f"{made.loaded.file}: {count} error{'s' if count != 1 else ''}")
        raise typer.Exit(1)
    if not as_json:
        assert made.image is not None
        names = ", ".join(one.name for one in made.image.system.components)
        console().print(
            f"built {made.elf} for {made.image.platform.name}: {made.image.loaded_bytes} bytes,"
            f" components {names}",
            style="green",
        )


def _refuse_of_domains(*, raw: bool, **hooks: str | None) -> None:
    """Refuse options that have no meaning for a system of components."""
    if raw:
        raise typer.BadParameter("a system of components is an ELF file", param_hint="--output")
    for name, value in hooks.items():
        if value is not None:
            raise typer.BadParameter("is for systems of domains", param_hint=f"--{name}")
