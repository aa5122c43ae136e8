# SPDX-License-Identifier: Apache-2.0
"""Checks a system of components as far as that is possible without building the microkernel."""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.admission.load_components import LoadedComponents, load_components
from bulkhead.config.problem import Problem
from bulkhead.microkernel.images_here import sizes_here
from bulkhead.mxu.admit import admit
from bulkhead.mxu.model import MxuAdmission


def check_components(
    file: str, overrides: Sequence[str], *, unprotected: bool
) -> tuple[LoadedComponents, MxuAdmission | None, tuple[Problem, ...], str | None]:
    """The file, what was admitted if that could be computed, all problems, and what was not checked."""
    loaded = load_components(file, overrides, unprotected=unprotected)
    if loaded.system is None or loaded.platform is None:
        return loaded, None, loaded.problems, None
    sizes, wrong, unchecked = sizes_here(loaded)
    found = admit(loaded.system, loaded.platform, sizes)
    problems = tuple(loaded.locate(finding) for finding in (*wrong, *found.findings))
    return loaded, found, problems, unchecked
