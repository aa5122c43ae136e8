# SPDX-License-Identifier: Apache-2.0
"""One sentence for each part of a run's result: budgets, shared cores, the regulator, witnesses.

Called by the terminal's report and by the page, so that both show the same text. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bulkhead.report.load import Json, LoadedRun
from bulkhead.report.numbers import count, rate
from bulkhead.run.target import MACHINE
from bulkhead.units import duration


def guest_time(run: LoadedRun) -> str:
    """Length of the run; a lower bound if no clock could be read at its end."""
    at_least = "at least " if run.report.get("guest_ns_by") == "console" else ""
    return at_least + duration(run.report.get("guest_ns"))


def verdict_text(run: LoadedRun) -> str:
    """The last line of the report: what the run has shown, and what it has not."""
    if not run.ok:
        reasons = len(run.report.get("reasons", []))
        return f"{run.report.get('verdict')}: {reasons} reason{'s' if reasons != 1 else ''} above"
    held = "every promise held" if run.protected else "all domains as expected, caches not divided,"
    trust = trust_text(run)
    text = f"ok: {held} for {guest_time(run)} of guest time" + (f", {trust}" if trust else "")
    if not run.not_shown:
        return text
    number = len(run.not_shown)
    return f"{text}; {number} promise{'s were' if number != 1 else ' was'} not tested, see above"


def flows_text(run: LoadedRun) -> str:
    """What the latencies of flows mean: on the emulator they depend on the host, or on cores that run by
    turns."""
    if run.report.get("on") != MACHINE:
        whose = "of counted time, with one core at a time" if run.own_time else "those of the emulator's host"
        return f"latencies are {whose}: `run --on machine` judges deadlines"
    keys = ("misses", "packets", "control_packets")
    late, packets, control = (sum(flow[key] for flow in run.flows) for key in keys)
    if not packets and not late:
        return "no packet moved"
    earlier = sum(flow.get("replaced_misses", 0) for flow in run.flows)
    beside = f", and {count(earlier)} of flows that were closed" if earlier else ""
    return f"{count(late)} of {count(packets + control)} packets were late{beside}"


def flows_kept(run: LoadedRun) -> bool | None:
    """Whether every packet was in time; None: this run cannot tell, or a flow had no packets."""
    if run.report.get("on") != MACHINE:
        return None
    if any(flow["misses"] or flow.get("replaced_misses") for flow in run.flows):
        return False
    return True if all(flow["packets"] for flow in run.flows) else None


def chain_text(chain: Json) -> str:
    """The longest time of a chain beside its bound."""
    ends = f"chain {chain['name']}, {chain['client']} to {chain['server']} and back"
    bound = f"bound {duration(chain['bound_ns'])}, deadline {duration(chain['deadline_ns'])}"
    if chain["longest_ns"] is None:
        return f"{ends}: no answer was reported; {bound}"
    longest = duration(chain["longest_ns"])
    if not chain["answered"]:
        return f"{ends}: no answer, {longest} after a request; {bound}"
    return f"{ends}: {count(chain['answered'])} answers, at most {longest} after the request; {bound}"


def chain_kept(chain: Json, run: LoadedRun) -> bool | None:
    """Whether a chain kept to its bound; None: this run cannot tell."""
    if run.report.get("on") != MACHINE or chain["longest_ns"] is None:
        return None
    return bool(chain["longest_ns"] <= chain["bound_ns"])


def budget_text(events: Mapping[str, Any]) -> str:
    """How a domain kept to its budget, in one sentence."""
    shared = ", shared by its VCPUs" if events.get("shared") else ""
    limits = [one for one in events["vcpus"] if "budget_mean" in one]
    if limits:
        least, most = min(one["budget_min"] for one in limits), max(one["budget_max"] for one in limits)
        means = ", ".join(count(round(one["budget_mean"])) for one in limits)
        budget = f"on average {means} ({count(least)} to {count(most)})"
    elif events["budget"] is None:
        budget = "any number of"
    elif "accesses" in events:
        budget = f"{count(events['budget'])} and {count(events['accesses']['budget'])}"
    elif "write_budget" in events:
        budget = f"{count(events['budget'])} and {count(events['write_budget'])}"
    else:
        budget = count(events["budget"])
    latest = events.get("latest")
    changed = (
        f", changed {_times(events['changes'])} to {count(latest['budget'])} in "
        f"{duration(latest['period_ns'])}"
        if latest
        else ""
    )
    period = duration(events["period_ns"])
    return f"{budget} {events['event']} in each {period}{shared}{changed}; " + _kept_text(events)


def _kept_text(events: Mapping[str, Any]) -> str:
    if not events["periods"]:
        return "no period of it has ended"
    most = count(events["max_per_period"])
    if "accesses" in events:
        most += f" and {count(events['accesses']['max_per_period'])}"
    return (
        f"at most {most} on a core, "
        f"{_beyond_text(events['overshoot_max'])}, "
        f"stopped in {count(events['throttled_periods'])} of {count(events['periods'])} periods"
        + _late_text(events)
        + _reclaim_text(events["vcpus"])
    )


def _late_text(events: Mapping[str, Any]) -> str:
    late = events.get("late_periods", 0)
    return f", of which {count(late)} ended late" if late else ""


def _beyond_text(overshoot: int) -> str:
    """Overshoot beyond the budget of the period in which it occurred, as the hypervisor counted it."""
    return f"{count(overshoot)} beyond a period's budget" if overshoot else "never beyond a period's budget"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{count(number)} times"


def _reclaim_text(vcpus: list[Json]) -> str:
    given = [one for one in vcpus if "given" in one]
    if not given:
        return ""
    sums = {key: sum(one[key] for one in given) for key in ("given", "drawn", "violations")}
    gave, drew, missed = (count(number) for number in sums.values())
    return f"; gave {gave}, drew {drew}, missed its own in {missed}"


def regulation_text(found: Json) -> str:
    """What the regulator did, in one sentence."""
    together, load = found["global_events"], found["load"]
    intervals = f"{count(found['intervals'])} intervals of {duration(found['interval_ns'])}"
    return (
        f"regulation {found['policy']}: {intervals}, {count(found['missed'])} missed, "
        f"{count(found['late'])} late; together {count(round(together['mean']))} events "
        f"({count(together['min'])} to {count(together['max'])}), "
        f"load {load['mean']:.1%} ({load['min']:.1%} to {load['max']:.1%})"
        f"{''.join(_regulated_device_text(one) for one in found.get('devices', ()))}"
    )


def _regulated_device_text(device: Json) -> str:
    rate = {key: f"{value / 1e6:.0f}" for key, value in device["bytes_per_s"].items()}
    return f"; {device['name']} may move {rate['mean']} MB/s ({rate['min']} to {rate['max']})"


def shared_core_kept(core: Mapping[str, Any]) -> bool:
    """Whether all promises of a shared core were kept and every ready VCPU got the core."""
    return all(promise["kept"] for promise in core["promises"].values()) and not core.get("starved")


def expectation_text(one: Json) -> str:
    """An expectation of the system file, and what was seen."""
    judged = "" if one["met"] is not None else "; not judged"
    return f"expected {one['expected']}: {one['seen']}{judged}"


def shared_core_text(core: Json, run: LoadedRun) -> str:
    """The promises of a shared core, and each VCPU's share of it."""
    guest_ns = run.rated_ns
    promises = core["promises"]
    said = [
        f"{_listed(names)} {word}"
        for word, kept in (("kept", True), ("broken", False))
        if (names := [name for name, promise in promises.items() if promise["kept"] is kept])
    ]
    if core.get("starved"):
        said.append(f"{_listed(core['starved'])} never had the core")
    ran = ", ".join(f"{vcpu['domain']} {_share(vcpu['run_ns'], guest_ns)}" for vcpu in core["vcpus"])
    exits = rate(sum(core["exit_reasons"].values()), guest_ns)
    if core["scheduler"] == "fixed-priority":
        ran += f"; {_release_delays(core)}"
    return (
        f"shared ({core['scheduler']}): {'; '.join(said)}; had the core: {ran}; "
        f"{count(core['switches'])} switches, {exits} exits/s"
    )


def _release_delays(core: Json) -> str:
    """The longest release delays; old results have none."""
    each = [
        f"{vcpu['domain']} {duration(found['max_ns'])}"
        for vcpu in core["vcpus"]
        if (found := vcpu.get("release_delay"))
    ]
    bound = core.get("release_bound_ns")
    limit = f" (bound {duration(bound)})" if bound is not None else ""
    return f"longest release delays{limit}: {', '.join(each) or 'not known'}"


def _share(ns: int, of_ns: Any) -> str:
    return f"{ns / of_ns:.1%}" if isinstance(of_ns, int) and of_ns > 0 else duration(ns)


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def interference_text(found: Json) -> str:
    """What a real-time domain measured before and during an attack, in one sentence."""
    exits = "the same" if found.get("held") else "not the same (" + ", ".join(found["differing"]) + ")"
    jitter = []
    for key, when in (("before", "before the attack"), ("after", "during it")):
        summary = found[key]["jitter_ns"]
        jitter.append(f"{when}: mean {duration(summary['mean'])}, max {duration(summary['max'])}")
    return f"exits of its core per release {exits} before and during the attack; jitter {'; '.join(jitter)}"


def mpam_text(mpam: Json) -> str:
    """The hypervisor's costs for MPAM's components, in one sentence."""
    number = mpam["components"]
    return (
        f"MPAM {mpam['version']}: {count(mpam['writes'])} writes to {number} component"
        f"{'s' if number != 1 else ''}, start {duration(mpam['start_ns'])}; "
        f"{count(mpam['reads'])} reads of monitors, mean {duration(mpam['read_mean_ns'])}, "
        f"max {duration(mpam['read_max_ns'])}"
        + (f"; {count(without)} partitions without a monitor" if (without := mpam["without_monitor"]) else "")
    )


def trust_text(run: LoadedRun) -> str:
    """The condition of the verdict: trust in domains with devices that reach all memory. Empty: none."""
    trusted = [
        f"{domain['name']} with the DMA of {_listed(devices)}"
        for domain in run.domains
        if (devices := domain.get("unconfined_devices"))
    ]
    return f"if you trust {_listed(trusted)}" if trusted else ""


def device_texts(run: LoadedRun) -> list[str]:
    """What limits the memory traffic of each device that masters memory, or what is known of it."""
    return [
        _device_text(device, domain["name"])
        for domain in run.domains
        for device in domain.get("device_rates", ())
    ]


def _device_text(device: Json, domain: str) -> str:
    if device["regulated"]:
        rate = f"{device['charged_bytes_per_s'] / 1e6:g} MB/s"
        if device.get("dynamic"):
            return f"a QoS-400 regulator limits {device['name']} of {domain}: the policy begins with {rate}"
        return f"a QoS-400 regulator limits {device['name']} of {domain} to {rate}"
    return f"nothing limits {device['name']} of {domain}: {_charge_text(device)}"


def _charge_text(device: Json) -> str:
    most, declared = device["most_bytes_per_s"], device["declared_bytes_per_s"]
    if most is not None:
        return f"it moves up to {most / 1e6:g} MB/s"
    return "no rate of it is known" if declared is None else f"{declared / 1e6:g} MB/s are declared"


def smmu_texts(run: LoadedRun) -> list[str]:
    """What the SMMU refused, a sentence for each domain with refusals, and what went wrong with it."""
    smmu = (run.report.get("hypervisor") or {}).get("smmu")
    if smmu is None:
        return []
    least = "at least " if smmu["overflows"] or smmu["global_errors"] else ""
    owners = [(f"devices of {domain['name']}", domain.get("refused_accesses", 0)) for domain in run.domains]
    owners.append(("devices that no domain has", smmu["unowned_accesses"]))
    texts = [f"{least}{count(times)} accesses of {who} were refused" for who, times in owners if times]
    if failed := smmu["failed_accesses"]:
        texts.append(f"{count(failed)} accesses failed, because a table of the SMMU could not be read")
    if unanswered := smmu["unanswered"]:
        texts.append(f"the SMMU did not answer in time, {count(unanswered)} times")
    return texts


def _unknown_text(witness: Json) -> str:
    """Accesses to memory that the observer did not count, because the emulator did not say where they are."""
    counts = witness.get("unattributed") or {}
    parts = [
        f"{count(number)} {what}"
        for key, what in (("data_unknown", "loads and stores"), ("fetches_unknown", "fetches"))
        if (number := counts.get(key))
    ]
    if number := counts.get("zeroed_unknown"):
        parts.append(f"{count(number)} of {count(counts.get('zeroed_blocks'))} blocks that DC ZVA zeroed")
    return f"; not counted, because their addresses are unknown: {', '.join(parts)}" if parts else ""


def witness_text(name: str, witness: Json) -> str:
    """A witness's statement, in one sentence."""
    if witness.get("verdict") == "missing":
        return f"no statement ({witness.get('reason')})"
    if name in ("observer", "machine"):
        evicted = count(witness.get("evicted_by_others"))
        judge = witness.get("judged_by")
        unjudged = f"; the witness `{judge}` judges" if judge else "; nothing was promised"
        tail = unjudged if witness.get("verdict") == "nothing promised" else ""
        unseen = "; it sees no " + ", ".join(witness["unseen"]) if witness.get("unseen") else ""
        unknown = _unknown_text(witness)
        return f"{evicted} cache lines of domains evicted by others{tail}{unseen}{unknown}"
    if name == "portions":
        foreign, lines = count(witness.get("foreign_lines")), count(witness.get("lines"))
        return f"{foreign} of {lines} cache lines of domains went into portions of others"
    if name == "mpam":
        left = (
            f", {count(more)} of PARTIDs without an owner not read"
            if (more := witness.get("left_out"))
            else ""
        )
        return (
            f"{count(witness.get('registers_checked'))} registers of components compared with the plan"
            f"{left}, {count(witness.get('findings_total'))} wrong"
        )
    what = "color and owner" if witness.get("colored") else "owner"
    past = ", ".join(witness.get("not_bound") or ())
    later = f" ({count(planned)} more not mapped yet)" if (planned := witness.get("frames_planned")) else ""
    streams = f", {count(ids)} stream ids of the SMMU" if (ids := witness.get("streams_checked")) else ""
    if messages := witness.get("messages_checked"):
        streams += f", {count(messages)} message interrupts of the ITS"
    return (
        f"{what} of {count(witness.get('frames_checked'))} mapped frames{later} and "
        f"{count(witness.get('tables_checked'))} table frames{streams} checked, "
        f"{count(witness.get('findings_total'))} wrong" + (f"; tables do not bind {past}" if past else "")
    )
