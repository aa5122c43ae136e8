# SPDX-License-Identifier: Apache-2.0
"""Loads a platform file: read, parse, extend, add parts, override, validate, cross-check.

All problems are returned together; contents of a file never raise an exception. admission/load.py loads a
system with its platform.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from bulkhead.config.crosscheck_platform import check_platform
from bulkhead.config.flow_costs import ISOLATED, PLAIN
from bulkhead.config.locate import platform_names, platform_path
from bulkhead.config.override import apply_override
from bulkhead.config.parts import add_parts, text_of_parts
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, Problem, nearest_of, no_such, quoted
from bulkhead.config.source import Node, Source, parse_text, read_file, read_text
from bulkhead.config.validate import locate, validate


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


def load_named(name: str) -> tuple[Path | None, Platform | None, list[str]]:
    """Path and platform for a name or a path, else the reasons why there is none."""
    path = platform_path(name, Path())
    if path is None:
        return None, None, [no_such("platform", name, platform_names())]
    platform, _, problems = load_platform(path)
    return path, platform, [problem.text() for problem in problems]


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
        cause = f"'{node.value}' itself extends another platform"
        return [
            locate(
                Finding(("extends",), "conflict", cause, "a platform that extends none"), root, source.file
            )
        ]
    inherited = dict(base.root.value)
    if PLAIN in root.value:
        inherited.pop(
            ISOLATED, None
        )  # its own costs were measured elsewhere, and so would the shorter ones be
    root.value = {**inherited, **root.value}
    source.text += base.text  # the digest covers both texts
    return base.problems


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
