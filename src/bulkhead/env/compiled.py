# SPDX-License-Identifier: Apache-2.0
"""Compiled modules of the host build in this Python: their files, and loading them once.

The modules that use them (machine/native.py, flows/native.py, planning/native.py) have them built.
"""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import ModuleType

from bulkhead.env.errors import MissingTool
from bulkhead.env.paths import host_dir

CORE_TARGETS = (
    "bulkhead_flows",
    "bulkhead_manifest",
    "bulkhead_manifest_space",
    "bulkhead_memory",
    "bulkhead_mpam",
    "bulkhead_mxu",
)


@cache
def core_modules() -> None:
    """Builds all modules that need only core/ together, which takes seconds, once. Raises BuildFailed or
    MissingTool."""
    from bulkhead.env.native import ensure_built

    ensure_built(["host"], CORE_TARGETS)


def compiled_path(directory: str, name: str) -> Path:
    """Path of module `name` in a directory of the host build, whether it exists or not."""
    return host_dir() / directory / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"


def load_compiled(path: Path, name: str, what: str, advice: str) -> ModuleType:
    """Loads module `name` from this file. Raises MissingTool if it does not exist; `what` and `advice` are
    parts of the message."""
    loaded = sys.modules.get(name)
    if loaded is not None:
        return loaded
    if not path.is_file():
        raise MissingTool(what, "nanobind", f"{path} {advice}")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    return module
