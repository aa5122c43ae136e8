# SPDX-License-Identifier: Apache-2.0
"""constraints.txt is a lock file: each package of build/venv, also of dependencies, has one version there."""

from __future__ import annotations

import re
from importlib.metadata import distributions

from bulkhead.env.paths import build_dir, repository

# They are part of the Python that made the environment.
WITH_PYTHON = {"pip", "setuptools"}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def installed() -> dict[str, str]:
    places = map(str, build_dir().glob("venv/lib/python*/site-packages"))
    found = {canonical(one.metadata["Name"]): one.version for one in distributions(path=list(places))}
    return {name: version for name, version in found.items() if name not in WITH_PYTHON}


def locked() -> dict[str, str]:
    lines = (repository() / "constraints.txt").read_text().splitlines()
    pairs = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {canonical(name): version for name, version in pairs}


def test_every_package_is_installed_in_its_locked_version() -> None:
    assert installed() == locked()
