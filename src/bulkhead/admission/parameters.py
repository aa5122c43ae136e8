# SPDX-License-Identifier: Apache-2.0
"""Parameters of domains that run programs of the tool: a name that the program does not read is an error.

A user's own programs read what they like. So do kernels, unless a `workload` stands in for them on the
simulated machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bulkhead.config.named import is_own_program
from bulkhead.config.problem import Finding, quoted
from bulkhead.config.program_parameters import is_read, nearest_parameter, parameters_of, program_of
from bulkhead.config.system import Domain, System


def check_parameters(system: System, beside: Path) -> Iterator[Finding]:
    """`beside`: directory of the system file, which may have programs of its own."""
    for index, domain in enumerate(system.domains):
        programs = _programs(domain, beside)
        if programs is None:
            continue
        known = tuple(dict.fromkeys(name for one in programs for name in parameters_of(one) or ()))
        for name in domain.params:
            if not is_read(name, known):
                cause = f"{' or '.join(map(quoted, programs))} reads no parameter {quoted(name)}"
                allowed = ", ".join(known) or "none"
                path = ("domains", index, "params", name)
                yield Finding(path, "unknown-name", cause, allowed, nearest_parameter(name, known))


def _programs(domain: Domain, beside: Path) -> list[str] | None:
    """The tool's programs that the domain's parameters are for; None: they are also for another program."""
    image, found = domain.image, []
    if image.elf is not None:
        own = program_of(image.elf) if is_own_program(image.elf, beside) else None
        if own is None:
            return None
        found.append(own)
    elif image.kernel is None:
        return None
    if domain.workload is not None:
        if parameters_of(domain.workload) is None:
            return None  # its name is wrong, which is reported where programs are looked up
        found.append(domain.workload)
    return found or None
