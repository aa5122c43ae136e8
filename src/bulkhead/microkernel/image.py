# SPDX-License-Identifier: Apache-2.0
"""The image of a system of components with the microkernel, as `bulkhead build` makes it."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bulkhead.admission.load_components import LoadedComponents
from bulkhead.env import native, paths
from bulkhead.envelope import result_object
from bulkhead.microkernel.build import ComponentsImage, build_image, image_json, targets_of
from bulkhead.microkernel.where import load_for
from bulkhead.package.errors import PackageError
from bulkhead.results.build import ComponentsBuildResult
from bulkhead.results.envelope import Envelope


@dataclass(frozen=True)
class ComponentsBuilt:
    """An image, or the reasons why there is none."""

    loaded: LoadedComponents
    on: str
    image: ComponentsImage | None
    elf: Path | None  # where the caller wants it
    reasons: tuple[str, ...]
    note: str | None  # message about the board, for the user

    @property
    def ok(self) -> bool:
        return self.image is not None and not self.reasons

    def json(self) -> ComponentsBuildResult | Envelope:
        """The result that `build --json` prints."""
        loaded = self.loaded
        common = result_object(
            "build",
            system=loaded.system.name if loaded.system else None,
            platform=loaded.platform.name if loaded.platform else None,
            on=self.on,
            verdict="error" if self.reasons else "ok",
            reasons=self.reasons,
            platform_sha256=loaded.platform_sha256,
        )
        if self.image is None or self.elf is None or self.reasons:
            return common
        return {
            **common,
            "image": str(self.elf),
            "sha256": hashlib.sha256(self.elf.read_bytes()).hexdigest(),
            "loaded_bytes": self.image.loaded_bytes,
            "components": image_json(self.image),
        }


def build_components(
    file: str, overrides: Sequence[str], output: Path | None, *, on: str, unprotected: bool
) -> ComponentsBuilt:
    """Build the image, and copy it to `output` if that is given."""
    loaded, note = load_for(file, overrides, on=on, unprotected=unprotected)
    image, reasons = image_of(loaded)
    elf = None
    if image is not None:
        elf, wrong = _put(image.elf, output)
        reasons += wrong
    return ComponentsBuilt(loaded, on, image, elf, tuple(reasons), note)


def image_of(
    loaded: LoadedComponents, directory: Path | None = None, run_ns: int = 0
) -> tuple[ComponentsImage | None, list[str]]:
    """The image, or the reasons why there is none. A missing tool raises EnvironmentLacks."""
    if loaded.problems or loaded.system is None:
        return None, [problem.text() for problem in loaded.problems]
    paths.repository("`build`")
    native.ensure_built(["target"], targets_of(loaded.system))
    directory = directory or paths.build_dir() / "images" / loaded.system.name
    try:
        with paths.locked(directory / ".lock"):
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
