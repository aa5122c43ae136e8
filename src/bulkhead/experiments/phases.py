# SPDX-License-Identifier: Apache-2.0
"""The traffic of a program over time as numbers: the length of an initial phase with little traffic, the
traffic after it, and its peaks. A regulator depends on these phases, which a mean does not show.

rows.py uses this for points whose result is `phases`; series.py draws the series themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.experiments.row import Row
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.facts import MB, PS_PER_S

QUIET_MB_S = 100  # below this rate, traffic is little
PEAK_MB_S = 1500  # an interval with at least this rate belongs to a peak
_MS = 10**9


def phases(result: PointAnswer) -> Row:
    """Columns about the traffic of the whole machine, from its intervals."""
    intervals = result["regulation"]["intervals"]
    ends = intervals["end_ps"]
    lengths = [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
    moved = [r + w for r, w in zip(intervals["read_bytes"], intervals["written_bytes"], strict=True)]
    rates = [amount / MB * PS_PER_S / length for amount, length in zip(moved, lengths, strict=True)]
    busy = [b / c if c else 0.0 for b, c in zip(intervals["busy_cycles"], intervals["cycles"], strict=True)]
    quiet = next((n for n, rate in enumerate(rates) if rate >= QUIET_MB_S), len(rates))
    in_peaks = [busy[n] for n, rate in enumerate(rates) if rate >= PEAK_MB_S]
    return {
        "quiet_ms": sum(lengths[:quiet]) / _MS,
        "quiet_share": sum(lengths[:quiet]) / sum(lengths),
        "quiet_mb_s": _mean(moved[:quiet], lengths[:quiet]),
        "busy_ms": sum(lengths[quiet:]) / _MS,
        "busy_mb_s": _mean(moved[quiet:], lengths[quiet:]),
        "peaks": _runs(rates),
        "peak_mb_s": max(rates),
        "peak_utilization": sum(in_peaks) / len(in_peaks) if in_peaks else None,
    }


def _mean(moved: Sequence[int], lengths: Sequence[int]) -> float | None:
    return sum(moved) / MB * PS_PER_S / sum(lengths) if lengths else None


def _runs(rates: Sequence[float]) -> int:
    """Number of peaks: runs of consecutive intervals."""
    high = [rate >= PEAK_MB_S for rate in rates]
    return sum(now and not before for before, now in zip([False, *high], high, strict=False))
