# SPDX-License-Identifier: Apache-2.0
"""One run of the simulated machine as a process of its own: a job as JSON in, its result as JSON out.

`python -m bulkhead.machine.point < job.json`. Exits with 1 and {"error": ...} if the job is not possible;
docs/guide/experiments.md ("One point") has the keys. Campaigns (bulkhead.campaign) run many side by side.
"""

from __future__ import annotations

import json
import sys
from typing import Any, NamedTuple

from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path
from bulkhead.config.platform import Platform
from bulkhead.errors import BulkheadError, InvalidInput
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.bus_devices import described as device_of
from bulkhead.machine.engines import Space, regulate
from bulkhead.machine.engines import described as engine_of
from bulkhead.machine.interval import Counts, between
from bulkhead.machine.job import LONGEST_PS, Job, JobPart
from bulkhead.machine.native import SimulatedMachine, load_machine, table_frames
from bulkhead.machine.partition_monitors import PartitionMonitors
from bulkhead.machine.partitions import divide, partitions_of
from bulkhead.machine.patterns import one_bank, rows_of_core, same_bank
from bulkhead.machine.placement import PlacedMemory, Placement
from bulkhead.machine.programs import (
    ProgramFailed,
    described,
    reason,
    run_iterations,
    run_preparations,
    start_program,
)
from bulkhead.machine.regulation import described as regulation_of
from bulkhead.machine.regulation import is_limited
from bulkhead.machine.settings import Settings, settings_of
from bulkhead.machine.spaces import (
    BLOCK_BYTES,
    FIRST_ADDRESS,
    OWN,
    TEXT_ADDRESS,
    AddressSpace,
    identity_of,
    is_translated,
    runs_of,
    space_of,
    table_pages_of_trace,
    with_tables,
)

PAGE_BYTES = 4096
_OWN_KEYS = (
    "name",
    "core",
    "colors",
    "banks",
    "memory_bytes",
    "pattern",
    "translation",
    "tables",
    "stage2_tables",
    "table_stages",
    "table_levels",
    "criticality",
    "bandwidth",
    "partition",
)


class BadJob(InvalidInput):
    """The job asks for something that is not possible."""


def run_point(job: Job) -> PointAnswer:
    """Run a job in this process. Raises ValueError with the reason if it is not possible."""
    parts: list[JobPart] = job["parts"]
    settings = job_settings(job)
    machine = load_machine(json.dumps(settings))
    placement = Placement.of_parts(job_platform(job), [*parts, *job.get("devices", ())])
    partitions = partitions_of(job)
    divide(job, partitions, job_platform(job), machine)
    monitors = PartitionMonitors(partitions, job_platform(job), machine)
    programs = [part["name"] for part in parts if "workload" in part]
    wanted = int(job.get("iterations", 0))
    memory = _start_parts(job, machine, settings, placement)
    _start_engines(job, machine, settings, placement)
    _start_devices(job, machine, placement, memory)
    limits = _limits(job, machine, placement) if is_limited(job) else None  # after the parts: moves none
    until = int(job.get("until_ps", LONGEST_PS))
    begin = _begin(job)
    before: Counts | None = None
    if job.get("from_iterations", False):
        begin = run_preparations(machine, until)
        before = _results(machine, monitors)
    if limits is not None:
        machine.regulate(limits)
    if begin and before is None:
        machine.run(min(begin, until))
        before = _results(machine, monitors)
    if wanted:
        waited_for = job.get("iterations_of", ())
        leave_out = int(job.get("leave_out", 0))
        ending = run_iterations(machine, programs, wanted, leave_out, until, begin, waited_for)
    else:
        ending = machine.run(until)
    found: Any = _results(machine, monitors)
    if before is not None:
        found = between(before, found)
    found["ending"] = ending
    found["line_bytes"] = int(settings["cores"][0]["l1d"]["line_bytes"])
    found["programs"] = described(found["programs"], programs)
    for program in found["programs"]:
        if program["trouble"] or program["status"] != 0:
            raise ProgramFailed(f"'{program['name']}' failed: {reason(program)}")
    walks = [part["name"] for part in parts if "workload" not in part]
    for name, walk in zip(walks, found["walks"], strict=True):
        walk["name"] = name
    answer: PointAnswer = found
    return answer


def _begin(job: Job) -> int:
    """Time in ps at which counting begins: `from_ps`, or the start of the part `from_part`."""
    if "from_part" not in job:
        return int(job.get("from_ps", 0))
    return next(int(part.get("start_ps", 0)) for part in job["parts"] if part["name"] == job["from_part"])


def _results(machine: SimulatedMachine, monitors: PartitionMonitors) -> Counts:
    found: Counts = json.loads(machine.results())
    return found | {"partitions": monitors.read()}


def job_platform(job: Job) -> Platform:
    path = platform_path(job["platform"])
    if path is None:
        raise BadJob(f"there is no platform '{job['platform']}'")
    platform, _, problems = load_platform(path, overrides=job.get("platform_set", ()))
    if platform is None:
        raise BadJob("; ".join(problem.text() for problem in problems))
    return platform


def job_settings(job: Job) -> Settings:
    """The platform's settings with the job's changes: {"cores.loads": 2} changes all cores."""
    owners = len(job["parts"]) + len(job.get("engines", ())) + len(job.get("devices", ())) + 1
    settings = settings_of(job_platform(job), seed=job.get("seed", 1), owners=owners)
    regulate(settings, job.get("qos", {}))
    for path, value in job.get("set", {}).items():
        _set(settings, path.split("."), path, value)
    return settings


def _start_parts(
    job: Job, machine: SimulatedMachine, settings: Settings, placement: Placement
) -> dict[str, PlacedMemory]:
    """Puts all parts on their cores. Their tables are allocated after the memory of all parts. Returns that
    memory by the part's name."""
    parts: list[JobPart] = job["parts"]
    iterates = int(job.get("iterations", 0)) > 0
    places = [_places(part, settings, placement) for part in parts]
    for number, (part, place) in enumerate(zip(parts, places, strict=True)):
        machine.own(number + 1, place.region.pages, PAGE_BYTES)
        space = _space(job, machine, number + 1, place, placement)
        if "workload" in part:
            endless = iterates or part.get("endless", False)
            start_program(machine, part, place.region, space, endless=endless)
            continue
        walk = {key: value for key, value in part.items() if key not in _OWN_KEYS}
        walk |= {"page_bytes": PAGE_BYTES if place.lines is None else 0}
        walk["addresses"] = _addresses(place, space)
        if space is not None:
            walk["space"] = space
        machine.walk(part["core"], json.dumps(walk))
    return {
        part["name"]: place.region for part, place in zip(parts, places, strict=True) if not place.anywhere
    }


def _addresses(place: PartPlaces, space: AddressSpace | None) -> list[int]:
    """Addresses for a generator: of its pages, or of its lines."""
    if space is None or place.anywhere:
        return place.region.pages if place.lines is None else place.lines
    seen = {page: FIRST_ADDRESS + i * PAGE_BYTES for i, page in enumerate(place.region.pages)}
    if place.lines is None:
        return list(seen.values())
    return [seen[line // PAGE_BYTES * PAGE_BYTES] + line % PAGE_BYTES for line in place.lines]


def _start_engines(job: Job, machine: SimulatedMachine, settings: Settings, placement: Placement) -> None:
    platform = job_platform(job)
    space = Space(placement, settings, [part["core"] for part in job["parts"]])
    for owner, engine in enumerate(job.get("engines", ()), len(job["parts"]) + 1):
        description, pages = engine_of(engine, platform, space, owner)
        machine.own(owner, pages, PAGE_BYTES)
        machine.dma(description)


def _start_devices(
    job: Job, machine: SimulatedMachine, placement: Placement, memory: dict[str, PlacedMemory]
) -> None:
    platform = job_platform(job)
    first = len(job["parts"]) + len(job.get("engines", ())) + 1
    for owner, device in enumerate(job.get("devices", ()), first):
        description, pages = device_of(device, platform, placement.pages, memory, table_frames, owner)
        machine.own(owner, pages, PAGE_BYTES)
        machine.device(description)


def _limits(job: Job, machine: SimulatedMachine, placement: Placement) -> str:
    """Budgets and regulators. EL2's data for a core is a page with the color and the owner of the core's
    part."""
    platform = job_platform(job)
    data = [platform.memory[0].at] * platform.cores.count
    for number, part in enumerate(job["parts"]):
        pages = _pages(f"EL2 for {part['name']}", PAGE_BYTES, part, placement)
        machine.own(number + 1, pages, PAGE_BYTES)
        data[part["core"]] = pages[0]
    return json.dumps(regulation_of(job, platform, data))


def _pages(name: str, nbytes: int, part: JobPart, placement: Placement) -> list[int]:
    """Pages of the part's colors and banks."""
    return placement.pages(name, nbytes, part.get("colors"), part.get("banks"))


class PartPlaces(NamedTuple):
    """Memory of a part, and the lines that a pattern accesses; None: all of it, in order."""

    region: PlacedMemory
    lines: list[int] | None = None
    anywhere: bool = False  # the lines are not in memory of the part itself


def _places(part: JobPart, settings: Settings, placement: Placement) -> PartPlaces:
    pattern = part.get("pattern", "pages")
    line_bytes = int(settings["cores"][0]["l1d"]["line_bytes"])
    if "workload" in part or pattern in ("pages", "one-bank"):
        name, nbytes = part["name"], part["memory_bytes"]
        region = placement.region(name, nbytes, part.get("colors"), part.get("banks"))
        if "workload" in part or pattern == "pages":
            return PartPlaces(region)
        return PartPlaces(region, one_bank(settings, region.pages, line_bytes))
    if pattern == "same-bank":
        most = int(settings["dram"]["shape"]["rows"]) // len(settings["cores"])
        number = min(most, part["memory_bytes"] // line_bytes)
        rows = rows_of_core(settings, part["core"])
        lines = same_bank(settings, number, first_row=rows.start, rows=len(rows))
        return PartPlaces(PlacedMemory(lines, 0), lines, anywhere=True)
    raise BadJob(f"'{part['name']}': '{pattern}' is not one of pages, same-bank, one-bank")


def _space(
    job: Job, machine: SimulatedMachine, owner: int, place: PartPlaces, placement: Placement
) -> AddressSpace | None:
    """Translation of a part. Its tables, and a generator's text, are in memory of the part's own colors."""
    platform, part = job_platform(job), job["parts"][owner - 1]
    if not is_translated(platform, part):
        return None

    def frames(count: int) -> list[int]:
        found = _pages(f"tables of {part['name']}", count * PAGE_BYTES, part, placement)
        machine.own(owner, found, PAGE_BYTES)
        return found

    def stage2_frames(count: int) -> list[int]:
        where, name = part["stage2_tables"], f"stage-2 tables of {part['name']}"
        return placement.stage2_tables(name, count * PAGE_BYTES, where)

    apart = stage2_frames if part.get("stage2_tables", OWN) != OWN else None
    more = instructions = 0
    if place.anywhere:
        size = BLOCK_BYTES if part.get("translation", "blocks") == "blocks" else PAGE_BYTES
        pieces = identity_of(place.region.pages, size)
    else:
        pieces = runs_of(*place.region)
        if "workload" not in part:
            pieces.insert(0, (TEXT_ADDRESS, frames(1)[0], PAGE_BYTES))
            instructions = TEXT_ADDRESS
        elif "trace" in part:
            more = table_pages_of_trace(len(place.region.pages))
    space = space_of(platform, part, pieces, instructions)
    return with_tables(space, table_frames, frames, more, apart)


def _set(where: Any, way: list[str], path: str, value: Any) -> None:
    if isinstance(where, list):
        for item in where:
            _set(item, way, path, value)
        return
    key, rest = way[0], way[1:]
    if not isinstance(where, dict) or key not in where:
        raise BadJob(f"there is no setting '{path}'")
    if rest:
        _set(where[key], rest, path, value)
    elif value is None:
        del where[key]  # None removes an optional setting, for example a private cache
    else:
        where[key] = value


def main() -> int:
    try:
        found: object = run_point(json.load(sys.stdin))
        code = 0
    except (BulkheadError, ValueError, KeyError, TypeError) as error:
        what = f"the job has no key {error}" if isinstance(error, KeyError) else str(error)
        found, code = {"error": what}, 1
    print(json.dumps(found))  # noqa: T201
    return code


if __name__ == "__main__":
    sys.exit(main())
