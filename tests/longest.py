# SPDX-License-Identifier: Apache-2.0
"""The order of test files in `make test`: the slowest first, so that no worker is left with one of them at
the end. New slow files are added here: build/test-results/*.xml has the times."""

from __future__ import annotations

# For each stage the files that take at least a fiftieth of its time, as measured.
LONGEST = (
    "hosted/test_examples.py",
    "system/test_flows.py",
    "installed/test_wheel.py",
    "machine/test_golden.py",
    "hosted/test_mpam.py",
    "config/test_mutations.py",
    "system/test_budget.py",
    "hosted/test_run.py",
    "hosted/test_flows.py",
    "system/test_maintenance.py",
    "system/test_shared_core.py",
    "hosted/test_flow_bounds.py",
    "bench/test_linux_boot.py",
    "lessons/test_lessons.py",
    "campaign/test_cluster.py",
    "flows/test_single_thread.py",
    "linux/test_module.py",
    "experiments/test_experiments.py",
    "hosted/test_flow_engine.py",
    "system/test_boards.py",
    "linux/test_overhead.py",
    "system/test_isolation.py",
    "system/test_branch_predictors.py",
    "experiments/test_mpam.py",
    "bench/test_flows.py",
    "experiments/test_flows.py",
    "system/test_boot.py",
    "system/test_linux.py",
    "bench/test_hypervisor.py",
    "experiments/test_interruption.py",
)


def place(file: str) -> int:
    """The position of a file, as named from tests/; all others come after these, in their order."""
    return LONGEST.index(file) if file in LONGEST else len(LONGEST)
