# SPDX-License-Identifier: Apache-2.0
"""Loads a component system with its platform, as load.py does for a system of domains: all errors at once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bulkhead.admission.crosscheck_components import check_components
from bulkhead.config.components import ComponentSystem, is_component_system
from bulkhead.config.load import platform_of
from bulkhead.config.locate import system_path
from bulkhead.config.override import apply_override
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, Problem, key_text
from bulkhead.config.source import Node, read_file
from bulkhead.config.validate import is_below, locate, validate


@dataclass(frozen=True)
class LoadedComponents:
    """The result of loading a component system. `system` is None if there are any problems."""

    file: str
    system: ComponentSystem | None
    platform: Platform | None
    problems: tuple[Problem, ...] = ()
    notices: tuple[Problem, ...] = ()
    root: Node | None = None
    platform_sha256: str = ""

    def locate(self, finding: Finding) -> Problem:
        """The finding with its line and column in the system file."""
        return locate(finding, self.root, self.file)


def has_components(path: str | Path) -> bool:
    """Whether a file is a component system; False if it cannot be read."""
    root = read_file(system_path(path), str(path)).root
    return root is not None and is_component_system(root.value)


def load_components(
    path: str | Path, overrides: Sequence[str] = (), *, unprotected: bool = False
) -> LoadedComponents:
    """Load a component system and the platform that it names. `unprotected`: all memory is best effort."""
    path = system_path(path)
    file = str(path)
    source = read_file(path, file)
    root, problems = source.root, list(source.problems)
    if root is None:
        return LoadedComponents(file, None, None, tuple(problems))
    for setting in overrides:
        problems += apply_override(root, setting)
    system, repaired, wrong = validate(root, ComponentSystem, file)
    platform, platform_source, found = platform_of(root, file)
    problems += [*wrong, *found]
    system = system or repaired
    if system is not None and unprotected:
        system = _best_effort(system)
    if system is not None and platform is not None:
        reported = {problem.key for problem in wrong}
        findings = [
            one for one in check_components(system, platform) if not is_below(key_text(one.path), reported)
        ]
        problems += [locate(finding, root, file) for finding in findings]
    digest = hashlib.sha256(platform_source.text.encode()).hexdigest() if platform_source else ""
    unique = tuple(sorted(dict.fromkeys(problems), key=lambda p: (p.file != file, p.file, p.line, p.column)))
    return LoadedComponents(file, system if not problems else None, platform, unique, (), root, digest)


def _best_effort(system: ComponentSystem) -> ComponentSystem:
    components = tuple(
        one.model_copy(
            update={"spec": (), "memory": tuple(part.model_copy(update={"spec": ()}) for part in one.memory)}
        )
        for one in system.components
    )
    return system.model_copy(update={"components": components})
