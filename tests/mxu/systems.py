# SPDX-License-Identifier: Apache-2.0
"""Systems of components for tests: written to a file, and checked as by the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from bulkhead.config.components import ComponentSystem
from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Problem
from bulkhead.microkernel.check import check_components
from bulkhead.mxu.model import MxuAdmission

Json = dict[str, Any]


def component(name: str, *memory: Json, **keys: Any) -> Json:
    return {"name": name, "image": {"elf": f"components/{name}.elf"}, "memory": list(memory), **keys}


def memory(name: str, size: str | int, *spec: str, **keys: Any) -> Json:
    return {"name": name, "size": size, **({"spec": list(spec)} if spec else {}), **keys}


def system(platform: str, *components: Json, **keys: Any) -> Json:
    return {"bulkhead": 1, "name": "system", "platform": platform, "components": list(components), **keys}


def checked(
    directory: Path, tree: Json, *, unprotected: bool = False
) -> tuple[MxuAdmission | None, list[Problem]]:
    path = directory / "system.yaml"
    path.write_text(yaml.safe_dump(tree, sort_keys=False))
    _, found, problems, _ = check_components(str(path), (), unprotected=unprotected)
    return found, list(problems)


def admitted(directory: Path, tree: Json, *, unprotected: bool = False) -> MxuAdmission:
    found, problems = checked(directory, tree, unprotected=unprotected)
    assert found is not None and not problems, [problem.text() for problem in problems]
    return found


def board(name: str) -> Platform:
    path = platform_path(name)
    assert path is not None
    platform, _, problems = load_platform(path)
    assert platform is not None, problems
    return platform


def parsed(tree: Json) -> ComponentSystem:
    """Parses without a file, for many systems."""
    return ComponentSystem.model_validate(_tuples(tree))


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
