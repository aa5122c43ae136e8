# SPDX-License-Identifier: Apache-2.0
"""DMA engines as parts of a job, besides those on cores: what they copy, and the rates of their regulators.

Keys of a job's `engines[]`: `engine` (name in the platform's `dma`); `memory_bytes`, of which the first half
is copied into the second, chunk by chunk, repeatedly; `chunk_bytes`; `chunks` [0: without end]; `gap_ps` [0]
between a chunk's interrupt and the next start; `start_at_ps` [0]; `pattern` [pages], the place of the memory.
`same-bank`: in the bank that cores with this pattern stress, in rows that they do not use; source and
destination of each chunk have a row of their own. A job's `qos`: for each regulated master `rate`, `burst`
[1] and `peak` [0], the values of its QoS-400 registers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bulkhead.config.devices import Dma
from bulkhead.config.platform import Platform
from bulkhead.config.timing import Regulator
from bulkhead.errors import InvalidInput
from bulkhead.machine.patterns import beginnings, row_bytes, rows_of_core
from bulkhead.machine.placement import Placement
from bulkhead.machine.settings import Settings, engine_timing

Engine = dict[str, Any]

_KEYS = {"engine", "memory_bytes", "chunk_bytes", "chunks", "gap_ps", "start_at_ps", "pattern"}
_QOS_KEYS = {"rate", "burst", "peak"}
_PAGE_BYTES = 4096


class BadEngine(InvalidInput):
    """An engine or a regulator that is not possible."""


class Space:
    """Memory of a machine that engines can have, besides parts on these cores."""

    def __init__(self, placement: Placement, settings: Settings, cores: Sequence[int]) -> None:
        self._placement = placement
        self._settings = settings
        self._idle = [core for core in range(len(settings["cores"])) if core not in cores]

    def pages(self, dma: Dma, chunk: int, half: int) -> tuple[list[int], list[int]]:
        """Sources and destinations of chunks in any memory."""
        begin = self._placement.pages(f"memory of {dma.name}", 2 * half, None)[0]
        sources = range(begin, begin + half - chunk + 1, chunk)
        return list(sources), [source + half for source in sources]

    def same_bank(self, dma: Dma, chunk: int, half: int) -> tuple[list[int], list[int]]:
        """Sources and destinations of chunks in the rows of an idle core, which is then not available for
        others. Raises BadEngine."""
        if chunk > (most := row_bytes(self._settings)):
            cause = f"a chunk of {chunk} bytes does not lie in a row of one bank"
            raise BadEngine(f"'{dma.name}': {cause}: `same-bank` takes up to {most}")
        if not self._idle:
            raise BadEngine(
                f"'{dma.name}': `same-bank` needs the rows of a core without a part, and every core has a "
                "part"
            )
        own = rows_of_core(self._settings, self._idle.pop())
        rows = beginnings(self._settings, own[: 2 * (half // chunk)])
        return rows[::2], rows[1::2]


def described(engine: Engine, platform: Platform, space: Space, owner: int) -> tuple[str, list[int]]:
    """The engine's description for the machine, as JSON, and the engine's pages. Raises BadEngine."""
    if unknown := engine.keys() - _KEYS:
        raise BadEngine(f"'{min(unknown)}' is not a key of an engine")
    dma = _dma(platform, engine["engine"])
    chunk, memory = int(engine["chunk_bytes"]), int(engine["memory_bytes"])
    half = memory // 2 // _PAGE_BYTES * _PAGE_BYTES
    if not 0 < chunk <= half:
        raise BadEngine(f"'{dma.name}': a chunk of {chunk} bytes does not fit half of {memory} bytes")
    places = {"pages": space.pages, "same-bank": space.same_bank}
    if (pattern := engine.get("pattern", "pages")) not in places:
        raise BadEngine(f"'{dma.name}': '{pattern}' is not one of {', '.join(places)}")
    sources, destinations = places[pattern](dma, chunk, half)
    wanted = {
        "master": dma.name,
        "from": sources,
        "to": destinations,
        "chunk_bytes": chunk,
        "chunks": int(engine.get("chunks", 0)),
        "gap_ps": int(engine.get("gap_ps", 0)),
        "start_at_ps": int(engine.get("start_at_ps", 0)),
        "owner": owner,
        **engine_timing(platform.name, dma),
    }
    return json.dumps(wanted), _pages_of([*sources, *destinations], chunk)


def _pages_of(chunks: Sequence[int], chunk: int) -> list[int]:
    """All pages that these chunks overlap."""
    starts = (range(at // _PAGE_BYTES * _PAGE_BYTES, at + chunk, _PAGE_BYTES) for at in chunks)
    return sorted({page for pages in starts for page in pages})


def regulate(settings: Settings, wanted: dict[str, dict[str, int]]) -> None:
    """Sets regulators of a machine's masters according to a job's `qos`. Raises BadEngine."""
    for name, registers in wanted.items():
        master = next((one for one in settings["masters"] if one["name"] == name), None)
        if master is None or "qos" not in master:
            raise BadEngine(f"'{name}' has no regulator")
        if unknown := registers.keys() - _QOS_KEYS:
            raise BadEngine(f"'{min(unknown)}' is not a key of a regulator")
        master["qos"] |= registers


def rate_of(regulator: Regulator, rate: int) -> float:
    """Rate in bytes per second for a value of the rate register (F2)."""
    return regulator.transaction * rate * 10**12 / regulator.clock / (1 << 12)


def _dma(platform: Platform, name: str) -> Dma:
    found = next((one for one in platform.dma if one.name == name), None)
    if found is None:
        raise BadEngine(f"platform '{platform.name}' has no DMA engine '{name}'")
    return found
