# SPDX-License-Identifier: Apache-2.0
"""After a run: reads what the run left, calls the witnesses, and writes the run's files.

Called by `run_system`, and by tests with an artificial outcome. Writes only into the run's directory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from bulkhead.env.versions import used_json
from bulkhead.evidence.observer import FIRST_DOMAIN, ObserverResult, read_observer
from bulkhead.evidence.portions import check_portions
from bulkhead.evidence.simulated import SimulatedResult, read_simulated
from bulkhead.evidence.tables import TableWitness, check_tables
from bulkhead.results.run import RunResult
from bulkhead.run.path_costs import path_costs
from bulkhead.run.result import RunFacts, run_result
from bulkhead.run.session import RunOutcome
from bulkhead.run.status import SystemStatus, read_status
from bulkhead.run.status_mpam import read_mpam
from bulkhead.run.status_smmu import read_smmu
from bulkhead.run.target import Target


def conclude(
    target: Target,
    outcome: RunOutcome,
    *,
    version: str,
    commit: str,
    solo: Mapping[str, SimulatedResult] | None = None,
) -> RunResult:
    """The result of a run, also written as report.json. run.json gets what varies between equal runs."""
    image = outcome.image
    pages = [image.bytes_at(pa) for pa in target.status_frames] if image else []
    status = read_status(target.layout, pages)
    observer = None
    if target.observer_result is not None:
        observer = read_observer(target.observer_result, _owners(target))
        if isinstance(observer, ObserverResult):
            observer = replace(observer, hand=_broker_owner(target))
    facts = RunFacts(
        target=target,
        outcome=outcome,
        status=status,
        tables=_witness(target, outcome, status),
        observer=observer,
        simulated=simulated_result(target, outcome),
        solo=dict(solo or {}),
        version=version,
        commit=commit,
        fetched=used_json(),
    )
    if image is not None and isinstance(status, SystemStatus):
        pool = target.promise.pool_frames.tolist()
        facts.smmu = read_smmu(target.layout, status.smmu_frame, pool, image.bytes_at)
        if target.mpam is not None:
            facts.mpam = read_mpam(target.layout, status.mpam_frame, pool, image.bytes_at)
        facts.path_costs = path_costs(target.layout, status, pool, image.bytes_at)
    result = run_result(facts)
    _write(target, "report.json", result)
    _write(target, "run.json", _about(target, outcome))
    return result


def simulated_result(target: Target, outcome: RunOutcome) -> SimulatedResult | None:
    """The simulated machine's counts; None if the run was on the emulator or ended too early."""
    if outcome.simulated is None:
        return None
    owners = _owners(target)
    found = read_simulated(outcome.simulated, target.request, owners)
    portions = None
    if target.portions is not None:
        placed = outcome.simulated["levels"][target.portions.level]["placed"]
        portions = check_portions(target.portions, owners, placed)
    return replace(found, caches=replace(found.caches, hand=_broker_owner(target)), portions=portions)


def _owners(target: Target) -> list[str]:
    return ["nobody", "hypervisor", *(domain.name for domain in target.domains)]


def _broker_owner(target: Target) -> int | None:
    """The number as owner of the broker that has colors of the hypervisor; None: there is none. Two brokers
    have no colors in common."""
    promise = target.promise
    brokers = {exchange.broker for exchange in promise.exchanges}
    for owner, domain in enumerate(promise.domains, FIRST_DOMAIN):
        if domain.name in brokers and domain.colors & promise.hypervisor_colors:
            return owner
    return None


def _witness(target: Target, outcome: RunOutcome, status: SystemStatus | str) -> TableWitness | str:
    if isinstance(status, str):
        return status
    if outcome.image is None:
        return "the memory could not be read"
    if status.phase not in ("started", "ended"):
        return f"the hypervisor did not start (phase `{status.phase}`)"
    roots = {
        domain.name: entry.vttbr
        for domain, entry in zip(target.domains, status.domains, strict=False)
        if entry.vttbr
    }
    missing = [domain.name for domain in target.domains if domain.name not in roots]
    if missing:
        return f"the stage-2 root of {', '.join(missing)} is not known"
    registers = {
        domain.name: entry.vtcr for domain, entry in zip(target.domains, status.domains, strict=False)
    }
    return check_tables(
        target.promise,
        outcome.image.read_frame,
        roots,
        status.ttbr0_el2,
        registers,
        _smmu(target, outcome),
        outcome.registers or None,
    )


def _smmu(target: Target, outcome: RunOutcome) -> dict[int, int] | None:
    """The SMMU's registers by offset; None if they were not read."""
    smmu = target.promise.smmu
    if smmu is None or not outcome.registers:
        return None
    return {address - smmu.registers: value for address, value in outcome.registers.items()}


def _about(target: Target, outcome: RunOutcome) -> dict[str, Any]:
    """Contents of run.json: what differs between two otherwise equal runs."""
    return {
        "wall_s": round(outcome.wall_s, 3),
        "qemu_version": outcome.qemu_version,
        "command": list(outcome.command),
        "system_file": target.system_file,
        "package_sha256": target.package_sha256,
        "options": asdict(target.options),
    }


def _write(target: Target, name: str, content: Mapping[str, Any]) -> None:
    (target.directory / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
