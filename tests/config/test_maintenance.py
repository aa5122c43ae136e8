# SPDX-License-Identifier: Apache-2.0
"""Domains whose maintenance is trapped, and what `check` reports about effects that others can still notice:
T5."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.admission.load import Loaded, load_system

BUDGET = {"events": 1000}


def loaded(directory: Path, *domains: dict[str, Any], unprotected: bool = False, **keys: Any) -> Loaded:
    """A system on the emulator's board, whose domains are named by their position."""
    written = [
        {"name": f"d{index}", "memory": [{"at": 0x4000_0000, "size": "4 MiB"}], **domain}
        | {"image": {"elf": "guests/hello.elf"}}
        for index, domain in enumerate(domains)
    ]
    system = {"bulkhead": 1, "name": "system", "platform": "qemu-virt", "domains": written, **keys}
    path = directory / "system.yaml"
    path.write_text(yaml.safe_dump(system))
    found = load_system(path, unprotected=unprotected)
    assert found.ok, found.problems
    return found


def asked(found: Loaded) -> list[str]:
    assert found.system is not None
    return [found.system.maintenance_of(domain) for domain in found.system.domains]


def noticed(found: Loaded) -> dict[str, str]:
    return {one.key: one.cause for one in found.notices if one.code == "maintenance-shared"}


REALTIME = {"cpus": [0], "criticality": "rt"}


def test_t5_translations_of_best_effort_domains_beside_real_time_ones_are_trapped(tmp_path: Path) -> None:
    assert asked(loaded(tmp_path, REALTIME, {"cpus": [1]})) == ["direct", "translations"]
    assert asked(loaded(tmp_path, {"cpus": [0]}, {"cpus": [1]})) == ["direct", "direct"]
    assert asked(loaded(tmp_path, REALTIME, {"cpus": [1], "criticality": "rt"})) == ["direct", "direct"]
    assert asked(loaded(tmp_path, REALTIME, {"cpus": [1]}, unprotected=True)) == ["direct", "direct"]


@pytest.mark.parametrize("word", ["direct", "translations", "trapped"])
def test_t5_what_a_domain_says_is_what_it_gets(tmp_path: Path, word: str) -> None:
    domains = [{**REALTIME, "maintenance": word}, {"cpus": [1], "maintenance": word}]
    assert asked(loaded(tmp_path, *domains)) == [word, word]


@pytest.mark.parametrize(
    ("disturber", "says"),
    [
        ({"cpus": [1], "maintenance": "direct"}, "TLB and cache invalidations of 'd1' act on all cores: "),
        ({"cpus": [1]}, "'d1' can invalidate the instruction caches of all cores: "),
        ({"cpus": [1], "maintenance": "trapped"}, None),
        ({"cpus": [1, 2], "maintenance": "trapped"}, "because it has several cores and no budget: "),
        ({"cpus": [1, 2], "maintenance": "trapped", "bandwidth": BUDGET}, None),
        ({"cpus": [1, 2], "bandwidth": BUDGET}, "'d1' can invalidate the instruction caches of all cores: "),
        ({"cpus": [1], "criticality": "rt"}, None),
    ],
)
def test_t5_check_says_what_still_reaches_real_time_domains(
    tmp_path: Path, disturber: dict[str, Any], says: str | None
) -> None:
    found = noticed(loaded(tmp_path, REALTIME, disturber))
    assert list(found) == ([] if says is None else ["domains[1].maintenance"])
    assert all(cause.endswith(f"{says}this can delay 'd0'") for cause in found.values())


def test_t5_nobody_is_disturbed_who_is_not_there_or_not_elsewhere(tmp_path: Path) -> None:
    direct = {"cpus": [1], "maintenance": "direct"}
    assert noticed(loaded(tmp_path, {"cpus": [0]}, direct)) == {}
    # On the same core they take turns; the effects of each are within its own time.
    shared = {"cpus": [1], "criticality": "rt"}
    assert noticed(loaded(tmp_path, shared, direct, regulation={"overcommit": True})) == {}
    assert noticed(loaded(tmp_path, REALTIME, direct, unprotected=True)) == {}
