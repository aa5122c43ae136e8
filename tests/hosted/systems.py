# SPDX-License-Identifier: Apache-2.0
"""Small systems for tests of hosted runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from bulkhead.admission.load import load_system
from bulkhead.package.build import Build, BuildOptions, build_system
from bulkhead.planning.model import Hooks

MS = 10**6
_TAG = re.compile(r"\[(\S+?)(\+?) +[\d.]+\] (.*)")


def domain(name: str, program: str, cpus: list[int], **keys: Any) -> dict[str, Any]:
    memory = [{"at": 0x4000_0000, "size": "4 MiB"}]
    return {"name": name, "cpus": cpus, "image": {"elf": f"guests/{program}.elf"}, "memory": memory, **keys}


def built_from(directory: Path, *domains: dict[str, Any], hooks: Hooks | None = None, **keys: Any) -> Build:
    for_ns = keys.pop("for_ns", 0)
    target_dir = keys.pop("target_dir", None)
    platform = keys.pop("platform", "qemu-virt")
    system = {"bulkhead": 1, "name": "system", "platform": platform, "domains": list(domains), **keys}
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "system.yaml"
    path.write_text(yaml.safe_dump(system, sort_keys=False))
    loaded = load_system(path)
    assert loaded.ok, loaded.problems
    options = BuildOptions(hosted=True, run_for_ns=for_ns, target_dir=target_dir)
    return build_system(loaded, directory / "package", options, hooks)


def said(console: str, name: str) -> str:
    """Output of a domain: lines that others' lines interrupted are whole again."""
    text = ""
    for line in console.splitlines():
        found = _TAG.match(line)
        if found is not None and found[1] == name:
            text += found[3] if found[2] else f"\n{found[3]}"
    return text.lstrip("\n")
