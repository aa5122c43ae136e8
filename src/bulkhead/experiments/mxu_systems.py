# SPDX-License-Identifier: Apache-2.0
"""Component systems for experiment `mxu` (X7): a benchmark, and an adversary in the same component or in one
of its own. Plain data, in the form of a system file; mxu_runs.py builds and runs them."""

from __future__ import annotations

from typing import Any

from bulkhead.mxu.native import spec_flags

Json = dict[str, Any]

MMU_PLATFORM, MPU_PLATFORM = "zynq7020", "stm32f767"
PATTERNS = ("sequential", "random", "stride", "matrix")  # in the order of their numbers in patterns.c
MATRIX_ROWS = 17
WAYS = 8  # of the Zynq's L2

KIB, MIB = 1024, 1024 * 1024

# Places of table nodes: the specification of the pattern's memory, and the hardware that the system provides.
PLACES: dict[str, tuple[tuple[str, ...], Json]] = {
    "locked": (("deterministic",), {}),
    "ways": (("l2",), {"ocm": "1 KiB", "locked_ways": 1}),
    "ocm": (("l2",), {}),
    "plain": ((), {}),
}
PAGE = {"page": "4 KiB"}  # as the published kernel maps
POLICIES = ("round-robin", "random", "bit-plru")
SYSTEM_REGIONS = 2  # of an MPU; the stack has one more, and `regions_left` are shared by the rest
MPU_REGIONS = 8


def ways_mask(ways: int) -> int:
    """Mask of the last `ways` ways, in which the kernel places table nodes
    (microkernel/arch/armv7a/outer_cache.c)."""
    return (1 << WAYS) - (1 << (WAYS - ways))


def adversary(platform: str, period_us: int, *, static: bool = False) -> Json:
    """An adversary in a component of its own, with the highest priority."""
    return {
        "name": "adversary",
        "image": {"app": "adversary"},
        "params": {"caches": int(platform == MMU_PLATFORM), "reports": 0},
        "spec": ["deterministic"] if static else [],
        "stack": "4 KiB",
        "period": f"{period_us} us",
        "priority": 0,
        "controls": ["console", "clean-cache", "flush-check"],
    }


def system(platform: str, benchmark: Json, hardware: Json, *others: Json) -> Json:
    return {
        "bulkhead": 1,
        "name": "measured",
        "platform": platform,
        "hardware": hardware,
        "components": [benchmark, *others],
    }


def benchmark(app: str, params: Json, **more: Any) -> Json:
    return {
        "name": app,
        "image": {"app": app},
        "params": params,
        "stack": "4 KiB",
        "controls": ["console", "clean-cache", "flush-check", "lock-ways", "end"],
        **more,
    }


def inside(platform: str, period_us: int) -> Json:
    """Parameters of an adversary in the same component. 0: none."""
    return {"disturb_ns": period_us * 1000, "caches": int(platform == MMU_PLATFORM)} if period_us else {}


def pattern(name: str, nbytes: int, accesses: int) -> Json:
    """The pattern's parameters. Matrices read all rows, whatever `accesses` says, unless that is small."""
    number = PATTERNS.index(name)
    if name != "matrix":
        return {"pattern": number, "bytes": nbytes, "accesses": accesses}
    of_a_row = 2 * 128 * 128
    return {"pattern": number, "bytes": nbytes, "rows": max(1, min(MATRIX_ROWS, accesses // of_a_row))}


def mmu_bytes(name: str) -> int:
    """Bytes of the pattern's memory: 1 MiB, as many integers as accesses; for `stride` 16384 pages, which
    four entries of 16 MiB map."""
    return {"stride": 64 * MIB, "matrix": 512 * (128 + MATRIX_ROWS)}.get(name, MIB)


def node_ways(name: str) -> int:
    """Ways for table nodes: those of 64 MiB in pages need more than one way of 64 KiB."""
    return 2 if name == "stride" else 1


def mpu_bytes(name: str) -> int:
    """Bytes of the pattern's memory: 64 KiB; the matrices need more, and half of it must be a region, too."""
    return 80 * KIB if name == "matrix" else 64 * KIB


def mmu_pattern(name: str, place: str, accesses: int, period_us: int = 0, *, each: bool = False) -> Json:
    spec, hardware = PLACES[place]
    params = pattern(name, mmu_bytes(name), accesses) | {"spec": spec_flags(spec)}
    if place == "ways":
        params["lock_ways"] = ways_mask(WAYS - 1)
        hardware = hardware | {"locked_ways": node_ways(name)}
    params |= inside(MMU_PLATFORM, period_us)
    if each:
        params |= {"each": 1, "caches": 1}
    # The program's other memory, code and stack have their nodes at the place of the case; in OCM for locked
    # entries.
    rest = [] if place == "plain" else ["l2"]
    return system(MMU_PLATFORM, benchmark("patterns", params, spec=rest), PAGE | hardware)


CYCLES_PER_S = 767_000_000  # of the Zynq's cores


def assumed(parameter: str, value: int) -> list[tuple[str, int]]:
    """Settings of the machine, by path, for an assumed parameter of the platform: `walk` (cycles of a walk
    besides its reads) or `latency` (cycles of a hit in L2 or in on-chip memory)."""
    if parameter == "walk":
        return [("cores.mmu.walk_cycles", value)]
    time_ps = value * 10**12 // CYCLES_PER_S
    return [("levels.latency_ps", time_ps), ("regions.latency_ps", time_ps)]


def regions(dynamic: int, static: int) -> int:
    """The value of `system_regions` that leaves `dynamic` regions, besides static ones and the stack's."""
    return MPU_REGIONS - dynamic - static - 1


def mpu_pattern(
    name: str,
    case: str,
    accesses: int,
    period_us: int = 0,
    *,
    policy: str = "round-robin",
    each: bool = False,
) -> Json:
    """`case` is static; dynamic: three regions of two pages; half: the first half of the memory is static. In
    these the adversary is in the same component. In apart, static-apart and both-static it has a component of
    its own: the benchmark is then dynamic, static, static, and the adversary dynamic, dynamic, static."""
    static = case in ("static", "static-apart", "both-static")
    apart = case in ("apart", "static-apart", "both-static")
    params = pattern(name, mpu_bytes(name), accesses)
    params |= {"spec": spec_flags(("deterministic",) if static else ()), "half": int(case == "half")}
    if not apart:
        params |= inside(MPU_PLATFORM, period_us)
    if each:
        params |= {"each": 1}
    # The program's own variables are static, so that dynamic regions serve only the pattern's memory.
    one = benchmark("patterns", params, spec=["deterministic"])
    hardware: Json = {
        "region": "8 KiB",
        "eviction": policy,
        "system_regions": regions(3, 2 if case == "half" else 1),
    }
    if static:
        hardware["system_regions"] = SYSTEM_REGIONS
    others = [adversary(MPU_PLATFORM, period_us, static=case == "both-static")] if apart and period_us else []
    return system(MPU_PLATFORM, one, hardware, *others)


APPS: dict[str, Json] = {
    "cnn": {"stack": "4 KiB", "heap": "256 KiB"},
    "sqlite": {"stack": "16 KiB", "heap": "4 MiB"},
    "duktape": {"stack": "32 KiB", "heap": "4 MiB"},
}


def mmu_app(app: str, params: Json, place: str, ways: int, period_us: int = 0) -> Json:
    """`ways`: number of locked ways; the kernel's has table nodes if `place` is `ways`."""
    spec, hardware = PLACES[place]
    hardware = dict(hardware)
    params = params | inside(MMU_PLATFORM, period_us)
    if ways:
        params["lock_ways"] = ways_mask(ways)
    one = benchmark(app, params, spec=list(spec), **APPS[app])
    return system(MMU_PLATFORM, one, PAGE | hardware)


HALF = 3  # dynamic regions besides static ones


def mpu_app(app: str, params: Json, case: str, period_us: int = 0) -> Json:
    """`case` is static: all memory; half: the program's variables are static, its heap has HALF dynamic
    regions; a number: so many dynamic regions for variables and heap."""
    params = params | inside(MPU_PLATFORM, period_us)
    static = ["deterministic"]
    if case == "static":
        one = benchmark(app, params, spec=static, **APPS[app])
        return system(MPU_PLATFORM, one, {"system_regions": SYSTEM_REGIONS})
    if case == "half":
        one = benchmark(app, params, spec=static, heap_spec=[], **APPS[app])
        left = regions(HALF, 1)
    else:
        one = benchmark(app, params, spec=[], **APPS[app])
        left = regions(int(case), 0)
    return system(MPU_PLATFORM, one, {"system_regions": left, "region": "64 KiB"})
