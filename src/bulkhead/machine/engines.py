# SPDX-License-Identifier: Apache-2.0
"""DMA engines as parts of a job beside those on cores: what they copy, and the rate they are held to.

A job's `engines[]`: `engine` (name of the platform's `dma`), `memory_bytes` (of which the first half is
copied into the second, chunk by chunk, and again), `chunk_bytes`, `chunks` [0: without end], `gap_ps` [0]
between a chunk's interrupt and the next one's start, `start_at_ps` [0]. A job's `qos`: for each regulated
master `rate`, `burst` [1] and `peak` [0], the values of its QoS-400 registers."""

from __future__ import annotations

import json
from typing import Any

from bulkhead.config.platform import Dma, Platform
from bulkhead.config.timing import Regulator
from bulkhead.machine.placement import Placement
from bulkhead.machine.settings import Settings, engine_timing

Engine = dict[str, Any]

_KEYS = {"engine", "memory_bytes", "chunk_bytes", "chunks", "gap_ps", "start_at_ps"}
_QOS_KEYS = {"rate", "burst", "peak"}
_PAGE_BYTES = 4096


class BadEngine(ValueError):
    """An engine or a regulator that cannot be."""


def described(engine: Engine, platform: Platform, placement: Placement, owner: int) -> tuple[str, list[int]]:
    """What the machine is asked for, as JSON, and the pages that are the engine's. Raises BadEngine."""
    if unknown := engine.keys() - _KEYS:
        raise BadEngine(f"no engine has '{min(unknown)}'")
    dma = _dma(platform, engine["engine"])
    chunk, memory = int(engine["chunk_bytes"]), int(engine["memory_bytes"])
    half = memory // 2 // _PAGE_BYTES * _PAGE_BYTES
    if not 0 < chunk <= half:
        raise BadEngine(f"'{dma.name}': a chunk of {chunk} bytes does not fit half of {memory} bytes")
    pages = placement.pages(f"memory of {dma.name}", memory, None)
    starts = range(pages[0], pages[0] + half - chunk + 1, chunk)
    wanted = {
        "master": dma.name,
        "from": list(starts),
        "to": [start + half for start in starts],
        "chunk_bytes": chunk,
        "chunks": int(engine.get("chunks", 0)),
        "gap_ps": int(engine.get("gap_ps", 0)),
        "start_at_ps": int(engine.get("start_at_ps", 0)),
        "owner": owner,
        **engine_timing(platform.name, dma),
    }
    return json.dumps(wanted), pages


def regulate(settings: Settings, wanted: dict[str, dict[str, int]]) -> None:
    """Sets regulators of a machine's masters as a job's `qos` says. Raises BadEngine."""
    for name, registers in wanted.items():
        master = next((one for one in settings["masters"] if one["name"] == name), None)
        if master is None or "qos" not in master:
            raise BadEngine(f"there is no regulator before '{name}'")
        if unknown := registers.keys() - _QOS_KEYS:
            raise BadEngine(f"no regulator has '{min(unknown)}'")
        master["qos"] |= registers


def rate_of(regulator: Regulator, rate: int) -> float:
    """Bytes a second that a value of the rate register lets pass (F2)."""
    return regulator.transaction * rate * 10**12 / regulator.clock / (1 << 12)


def _dma(platform: Platform, name: str) -> Dma:
    found = next((one for one in platform.dma if one.name == name), None)
    if found is None:
        raise BadEngine(f"platform '{platform.name}' has no DMA engine '{name}'")
    return found
