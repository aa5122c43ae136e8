# SPDX-License-Identifier: Apache-2.0
"""What a system runs on the simulated machine in place of what it runs elsewhere.

The machine runs programs in C: a domain's `workload` stands for an image that is none (a kernel). For its
solo run, every other domain runs a program that says hello and ends, so that all else stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from bulkhead.config.system import Domain, Image, System

_QUIET = "guests/hello.elf"
_OWN = "guests"
_ENDLESS = 0  # iterations: what it stands for does not end either


def on_machine(system: System) -> System:
    """The system with each domain's `workload`, where it has one, as its image."""
    return _with(system, (_stand_in(domain) for domain in system.domains))


def alone(system: System, name: str) -> System:
    """The system in which `name` alone has something to do."""
    return _with(system, (_quiet(domain) if domain.name != name else domain for domain in system.domains))


def programs_of(system: System) -> list[str]:
    """Names of our own programs that the system runs, each once, in the order of domains."""
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
