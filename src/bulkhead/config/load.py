# SPDX-License-Identifier: Apache-2.0
"""Loads a system with its platform: read, parse, override, validate, cross-check; all errors at once.

Every command starts here. The result holds either a valid system and platform, or problems with their place
and cause. Contents of a file never raise an exception.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from bulkhead.config.components import is_component_system
from bulkhead.config.crosscheck import check_platform, check_system
from bulkhead.config.firmware import trusted_calls
from bulkhead.config.locate import platform_names, platform_path, system_path
from bulkhead.config.machine_figures import admitted_by_machine
from bulkhead.config.maintenance import reaching
from bulkhead.config.masters import trusted, unlabelled
from bulkhead.config.notices import not_enforced
from bulkhead.config.override import apply_override
from bulkhead.config.parts import add_parts, text_of_parts
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, Problem, key_text, nearest_of, quoted
from bulkhead.config.quantity import Empty, described
from bulkhead.config.shares import UNLIMITED
from bulkhead.config.source import Node, Source, parse_text, read_file, read_text
from bulkhead.config.system import UNLIMITED_CPU, Isolation, System
from bulkhead.config.translate import translate
from bulkhead.config.uncounted import uncounted
from bulkhead.config.without_mpam import without_mpam
from bulkhead.planning.admission import not_admitted
from bulkhead.planning.broker import with_broker
from bulkhead.planning.budgets import CountedEvent, counted_event
from bulkhead.planning.reserved import with_reservations

M = TypeVar("M", bound=BaseModel)

_COMPONENTS = Finding(
    ("components",),
    "not-a-hypervisor-system",
    "has components of the microkernel, which only `check` takes in this version",
    "`bulkhead check`, or a system with `domains`",
)


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
        if platform is not None and emulated is not True:  # the emulator does not model bandwidth
            noticed += not_admitted(system, platform)
            noticed += uncounted(system, platform)
            noticed += without_mpam(system, platform)
            noticed += unlabelled(system, platform)
            noticed += admitted_by_machine(system, platform)
        notices = tuple(locate(finding, root, file) for finding in noticed)
        if platform is not None:
            wrong = {problem.key for problem in found_in_system}
            findings = [f for f in check_system(system, platform) if not is_below(key_text(f.path), wrong)]
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


def load_platform(
    path: Path, shown: str | None = None, overrides: Sequence[str] = ()
) -> tuple[Platform | None, Source, list[Problem]]:
    """Load one platform file. Returns the platform (None if there are problems), its source and the problems.
    `overrides`: `key.path=value`."""
    file = shown or str(path)
    text, source = read_text(path, file)
    return (
        (None, source, source.problems)
        if text is None
        else _platform_from(text, file, text_of_parts(), tuple(overrides))
    )


@lru_cache(maxsize=16)
def _platform_from(
    text: str, file: str, parts: str, overrides: tuple[str, ...]
) -> tuple[Platform | None, Source, list[Problem]]:
    """Parses a platform; cached, as many systems use the same few. `parts`: text of all parts, as cache key
    only."""
    del parts
    source = parse_text(text, Source(file))
    problems = list(source.problems)
    if source.root is None:
        return None, source, problems
    problems += _extend(source)
    problems += add_parts(source)
    for setting in overrides:
        problems += apply_override(source.root, setting)
    platform, _, found = validate(source.root, Platform, file)
    problems += found
    if platform is not None:
        problems += [locate(finding, source.root, file) for finding in check_platform(platform)]
    return (platform if not problems else None), source, problems


def _extend(source: Source) -> list[Problem]:
    """Add the keys of the platform that this one extends, where this one has no value of its own."""
    root = source.root
    node = root.value.get("extends") if root is not None and isinstance(root.value, dict) else None
    if root is None or node is None or not isinstance(node.value, str):
        return []  # the model reports a value that is not a name
    path = platform_path(node.value)
    if path is None or "/" in node.value:
        names = platform_names()
        cause = f"there is no platform {quoted(node.value)}"
        finding = Finding(
            ("extends",), "unknown-name", cause, ", ".join(names), nearest_of(node.value, names)
        )
        return [locate(finding, root, source.file)]
    base = read_file(path, path.name)
    if base.root is None or not isinstance(base.root.value, dict):
        return base.problems
    if "extends" in base.root.value:
        cause = f"'{node.value}' extends a platform itself"
        return [locate(Finding(("extends",), "conflict", cause, "one that does not"), root, source.file)]
    root.value = {**base.root.value, **root.value}
    source.text += base.text  # the digest covers both texts
    return base.problems


def locate(finding: Finding, root: Node | None, file: str) -> Problem:
    """Adds line and column to a finding: of the key if the key is wrong, else of the value."""
    line, column, shown = 1, 1, file
    if root is not None:
        node, depth = root.at(finding.path)
        of_key = finding.code in ("unknown-key", "bad-name") or isinstance(node.value, Empty)
        of_key = of_key and depth == len(finding.path) and node.key_line > 0
        line, column = (node.key_line, node.key_column) if of_key else (node.line, node.column)
        shown = node.file
    return Problem(
        shown,
        line,
        column,
        key_text(finding.path),
        finding.code,
        finding.cause,
        finding.allowed,
        finding.nearest,
    )


def validate(root: Node, model: type[M], file: str) -> tuple[M | None, M | None, list[Problem]]:
    """Validates a tree. Returns the value, or in its place the model without wrong keys (for cross-checks;
    None if that is impossible), and the problems."""
    plain = root.plain()
    if not isinstance(plain, dict):
        cause = f"is {described(plain)}"
        return (
            None,
            None,
            [Problem(file, root.line, root.column, "", "wrong-type", cause, "a mapping of keys to values")],
        )
    try:
        return model.model_validate(plain), None, []
    except ValidationError as error:
        return (
            None,
            _repaired(error, model, plain),
            [locate(finding, root, file) for finding in translate(error, model, root)],
        )


def _repaired(error: ValidationError, model: type[M], plain: dict[str, Any]) -> M | None:
    """The model without its wrong keys, so that the rest can be cross-checked; None if they cannot be left
    out."""
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        _leave_out(plain, [part for part in item["loc"] if part != "[key]"])
    try:
        return model.model_validate(plain)
    except ValidationError:
        return None


def _leave_out(plain: dict[str, Any], path: Sequence[str | int]) -> None:
    """Removes the last key of a mapping on the way to `path`."""
    place, key = plain, ""
    value: Any = plain
    for part in path:
        if isinstance(value, dict) and part in value:
            place, key, value = value, str(part), value[part]
        elif isinstance(value, tuple) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            break
    place.pop(key, None)


def is_below(key: str, wrong: set[str]) -> bool:
    """Whether `key` is, or lies below, a key that is already reported as wrong."""
    return any(key == other or key.startswith((f"{other}.", f"{other}[")) for other in wrong if other)


# Codes that say that a file could not be read. They are reported at the key that names the file.
_NO_FILE = ("missing-file", "not-a-file", "unreadable-file")


def platform_of(root: Node, file: str) -> tuple[Platform | None, Source | None, list[Problem]]:
    """The platform that a system's tree names, even if the rest of the system has errors."""
    node = root.value.get("platform") if isinstance(root.value, dict) else None
    if (
        node is None
        or not isinstance(node.value, str)
        or not node.value.strip()
        or not node.value.isprintable()
    ):
        return None, None, []  # the model reports it
    names = platform_names()
    path = platform_path(node.value, Path(file).parent)
    if path is None:
        finding = Finding(
            ("platform",),
            "unknown-name",
            f"there is no platform {quoted(node.value)}",
            f"{', '.join(names)}, or a path",
            nearest_of(node.value, names),
        )
        return None, None, [locate(finding, root, file)]
    platform, source, problems = load_platform(path, node.value if "/" in node.value else str(path.name))
    if problems and problems[0].code in _NO_FILE:
        code, cause = problems[0].code, f"platform file {quoted(node.value)} {problems[0].cause}"
        if code == "missing-file":
            cause = f"no such platform file {quoted(node.value)}"
        return None, None, [locate(Finding(("platform",), code, cause, ", ".join(names)), root, file)]
    return platform, source, problems
