# SPDX-License-Identifier: Apache-2.0
"""`bulkhead build` of a system of components: the image with the microkernel, for people and as JSON."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bulkhead.commands.output import complain, console, print_json, result_object

if TYPE_CHECKING:
    from bulkhead.admission.load_components import LoadedComponents
    from bulkhead.microkernel.build import ComponentsImage
    from bulkhead.results.build import ComponentsBuildResult
    from bulkhead.results.envelope import Envelope


def build_components(
    file: str,
    overrides: Sequence[str],
    output: Path | None,
    *,
    on: str,
    unprotected: bool,
    as_json: bool,
) -> None:
    """Build the image; if that is not possible, print the reasons and end with exit code 1."""
    from bulkhead.microkernel.where import load_for

    loaded, note = load_for(file, overrides, on=on, unprotected=unprotected)
    image, reasons = image_of(loaded)
    elf = None
    if image is not None:
        elf, wrong = _put(image.elf, output)
        reasons += wrong
    if as_json:
        print_json(_json(loaded, image, elf, reasons, on))
    else:
        for reason in reasons:
            complain(f"error: {reason}")
        if note:
            complain(note)
    if reasons or image is None:
        if not as_json:
            complain(f"{loaded.file}: {len(reasons)} error{'s' if len(reasons) != 1 else ''}")
        raise typer.Exit(1)
    if not as_json:
        names = ", ".join(one.name for one in image.system.components)
        console().print(
            f"built {elf} for {image.platform.name}: {image.loaded_bytes} bytes, components {names}",
            style="green",
        )


def image_of(
    loaded: LoadedComponents, directory: Path | None = None, run_ns: int = 0
) -> tuple[ComponentsImage | None, list[str]]:
    """The image, or the reasons why there is none. A missing tool raises EnvironmentLacks."""
    from bulkhead.env.native import ensure_built
    from bulkhead.env.paths import build_dir, locked, repository
    from bulkhead.microkernel.build import build_image, targets_of
    from bulkhead.package.errors import PackageError

    if loaded.problems or loaded.system is None:
        return None, [problem.text() for problem in loaded.problems]
    repository("`build`")
    ensure_built(["target"], targets_of(loaded.system))
    directory = directory or build_dir() / "images" / loaded.system.name
    try:
        with locked(directory / ".lock"):
            return build_image(loaded, directory, run_ns), []
    except PackageError as error:
        return None, [loaded.locate(finding).text() for finding in error.findings]


def _put(elf: Path, output: Path | None) -> tuple[Path, list[str]]:
    if output is None:
        return elf, []
    try:
        shutil.copyfile(elf, output)
    except shutil.SameFileError:
        pass
    except OSError as error:
        return output, [f"{output}: cannot be written: {error.strerror}"]
    return output, []


def _json(
    loaded: LoadedComponents, image: ComponentsImage | None, elf: Path | None, reasons: list[str], on: str
) -> ComponentsBuildResult | Envelope:
    from bulkhead.microkernel.build import image_json

    common = result_object(
        "build",
        system=loaded.system.name if loaded.system else None,
        platform=loaded.platform.name if loaded.platform else None,
        on=on,
        verdict="error" if reasons else "ok",
        reasons=reasons,
        platform_sha256=loaded.platform_sha256,
    )
    if image is None or elf is None or reasons:
        return common
    return {
        **common,
        "image": str(elf),
        "sha256": hashlib.sha256(elf.read_bytes()).hexdigest(),
        "loaded_bytes": image.loaded_bytes,
        "components": image_json(image),
    }
