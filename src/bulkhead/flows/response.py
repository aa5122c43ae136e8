# SPDX-License-Identifier: Apache-2.0
"""Bounds on the response times of each flow's packets with their deadlines: EDF with limited preemption, on
the transformed set of F4.

In a busy period of the broker, a packet due at t waits for all packets that arrived and are due by then, and
for one transfer of a packet due later (Spuri's analysis; George, Rivierre and Spuri for non-preemptive work).
With a single-threaded broker it also waits for parsing: costs are then in time that parsing leaves, and a
lead comes first. Slack is something else: a shorter deadline would make a flow more urgent. Used for reports
of runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bulkhead.flows.model import FlowModel, blocking_at, lead_time, packets_until, task_time
from bulkhead.flows.native import Task

# For all flows together. Beyond it the deadline is used as the bound, which holds if the set is schedulable.
MOST_STEPS = 1 << 19
BUSY_STEPS = 1000


@dataclass(frozen=True)
class _Set:
    """Times are in half ns; those multiplied by the rate have the suffix `_b`."""

    tasks: Sequence[Task]
    times_b: list[int]  # C' of a packet
    jitters: list[int]  # upper bounds of J'
    b: int

    def come_until(self, task: int, end_b: int) -> int:
        """Most packets of a task that arrive within this time."""
        return -(-(end_b + self.jitters[task] * self.b) // (self.tasks[task][0] * self.b))

    def busy_b(self, blocking_b: int) -> int | None:
        """Length of the longest busy period; None: it takes too long to compute."""
        length = blocking_b + sum(self.times_b)
        for _ in range(BUSY_STEPS):
            longer = blocking_b + sum(
                self.come_until(task, length) * time for task, time in enumerate(self.times_b)
            )
            if longer == length:
                return length
            length = longer
        return None

    def done_b(self, at: int, blocking_b: int) -> int:
        """Time at which all packets due by `at` are done."""
        due = [packets_until(task, at) for task in self.tasks]
        done = blocking_b + sum(time for time, count in zip(self.times_b, due, strict=True) if count)
        while True:
            later = blocking_b + sum(
                min(count, self.come_until(task, done)) * self.times_b[task]
                for task, count in enumerate(due)
                if count
            )
            if later <= done:
                return done
            done = later


def bounds_ns(model: FlowModel, bytes_per_s: int) -> tuple[int, ...]:
    """Bound of each flow from sending to notification in ns, rounded up; the set must be schedulable."""
    made = model.make()
    tasks = made.tasks()
    flows = [model.ways[member.flow] for member in model.members]
    members = _Set(
        tasks,
        [task_time(task, bytes_per_s)[0] for task in tasks],
        [2 * flow.deadline - task[1] for flow, task in zip(flows, tasks, strict=True)],
        bytes_per_s,
    )

    lead_b = lead_time(made, bytes_per_s)

    def blocking_b(at: int) -> int:
        """Blocking by packets due after `at`, and the lead."""
        return lead_b + blocking_at(made, tasks, at, bytes_per_s)[0]

    deadlines = tuple(flow.deadline for flow in model.ways)
    busy_b = members.busy_b(blocking_b(-1))
    if busy_b is None:
        return deadlines
    busy = -(-busy_b // bytes_per_s)
    steps = sum(busy // task[0] + 1 for task in tasks) * len(model.ways) * len(tasks)
    if steps > MOST_STEPS:
        return deadlines
    found = []
    for number, deadline in enumerate(deadlines):
        first = tasks[model.of_flow(number)[0]][1]
        late_b = max(
            members.done_b(at, blocking_b(at)) - at * bytes_per_s
            for at in _points(tasks, first, first + busy)
        )
        found.append(min(deadline, deadline - (-late_b) // (2 * bytes_per_s)))
    return tuple(found)


def _points(tasks: Sequence[Task], first: int, end: int) -> list[int]:
    """Points at which the demand changes; between them lateness falls."""
    points = {first}
    for task in tasks:
        start = max(0, -(-(first - task[1]) // task[0]))
        points.update(range(task[1] + start * task[0], end, task[0]))
    return sorted(points)
