# SPDX-License-Identifier: Apache-2.0
"""The check of components' images, if everything that they are linked with is on this machine.

No part of the microkernel is built: without its library, or without a file that the system names, sizes are
those of the file or the platform, and `check` reports that images were not checked.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from bulkhead.admission.load_components import LoadedComponents
from bulkhead.config.components import Component
from bulkhead.config.problem import Finding
from bulkhead.env.paths import build_dir, is_checkout, locked
from bulkhead.microkernel.build import board_directory, measured
from bulkhead.microkernel.link import COMPILER, Toolbox
from bulkhead.mxu.layout import Sizes
from bulkhead.package.errors import PackageError


def sizes_here(loaded: LoadedComponents) -> tuple[tuple[Sizes, ...], list[Finding], str | None]:
    """Sizes by number; errors of images; or the reason why images could not be checked."""
    system, platform = loaded.system, loaded.platform
    assert system is not None and platform is not None and platform.microkernel is not None
    board = board_directory(platform.microkernel)
    if not is_checkout() or shutil.which(COMPILER) is None or not (board / "kernel.elf").is_file():
        return (), [], "images of components: the microkernel is not built here"
    base = Path(loaded.file).resolve().parent
    absent = [name for one in system.components for name in _absent(one, base, board)]
    if absent:
        return (), [], f"images of components: {', '.join(absent)} not found"
    scratch = build_dir() / "images" / system.name / "checked"
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        with locked(scratch / ".lock"):
            return measured(system, platform.microkernel, base, Toolbox(board, scratch)), [], None
    except PackageError as error:
        return (), list(error.findings), None


def _absent(component: Component, base: Path, board: Path) -> list[str]:
    image = component.image
    if image.app is not None:
        return [] if (board / "components" / f"{image.app}.o").is_file() else [image.app]
    names = image.source if image.elf is None else (image.elf,)
    return [name for name in names if not (base / name).is_file()]
