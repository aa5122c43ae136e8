# SPDX-License-Identifier: Apache-2.0
"""A platform of a test's own, with an SMMU, and a system of two domains on it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bulkhead.check.files import check_file
from bulkhead.planning.model import Plan

SMMU: dict[str, Any] = {
    "name": "smmu",
    "type": "smmuv3",
    "at": 0x0905_0000,
    "size": 0x20000,
    "interrupts": [106, 109],
    "driven": True,
    "stream_bits": 16,
}


def two_domains(
    directory: Path,
    one: Sequence[str],
    two: Sequence[str],
    platform: Mapping[str, Any],
    **domain: Any,
) -> Path:
    """Path of a system whose domains have the devices `one` and `two`.

    `platform`: keys of the platform beside those of qemu-virt. `domain`: keys of the first domain.
    """
    own = {
        "platform": 1,
        "name": "own",
        "description": "own",
        "extends": "qemu-virt",
        "hypervisor": "qemu-virt-smmu",
        "iommus": [SMMU],
        **platform,
    }
    (directory / "own.yaml").write_text(json.dumps(own))
    plain = {"image": {"elf": "guests/hello.elf"}, "memory": [{"at": 0x4000_0000, "size": "2 MiB"}]}
    domains = [
        {"name": "one", "cpus": [0], **plain, "devices": list(one), **domain},
        {"name": "two", "cpus": [1], **plain, "devices": list(two)},
    ]
    system = {"bulkhead": 1, "name": "system", "platform": "./own.yaml", "domains": domains}
    path = directory / "system.yaml"
    path.write_text(json.dumps(system))
    return path


def plan_of(path: Path) -> Plan:
    checked = check_file(str(path))
    assert checked.plan is not None, [one.cause for one in checked.problems]
    return checked.plan
