# SPDX-License-Identifier: Apache-2.0
"""A bootable platform with MPAM for tests: the ZCU102 with components that it does not have."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from bulkhead.check.files import Checked, plan_file

ROOT = Path(__file__).parents[2]

# All controls of bandwidth; no monitors.
MEMORY: dict[str, Any] = {
    "memory": "dram",
    "bandwidth": {
        "bits": 8,
        "min": True,
        "max": True,
        "portions": 32,
        "proportional": True,
        "window": "20 us",
        "window_writable": True,
    },
    "priority": {"internal": 3, "downstream": 2, "zero_is_low": True},
}
MPAM: dict[str, Any] = {
    "partids": 32,
    "virtual_partids": 8,
    "source": "a test",
    "components": [
        {
            "name": "llc",
            "at": 0xFC000000,
            "version": "1.1",
            "resources": [
                {
                    "cache": "l2",
                    "portions": 16,
                    "capacity": {"bits": 8, "maximum": True, "minimum": True, "soft": True},
                },
            ],
        },
        {
            "name": "ram",
            "at": 0xFC010000,
            "version": "1.1",
            "resources": [
                MEMORY,
            ],
        },
    ],
}

DOMAINS: list[dict[str, Any]] = [
    {
        "name": "control",
        "criticality": "rt",
        "cpus": [0],
        "image": {"elf": "guests/periodic.elf"},
        "memory": [{"at": 0x40000000, "size": "16 MiB"}],
    },
    {
        "name": "other",
        "cpus": [1],
        "image": {"elf": "guests/hog.elf"},
        "memory": [{"at": 0x40000000, "size": "16 MiB"}],
    },
    {
        "name": "hog",
        "cpus": [2, 3],
        "image": {"elf": "guests/hog.elf"},
        "memory": [{"at": 0x40000000, "size": "32 MiB"}],
    },
]


def mpam(change: Any = None) -> dict[str, Any]:
    """A copy of the platform, changed by `change(section, llc resource, memory resource)`."""
    made = copy.deepcopy(MPAM)
    if change is not None:
        change(made, made["components"][0]["resources"][0], made["components"][1]["resources"][0])
    return made


def platform_file(directory: Path, section: dict[str, Any] | None = None, **keys: Any) -> Path:
    yaml = YAML()
    made = yaml.load((ROOT / "platforms" / "zcu102.yaml").read_text())
    made["mpam"] = MPAM if section is None else section
    made["cores"]["type"] = "cortex-a78ae"
    made |= keys
    path = directory / "board.yaml"
    with path.open("w") as stream:
        yaml.dump(made, stream)
    return path


def system_file(directory: Path, platform: str = "./board.yaml", **keys: Any) -> Path:
    """Domains `control`, `other`, `hog`: keys of these are keys of theirs, others of the file."""
    domains = copy.deepcopy(DOMAINS)
    for domain in domains:
        domain |= keys.pop(domain["name"], {})
    made = {"bulkhead": 1, "name": "shares", "platform": platform, "domains": domains, **keys}
    path = directory / "system.yaml"
    with path.open("w") as stream:
        YAML().dump(made, stream)
    return path


def planned(directory: Path, change: Any = None, **keys: Any) -> Checked:
    """The plan of the system on the board with MPAM."""
    platform_file(directory, mpam(change))
    return plan_file(str(system_file(directory, **keys)))


def refusals(checked: Checked) -> list[tuple[str, str, str]]:
    """Key, code and allowed value of each refusal; each has a place in the file."""
    assert all(problem.line > 1 and problem.cause for problem in checked.problems)
    return [(problem.key, problem.code, problem.allowed or "") for problem in checked.problems]
