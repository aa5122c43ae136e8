# SPDX-License-Identifier: Apache-2.0
"""Regulators in front of devices on the emulator, whose machines have none: a package for the emulator is
without them, and one that has them, as for the board, is refused (D5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.package.build import Build
from bulkhead.package.corrupt import field_place, patched_field, write_with_manifest

from .harness import MS, boot, domain, write_system

pytestmark = [pytest.mark.emulator, pytest.mark.req("D5"), pytest.mark.timeout(600)]

PAGE = 0xFE14_4000  # of the engine's regulator


def system(directory: Path) -> Path:
    owner = domain("owner", "hello", 0)
    keys = {"devices": ["adma"], "dma": "trusted", "device_rates": {"adma": "320 MB/s"}}
    return write_system(directory, {**owner, **keys}, platform="zcu102")


def test_a_run_says_that_nothing_is_regulated(tmp_path: Path) -> None:
    run = boot(system(tmp_path), tmp_path / "run", for_ns=50 * MS)
    assert run.status is not None and run.status.phase == "ended"
    (rate,) = run.domain("owner")["device_rates"]
    assert (rate["regulated"], rate["charged_bytes_per_s"]) == (False, 312_500_000)


def test_a_regulator_that_does_not_hold_its_rate_is_refused(tmp_path: Path) -> None:
    places = []

    def change(built: Build) -> None:
        manifest = built.manifest.read_bytes()
        changed = manifest
        for field, value in (("page_0", PAGE), ("reads[0]", 10), ("writes[0]", 10)):
            changed = patched_field(changed, built.layout, f"device_regulators.{field}", value)
        places.append(field_place(manifest, built.layout, "device_regulators.page_0")[0])
        write_with_manifest(built.elf, built.elf, manifest, changed)

    run = boot(system(tmp_path), tmp_path / "run", change, for_ns=50 * MS)
    assert run.lines() == [
        f"the regulator at {PAGE:x} does not hold what is written to it",
        f"refused: hardware (error 24) at offset {places[0]} of the manifest",
    ]
    assert any("`qos`" in reason for reason in run.result["reasons"]), run.result["reasons"]
