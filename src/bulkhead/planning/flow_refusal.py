# SPDX-License-Identifier: Apache-2.0
"""Flows that cannot be transformed into tasks (F4): core's refusal as a finding at the key of the system
file, with the nearest value that is accepted.

planning/flows.py calls this.
"""

from __future__ import annotations

from bulkhead.config.problem import Finding, KeyPath
from bulkhead.flows.analysis import AT_MOST_RATE, FARTHEST, smallest_above, tried
from bulkhead.flows.model import KINDS, FlowModel
from bulkhead.flows.native import analysis as library
from bulkhead.planning.broker import LEAST_CHUNK_BYTES, chunk_range

_MOST_TRANSFERS = 1 << 20  # core/flow_transform.c
_FIXED = {
    "deadline": "the fixed parts of the path, which do not depend on the bandwidth",
    "period": "the variable part of a send",
}


def refusal(refused: ValueError, model: FlowModel, rate: int | None) -> Finding:
    """The finding for core's refusal. `rate`: the broker's rate in bytes/s if the file gives it, else
    None."""
    if len(refused.args) < 3:
        return Finding(("flows",), "out-of-range", str(refused))
    _, code, task = refused.args
    if code == "too-many":
        most = library().MAX_FLOWS // len(KINDS)
        return Finding(("flows",), "limit", f"{len(model.ways)} flows are too many", f"at most {most}")
    if code == "bad-chunk":
        return Finding(("broker", "chunk"), "out-of-range", f"is {model.chunk_bytes} bytes", chunk_range())
    if code == "bad-sender":
        most = library().MAX_DOMAINS
        cause = f"flows join {len(model.domains)} domains"
        return Finding(("flows",), "limit", cause, f"at most {most}")
    number = model.members[task].flow
    flow = model.ways[number]
    at: KeyPath = flow.key
    if code == "bad-size":
        return Finding((*at, "size"), "out-of-range", f"is {flow.size} bytes", "1 B to 4 GiB")
    if code == "bad-time":
        key = "period" if flow.period > library().MAX_NS else "deadline"
        cause = f"is {getattr(flow, key)} ns"
        return Finding((*at, key), "out-of-range", cause, f"up to {library().MAX_NS} ns (18 minutes)")
    if code == "bad-transfers":
        return _transfers(model, task)
    key = "deadline" if code == "deadline-short" else "period"
    need = _least(model, number, key)
    cause = f"{getattr(flow, key)} ns are not more than {_FIXED[key]}"
    if code == "queue-long":
        sender, most = model.members[task].sender, library().MAX_WAITING
        cause = (
            f"with {flow.period} ns, more than {most} packets of '{sender}' may be in flight within "
            "their deadlines"
        )
    elif code == "parse-long":
        cause = (
            f"with {flow.period} ns, parsing the packets that domains may send takes nearly all of the "
            "broker's time"
        )
    return Finding((*at, key), code, cause, None if need is None else _enough(model, number, key, need, rate))


def _transfers(model: FlowModel, task: int) -> Finding:
    """The finding about a packet whose number of transfers is not possible."""
    member, (size, *_) = model.members[task], model.declared()[task]
    flow, chunk = model.ways[member.flow], model.chunk_bytes
    if member.kind != "data":
        cause = f"is {chunk} bytes, less than a control packet of '{flow.name}', which is one transfer"
        return Finding(
            ("broker", "chunk"), "out-of-range", cause, f"at least {max(size, LEAST_CHUNK_BYTES)} bytes"
        )
    cause = f"{model.transfers_of(member.flow)} transfers of a packet of {size} bytes"
    allowed = f"{-(-size // chunk)} to {_MOST_TRANSFERS} in chunks of {chunk}"
    if flow.transfers is not None:
        return Finding((*flow.key, "transfers"), "out-of-range", cause, allowed)
    cause = f"is {chunk} bytes, with which '{flow.name}' has {cause}"
    return Finding(("broker", "chunk"), "out-of-range", cause, f"a larger one, for {_MOST_TRANSFERS} at most")


def _enough(model: FlowModel, number: int, key: str, need: int, rate: int | None) -> str:
    """Text of what is allowed: the value with which the flows are schedulable, if changing this key suffices;
    else the value `need`, which is needed for the flow alone."""

    def fits(value: int) -> bool:
        outcome = tried(model.with_flow(number, **{key: value}), rate or library().MAX_BYTES_PER_S)
        return outcome is not None and outcome.verdict == "schedulable"

    found = smallest_above(need - 1, min(need * FARTHEST, library().MAX_NS), fits)
    if found is None:
        return f"at least {need} ns for this part alone"
    return f"{key} of {model.ways[number].declared}: {found} ns{'' if rate else AT_MOST_RATE}"


def _least(model: FlowModel, number: int, key: str) -> int | None:
    """The smallest value of the key with which this flow can be transformed; all others stay. None: there is
    none."""

    def fits(value: int) -> bool:
        try:
            model.with_flow(number, **{key: value}).make()
        except library().Refused as refused:
            culprit = model.ways[model.members[refused.args[2]].flow]
            return bool(culprit.key != model.ways[number].key)
        return True

    now = int(getattr(model.ways[number], key))
    return smallest_above(now, library().MAX_NS, fits)
