# SPDX-License-Identifier: Apache-2.0
"""`bulkhead run` of a system of components: build it, run it, and check the promises of admission."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bulkhead.commands.output import complain, result_object

if TYPE_CHECKING:
    from bulkhead.admission.load_components import LoadedComponents
    from bulkhead.machine.answer import Armv7Counts
    from bulkhead.microkernel.build import ComponentsImage
    from bulkhead.microkernel.session import Ending
    from bulkhead.results.components_run import (
        ComponentsNotRunResult,
        ComponentsRunResult,
    )
    from bulkhead.run.console import ConsoleParser
    from bulkhead.run.session import View

DEFAULT_RUN_NS = 10**9
_BOOT_ALLOWANCE_S = 60.0
_WALL_PER_SECOND_S = 600.0


@dataclass(frozen=True)
class ComponentRunOptions:
    on: str
    for_ns: int | None
    unprotected: bool
    overrides: tuple[str, ...]
    timeout_s: float | None
    directory: Path | None
    page: bool
    as_json: bool
    repeat: tuple[str, ...]


def run_components(file: str, options: ComponentRunOptions) -> ComponentsRunResult | ComponentsNotRunResult:
    """Build and run the system. The result is shown, unless it will be printed as JSON."""
    from bulkhead.commands.build_components import image_of
    from bulkhead.env.paths import build_dir
    from bulkhead.microkernel.where import load_for
    from bulkhead.run.directory import NotUsable, run_directory

    loaded, note = load_for(file, options.overrides, on=options.on, unprotected=options.unprotected)
    if note:
        complain(note)
    if loaded.system is None:
        return _not_run(loaded, options, [problem.text() for problem in loaded.problems])
    run_ns = options.for_ns or loaded.system.run.for_ or DEFAULT_RUN_NS
    wanted = (
        options.directory.absolute() if options.directory else build_dir() / "run" / _name(loaded, options)
    )
    try:
        with run_directory(wanted.parent, wanted.name) as place:
            image, reasons = image_of(loaded, place / "package", run_ns)
            if image is None:
                return _not_run(loaded, options, reasons)
            return _execute(loaded, image, options, place, run_ns, (note,) if note else ())
    except NotUsable as error:
        return _not_run(loaded, options, [str(error)])


def _name(loaded: LoadedComponents, options: ComponentRunOptions) -> str:
    assert loaded.system is not None
    machine = "-machine" if options.on == "machine" else ""
    return loaded.system.name + machine + ("-unprotected" if options.unprotected else "")


def _execute(
    loaded: LoadedComponents,
    image: ComponentsImage,
    options: ComponentRunOptions,
    place: Path,
    run_ns: int,
    notes: tuple[str, ...],
) -> ComponentsRunResult | ComponentsNotRunResult:
    from bulkhead.machine.settings import NotSimulated
    from bulkhead.microkernel.result import ComponentFacts, run_result
    from bulkhead.mxu.layout import SYSTEM_COMPONENTS
    from bulkhead.report.components import show_components_run, write_components_page
    from bulkhead.run.console import ConsoleParser
    from bulkhead.run.view import WatchingView

    names = ["kernel", *SYSTEM_COMPONENTS, *(one.name for one in image.system.components)]
    try:
        with WatchingView(image.system.name, run_ns, show_lines=not options.as_json) as view:
            parser = ConsoleParser(names, view.line)
            ending, counted, command = _run(image, options, place, parser, view, run_ns)
    except NotSimulated as error:
        return _not_run(loaded, options, [str(error)])
    facts = ComponentFacts(
        image=image,
        parser=parser,
        ending=ending,
        on=options.on,
        timed=options.on == "machine",
        run_ns=run_ns,
        options={"for_ns": run_ns, "unprotected": options.unprotected, "set": list(options.overrides)},
        notes=notes,
        counted=counted,
    )
    own, reasons = run_result(facts)
    common = result_object(
        "run",
        system=image.system.name,
        platform=image.platform.name,
        on=options.on,
        verdict="failed" if reasons else "ok",
        reasons=reasons,
        platform_sha256=loaded.platform_sha256,
    )
    result: ComponentsRunResult = {**common, **own}
    about = {"wall_s": ending.wall_s, "command": command, "options": {"repeat": list(options.repeat)}}
    (place / "report.json").write_text(json.dumps(result, indent=2), encoding="utf-8")
    (place / "run.json").write_text(json.dumps(about, indent=2), encoding="utf-8")
    if options.page:
        write_components_page([(place, result, about)], place / "index.html")
    if not options.as_json:
        show_components_run(place, result)
    return result


def _run(
    image: ComponentsImage,
    options: ComponentRunOptions,
    place: Path,
    parser: ConsoleParser,
    view: View,
    run_ns: int,
) -> tuple[Ending, Armv7Counts | None, Sequence[str]]:
    from bulkhead.env.qemu import qemu_binary
    from bulkhead.microkernel.on_machine import run_machine
    from bulkhead.microkernel.session import command_line, run_emulator

    timeout_s = options.timeout_s or _BOOT_ALLOWANCE_S + _WALL_PER_SECOND_S * run_ns / 1e9
    if options.on == "machine":
        return run_machine(image, run_ns, place, parser, view, timeout_s)
    emulator = image.platform.emulator
    assert emulator is not None
    command = command_line(qemu_binary(), emulator.machine, image.elf, image.platform.cores.frequency)
    return run_emulator(command, place, parser, view, timeout_s), None, command


def _not_run(
    loaded: LoadedComponents, options: ComponentRunOptions, reasons: list[str]
) -> ComponentsNotRunResult:
    if not options.as_json:
        for reason in reasons:
            complain(f"error: {reason}")
        complain(f"{loaded.file}: not run, {len(reasons)} error{'s' if len(reasons) != 1 else ''}")
    common = result_object(
        "run",
        system=loaded.system.name if loaded.system else None,
        platform=loaded.platform.name if loaded.platform else None,
        on=options.on,
        verdict="error",
        reasons=reasons,
        platform_sha256=loaded.platform_sha256,
    )
    return {**common, "components": []}
