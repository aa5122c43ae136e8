# SPDX-License-Identifier: Apache-2.0
"""`bulkhead build SYSTEM -o IMAGE`: build a bootable image of a system.

All intermediate files are in the build directory; only the image goes to the path of `-o`. Nothing is run.
"""

from __future__ import annotations

import hashlib
import shutil
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
from bulkhead.commands.output import complain, console, print_json, print_problems, result_object

if TYPE_CHECKING:
    from bulkhead.admission.load import Loaded
    from bulkhead.package.build import Build
    from bulkhead.planning.model import Hooks
    from bulkhead.results.build import BuildResult, NotBuiltResult

RAW_SUFFIXES = (".img", ".bin")
QEMU, BOARD = "qemu", "board"
_PLACES = {QEMU: "the emulator", BOARD: "the board"}


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
    from bulkhead.commands.build_components import build_components
    from bulkhead.planning.model import Hooks

    if on not in (None, QEMU, BOARD):
        raise typer.BadParameter(f"'{on}' is neither qemu nor board", param_hint="--on")
    refuse_no_file(output, "--output")
    raw = output is not None and output.suffix in RAW_SUFFIXES
    on = on or (BOARD if raw else QEMU)
    if has_components(system):
        _refuse_of_domains(raw=raw, miscolor=miscolor, mislabel=mislabel, misprogram=misprogram)
        build_components(
            system, tuple(overrides or ()), output, on=on, unprotected=unprotected, as_json=as_json
        )
        return
    loaded = load_system(system, overrides or (), unprotected=unprotected, emulated=on == QEMU)
    hooks = Hooks(miscolor, mislabel, misprogram, misplace)
    built, reasons = _build(loaded, seed, hooks, in_place=not raw, board=on == BOARD)
    image = None
    if built is not None:
        source = built.img if raw else built.elf
        assert source is not None, "a build for a raw image has that image"
        image = source if output is None else output
        if output is not None:
            reasons = _copy(source, output)
    if as_json:
        print_json(_json(loaded, built, image, seed, reasons, on))
    else:
        print_problems(loaded.notices, kind="notice")
        for reason in reasons:
            complain(f"error: {reason}")
    if reasons or built is None:
        if not as_json:
            complain(f"{loaded.file}: {len(reasons)} error{'s' if len(reasons) != 1 else ''}")
        raise typer.Exit(1)
    if not as_json:
        domains = ", ".join(domain.name for domain in built.plan.domains)
        also = f" (raw: {built.img})" if output is None and built.img is not None else ""
        console().print(
            f"built {image}{also} for {_PLACES[on]}: {built.package_bytes} bytes in the load area,"
            f" hypervisor {built.program}, domains {domains}",
            style="green",
        )
        without = _without_budget(loaded)
        if without:
            complain(
                f"{_PLACES[on]} does not count what the budgets of {', '.join(without)} are of: "
                "these domains have no budget in this image"
                + (" (for the board: --on board)" if on == QEMU else "")
            )


def _refuse_of_domains(*, raw: bool, **hooks: str | None) -> None:
    """Refuse options that have no meaning for a system of components."""
    if raw:
        raise typer.BadParameter("a system of components is an ELF file", param_hint="--output")
    for name, value in hooks.items():
        if value is not None:
            raise typer.BadParameter("is for systems of domains", param_hint=f"--{name}")


def _without_budget(loaded: Loaded) -> list[str]:
    """Domains with a budget that is not enforced where the image will run."""
    assert loaded.system is not None
    left_out = {notice.key for notice in loaded.notices}
    domains = loaded.system.domains
    return [one.name for index, one in enumerate(domains) if f"domains[{index}].bandwidth" in left_out]


def _build(
    loaded: Loaded, seed: int, hooks: Hooks, *, in_place: bool, board: bool
) -> tuple[Build | None, list[str]]:
    """The image, or a list of the reasons why it was not built. A missing tool raises EnvironmentLacks."""
    from bulkhead.env.native import ensure_built
    from bulkhead.env.paths import build_dir, locked, repository
    from bulkhead.package.build import BuildOptions, build_system
    from bulkhead.package.errors import PackageError
    from bulkhead.planning.plan import PlanningError

    if not loaded.ok or loaded.system is None:
        return None, [problem.text() for problem in loaded.problems]
    repository("`build`")
    ensure_built(["target"])
    directory = build_dir() / "images" / loaded.system.name
    try:
        with locked(directory / ".lock"):
            options = BuildOptions(seed=seed, in_place=in_place, board=board)
            return build_system(loaded, directory, options, hooks), []
    except PlanningError as error:
        return None, [loaded.locate(finding).text() for finding in error.findings]
    except PackageError as error:
        return None, [loaded.locate(finding).text() for finding in error.findings]


def _copy(source: Path, output: Path) -> list[str]:
    try:
        shutil.copyfile(source, output)
    except shutil.SameFileError:
        return []
    except OSError as error:
        if output.is_file():  # half an image is none
            output.unlink(missing_ok=True)
        return [f"{output}: cannot be written: {error.strerror}"]
    return []


def _json(
    loaded: Loaded, built: Build | None, image: Path | None, seed: int, reasons: list[str], on: str
) -> BuildResult | NotBuiltResult:
    common = result_object(
        "build",
        system=loaded.system.name if loaded.system else None,
        platform=loaded.platform.name if loaded.platform else None,
        on=on,
        seed=seed,
        verdict="error" if reasons else "ok",
        reasons=reasons,
        platform_sha256=loaded.platform_sha256,
    )
    notices = [notice.json() for notice in loaded.notices]
    if built is None or reasons:
        return {**common, "notices": notices}
    assert image is not None
    return {
        **common,
        "notices": notices,
        "image": str(image),
        "raw_image": str(built.img) if built.img is not None else None,
        "sha256": hashlib.sha256(image.read_bytes()).hexdigest(),
        "hypervisor": built.program,
        "load_area_bytes": built.package_bytes,
        "load_pa": built.plan.load_area[0],
        "manifest": str(built.manifest),
        "owners": str(built.owners),
        "observe": str(built.observe),
        "status_pages": list(built.status_pages),
        "miscolored_pa": built.plan.miscolored_pa,
        "domains": [{"name": name, "device_tree": str(path)} for name, path in built.device_trees.items()],
    }
