# SPDX-License-Identifier: Apache-2.0
"""Loads a system with its platform: read, parse, override, validate, cross-check; all errors at once.

Every command starts here. The result holds either a valid system and platform, or problems with their place
and cause. Contents of a file never raise an exception.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bulkhead.admission.bandwidth import not_admitted
from bulkhead.admission.cluster_delay import cluster_delay_assumed
from bulkhead.admission.crosscheck import check_system
from bulkhead.admission.devices import unregulated
from bulkhead.admission.maintenance import reaching
from bulkhead.admission.masters import trusted, trusted_broker, unlabelled
from bulkhead.admission.not_reset import not_reset
from bulkhead.admission.notices import not_enforced
from bulkhead.admission.parameters import check_parameters
from bulkhead.admission.uncounted import uncounted
from bulkhead.admission.without_mpam import without_mpam
from bulkhead.config.components import is_component_system
from bulkhead.config.firmware import trusted_calls
from bulkhead.config.load import platform_of
from bulkhead.config.locate import system_path
from bulkhead.config.machine_figures import admitted_by_machine
from bulkhead.config.override import apply_override
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, Problem, key_text
from bulkhead.config.shares import UNLIMITED
from bulkhead.config.source import Node, read_file
from bulkhead.config.system import UNLIMITED_CPU, Isolation, System
from bulkhead.config.validate import is_below, locate, validate
from bulkhead.planning.broker_parts import with_broker
from bulkhead.planning.budgets import CountedEvent, counted_event
from bulkhead.planning.reserved import with_reservations

_COMPONENTS = Finding(
    ("components",),
    "not-a-hypervisor-system",
    "has components of the microkernel, and this command supports only systems of domains",
    "`bulkhead check`, `build` or `run`, or a system with `domains`",
)

_PERIODS = (".cpu.period", ".bandwidth.period")


@dataclass(frozen=True)
class Loaded:
    """The result of loading a system file. `system` is None if there are any problems."""

    file: str
    system: System | None
    platform: Platform | None
    problems: tuple[Problem, ...] = ()
    notices: tuple[Problem, ...] = ()
    root: Node | None = None
    path: Path | None = None  # of the system file
    platform_file: str = ""
    platform_sha256: str = ""

    @property
    def ok(self) -> bool:
        return not self.problems

    def locate(self, finding: Finding) -> Problem:
        """The finding with its line and column in the system file."""
        return locate(finding, self.root, self.file)


def load_system(
    path: str | Path,
    overrides: Sequence[str] = (),
    *,
    unprotected: bool = False,
    emulated: bool | None = None,
) -> Loaded:
    """Load a system file and the platform that it names.

    `overrides`: `key.path=value`, as of `--set`. `unprotected` turns isolation, regulation and budgets off.
    `emulated`: True if the system will run on the emulator, False on a board or the simulated machine, None
    if that is not known.
    """
    path = system_path(path)
    file = str(path)
    source = read_file(path, file)
    problems = list(source.problems)
    if source.root is None:
        return Loaded(file, None, None, tuple(problems))
    root = source.root
    if is_component_system(root.value):
        return Loaded(file, None, None, (*problems, locate(_COMPONENTS, root, file)))
    for setting in overrides:
        problems += apply_override(root, setting)
    system, repaired, found_in_system = validate(root, System, file)
    problems += found_in_system
    platform, platform_source, found = platform_of(root, file)
    problems += found
    notices: tuple[Problem, ...] = ()
    system = system or repaired
    if system is not None and unprotected:
        off = {"isolation": Isolation(llc="none", banks="none", premap="none"), "regulation": None}
        unlimited = {"bandwidth": UNLIMITED, "cpu": UNLIMITED_CPU, "maintenance": "direct"}
        domains = tuple(
            domain.model_copy(update={**unlimited, "table_placement": "best-effort", "memory": regions})
            for domain in system.domains
            for regions in [tuple(region.model_copy(update={"spec": ()}) for region in domain.memory)]
        )
        system = system.model_copy(update={**off, "domains": domains})
    if system is not None and platform is not None:
        system = with_reservations(system, platform)
    if system is not None:
        events = _events(platform, emulated)
        noticed = not_enforced(system, events)
        if not unprotected:
            noticed += reaching(system, events)
        noticed += trusted_calls(system)
        if platform is not None:
            noticed += trusted(system, platform)
            noticed += trusted_broker(system, platform)
            noticed += not_reset(system, platform)
        if platform is not None and emulated is not True:  # the emulator does not model bandwidth
            noticed += not_admitted(system, platform)
            noticed += unregulated(system, platform)
            noticed += uncounted(system, platform)
            noticed += cluster_delay_assumed(system, platform)
            noticed += without_mpam(system, platform)
            noticed += unlabelled(system, platform)
            noticed += admitted_by_machine(system, platform)
        notices = tuple(locate(finding, root, file) for finding in noticed)
        if platform is not None:
            wrong = {problem.key for problem in found_in_system}
            # Amounts beside a wrong period belong to that one, not to the default that takes its place.
            wrong |= {key.removesuffix(".period") for key in wrong if key.endswith(_PERIODS)}
            found_here = [*check_system(system, platform), *check_parameters(system, path.parent)]
            findings = [f for f in found_here if not is_below(key_text(f.path), wrong)]
            problems += [locate(finding, root, file) for finding in findings]
    digest = hashlib.sha256(platform_source.text.encode()).hexdigest() if platform_source else ""
    usable = system if not problems else None
    if usable is not None and platform is not None:
        usable = with_broker(usable, platform)
    unique = tuple(sorted(dict.fromkeys(problems), key=lambda p: (p.file != file, p.file, p.line, p.column)))
    platform_file = platform_source.file if platform_source else ""
    return Loaded(file, usable, platform, unique, notices, root, path, platform_file, digest)


def _events(platform: Platform | None, emulated: bool | None) -> list[CountedEvent]:
    if platform is None:
        return []
    where = (True, False) if emulated is None else (emulated,)
    return [event for on in where if (event := counted_event(platform, emulated=on)) is not None]
