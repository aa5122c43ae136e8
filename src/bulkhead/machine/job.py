# SPDX-License-Identifier: Apache-2.0
"""A job of the simulated machine, and its parts (docs/guide/experiments.md, One point).

Experiments make them from files whose keys are open: workloads and patterns have parameters of their own.
`point` and the modules that it calls check what they take from a job.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Job = dict[str, Any]
JobPart = dict[str, Any]
"""A part of a job: a walk or a workload, with its core and its memory."""
LONGEST_PS = 100 * 10**12  # simulated time after which a run ends


def on_platform(jobs: Sequence[Job], platform: str) -> list[Job]:
    """The jobs on the platform with this name, or with this path of its file. Jobs that are made from a
    platform have its name, which a user's file can share with another platform, or have alone."""
    return [{**job, "platform": platform} for job in jobs]
