# SPDX-License-Identifier: Apache-2.0
"""Translation of a job's parts: the addresses of a part, and its tables.

A part is a program under a hypervisor, or under an operating system alone if the platform's cores have one
stage only. Its memory begins at `FIRST_ADDRESS`. Stage 1 maps it in blocks, as a bare-metal program or Linux
maps contiguous memory; stage 2 maps contiguous memory in blocks and colored memory in pages.

Keys of a part change this. `translation`: `pages` for pages in both stages, `none` for no translation, the
only possibility on cores without an MMU. `tables: uncached` makes walks bypass all caches. `table_stages` and
`table_levels` replace the platform's. `stage2_tables` places those of stage 2 elsewhere than in the part's
own colors (docs/design/mxu.md): in memory of `any` color, in the hypervisor's `pool` with those of all parts,
in `colors` used for nothing else, or on the `chip`, bypassing all caches (`chip-cached`: using them).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from bulkhead.config.platform import Platform
from bulkhead.errors import InvalidInput
from bulkhead.geometry import PAGE_BYTES
from bulkhead.machine.job import JobPart

AddressSpace = dict[str, Any]
Runs = list[tuple[int, int, int]]

BLOCK_BYTES = 2 << 20
FIRST_ADDRESS = 2 * BLOCK_BYTES  # of a part's memory, as of a static Linux program
TEXT_ADDRESS = FIRST_ADDRESS - PAGE_BYTES  # address for a generator's instructions, although it has none
WAYS = ("blocks", "pages", "none")
TABLES = ("cached", "uncached")
OWN, ANY, POOL, COLORS, CHIP = "own", "any", "pool", "colors", "chip"
CHIP_CACHED = "chip-cached"
STAGE2_TABLES = (OWN, ANY, POOL, COLORS, CHIP, CHIP_CACHED)


class BadTranslation(InvalidInput):
    """A part whose translation is not possible."""


def is_translated(platform: Platform, part: JobPart) -> bool:
    """Whether a part is translated. Raises BadTranslation for values that are not possible."""
    way, tables = part.get("translation", "blocks"), part.get("tables", "cached")
    if way not in WAYS:
        raise BadTranslation(f"'{part['name']}': translation '{way}' is not one of {', '.join(WAYS)}")
    if tables not in TABLES:
        raise BadTranslation(f"'{part['name']}': tables '{tables}' are neither {' nor '.join(TABLES)}")
    where = part.get("stage2_tables", OWN)
    if where not in STAGE2_TABLES:
        known = ", ".join(STAGE2_TABLES)
        raise BadTranslation(f"'{part['name']}': stage-2 tables in '{where}', which is not one of {known}")
    tlb = platform.cores.tlb
    if where != OWN and (tlb is None or way == "none" or part.get("table_stages", tlb.stages) < 2):
        raise BadTranslation(
            f"'{part['name']}' has no stage-2 translation, so it has no tables for '{where}'"
        )
    return tlb is not None and way != "none"


def space_of(platform: Platform, part: JobPart, pieces: Runs, instructions: int = 0) -> AddressSpace:
    """The address space, still without frames for its tables. `instructions` 0: at the beginning of the first
    piece."""
    tlb = platform.cores.tlb
    assert tlb is not None
    return {
        "stages": part.get("table_stages", tlb.stages),
        "levels": part.get("table_levels", tlb.levels),
        "blocks": part.get("translation", "blocks") == "blocks",
        "tables_cached": part.get("tables", "cached") == "cached",
        "stage2_cached": part.get("stage2_tables", OWN) != CHIP,
        "pieces": pieces,
        "instructions": instructions,
    }


def with_tables(
    space: AddressSpace,
    count: Callable[[str], int],
    frames: Callable[[int], list[int]],
    more: int = 0,
    stage2_frames: Callable[[int], list[int]] | None = None,
) -> AddressSpace:
    """Adds frames for tables. `count` returns the number of frames that the tables need (machine/python),
    `frames` allocates them; `more`: additional frames for later mappings. `stage2_frames`: allocates those of
    stage 2 if they are separate."""
    needed = count(json.dumps(space))
    made = {**space, "frames": frames(needed + more)}
    if stage2_frames is not None:
        made["stage2_frames"] = stage2_frames(needed)
    return made


def runs_of(pages: Sequence[int], mapped: int = 0) -> Runs:
    """(address, physical address, bytes) of each run of pages that is contiguous in both address spaces.

    `mapped`: if there is a single run, the bytes of the part's memory there.
    """
    runs: Runs = []
    for number, page in enumerate(pages):
        address = FIRST_ADDRESS + number * PAGE_BYTES
        if runs and runs[-1][1] + runs[-1][2] == page:
            runs[-1] = (runs[-1][0], runs[-1][1], runs[-1][2] + PAGE_BYTES)
        else:
            runs.append((address, page, PAGE_BYTES))
    if len(runs) == 1:
        runs[0] = (*runs[0][:2], max(runs[0][2], mapped))
    return runs


def identity_of(addresses: Sequence[int], size: int) -> Runs:
    """Identity mappings of these addresses, in aligned pieces of `size` bytes."""
    return [(at * size, at * size, size) for at in sorted({address // size for address in addresses})]


def table_pages_of_trace(pages: int) -> int:
    """Frames for the tables of a program whose pages are mapped at their first access, at any address."""
    return 32 + pages // 16
