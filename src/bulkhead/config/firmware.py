# SPDX-License-Identifier: Apache-2.0
"""Firmware functions that domains may call themselves: which ones are allowed, and which notices are shown.

The same rules as in core/manifest_calls.c, which checks the manifest; this module reports the key of the file
and what is allowed.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.problem import Finding
from bulkhead.config.system import Calls, System

_OWNERS = "0x82…, 0x83…, 0xB0… to 0xBF… and their 64-bit twins, 0x84000040 to 0x8400FFFF, 0x30… to 0x3F…"
_SIP, _OEM, _SECURE, _TRUSTED = 2, 3, 4, 48
_LAST_OF_EL2 = 0x3F  # PSCI has numbers up to 0x1F, SDEI those after it


def wrong_calls(system: System) -> Iterator[Finding]:
    """Findings about functions that no domain may call, and about domains on shared cores, whose calls would
    delay others."""
    for index, domain in enumerate(system.domains):
        for number, calls in enumerate(domain.firmware):
            if (cause := _wrong(calls)) is not None:
                yield Finding(("domains", index, "firmware", number), "out-of-range", cause, _OWNERS)
        if domain.firmware and system.shared_cores().intersection(domain.cpus):
            cause = (
                f"'{domain.name}' shares a core: the other domains on the core would wait as long as "
                "the firmware call takes"
            )
            yield Finding(
                ("domains", index, "firmware"), "conflict", cause, "cores that no other domain uses"
            )


def trusted_calls(system: System) -> Iterator[Finding]:
    """A notice for each domain that calls firmware: nothing limits what firmware does for the call."""
    for index, domain in enumerate(system.domains):
        if domain.firmware:
            cause = (
                f"firmware answers calls of '{domain.name}': no hardware limits what firmware does to "
                "memory and devices"
            )
            yield Finding(("domains", index, "firmware"), "trusted", cause)


def _wrong(calls: Calls) -> str | None:
    owner, number = calls.first >> 24 & 0x3F, calls.first & 0xFFFF
    what = f"{calls.first:#x}" if calls.first == calls.last else f"{calls.first:#x} to {calls.last:#x}"
    if calls.last < calls.first or calls.first >> 16 != calls.last >> 16:
        return f"{what} is not a range within the functions of one owner"
    if owner == _SECURE and number <= _LAST_OF_EL2:
        return (
            f"{what} has PSCI or SDEI functions, which the hypervisor handles: firmware would act on "
            "EL2 itself"
        )
    if calls.first >> 16 & 0xFF or not (owner in (_SIP, _OEM, _SECURE) or owner >= _TRUSTED):
        return f"{what} is not a function of the chip, the board, secure services or trusted software"
    return None
