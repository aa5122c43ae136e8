# SPDX-License-Identifier: Apache-2.0
"""Names of the parameters that the tool's own programs read: `params` of system files and experiments.

A program asks for its parameters by name and ignores all others, so a misspelt one has no effect. Checks of
files therefore look them up here. The sources of the programs are the origin: guests/programs/, and the
tables in workloads/. tests/guests/test_parameters.py compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from bulkhead.config.named import PROGRAMS, TRACE_SUFFIX
from bulkhead.config.problem import nearest_of

OF_WORKLOADS = ("iterations", "warmup", "seed", "report_every", "small")  # workloads/driver.c
ALL_WORKLOADS = "workloads"  # the guest that runs all of them
_ALL = "all"  # its name as an argument (workloads/hosts/arguments.c)
_OF_TRACES = ("iterations",)  # recorded programs (machine/programs.py)
# `out*_` stands for `out0_`, `out1_` and so on: parameters about flows (guests/runtime/flow_params.h).
_SOURCE = "send_cid send_port send_bytes times total"
_PERIODIC = "period_us working_set_kib iterations report_every before_us margin_us warmup passes"
_TRAFFIC = (
    "packets ahead hurry together_ms after_ms write_ms write_kib print flows_out flows_in out*_cid out*_port "
    "out*_bytes out*_period_ns in*_port"
)
_TEAM = "core_kib row_stride_kib window_us"
_GUESTS = {
    "again": "times",
    "breakout": "still_ms storm_ms every mpam_page",
    "broker": "event interrupt engine engine_base engine_at samples samples_bytes",
    "busy": "seed tick_us",
    "bypass": "area_kib stride stores storm_after_us report_every_us cached device",
    "calls": "times rest_us write_kib",
    "client": (
        "requests net blocks together_ms flows_out flows_in out*_cid out*_port out*_bytes out*_back_bytes "
        "out*_period_ns in*_port"
    ),
    "copier": "bytes chunk ms dma interrupt memory_pa",
    "counting": "turns rounds counts_instructions",
    "crash": "kind address",
    "dialog": (
        "requests flows_out out*_cid out*_port out*_bytes out*_back_bytes out*_period_ns in*_port "
        "in*_bytes in*_back_bytes"
    ),
    "echo": "",
    "edu": "config foreign step attempts registers",
    "firmware": "function first",
    "flash": "at rounds",
    "governor": "victim factor period_ns after_ms end_ms",
    "hello": "reset",
    "hog": "buffer_kib passes only_write rest_us",
    "hostile": "attack storm_after_us send_cid send_port receive_port",
    "hostile_broker": "event victim before page",
    "hostile_disk": "config foreign foreign_mib only_reads seed programs check_every print_every",
    "hostile_messages": "config its victim foreign foreign_mib seed attacks check_every print_every",
    "hostile_socket": "round_us receive_port",
    "labels": "labels walk_kib wanted storm_cpus after_us page accesses",
    "listening": f"{_PERIODIC} pace_us flows_out out*_cid out*_port out*_bytes",
    "messages": "config its steps step_us",
    "paths": "flash interval_us intervals budget shared",
    "periodic": _PERIODIC,
    "reaper": "victim rounds gap_us seed stops end_machine",
    "remap": "rounds",
    "self_test": f"largest_kib draws {_TEAM}",
    "self_test_budgets": _TEAM,
    "self_test_flows": (
        "core engine by_interrupt isolated write_ms quiet_ms write_kib times rest_us quiet_rest_us "
        "receive_port"
    ),
    "self_test_utilization": _TEAM,
    "server": (
        "net blocks dma interrupt delay_us memory_pa flows_in in*_port in*_bytes in*_back_bytes "
        "in*_back_period_ns"
    ),
    "socket_sink": "receive_port times",
    "socket_source": _SOURCE,
    "socket_source_pci": _SOURCE,
    "switchboard": "from to port bytes period_ns deadline_ns after_ms refusals keep_ms",
    "traffic": _TRAFFIC,
    "traffic_many": f"{_TRAFFIC} in*_bytes report_ms deadline_us",
    "tuner": "core after_ms threshold_percent settle_ms end_ms",
    "witness": "step_us memory_kib seed steps print_every watch watch_count",
}
_WORKLOADS = {
    "bandwidth": "size_kib write",
    "corners": "width height",
    "disparity": "width height shifts",
    "edges": "width height",
    "euclidean_cluster": "objects points_each ground tries",
    "latency": "size_kib",
    "matmul": "n",
    "membomb": "size_kib",
    "mser": "width height",
    "multi_ncut": "width height rounds",
    "ndt_mapping": "points map_points length_m",
    "points2image": "width height points length_m",
    "qsort": "keys",
    "sift": "width height",
    "stitch": "width height corners",
    "stride": "size_kib stride_bytes",
    "texture_synthesis": "width height sample",
    "tracking": "width height",
    "ustress": "stride_kib rows columns",
}
_OF_A_FLOW = re.compile(r"(in|out)([0-9]|[1-9][0-9])_")


def guest_programs() -> tuple[str, ...]:
    return tuple(_GUESTS)


def workloads() -> tuple[str, ...]:
    return tuple(_WORKLOADS)


def program_of(image: str) -> str | None:
    """The tool's program that an image such as `guests/hog.elf` names; None: it names no such program."""
    path = PurePosixPath(image)
    own = path.parts[:1] == (PROGRAMS,) and len(path.parts) == 2 and path.suffix == ".elf"
    return path.stem if own and parameters_of(path.stem) is not None else None


def parameters_of(program: str) -> tuple[str, ...] | None:
    """Names that a program or workload reads; None: there is no such program."""
    if program in _GUESTS:
        return tuple(_GUESTS[program].split())
    if program == ALL_WORKLOADS:
        return tuple(dict.fromkeys((*OF_WORKLOADS, *" ".join(_WORKLOADS.values()).split())))
    if program in _WORKLOADS:
        return (*OF_WORKLOADS, *_WORKLOADS[program].split())
    return None


def parameters_of_workload(name: str) -> tuple[str, ...] | None:
    """Names that a workload of the simulated machine or a recorded program reads; None: there is no such
    workload."""
    if name.endswith(TRACE_SUFFIX):
        return _OF_TRACES
    return parameters_of(ALL_WORKLOADS if name == _ALL else name) if name in (*_WORKLOADS, _ALL) else None


def is_read(name: str, known: Iterable[str]) -> bool:
    """Whether `name` is one of these parameters."""
    return name in known or _OF_A_FLOW.sub(r"\1*_", name, count=1) in known


def nearest_parameter(name: str, known: Iterable[str]) -> str | None:
    """The parameter that `name` was probably meant to be; about the same flow, if it is about one."""
    flow = _OF_A_FLOW.match(name)
    return nearest_of(name, [one.replace("*", flow[2]) if flow else one for one in known])
