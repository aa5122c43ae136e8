# SPDX-License-Identifier: Apache-2.0
"""Every Python package that the project needs has one exact version, so that two checkouts behave alike."""

import re
import tomllib

from checks.common import ROOT


def normalized(requirement: str) -> str:
    """The name of a requirement, as package indexes compare names."""
    name = re.split(r"[\s<>=!~\[;]", requirement, maxsplit=1)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {normalized(line) for line in lines if "==" in line}
    missing = sorted({normalized(requirement) for requirement in wanted} - pinned)
    assert not missing, f"add exact versions to constraints.txt: {', '.join(missing)}"
