# SPDX-License-Identifier: Apache-2.0
"""A platform's DRAM in numbers: timing in clocks, masks of the address mapping, and contradictions in them.

crosscheck_machine.py reports contradictions as findings; machine/settings.py passes the numbers to the
simulated machine, which checks them again.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from bulkhead.config.platform import Dram
from bulkhead.config.timing import MARKS, MAX_CLOCKS, DramTiming, dram_clocks

Wrong = Iterator[tuple[str, str]]  # key of the section, cause

STANDARD_BURST = 8  # beats
MOST_REFRESH_CLOCKS = 1 << 24  # 8 ms at 4000 MT/s; standards have some microseconds
BANK_BITS_MAX = 64  # most banks of a channel: the machine keeps sets of banks in one 64-bit word
PICOSECONDS_PER_S = 10**12


def period_ps(dram: Dram) -> Fraction:
    """Period of the command clock in ps. The clock has half of the data rate; for SDR, the whole."""
    rate = Fraction(dram.speed) * 10**6
    return PICOSECONDS_PER_S / (rate if dram.standard == "SDR" else rate / 2)


def burst_bytes(dram: Dram) -> int:
    """Bytes that one burst moves; a line can take several bursts."""
    return (dram.burst or STANDARD_BURST) * dram.width // 8


def clocks_of(dram: Dram, timing: DramTiming) -> dict[str, int]:
    """All timing parameters in clocks, by their data sheet names, and `burst`."""
    period = period_ps(dram)
    found = {
        name: dram_clocks(getattr(timing, name), period)
        for name in DramTiming.model_fields
        if name not in MARKS
    }
    per_clock = 1 if dram.standard == "SDR" else 2
    burst = -(-(dram.burst or STANDARD_BURST) // per_clock)
    found["burst"] = burst
    found["tccd_s"] = max(found["tccd_s"], burst)
    found["tccd_l"] = max(found["tccd_l"], found["tccd_s"])
    found["trrd_l"] = max(found["trrd_l"], found["trrd_s"]) if found["trrd_l"] == 0 else found["trrd_l"]
    found["twtr_l"] = max(found["twtr_l"], found["twtr_s"]) if found["twtr_l"] == 0 else found["twtr_l"]
    return found


def contradictions(dram: Dram, timing: DramTiming) -> Wrong:
    """Contradictions in the timing: (key, cause) of each value that no DRAM can have."""
    t = clocks_of(dram, timing)
    for name in ("cl", "trcd", "trp", "tras"):
        if t[name] == 0:
            yield name, f"{name} is 0 clocks: a DRAM needs at least one"
    for name, clocks in t.items():
        most = MOST_REFRESH_CLOCKS if name == "trefi" else MAX_CLOCKS
        if clocks > most and name in DramTiming.model_fields:
            yield name, f"{name} is {clocks} clocks, more than {most}"
    if t["tras"] < t["trcd"]:
        yield "tras", f"tRAS ({t['tras']} clocks) < tRCD ({t['trcd']}): a row would close before it is read"
    for short in ("trrd", "twtr"):
        if t[f"{short}_l"] < t[f"{short}_s"]:
            cause = f"{t[f'{short}_l']} clocks are less than {short}_s ({t[f'{short}_s']})"
            yield (
                f"{short}_l",
                f"{cause}: the time within a bank group cannot be shorter than between two groups",
            )
    if 0 < t["tfaw"] < t["trrd_s"]:
        yield "tfaw", f"tFAW ({t['tfaw']} clocks) < tRRD ({t['trrd_s']})"
    if 0 < t["trefi"] <= t["trfc"] + t["tras"] + t["trp"]:
        cause = f"tREFI ({t['trefi']} clocks) <= tRFC + tRC ({t['trfc'] + t['tras'] + t['trp']})"
        yield "trefi", f"{cause}: refreshes would leave no time"


def counts(dram: Dram) -> dict[str, int] | None:
    """Number of channels, ranks, ... for each field of the mapping; None if the file leaves some of them
    out."""
    if dram.page is None or dram.rows is None:
        return None
    return {
        "channel": dram.channels,
        "rank": dram.ranks,
        "bank_group": dram.bank_groups,
        "bank": dram.banks,
        "row": dram.rows,
        "column": dram.page // burst_bytes(dram),
    }


def size_bytes(dram: Dram) -> int | None:
    if dram.page is None or dram.rows is None:
        return None
    return dram.page * dram.rows * dram.banks * dram.bank_groups * dram.ranks * dram.channels


def masks(dram: Dram) -> dict[str, list[int]] | None:
    """The address bits of each field, as masks. A bit that is a hash (XOR of several) is one mask with
    several bits."""
    if dram.mapping.order is not None:
        return _in_order(dram)
    if not dram.mapping.row:
        return None
    return {name: [_mask(entry) for entry in bits] for name, bits in dram.mapping.fields().items()}


def mapping_errors(dram: Dram) -> Wrong:
    """Errors of a mapping: two addresses would get the same place, or an address would get none."""
    known = counts(dram)
    given = {name: bits for name, bits in dram.mapping.fields().items() if bits}
    yield from _twice(given)
    if dram.mapping.order is not None and given:
        yield (
            "order",
            "cannot be combined with address bits: either the bits are known, or the order is assumed",
        )
        return
    if known is None or not dram.mapping.row:
        return
    yield from _fields_fit(dram, known)


def _twice(given: dict[str, tuple[object, ...]]) -> Wrong:
    """Finds address bits that depend linearly on others: two addresses would get the same place."""
    rows: list[int] = []  # reduced basis over GF(2)
    for name, bits in given.items():
        for entry in bits:
            mask = _mask(entry)
            for row in rows:
                mask = min(mask, mask ^ row)
            if mask == 0:
                yield name, f"address bit {_shown(entry)} is used twice: two addresses would be at one place"
                continue
            rows.append(mask)
            rows.sort(reverse=True)


def _fields_fit(dram: Dram, known: dict[str, int]) -> Wrong:
    size = size_bytes(dram)
    assert size is not None
    usable = (size - 1) & ~(burst_bytes(dram) - 1)
    for name, bits in dram.mapping.fields().items():
        needed = known[name].bit_length() - 1
        if len(bits) != needed:
            yield name, f"has {len(bits)} address bits, {needed} are needed for {known[name]}"
        for entry in bits:
            if _mask(entry) & ~usable:
                yield name, f"address bit {_shown(entry)} is inside a burst or above the end of the memory"


def _in_order(dram: Dram) -> dict[str, list[int]] | None:
    """Masks for the assumed order, from low to high bits: column, bank group, bank, channel, rank, row."""
    known = counts(dram)
    if known is None:
        return None
    place = burst_bytes(dram).bit_length() - 1
    found: dict[str, list[int]] = {}
    for name in ("column", "bank_group", "bank", "channel", "rank", "row"):
        bits = known[name].bit_length() - 1
        found[name] = [1 << (place + bit) for bit in range(bits)]
        place += bits
    return found


def _mask(entry: object) -> int:
    bits = entry if isinstance(entry, tuple) else (entry,)
    mask = 0
    for bit in bits:
        assert isinstance(bit, int)
        mask ^= 1 << bit
    return mask


def _shown(entry: object) -> str:
    return "^".join(str(bit) for bit in entry) if isinstance(entry, tuple) else str(entry)
