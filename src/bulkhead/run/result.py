# SPDX-License-Identifier: Apache-2.0
"""Composes the object that `bulkhead run --json` prints, and decides the verdict.

Called after a run with everything that was seen. Pure functions without files, processes or clocks, so that
equal facts give equal objects.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bulkhead.evidence.mpam_promise import MpamPromise
from bulkhead.evidence.observer import ObserverResult
from bulkhead.evidence.simulated import SimulatedResult
from bulkhead.evidence.tables import TableWitness
from bulkhead.results.envelope import FetchedResult
from bulkhead.results.run import (
    AttemptResult,
    DomainResult,
    HypervisorResult,
    InterferenceResult,
    LlcResult,
    MonitoredResult,
    RunResult,
    VcpuResult,
)
from bulkhead.results.witness import MissingWitness, RegisterWitnessResult, WitnessResults
from bulkhead.run.budget import budget_reasons, events_of, regulation_of, regulation_reasons
from bulkhead.run.chains import chain_reasons, chains_json, chains_not_measured
from bulkhead.run.console import HYPERVISOR, ConsoleLog, ConsoleParser
from bulkhead.run.expect import expectation_reasons, expectations
from bulkhead.run.flows import failed_sockets, flow_reasons, flows_json, flows_of, flows_without_packets
from bulkhead.run.interference import interference, interference_reasons
from bulkhead.run.mpam import monitored, mpam_json, witness_of
from bulkhead.run.path_costs import Costs, path_costs_json
from bulkhead.run.refusal import explained
from bulkhead.run.samples import RingPlaces
from bulkhead.run.session import RunOutcome
from bulkhead.run.shared_core import shared_cores, shared_reasons
from bulkhead.run.status import CoreStatus, DomainStatus, SystemStatus
from bulkhead.run.status_mpam import HYPERVISOR as HYPERVISOR_OWNER
from bulkhead.run.status_mpam import MpamStatus
from bulkhead.run.status_smmu import SmmuStatus
from bulkhead.run.target import DomainTarget, Target

Json = dict[str, object]


@dataclass
class RunFacts:
    """Everything that is known after a run. A string in place of a value is the reason why it is missing."""

    target: Target
    outcome: RunOutcome
    status: SystemStatus | str
    tables: TableWitness | str
    observer: ObserverResult | str | None  # None: not requested
    simulated: SimulatedResult | None  # None: not a run of the simulated machine
    version: str
    commit: str
    solo: dict[str, SimulatedResult] = field(default_factory=dict)  # by domain: its run alone
    reasons: list[str] = field(default_factory=list)
    fetched: dict[str, FetchedResult] = field(default_factory=dict)  # kernels, emulators and the like
    path_costs: Costs = field(default_factory=dict)  # of a system with `stamps: true`
    mpam: MpamStatus | str | None = None  # None: no MPAM, or the run left nothing
    smmu: SmmuStatus | None = None  # None: the hypervisor drives none, or the run left nothing

    @property
    def caches(self) -> ObserverResult | None:
        """Evictions between owners, from the witness that observed them."""
        if self.simulated is not None:
            return self.simulated.caches
        return self.observer if isinstance(self.observer, ObserverResult) else None


def run_result(facts: RunFacts) -> RunResult:
    """The result of the run, with its verdict and the reasons for it."""
    target, options = facts.target, facts.target.options
    reasons = list(facts.reasons)
    reasons += _ending_reasons(facts)
    domains = [_domain(facts, index, reasons) for index in range(len(target.domains))]
    expected = expectations(target.domains, domains, options)
    reasons += expectation_reasons(expected)
    attempts = _attempts(facts, reasons)
    interfered = _interference(facts, domains, reasons)
    witnesses = _witnesses(facts, reasons)
    status = facts.status if isinstance(facts.status, SystemStatus) else None
    shared = shared_cores(status, target.domains, target.policy) if status else []
    reasons += shared_reasons(shared)
    if target.regulator is not None and status is not None:
        reasons += regulation_reasons(target.regulator, status.regulation, _regulated_ns(target, status))
    names = [domain.name for domain in target.domains]
    flows = flows_of(target.flows, status.flows, names) if status else []
    unheard_ns = (
        {name: one.unheard_ns for name, one in zip(names, status.domains, strict=False)} if status else {}
    )
    reasons += flow_reasons(flows, options.on, unheard_ns, status.transfer_ns if status else ())
    chains = chains_json(target.chains, {domain["name"]: domain["report"] for domain in domains})
    guest_ns, clock = _guest_time(facts)
    ran_ns = {
        one["name"]: (guest_ns or 0) - ready for one in domains if (ready := one["ready_ns"]) is not None
    }
    reasons += chain_reasons(chains, options.on, ran_ns)
    result: RunResult = {
        "bulkhead": {"version": facts.version, "commit": facts.commit},
        "command": "run",
        "system": target.system,
        "platform": target.platform,
        "platform_sha256": target.platform_sha256,
        "package_sha256": target.package_sha256,
        "fetched": dict(facts.fetched),
        "on": options.on,
        "seed": options.seed,
        "options": {
            "for_ns": options.for_ns,
            "observe": options.observe,
            "unprotected": options.unprotected,
            "miscolor": options.miscolor,
            "mislabel": options.mislabel,
            "misprogram": options.misprogram,
            "misplace": options.misplace,
            "icount": options.icount,
            "boot": options.boot,
            "set": list(options.overrides),
        },
        "verdict": "failed" if reasons else "ok",
        "reasons": reasons,
        "not_shown": [
            *flows_without_packets(flows),
            *failed_sockets(dict(zip(names, status.domains, strict=False)) if status else {}),
            *chains_not_measured(chains),
        ],
        "notices": list(target.notices),
        "ended": facts.outcome.how,
        "guest_ns": guest_ns,
        "guest_ns_by": clock,
        "domains": domains,
        "attempts": attempts,
        "interference": interfered,
        "witnesses": witnesses,
        "hypervisor": _hypervisor(facts, status),
        "coloring": {
            "enabled": target.colored,
            "colors": target.color_count,
            "granule_bytes": target.granule_bytes,
            "color_bits": f"{target.promise.color_bits:#x}",
        },
    }
    if expected:
        result["expectations"] = expected
    if shared:
        result["shared_cores"] = shared
    if flows:
        result["flows"] = flows_json(flows)
    if chains:
        result["chains"] = chains
    if facts.path_costs and status is not None and status.counter_hz:
        result["path_costs"] = path_costs_json(facts.path_costs, status.counter_hz)
    _add_mechanism(facts, status, result)
    if target.regulator is not None and status is not None and status.regulation is not None:
        result["regulation"] = regulation_of(target.regulator, status.regulation, status.device_limits)
    if facts.simulated is not None:
        result["digest"] = facts.simulated.digest
        result["simulated_ns"] = facts.simulated.simulated_ns
        result["dram"] = facts.simulated.dram
    return result


def _hypervisor(facts: RunFacts, status: SystemStatus | None) -> HypervisorResult:
    target = facts.target
    part: HypervisorResult = {
        "program": target.program,
        "phase": status.phase if status else None,
        "pool_frames": status.pool_frames if status else None,
        "pool_used": status.pool_used if status else None,
        "exit_reasons": _summed(status.cores) if status else {},
        "llc": facts.caches.hypervisor_json() if facts.caches is not None else None,
        "colors": _colors(target, target.promise.hypervisor_colors),
    }
    rings = [core for core in status.cores if core.samples_bytes] if status else []
    if rings:
        places = RingPlaces(target.promise.pool_frames, target.on_chip_frames)
        part["samples_in"] = "on-chip memory" if places.on_chip(rings[0]) else "RAM"
    if (rows := _monitored(facts, HYPERVISOR_OWNER)) is not None:
        part["mpam"] = rows
    if facts.smmu is not None:
        part["smmu"] = facts.smmu.as_json()
    return part


def _add_mechanism(facts: RunFacts, status: SystemStatus | None, result: RunResult) -> None:
    """Adds the mechanisms that divide cache and bandwidth, and MPAM's data."""
    target, chosen = facts.target, facts.target.mechanism
    if chosen is None:
        return
    result["mechanism"] = {
        "llc": chosen.llc,
        "llc_reason": chosen.llc_reason,
        "bandwidth": chosen.bandwidth,
        "bandwidth_reason": chosen.bandwidth_reason,
    }
    if target.mpam is not None and isinstance(facts.mpam, MpamStatus) and status is not None:
        result["mpam"] = mpam_json(target.mpam, facts.mpam, status.counter_hz)


def _monitored(facts: RunFacts, owner: int) -> list[MonitoredResult] | None:
    if facts.target.mpam is None or not isinstance(facts.mpam, MpamStatus):
        return None
    return monitored(facts.target.mpam, facts.mpam, owner)


def _guest_time(facts: RunFacts) -> tuple[int | None, str | None]:
    """Guest time in ns from the start of the hypervisor to the end of the run, and its clock: `hypervisor`;
    `machine` (the simulated one); `host`, which the emulator's clock follows; `console`: at least the time of
    its newest line."""
    status = facts.status if isinstance(facts.status, SystemStatus) else None
    outcome = facts.outcome
    if status is not None and status.guest_ns is not None:
        return status.guest_ns, "hypervisor"
    if outcome.simulated_ns is not None:
        started = status.started_at * 10**9 // status.counter_hz if status and status.counter_hz else 0
        return max(0, outcome.simulated_ns - started), "machine"
    if outcome.told_ns is not None:
        return outcome.told_ns, "hypervisor"
    if outcome.host_ns is not None:
        return outcome.host_ns, "host"
    return (outcome.console.time_ns, "console") if outcome.console else (None, None)


def _regulated_ns(target: Target, status: SystemStatus) -> int | None:
    """How long the regulated domain that began first has run; None: none runs, or the time is not known."""
    if status.guest_ns is None:
        return None
    ran = [
        status.guest_ns - seen.started_ns
        for domain, seen in zip(target.domains, status.domains, strict=False)
        if domain.budget is not None and domain.budget.regulated
        if seen.state == "running" and seen.started_ns is not None
    ]
    return max(ran, default=None)


def _guest_text(facts: RunFacts) -> str:
    ns, clock = _guest_time(facts)
    return ("at least " if clock == "console" else "") + _seconds(ns)


def _ending_reasons(facts: RunFacts) -> list[str]:
    """Reasons why the run as a whole failed."""
    outcome, reasons = facts.outcome, []
    if outcome.how in ("failed", "died"):
        reasons.append(outcome.detail)
    elif outcome.how == "timeout":
        reasons.append(f"{outcome.detail} (wall time); guest time was {_guest_text(facts)}")
    elif outcome.how == "interrupted" and (facts.target.options.for_ns or "SIGINT" not in outcome.detail):
        reasons.append(f"interrupted {outcome.detail} after {_guest_text(facts)} of guest time")
    status = facts.status
    if isinstance(status, str):
        if outcome.image is not None:
            said = explained(_hypervisor_said(outcome.console), facts.target.layout)
            reasons.append(status + (f"; its last line: {said}" if said else ""))
        return reasons
    if status.phase == "refused":
        name = status.refusal_name or f"code {status.refusal}"
        said = explained(_hypervisor_said(outcome.console), facts.target.layout)
        reasons.append(
            f"the hypervisor refused the manifest: {name} at offset {status.refusal_offset}"
            + (f" ({said})" if said else "")
        )
    elif status.phase == "panicked":
        said = _hypervisor_said(outcome.console)
        reasons.append("the hypervisor panicked" + (f": {said}" if said else ""))
    elif status.phase == "boot":
        reasons.append("the hypervisor did not finish its start")
    return reasons


def _hypervisor_said(console: ConsoleParser | None) -> str:
    lines = console.domains[HYPERVISOR].lines if console else ()
    return next((line for line in reversed(lines) if "refus" in line or "panic" in line), "")


def _domain(facts: RunFacts, index: int, reasons: list[str]) -> DomainResult:
    target = facts.target.domains[index]
    status = facts.status if isinstance(facts.status, SystemStatus) else None
    domain = status.domains[index] if status and index < len(status.domains) else None
    cores = [one for core in status.cores if (one := core.vcpu_of(index))] if status else []
    console = facts.outcome.console.domains[target.name] if facts.outcome.console else ConsoleLog()
    state = _state(domain) if domain else "unknown"
    result: DomainResult = {
        "name": target.name,
        "criticality": "rt" if target.realtime else "best-effort",
        "state": state,
        "exit_reasons": _summed(cores),
        "ready_ns": console.ready_ns if console.ready_ns is not None else console.prompt_ns,
        "prompt_ns": console.prompt_ns,
        "vcpus": [_vcpu(core) for core in sorted(cores, key=lambda c: c.vcpu)],
        "report": console.report,
        "seen": dict(console.seen),
        "console_lines": console.line_count,
        "colors": _colors(facts.target, target.colors),
        "restarts": domain.restarts if domain else 0,
        "socket_failures": domain.socket_failures if domain else 0,
        "unconfined_devices": list(target.unconfined),
        "device_rates": [one.json() for one in target.device_rates],
    }
    if target.budget is not None:
        result["events"] = events_of(target.budget, target.event, cores)
        restarted = domain is not None and domain.restarts != 0
        reasons += budget_reasons(target.name, target.budget, target.event, cores, restarted=restarted)
    if domain and state != "running":
        _add_ending(domain, result)
    if facts.caches is not None:
        llc = facts.caches.domain_json(index)
        result["llc"] = llc
        _promise_of_eviction(facts, target, llc, reasons)
    if (rows := _monitored(facts, index)) is not None:
        result["mpam"] = rows
    if facts.smmu is not None:
        result["refused_accesses"] = facts.smmu.refused[index]
    if facts.simulated is not None:
        result["activity"] = facts.simulated.activity(target.cores).as_json()
    if (slowdown := _slowdown(facts, target)) is not None:
        result["slowdown"] = slowdown
    if domain and status and status.phase in ("started", "ended"):
        reasons += _state_reason(target, domain)
    return result


def _slowdown(facts: RunFacts, target: DomainTarget) -> float | None:
    """Time per instruction of its cores in this run, divided by that of its run alone."""
    alone = facts.solo.get(target.name)
    if facts.simulated is None or alone is None:
        return None
    beside = facts.simulated.activity(target.cores).ps_per_instruction
    by_itself = alone.activity(target.cores).ps_per_instruction
    return round(beside / by_itself, 4) if beside and by_itself else None


def _attempts(facts: RunFacts, reasons: list[str]) -> list[AttemptResult]:
    """Attempts of hostile domains; adds reasons if they do not show that the domains are contained."""
    if facts.outcome.console is None:
        return []
    found: list[AttemptResult] = []
    for target in facts.target.domains:
        log = facts.outcome.console.domains[target.name].attempts
        found += [attempt.as_json(target.name) for attempt in log.attempts]
        reasons += log.reasons(target.name)
    return found


def _interference(
    facts: RunFacts, domains: list[DomainResult], reasons: list[str]
) -> list[InterferenceResult]:
    """Comparisons of real-time domains that measured themselves before and during an attack."""
    names = facts.target.layout.enum("exit_reason")
    ordered = sorted(names, key=lambda name: names[name])
    found: list[InterferenceResult] = []
    for target, domain in zip(facts.target.domains, domains, strict=True):
        one = interference(target.name, domain["report"], ordered) if target.realtime else None
        if one is not None:
            found.append(one)
            reasons += interference_reasons(one)
    return found


def _state(domain: DomainStatus) -> str:
    """State for the user: a domain that restarts has not ended."""
    return "running" if domain.state == "restarting" else domain.state


def _promise_of_eviction(facts: RunFacts, target: DomainTarget, llc: LlcResult, reasons: list[str]) -> None:
    evicted = llc["evicted_by_others"]
    if facts.target.cache_colored and evicted > 0:
        reasons.append(
            f"domain {target.name}: others evicted {evicted} of its LLC lines, although no other domain "
            "has its colors"
        )


def _state_reason(target: DomainTarget, domain: DomainStatus) -> list[str]:
    if _state(domain) in ("running", target.expected):
        return []
    if domain.state not in ("stopped", "crashed"):
        return [f"domain {target.name}: its state is `{domain.state}`"]
    when = f" after {_seconds(domain.ended_ns)}" if domain.ended_ns is not None else ""
    why = domain.end.replace("_", " ")
    where = ""
    if domain.state == "crashed":
        fault = domain.fault_pc, domain.fault_syndrome, domain.fault_address
        where = " (pc {:#x}, syndrome {:#x}, address {:#x})".format(*fault)
    wanted = f", expected {target.expected}" if target.expected else ""
    return [f"domain {target.name} {domain.state}{when}: {why}{where}{wanted}"]


def _add_ending(domain: DomainStatus, result: DomainResult) -> None:
    result["end"] = domain.end
    result["ended_ns"] = domain.ended_ns
    if domain.state == "crashed":
        result["fault"] = {
            "pc": f"{domain.fault_pc:#x}",
            "syndrome": f"{domain.fault_syndrome:#x}",
            "address": f"{domain.fault_address:#x}",
        }


def _witnesses(facts: RunFacts, reasons: list[str]) -> WitnessResults:
    result: WitnessResults = {}
    if isinstance(facts.observer, ObserverResult):
        observed = facts.observer.witness_json(facts.target.cache_colored)
        if unseen := _not_reported(facts.target):
            observed["unseen"] = unseen
        result["observer"] = observed
    if facts.simulated is not None:
        result["machine"] = facts.simulated.caches.witness_json(facts.target.cache_colored)
        if not facts.simulated.caches.started:
            reasons.append("machine: the hypervisor did not report that all domains had started")
    if facts.simulated is not None and (found := facts.simulated.portions) is not None:
        result["portions"] = found.as_json()
        result["machine"]["judged_by"] = "portions"  # EL2 evicts lines of domains in its own portions
        reasons += _first_of("portions", [one.text for one in found.findings], len(found.findings))
    if facts.target.mpam is not None:
        result["mpam"] = _registers(facts, facts.target.mpam, reasons)
    if isinstance(facts.observer, str):
        result["observer"] = {"verdict": "missing", "reason": facts.observer}
        reasons.append(f"observer: {facts.observer}")
    if isinstance(facts.tables, str):
        result["tables"] = {"verdict": "missing", "reason": facts.tables}
        if isinstance(facts.status, SystemStatus) and facts.status.phase in ("started", "ended"):
            reasons.append(f"tables: {facts.tables}")
    else:
        result["tables"] = facts.tables.as_json(_not_bound(facts.target))
        if not facts.tables.ok:
            texts = [one.text for one in facts.tables.findings] or ["no table was found"]
            reasons += _first_of("tables", texts, facts.tables.findings_total)
    return result


def _first_of(name: str, texts: list[str], total: int) -> list[str]:
    """The reason for a broken witness: its first finding, and the number of further ones."""
    more = f", and {total - 1} more" if total > 1 else ""
    return [f"{name}: {texts[0]}{more}"] if texts else []


def _registers(
    facts: RunFacts, promise: MpamPromise, reasons: list[str]
) -> RegisterWitnessResult | MissingWitness:
    """The witness `mpam`. If it is missing, that is a reason only for a run that started."""
    started = isinstance(facts.status, SystemStatus) and facts.status.phase in ("started", "ended")
    status = facts.mpam if facts.mpam is not None else "the memory could not be read"
    found = witness_of(promise, status)
    if isinstance(found, str):
        reasons += [f"mpam: {found}"] if started else []
        return {"verdict": "missing", "reason": found}
    if not found.ok:
        texts = [one.text for one in found.findings] or ["the dump of registers is empty"]
        reasons += _first_of("mpam", texts, found.findings_total)
    return found.as_json()


def _not_bound(target: Target) -> list[str]:
    """Accesses that bypass the tables, so that correct tables do not confine them."""
    return [f"DMA of {device} ({domain.name})" for domain in target.domains for device in domain.unconfined]


def _not_reported(target: Target) -> list[str]:
    """Accesses of devices, which the emulator does not report to its plugins. SMMU and tables confine them,
    which the table witness checks."""
    return [f"DMA of {one.device} ({one.domain})" for domain in target.domains for one in domain.device_rates]


def _vcpu(core: CoreStatus) -> VcpuResult:
    return {
        "vcpu": core.vcpu,
        "core": core.core,
        "exits": sum(core.exits.values()) if core.attributed else None,
        "injected": core.injected if core.attributed else None,
        "list_register_full": core.list_register_full if core.attributed else None,
        "idle": core.idle,
    }


def _summed(cores: list[CoreStatus]) -> dict[str, int]:
    total: dict[str, int] = {}
    for core in cores:
        for reason, count in core.exits.items():
            total[reason] = total.get(reason, 0) + count
    return total


def _colors(target: Target, colors: tuple[int, ...] | frozenset[int] | None) -> list[int] | None:
    return sorted(colors) if target.colored and colors is not None else None


def _seconds(ns: int | None) -> str:
    return "unknown" if ns is None else f"{ns / 1e9:.3f} s"
