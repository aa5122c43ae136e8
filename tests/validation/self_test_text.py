# SPDX-License-Identifier: Apache-2.0
"""A console log as a board would write it: caches of 32 KiB and 512 KiB, memory of 100 ns."""

from __future__ import annotations

KIB = 1024
FIRST, LAST = 32 * KIB, 512 * KIB
LAST_NS, MEMORY_NS = 12.0, 100.0
SIZES = tuple(4 * KIB << power for power in range(12))


def single_ns(size: int) -> float:
    """Mean time beyond a hit of random reads of a block: each cache holds the part that fits."""
    within_first = min(1.0, FIRST / size)
    within_last = min(1.0, LAST / size) - within_first
    return within_last * LAST_NS + (1 - within_first - within_last) * MEMORY_NS


def curve(sizes: tuple[int, ...] = SIZES) -> str:
    rows = (f"  - {{ size: {size // KIB} KiB, single: {single_ns(size):.1f}, dual: 0.0 }}" for size in sizes)
    return "\n".join(rows)


TEXT = f"""\
self_test: 1
timers:
  frequency: 100000000 Hz  # CNTFRQ_EL0, as firmware has set it
cores:
  count: 4
  frequency: 1199976 kHz  # CPU_CYCLES (0x11), beside the counter
hit: {{ loop: chain of pointers, ns: 2.5 }}
latency:
{curve()}
rates:
  - {{ kind: fill, loop: stores of 8 bytes, mb_s: 2000.5 }}
  - {{ kind: bcopy, loop: pairs of 8 bytes, mb_s: 1000.0 }}
events:
  - {{ event: 0x17, pattern: sequential reads, lines: 1000, counted: 1000 }}
  - {{ event: 0x18, pattern: sequential reads, lines: 1000, counted: 0 }}
  - {{ event: 0x18, pattern: sequential writes, lines: 1000, counted: 500 }}
patterns:
  - {{ pattern: sequential reads, cores: 1, mb_s: 2500.0 }}
  - {{ pattern: same-bank writes, cores: 1, mb_s: 900.0 }}
  - {{ pattern: same-bank reads, cores: 4, mb_s: 1200.0 }}
  - {{ pattern: same-bank writes, cores: 4, mb_s: 955.7 }}
delays:
  - {{ pattern: whole-line writes, writers: 3, alone_ns: 25.0, beside_ns: 45.0, least_mb_s: 400.9 }}
  - {{ pattern: same-bank writes, writers: 3, alone_ns: 25.0, beside_ns: 144.2, least_mb_s: 240.3 }}
paths:
  hypervisor_call: {{ min: 900 ns, avg: 1000 ns, max: 2400 ns, median: 990 ns, count: 200 }}
  timer_interrupt: {{ min: 1400 ns, avg: 1500 ns, max: 9000 ns, median: 1450 ns, count: 200 }}
  own_interrupt: {{ min: 1700 ns, avg: 1800 ns, max: 6000 ns, median: 1750 ns, count: 200 }}
"""

BUDGETS = """\
self_test_budgets: 1
cores: { count: 4 }
interruptions:  # of the first core by its budget, while the other cores write
  period: { min: 1900 ns, avg: 2100 ns, max: 4200 ns, median: 2000 ns, count: 50 }
  overflow: { min: 1500 ns, avg: 1700 ns, max: 3300 ns, median: 1600 ns, count: 50 }
periods:  # shorter and shorter, until one does not hold
  - { events: 1875, period: 1000000 ns, periods: 80, counted: 150400, read_kb_s: 478000 }
  - { events: 94, period: 50000 ns, periods: 1600, counted: 152000, read_kb_s: 450000 }
  - { events: 37, period: 20000 ns, periods: 1600, counted: 70000, read_kb_s: 300000 }
budgets:  # smaller and smaller, until one does not hold
  - { events: 200, period: 1000000 ns, periods: 80, counted: 16300, read_kb_s: 51000 }
  - { events: 100, period: 1000000 ns, periods: 80, counted: 8401, read_kb_s: 25000 }
"""

UTILIZATION = """\
self_test_utilization: 1
cores: { count: 4 }
utilization:  # of the memory, and MB/s between caches and memory, by busy cores
  - { pattern: random reads, cores: 1, mb_s: 900.0, busy_percent: 41.2 }
  - { pattern: same-bank writes, cores: 4, mb_s: 955.7, busy_percent: 100.0 }
"""

FLOWS = """\
self_test_flows: 1
broker: { engine: zdma, wait: event }
parts:  # averages and medians without writers, smallest and largest also beside them
  hypervisor_call: { min: 900 ns, avg: 1000 ns, max: 2400 ns, median: 990 ns, count: 120 }
  transport: { min: 300 ns, avg: 500 ns, max: 4000 ns, median: 480 ns, count: 1000 }
  parse: { min: 1600 ns, avg: 2000 ns, max: 8000 ns, median: 1900 ns, count: 1000 }
  find_earliest: { min: 0 ns, avg: 60 ns, max: 1000 ns, median: 60 ns, count: 4000 }
  program_dma: { min: 100 ns, avg: 2000 ns, max: 9000 ns, median: 2000 ns, count: 1000 }
  engine: { min: 4329 ns, avg: 6000 ns, max: 16000 ns, median: 6000 ns, count: 200 }
  finalize: { min: 3000 ns, avg: 5000 ns, max: 30000 ns, median: 5500 ns, count: 1000 }
  notify: { min: 3500 ns, avg: 4000 ns, max: 13000 ns, median: 3800 ns, count: 150 }
  wake: { min: 0 ns, avg: 1000 ns, max: 20000 ns, median: 700 ns, count: 1900 }
"""


def console(text: str = TEXT, *, end: bool = True) -> str:
    """The log of the serial line: tagged by the hypervisor, with long lines continued in the next row.
    Another domain and the hypervisor are in between, and the firmware before."""
    marked = ["# self-test: begin", *text.splitlines(), *(["# self-test: end"] if end else [])]
    rows = ["NOTICE:  BL31: v2.10", "[bulkhead   0.000000] 2 domains on 4 cores"]
    for number, line in enumerate(marked):
        rows.append(f"[self-test  0.{number:06}] {line[:60]}")
        if number == 4:
            rows.append("[other      0.000123] self_test: 2")
        if line[60:]:
            rows.append(f"[self-test+ 0.{number:06}] {line[60:]}")
    return "\r\n".join([*rows, "[bulkhead   0.900000] self-test: powered off", ""])
