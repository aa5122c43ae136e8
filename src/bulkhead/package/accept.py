# SPDX-License-Identifier: Apache-2.0
"""Checks without a build whether a plan can be built and whether the hypervisor will accept it.

`check` calls this. It uses the same code as `build`: the same loaders read the images, the same function lays
out the package, and core's own check judges the manifest. Parts that are not on this machine are named as not
checked. Writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, quoted
from bulkhead.env import paths
from bulkhead.env.errors import MissingTool
from bulkhead.package.build import (
    BuildOptions,
    event_of,
    hypervisor_file,
    images_of,
    key_of,
    program_of,
    surroundings,
)
from bulkhead.package.bundle import LaidOut, lay_out
from bulkhead.package.device_regulators import device_regulators_row
from bulkhead.package.disks import check_disks
from bulkhead.package.errors import Collector, NotHere, PackageError
from bulkhead.package.hypervisor import HypervisorImage, read_hypervisor
from bulkhead.package.images import HOSTED_PROGRAM, NOTHING_KNOWN, SOCKET_PROGRAM, Surroundings
from bulkhead.package.memory import LoadedMemory, regions_of
from bulkhead.package.program import Program
from bulkhead.package.verdict import refusal
from bulkhead.planning.model import Plan
from bulkhead.schema import load_layout

_DRIVEN = "iommus.type"  # key of a difference between platform and board
_NO_HYPERVISOR = HypervisorImage(b"", 0)


@dataclass(frozen=True)
class Acceptance:
    """Findings and notices, and what could not be checked."""

    findings: tuple[Finding, ...]
    notices: tuple[Finding, ...] = ()
    unchecked: tuple[str, ...] = ()


def accept(plan: Plan, base: Path, *, target_dir: Path | None = None) -> Acceptance:
    """Checks `plan`; paths of images are relative to `base`.

    `target_dir`: a build tree of preset `target`, used as it is [the checkout's, in which missing programs
    are built].
    """
    return _Acceptor(plan, base, target_dir).open()


class _Acceptor:
    """One acceptance check of a plan."""

    def __init__(self, plan: Plan, base: Path, target_dir: Path | None) -> None:
        self.plan, self.layout = plan, load_layout()
        self.errors = Collector()
        self.notices: list[Finding] = []
        self.unchecked: list[str] = []
        hosted = target_dir is None and _is_simulated_only(plan)
        self.options = BuildOptions(target_dir=target_dir, hosted=hosted)
        built = target_dir is not None or (not hosted and self._built())
        around = surroundings(plan, base, self.options)
        self.around = replace(around, built=built, fetch=False)

    def open(self) -> Acceptance:
        self.errors.findings += _other_hardware(self.plan.platform)
        self.errors.findings += self._too_many_flows()
        self.errors.findings += self._unknown_workloads()
        loaded = self._images(self.around)
        if not self.errors.findings:
            self._manifests(loaded)
        return Acceptance(
            tuple(dict.fromkeys(self.errors.findings)), tuple(self.notices), tuple(self.unchecked)
        )

    def _too_many_flows(self) -> list[Finding]:
        """The analysis takes more flows than a manifest has room for."""
        most, flows = self.layout.constant("max_flows"), self.plan.system.flows
        if len(flows) <= most:
            return []
        cause = f"there are {len(flows)} flows, and the hypervisor has room for {most}"
        return [Finding(("flows", most), "limit", cause, f"at most {most} flows")]

    def _unknown_workloads(self) -> list[Finding]:
        """What stands in for a domain's image on the simulated machine must be a program of the tool's."""
        if not paths.is_checkout():
            return []
        from bulkhead.env.native import known_targets

        asked = [(n, one.workload) for n, one in enumerate(self.plan.system.domains) if one.workload]
        try:
            known = known_targets("host", [HOSTED_PROGRAM + name for _, name in asked]) if asked else []
        except MissingTool as missing:
            self._skip(f"workloads, because {missing.name} is missing")
            return []
        return [
            Finding(("domains", number, "workload"), "unknown-name", f"{quoted(name)} is {NOTHING_KNOWN}")
            for number, name in asked
            if HOSTED_PROGRAM + name not in known
        ]

    def _built(self) -> bool:
        """Builds the programs of a checkout that are needed: those that the system names, and hypervisors.
        Returns False if there is no checkout or they cannot be built."""
        if not paths.is_checkout():
            return False
        try:
            _build(_targets_of(self.plan))
        except MissingTool as missing:
            self.unchecked.append(f"programs cannot be built, because {missing.name} is missing")
            return False
        return True

    def _images(self, around: Surroundings) -> list[LoadedMemory]:
        found: list[LoadedMemory] = []
        for domain in self.plan.domains:
            regions = regions_of(domain)
            loaded = LoadedMemory((), regions[0].start, regions[0].start, b"")
            with self.errors.step(*key_of(self.plan, domain)):
                try:
                    loaded = images_of(self.plan, domain, around)
                    check_disks(self.plan.system, domain.name, around.base)
                except NotHere as missing:
                    self.unchecked += missing.reasons
            found.append(loaded)
        return found

    def _manifests(self, loaded: list[LoadedMemory]) -> None:
        """Checks the manifests for the emulator and for the board, which differ in the events that budgets
        count, and in regulators before devices."""
        if self.options.hosted:
            self._manifest(loaded, self.options)
            return
        each = [
            (event, device_regulators_row(self.plan, self.layout, event, emulated=not board))
            for board in (False, True)
            for event in (event_of(self.plan, replace(self.options, board=board)),)
        ]
        for board in (False, True) if each[0] != each[1] else (False,):
            self._manifest(loaded, replace(self.options, board=board))
            if self.errors.findings:
                return
        self._raw(loaded)

    def _manifest(self, loaded: list[LoadedMemory], options: BuildOptions) -> None:
        program = program_of(self.plan, options)
        with self.errors.step():
            found = self._laid_out(loaded, options, program)
            self._judge(found, program)

    def _judge(self, found: LaidOut, program: Program) -> None:
        try:
            refused = refusal(
                found.manifest, found.package_bytes, self.plan.load_area[0], program, self.layout
            )
        except MissingTool as missing:
            self._skip(f"{missing.name} is not built")
            return
        if refused is not None:
            raise PackageError(refused)

    def _laid_out(self, loaded: list[LoadedMemory], options: BuildOptions, program: Program) -> LaidOut:
        return lay_out(
            self.plan,
            loaded,
            self._hypervisor(program),
            self.layout,
            in_place=options.in_place,
            event=event_of(self.plan, options),
            emulated=options.emulated,
        )

    def _hypervisor(self, program: Program) -> HypervisorImage:
        path = hypervisor_file(self.plan, self.around, program)
        if not path.is_file() and (self.options.hosted or not self.around.built):
            self._skip(f"the hypervisor of board '{self.plan.platform.board}' is not built")
            return _NO_HYPERVISOR
        cores = self.plan.platform.cores.count
        return read_hypervisor(path, self.layout, cores, hosted=self.options.hosted)

    def _raw(self, loaded: list[LoadedMemory]) -> None:
        """Adds a notice if the package does not fit as a raw image, which has all data in the load area. The
        ELF file can still be used then."""
        options = replace(self.options, in_place=False)
        try:
            self._laid_out(loaded, options, program_of(self.plan, options))
        except PackageError as error:
            for reason in error.reasons:
                self.notices.append(Finding((), "no-raw-image", f"a raw image is not possible: {reason}"))

    def _skip(self, what: str) -> None:
        if what not in self.unchecked:
            self.unchecked.append(what)


def _other_hardware(platform: Platform) -> list[Finding]:
    """Findings about differences between a user's platform file and the board that it boots as. The board's
    hypervisor has these addresses in its code and refuses a manifest with others."""
    path = platform_path(platform.board)
    board = load_platform(path, path.name)[0] if path is not None else None
    if board is None or board is platform:
        return []
    found = []
    for key, (own, known) in _wired(platform, board).items():
        if own != known:
            cause = (
                f"`{key}` is {own}, but the hypervisor of board '{platform.board}' is built for another value"
            )
            boards = ": `hypervisor` names a board that drives it, as 'zcu102-smmu'" if key == _DRIVEN else ""
            found.append(Finding(("platform",), "refused", cause, f"{known}{boards}"))
    return found


def _wired(*platforms: Platform) -> dict[str, tuple[str, ...]]:
    """The values that platform_matches() of hypervisor/platform/ compares, one for each platform.

    A hypervisor with a driver of an IOMMU also runs where the first platform has none to drive."""

    def text(value: object) -> str:
        return f"{value:#x}" if isinstance(value, int) else str(value)

    gics = [platform.interrupt_controller for platform in platforms]
    uarts = [platform.uart for platform in platforms]
    driven = [platform.driven_iommu for platform in platforms]
    smmus = tuple("none" if iommu is None else iommu.type for iommu in driven)
    frames = ("distributor", "redistributors", "cpu_interface", "hypervisor", "virtual_cpu")
    return {
        **({_DRIVEN: smmus} if driven[0] is not None else {}),
        "psci": tuple(platform.psci for platform in platforms),
        **{f"uart.{key}": tuple(text(getattr(uart, key, None)) for uart in uarts) for key in ("type", "at")},
        **{
            f"interrupt_controller.{key}": tuple(text(getattr(gic, key, None)) for gic in gics)
            for key in ("type", *frames)
        },
    }


def _is_simulated_only(plan: Plan) -> bool:
    """Whether only the simulated machine has this board, so that no program is built for the board itself."""
    root, board = paths.checkout(), plan.platform.board
    has = paths.host_dir() / "hosted/hypervisor" if root is None else root / "hypervisor/platform"
    return plan.platform.emulator is None and (has / board).is_dir()


def _targets_of(plan: Plan) -> frozenset[str]:
    """Names of targets of preset `target` that the plan needs; some of them may not exist."""
    programs = [Path(domain.image.elf or "") for domain in plan.system.domains]
    board = f"hypervisor_{plan.platform.board}"
    own = {program.name for program in programs if program.parts[:1] == ("guests",)}
    return frozenset({*own, SOCKET_PROGRAM, board, f"{board}_space"})


@cache
def _build(targets: frozenset[str]) -> None:
    """Builds those of the targets that exist. Raises MissingTool or BuildFailed."""
    from bulkhead.env.native import ensure_built, known_targets

    ensure_built(["target"], known_targets("target", sorted(targets)))
