# SPDX-License-Identifier: Apache-2.0
"""Checks the entries of streams and the context banks of an SMMUv2 against the promise.

Called by the table witness. What the registers contain is read by `contexts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bulkhead.evidence.contexts import (
    Context,
    ContextKind,
    StreamMapping,
    StreamMatch,
    UnreadableMapping,
    stream_mapping,
)
from bulkhead.evidence.promise import Smmuv2Promise
from bulkhead.evidence.vmsa import root_address


@dataclass
class CheckedStreams:
    """The findings, kind and text, and the number of stream ids that were looked up."""

    checked: int = 0
    findings: list[tuple[str, str]] = field(default_factory=list)


def check_contexts(
    promise: Smmuv2Promise,
    registers: Mapping[int, int],
    vttbr: Mapping[str, int],
    vtcr: Mapping[str, int],
) -> CheckedStreams:
    """`registers`: words of 32 bits by offset. `vttbr` and `vtcr`: VTTBR_EL2 and VTCR_EL2 of domains by name.

    Each stream of a domain must have one entry, which is a fault or has the tables of the domain's VCPUs;
    every other stream must be a fault.
    """
    found = CheckedStreams()
    try:
        mapping = stream_mapping(registers, promise.places)
    except UnreadableMapping as bad:
        found.findings.append(("smmu_unreadable", f"it {bad.why}"))
        return found
    if not mapping.enabled:
        found.findings.append(("smmu_disabled", "it is not enabled"))
    if not mapping.others_fault:
        found.findings.append(("stream_of_nobody", "streams without an entry pass"))
    found.checked = mapping.stream_ids
    seen: dict[int, StreamMatch] = {}
    for entry in mapping.entries:
        _check_entry(entry, promise, seen, mapping, found)
        for owner in dict.fromkeys(promise.streams[one] for one in entry.streams() if one in promise.streams):
            about = f"entry {entry.number}, of domain {owner}: "
            wrong = _of_domain(entry, vttbr.get(owner, 0), vtcr.get(owner), promise.input_bits)
            found.findings += [("stream_entry", about + text) for text in wrong]
    for stream, owner in promise.streams.items():
        if stream not in seen:
            text = f"stream {stream:#x} of domain {owner} has no entry"
            found.findings.append(("stream_without_entry", text))
    return found


def _check_entry(
    entry: StreamMatch,
    promise: Smmuv2Promise,
    seen: dict[int, StreamMatch],
    mapping: StreamMapping,
    found: CheckedStreams,
) -> None:
    """An entry lets no stream pass that no domain has, and matches none that another entry matches, unless
    such a stream is a fault. One finding of each kind, for the first stream."""
    nobodys = [one for one in entry.streams() if one not in promise.streams]
    if nobodys and entry.kind is not ContextKind.FAULT:
        text = f"stream {nobodys[0]:#x}, which no domain has: entry {entry.number} {entry.kind.value}"
        found.findings.append(("stream_of_nobody", text))
    twice = [one for one in entry.streams() if one in seen]
    if twice and not mapping.matches_fault:
        text = f"stream {twice[0]:#x} has the entries {seen[twice[0]].number} and {entry.number}"
        found.findings.append(("stream_entry", text))
    for stream in entry.streams():
        seen.setdefault(stream, entry)


def _of_domain(entry: StreamMatch, vttbr: int, vtcr: int | None, most_bits: int) -> list[str]:
    """What is wrong with an entry of a domain's stream."""
    if entry.kind is ContextKind.FAULT:
        return []
    if entry.kind is ContextKind.OTHER:
        return [f"it {entry.kind.value}"]
    if entry.context is None:
        return ["its context bank does not exist"]
    return _of_context(entry.context, vttbr, vtcr, most_bits)


def _of_context(context: Context, vttbr: int, vtcr: int | None, most_bits: int) -> list[str]:
    wrong = []
    if not context.stage2_alone:
        wrong.append(f"its context bank has {context.stages}")
    if not context.enabled:
        wrong.append("its context bank lets pass")
    if root_address(vttbr) == 0:
        wrong.append("it translates, and the domain has no tables")
    elif context.root != root_address(vttbr):
        wrong.append(
            f"its tables are at PA {context.root:#x}, those of the domain at {root_address(vttbr):#x}"
        )
    if context.vmid != vttbr >> 48:
        wrong.append(f"its VMID is {context.vmid}, that of the domain {vttbr >> 48}")
    if not context.aarch64 or context.big_endian or (vtcr is not None and context.walks != vtcr & 0xFFC0):
        wrong.append(f"its format of tables ({context.tcr:#x}) is not that of the domain")
    domains_bits = most_bits if vtcr is None else min(most_bits, 64 - (vtcr & 0x3F))
    if context.input_bits > domains_bits:
        wrong.append(f"its addresses have {context.input_bits} bits, and {domains_bits} at most are allowed")
    return wrong
