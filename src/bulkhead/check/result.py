# SPDX-License-Identifier: Apache-2.0
"""Results of checks, as the object that `check --json` prints."""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.admission.masters import unconfined
from bulkhead.check.files import Checked
from bulkhead.envelope import result_object
from bulkhead.mxu.result import components_json
from bulkhead.planning.demands import Admission, admission_of
from bulkhead.planning.device_rates import rates_of
from bulkhead.planning.flow_result import flows_json
from bulkhead.planning.left import usage_of
from bulkhead.planning.model import Plan
from bulkhead.planning.shares import rows_of
from bulkhead.planning.socket_pool import reach_of
from bulkhead.results.admitted import AdmittedResult
from bulkhead.results.check import (
    BandwidthResult,
    CheckedFileResult,
    CheckResult,
    PromisedResult,
    Stage2TablesResult,
)
from bulkhead.results.device_rate import DeviceRateResult


def check_json(checked: Sequence[Checked]) -> CheckResult:
    files: list[CheckedFileResult] = [
        {
            "file": one.loaded.file,
            "system": one.loaded.system.name if one.loaded.system else None,
            "platform": one.loaded.platform.name if one.loaded.platform else None,
            "platform_sha256": one.loaded.platform_sha256,
            "verdict": "error" if one.problems else "ok",
            "errors": [problem.json() for problem in one.problems],
            "notices": [notice.json() for notice in one.notices],
            "unchecked": list(one.unchecked),
            "promised": _promised_by(one),
        }
        for one in checked
    ]
    single = checked[0].loaded if len(checked) == 1 else None
    common = result_object(
        "check",
        system=single.system.name if single and single.system else None,
        platform=single.platform.name if single and single.platform else None,
        verdict="error" if any(one.problems for one in checked) else "ok",
        reasons=[problem.text() for one in checked for problem in one.problems],
    )
    return {**common, "files": files}


def _promised_by(one: Checked) -> PromisedResult | AdmittedResult | None:
    if one.components is not None and not one.problems:
        return components_json(one.components)
    return _promised(one.plan) if one.plan else None


def _promised(plan: Plan) -> PromisedResult:
    free, rates, reach = unconfined_names(plan), device_rates_json(plan), reach_of(plan)
    cores = {core for domain in plan.domains for core in domain.cpus}
    return {
        "colors": plan.space.count if plan.space.bits else 0,
        "owners": [
            {
                "name": row.owner,
                "colors": None if row.colors is None else sorted(row.colors),
                "capacity_bytes": row.capacity_bytes,
                "used_bytes": row.used_bytes,
                "free_bytes": row.free_bytes,
            }
            for row in usage_of(plan)
        ],
        "domains": [
            {
                "name": domain.name,
                "cpus": list(domain.cpus),
                "unconfined_devices": free[domain.name],
                "device_rates": rates[domain.name],
                "maps": domain.maps,
                "segments": len(domain.segments),
                "fragmented_bytes": domain.fragmented_bytes,
                "broker_reach_bytes": reach.get(domain.name, 0),
                "premap": domain.premap,
            }
            for domain in plan.domains
        ],
        "cores_left": sorted(set(range(plan.platform.cores.count)) - cores),
        "shares": [row.json() for row in rows_of(plan)],
        "bandwidth": _bandwidth(admission_of(plan.system, plan.platform)),
        "stage2_tables": _tables_json(plan),
        "flows": None if plan.flows is None else flows_json(plan.flows),
        "further_brokers": [flows_json(broker) for broker in plan.brokers[1:]],
    }


def unconfined_names(plan: Plan) -> dict[str, list[str]]:
    """For each trusted domain, its devices that can access all memory."""
    return {
        domain.name: [device.name for device in unconfined(domain, plan.platform)]
        for domain in plan.system.domains
    }


def device_rates_json(plan: Plan) -> dict[str, list[DeviceRateResult]]:
    """For each domain, the memory bandwidth of its devices."""
    return {
        domain.name: [one.json() for one in rates_of(plan.system, domain, plan.platform)]
        for domain in plan.system.domains
    }


def _bandwidth(found: Admission) -> BandwidthResult:
    return {
        "guaranteed_bytes_per_s": found.guaranteed,
        "guaranteed_source": found.source or None,
        "simulated_bytes_per_s": found.simulated,
        "bounded_bytes_per_s": found.bounded,
        "overcommitted": found.exceeded,
        "domains": [
            {
                "name": one.domain,
                "bytes_per_s": one.bytes_per_s,
                "regulated": one.regulated,
                "accesses": None if one.accesses is None else one.accesses.json(),
            }
            for one in found.demands
        ],
    }


def _tables_json(plan: Plan) -> Stage2TablesResult | None:
    if plan.tables is None:
        return None
    tables = plan.tables.plan
    return {
        "regions": [one.json(past_caches=tables.past_caches(one)) for one in tables.regions],
        "resources": [one.json() for one in tables.resources],
    }
