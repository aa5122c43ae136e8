# SPDX-License-Identifier: Apache-2.0
"""Programs that a system runs on the simulated machine in place of others.

The machine runs programs in C: a domain's `workload` replaces an image that is none (a kernel). For a
domain's solo run, every other domain runs a program that prints a greeting and ends, so that the rest of the
system stays the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from bulkhead.config.system import Domain, Image, System

_QUIET = "guests/hello.elf"
_OWN = "guests"
_ENDLESS = 0  # iterations: like the replaced program, it does not end


def on_machine(system: System) -> System:
    """The system with each domain's `workload`, if it has one, as its image."""
    return _with(system, (_stand_in(domain) for domain in system.domains))


def alone(system: System, name: str) -> System:
    """The system in which only the domain `name` has work to do."""
    return _with(system, (_quiet(domain) if domain.name != name else domain for domain in system.domains))


def programs_of(system: System) -> list[str]:
    """Names of the tool's own programs that the system runs, each once, in the order of domains."""
    paths = [PurePosixPath(domain.image.elf) for domain in system.domains if domain.image.elf is not None]
    return list(dict.fromkeys(path.stem for path in paths if path.parts[:1] == (_OWN,)))


def _stand_in(domain: Domain) -> Domain:
    if domain.workload is None:
        return domain
    image = Image(elf=f"{_OWN}/{domain.workload}.elf")
    return domain.model_copy(update={"image": image, "params": {"iterations": _ENDLESS, **domain.params}})


def _quiet(domain: Domain) -> Domain:
    return domain.model_copy(update={"image": Image(elf=_QUIET), "params": {}, "restart": "never"})


def _with(system: System, domains: Iterable[Domain]) -> System:
    return system.model_copy(update={"domains": tuple(domains)})
