# SPDX-License-Identifier: Apache-2.0
"""The bootable image of a loaded system, as `bulkhead build` makes it.

All intermediate files are in the build directory; only the image goes to the path that the caller gives.
Nothing is run.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from bulkhead.admission.load import Loaded
from bulkhead.env import native, paths
from bulkhead.envelope import result_object
from bulkhead.package.build import Build, BuildOptions, build_system
from bulkhead.package.errors import PackageError
from bulkhead.planning.model import Hooks
from bulkhead.planning.plan import PlanningError
from bulkhead.results.build import BuildResult, NotBuiltResult

QEMU, BOARD = "qemu", "board"


@dataclass(frozen=True)
class ImageRequest:
    """The system to build, and the place where the image will run."""

    loaded: Loaded
    on: str  # QEMU or BOARD
    raw: bool = False  # a raw image for boot loaders, not an ELF file
    output: Path | None = None  # None: where it is built
    seed: int = 0
    hooks: Hooks = field(default_factory=Hooks)


@dataclass(frozen=True)
class BootableImage:
    """An image, or the reasons why there is none."""

    request: ImageRequest
    built: Build | None
    image: Path | None
    reasons: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return self.built is not None and not self.reasons

    @property
    def without_budget(self) -> list[str]:
        """Domains with a budget that is not enforced where the image will run."""
        loaded = self.request.loaded
        assert loaded.system is not None
        left_out = {notice.key for notice in loaded.notices}
        domains = loaded.system.domains
        return [one.name for index, one in enumerate(domains) if f"domains[{index}].bandwidth" in left_out]

    def json(self) -> BuildResult | NotBuiltResult:
        """The result that `build --json` prints."""
        loaded = self.request.loaded
        common = result_object(
            "build",
            system=loaded.system.name if loaded.system else None,
            platform=loaded.platform.name if loaded.platform else None,
            on=self.request.on,
            seed=self.request.seed,
            verdict="error" if self.reasons else "ok",
            reasons=self.reasons,
            platform_sha256=loaded.platform_sha256,
        )
        notices = [notice.json() for notice in loaded.notices]
        built, image = self.built, self.image
        if built is None or self.reasons:
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
            "domains": [
                {"name": name, "device_tree": str(path)} for name, path in built.device_trees.items()
            ],
        }


def build_bootable(request: ImageRequest) -> BootableImage:
    """Build the image, and copy it to the request's path. A missing tool raises EnvironmentLacks."""
    built, reasons = _build(request)
    if built is None:
        return BootableImage(request, None, None, tuple(reasons))
    source = built.img if request.raw else built.elf
    assert source is not None, "a build for a raw image has that image"
    image = source if request.output is None else request.output
    if request.output is not None:
        reasons = _copy(source, request.output)
    return BootableImage(request, built, image, tuple(reasons))


def _build(request: ImageRequest) -> tuple[Build | None, list[str]]:
    """The image, or a list of the reasons why it was not built."""
    loaded = request.loaded
    if not loaded.ok or loaded.system is None:
        return None, [problem.text() for problem in loaded.problems]
    paths.repository("`build`")
    native.ensure_built(["target"])
    directory = paths.build_dir() / "images" / loaded.system.name
    options = BuildOptions(seed=request.seed, in_place=not request.raw, board=request.on == BOARD)
    try:
        with paths.locked(directory / ".lock"):
            return build_system(loaded, directory, options, request.hooks), []
    except (PlanningError, PackageError) as error:
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
