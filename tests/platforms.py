# SPDX-License-Identifier: Apache-2.0
"""Platform files for tests: loaded, or the test fails with the problems."""

from __future__ import annotations

from pathlib import Path

from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path
from bulkhead.config.platform import Platform


def platform(reference: str | Path) -> Platform:
    """A platform by its name, or by the path of a file."""
    path = platform_path(str(reference))
    assert path is not None, f"there is no platform '{reference}'"
    loaded, _, problems = load_platform(path)
    assert loaded is not None, "\n".join(problem.text() for problem in problems)
    return loaded
