# SPDX-License-Identifier: Apache-2.0
"""JSON Schemas of results, made from their types; `bulkhead schema` prints them.

A command has one schema, `COMMAND-result`, which is strict: it allows no other key. If the command prints
several shapes of results, the schema allows each of them, the answer first. RefusalResult is always one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any, get_args, get_type_hints

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from typing_extensions import get_original_bases, is_typeddict

from bulkhead.results import bench, build, experiment, flows, limits, plan, record
from bulkhead.results.calibrate import CalibrateResult
from bulkhead.results.check import CheckResult
from bulkhead.results.components_run import ComponentsNotRunResult, ComponentsRunResult
from bulkhead.results.crosscheck import CrosscheckResult
from bulkhead.results.envelope import Envelope, RefusalResult
from bulkhead.results.platforms import PlatformsResult
from bulkhead.results.published import PublishedResult
from bulkhead.results.report import ReportResult
from bulkhead.results.resctrl import ResctrlResult
from bulkhead.results.run import NotRunResult, RunResult
from bulkhead.results.self_test import SelfTestResult
from bulkhead.results.setup import SetupResult
from bulkhead.results.size import SizeResult
from bulkhead.results.top import TopResult
from bulkhead.results.trace import TraceResult
from bulkhead.results.validate import ValidateResult

COMMON = "result"
SUFFIX = "-result"

# What each command prints, its answer first; RefusalResult aside.
SHAPES: dict[str, tuple[type, ...]] = {
    "check": (CheckResult,),
    "plan": (plan.PlanResult, plan.NotPlannedResult),
    "run": (RunResult, ComponentsRunResult, NotRunResult, ComponentsNotRunResult),
    "report": (ReportResult,),
    "top": (TopResult,),
    "trace": (TraceResult,),
    "build": (build.BuildResult, build.ComponentsBuildResult, build.NotBuiltResult),
    "linux-module": (build.LinuxModuleResult,),
    "flows check": (flows.FlowsCheckResult, flows.NotSchedulableResult, flows.FlowProblemsResult),
    "flows min-bandwidth": (flows.MinBandwidthResult, flows.FlowProblemsResult),
    "flows min-period": (flows.MinPeriodResult,),
    "flows sweep": (flows.FlowsSweepResult,),
    "platforms": (PlatformsResult,),
    "limits": (limits.LimitsResult,),
    "calibrate": (CalibrateResult,),
    "validate": (ValidateResult,),
    "self-test": (SelfTestResult,),
    "published": (PublishedResult,),
    "crosscheck": (CrosscheckResult,),
    "experiment": (experiment.ExperimentResult, experiment.ExperimentsResult),
    "sensitivity": (experiment.SensitivityResult,),
    "bench hypervisor": (bench.BenchHypervisorResult,),
    "bench regulators": (bench.BenchRegulatorsResult,),
    "bench flows": (bench.BenchFlowsResult,),
    "bench linux-boot": (bench.BenchLinuxBootResult,),
    "bench machine": (bench.BenchMachineResult,),
    "bench refill-bound": (bench.BenchRefillBoundResult,),
    "bench campaign": (bench.BenchCampaignResult,),
    "record": (record.RecordResult,),
    "workloads compare": (record.WorkloadsCompareResult,),
    "resctrl show": (ResctrlResult,),
    "resctrl apply": (ResctrlResult,),
    "size": (SizeResult,),
    "setup": (SetupResult,),
}


def kind_of(command: str) -> str:
    """The schema's name: `flows-check-result` of `flows check`."""
    return command.replace(" ", "-") + SUFFIX


def kinds() -> list[str]:
    """Names of all schemas."""
    return [COMMON, *map(kind_of, SHAPES)]


def adapter(command: str) -> TypeAdapter[Any]:
    """Validates what the command prints."""
    return TypeAdapter(reduce(or_, (*SHAPES[command], RefusalResult)))


def result_schema(kind: str) -> JsonSchemaValue:
    """The schema of `result`, the keys that all results have, or of a command. Raises KeyError."""
    if kind == COMMON:
        made = _described(TypeAdapter(Envelope).json_schema(), Envelope)
        title = "What every command prints with --json"
    else:
        command = {kind_of(one): one for one in SHAPES}[kind]
        made = adapter(command).json_schema()
        for one in _types((*SHAPES[command], RefusalResult)):
            _described(made["$defs"][one.__name__], one)
        title = f"What `bulkhead {command} --json` prints"
    for node in made.get("$defs", {}).values():
        _describe_parts(node, made["$defs"])
    _describe_parts(made, made.get("$defs", {}))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": title}


def _types(given: tuple[Any, ...]) -> list[type]:
    """The given TypedDicts, and all that their keys lead to."""
    found: list[type] = []
    waiting = list(given)
    while waiting:
        one = waiting.pop()
        if not is_typeddict(one):
            waiting += get_args(one)
        elif one not in found:
            found.append(one)
            waiting += get_type_hints(one).values()
    return found


def _described(node: JsonSchemaValue, of: type) -> JsonSchemaValue:
    """The node with descriptions of keys that a base declares: pydantic reads those of a class's own keys
    only."""
    for base in _bases(of):
        for key, value in TypeAdapter(base).json_schema().get("properties", {}).items():
            if "description" in value:
                node["properties"][key].setdefault("description", value["description"])
    return node


def _bases(of: type) -> Iterator[type]:
    for base in get_original_bases(of):
        if is_typeddict(base):
            yield base
            yield from _bases(base)


def _describe_parts(node: JsonSchemaValue, parts: JsonSchemaValue) -> None:
    """A key without a description has that of its part."""
    for value in node.get("properties", {}).values():
        if "description" not in value and "$ref" in value:
            value["description"] = parts[value["$ref"].rpartition("/")[2]]["description"]
