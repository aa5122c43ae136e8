# SPDX-License-Identifier: Apache-2.0
"""One run of a system of components, from the build to the result: `run_components`.

Called by the command `run`, and by tests. It checks the promises of admission, and prints nothing itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bulkhead.admission.load_components import LoadedComponents
from bulkhead.env import paths
from bulkhead.env.qemu import qemu_binary
from bulkhead.envelope import result_object
from bulkhead.machine.answer import Armv7Counts
from bulkhead.machine.settings import NotSimulated
from bulkhead.microkernel.build import ComponentsImage
from bulkhead.microkernel.image import image_of
from bulkhead.microkernel.on_machine import run_machine
from bulkhead.microkernel.result import ComponentFacts, run_result
from bulkhead.microkernel.session import Ending, command_line, run_emulator
from bulkhead.microkernel.where import load_for
from bulkhead.mxu.layout import SYSTEM_COMPONENTS
from bulkhead.results.components_run import ComponentsNotRunResult, ComponentsRunResult
from bulkhead.run.console import ConsoleParser
from bulkhead.run.directory import NotUsable, run_directory
from bulkhead.run.not_run import NotRun
from bulkhead.run.session import View
from bulkhead.run.view import WatchingView
from bulkhead.run.watcher import Watcher

DEFAULT_RUN_NS = 10**9
_BOOT_ALLOWANCE_S = 60.0
_WALL_PER_SECOND_S = 600.0


@dataclass(frozen=True)
class ComponentRunRequest:
    """The system to run, the options of the run, and the directory for its files."""

    file: str
    on: str
    for_ns: int | None = None  # None: as the file says, else one second
    unprotected: bool = False
    overrides: tuple[str, ...] = ()
    timeout_s: float | None = None
    directory: Path | None = None  # None: beneath the build directory, named after the system
    repeat: tuple[str, ...] = ()  # the command with its options; empty if `run` was not the command


@dataclass(frozen=True)
class ComponentsRan:
    """The result, as `run --json` prints it."""

    file: str
    result: ComponentsRunResult | ComponentsNotRunResult
    started: bool  # False: the system could not be run, for the result's reasons


def run_components(request: ComponentRunRequest, watcher: Watcher | None = None) -> ComponentsRan:
    """Build and run the system, and check the promises of admission. A missing tool raises
    EnvironmentLacks."""
    watcher = watcher or Watcher()
    loaded, note = load_for(request.file, request.overrides, on=request.on, unprotected=request.unprotected)
    if note:
        watcher.say(note)
    try:
        result = _run(loaded, request, (note,) if note else (), watcher)
        return ComponentsRan(loaded.file, result, started=True)
    except NotRun as error:
        return ComponentsRan(loaded.file, _not_run(loaded, request, error.reasons), started=False)


def _run(
    loaded: LoadedComponents, request: ComponentRunRequest, notes: tuple[str, ...], watcher: Watcher
) -> ComponentsRunResult:
    if loaded.system is None:
        raise NotRun([problem.text() for problem in loaded.problems])
    run_ns = request.for_ns or loaded.system.run.for_ or DEFAULT_RUN_NS
    given = request.directory
    wanted = given.absolute() if given else paths.build_dir() / "run" / _name(loaded, request)
    try:
        with run_directory(wanted.parent, wanted.name) as place:
            image, reasons = image_of(loaded, place / "package", run_ns)
            if image is None:
                raise NotRun(reasons)
            result = _execute(loaded, image, request, place, run_ns, notes, watcher)
            watcher.finished(place)
            return result
    except NotUsable as error:
        raise NotRun([str(error)]) from error


def _name(loaded: LoadedComponents, request: ComponentRunRequest) -> str:
    assert loaded.system is not None
    machine = "-machine" if request.on == "machine" else ""
    return loaded.system.name + machine + ("-unprotected" if request.unprotected else "")


def _execute(
    loaded: LoadedComponents,
    image: ComponentsImage,
    request: ComponentRunRequest,
    place: Path,
    run_ns: int,
    notes: tuple[str, ...],
    watcher: Watcher,
) -> ComponentsRunResult:
    names = ["kernel", *SYSTEM_COMPONENTS, *(one.name for one in image.system.components)]
    try:
        with WatchingView(image.system.name, run_ns, show_lines=watcher.lines) as view:
            parser = ConsoleParser(names, view.line)
            ending, counted, command = _start(image, request, place, parser, view, run_ns)
    except NotSimulated as error:
        raise NotRun([str(error)]) from error
    facts = ComponentFacts(
        image=image,
        parser=parser,
        ending=ending,
        on=request.on,
        timed=request.on == "machine",
        run_ns=run_ns,
        options={"for_ns": run_ns, "unprotected": request.unprotected, "set": list(request.overrides)},
        notes=notes,
        counted=counted,
    )
    own, reasons = run_result(facts)
    common = result_object(
        "run",
        system=image.system.name,
        platform=image.platform.name,
        on=request.on,
        verdict="failed" if reasons else "ok",
        reasons=reasons,
        platform_sha256=loaded.platform_sha256,
    )
    result: ComponentsRunResult = {**common, **own}
    about = {"wall_s": ending.wall_s, "command": command, "options": {"repeat": list(request.repeat)}}
    (place / "report.json").write_text(json.dumps(result, indent=2), encoding="utf-8")
    (place / "run.json").write_text(json.dumps(about, indent=2), encoding="utf-8")
    return result


def _start(
    image: ComponentsImage,
    request: ComponentRunRequest,
    place: Path,
    parser: ConsoleParser,
    view: View,
    run_ns: int,
) -> tuple[Ending, Armv7Counts | None, Sequence[str]]:
    timeout_s = request.timeout_s or _BOOT_ALLOWANCE_S + _WALL_PER_SECOND_S * run_ns / 1e9
    if request.on == "machine":
        return run_machine(image, run_ns, place, parser, view, timeout_s)
    emulator = image.platform.emulator
    assert emulator is not None
    command = command_line(qemu_binary(), emulator.machine, image.elf, image.platform.cores.frequency)
    return run_emulator(command, place, parser, view, timeout_s), None, command


def _not_run(
    loaded: LoadedComponents, request: ComponentRunRequest, reasons: Sequence[str]
) -> ComponentsNotRunResult:
    common = result_object(
        "run",
        system=loaded.system.name if loaded.system else None,
        platform=loaded.platform.name if loaded.platform else None,
        on=request.on,
        verdict="error",
        reasons=reasons,
        platform_sha256=loaded.platform_sha256,
    )
    return {**common, "components": []}
