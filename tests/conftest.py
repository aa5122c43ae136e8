# SPDX-License-Identifier: Apache-2.0
"""Settings of all Python tests: Hypothesis keeps its data in build/, and CI has the same examples each time;
the slowest files come first; fixtures build what a file's first test needs (`pytestmark =
pytest.mark.usefixtures(…)`).

Developers' runs are random, which finds new errors; with `CI=true` a change fails only for what it breaks.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.database import DirectoryBasedExampleDatabase

from .longest import place

TESTS = Path(__file__).parent
BUILD = TESTS.parent / "build"
EXAMPLES = BUILD / "hypothesis"

set_hypothesis_home_dir(EXAMPLES)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seeds", type=int, help="number of random sets in tests/hosted/test_flow_bounds.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda one: place(one.path.relative_to(TESTS).as_posix()))


settings.register_profile("ci", derandomize=True, database=None, print_blob=True)
settings.register_profile("developer", database=DirectoryBasedExampleDatabase(EXAMPLES / "examples"))
settings.load_profile("ci" if os.environ.get("CI") == "true" else "developer")


# Scope is a module: a build that takes longer than the limit of a test continues in the next one.


@pytest.fixture(scope="module")
def machine_built() -> None:
    """The simulated machine as a Python module."""
    from bulkhead.machine.native import built_machine

    built_machine()


@pytest.fixture(scope="module")
def workloads_built() -> None:
    """Builds the machine and the workloads that it can execute."""
    from bulkhead.machine.native import built_machine

    built_machine(workloads=True)


@pytest.fixture(scope="module")
def hosted_built() -> None:
    """The hypervisor, bare-metal guests and the program that runs them on the machine."""
    from bulkhead.machine.hosted import ensure_hosted

    ensure_hosted()
