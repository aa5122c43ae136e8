# SPDX-License-Identifier: Apache-2.0
"""Checks of a system file: it is validated, cross-checked and planned, and its package is built in memory.

Nothing is written or run.
"""

from __future__ import annotations

from dataclasses import dataclass

from bulkhead.admission.load import Loaded, load_system
from bulkhead.admission.load_components import LoadedComponents, has_components
from bulkhead.config.problem import Problem
from bulkhead.microkernel.check import check_components
from bulkhead.mxu.model import MxuAdmission
from bulkhead.package.accept import accept
from bulkhead.planning.model import Plan
from bulkhead.planning.plan import PlanningError, plan_memory


@dataclass(frozen=True)
class Checked:
    """One file with all results of its check."""

    loaded: Loaded | LoadedComponents
    plan: Plan | None
    problems: tuple[Problem, ...]
    notices: tuple[Problem, ...] = ()
    unchecked: tuple[str, ...] = ()  # what is not on this machine
    components: MxuAdmission | None = None  # of a system of components, which has no plan


def check_file(
    file: str, overrides: list[str] | tuple[str, ...] = (), *, unprotected: bool = False
) -> Checked:
    """The check of one file: it is planned, its package is built, and the hypervisor's code checks it."""
    if has_components(file):
        return _check_components(file, overrides, unprotected=unprotected)
    loaded = load_system(file, overrides, unprotected=unprotected)
    checked = _planned(loaded)
    if checked.plan is None or loaded.path is None:
        return checked
    found = accept(checked.plan, loaded.path.parent)
    problems = tuple(loaded.locate(finding) for finding in found.findings)
    notices = checked.notices + tuple(loaded.locate(finding) for finding in found.notices)
    return Checked(loaded, None if problems else checked.plan, problems, notices, found.unchecked)


def _check_components(file: str, overrides: list[str] | tuple[str, ...], *, unprotected: bool) -> Checked:
    loaded, found, problems, unchecked = check_components(file, overrides, unprotected=unprotected)
    return Checked(loaded, None, problems, (), () if problems or not unchecked else (unchecked,), found)


def plan_file(
    file: str, overrides: list[str] | tuple[str, ...] = (), *, unprotected: bool = False
) -> Checked:
    """The part of the check of a system of domains that needs no images."""
    return _planned(load_system(file, overrides, unprotected=unprotected))


def _planned(loaded: Loaded) -> Checked:
    if not loaded.ok or loaded.system is None or loaded.platform is None:
        return Checked(loaded, None, loaded.problems, loaded.notices)
    try:
        return Checked(loaded, plan_memory(loaded.system, loaded.platform), (), loaded.notices)
    except PlanningError as error:
        problems = tuple(loaded.locate(finding) for finding in error.findings)
        return Checked(loaded, None, problems, loaded.notices)
