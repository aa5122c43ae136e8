# SPDX-License-Identifier: Apache-2.0
"""`bulkhead resctrl show|apply SYSTEM`: set the shares of a system file on a running Linux (M6).

`show` changes nothing. `apply` makes a group for each domain. If the kernel cannot express all that the file
asks for, `apply` changes nothing, unless `--partial` allows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson, Overrides, SystemFile
from bulkhead.commands.output import complain, console, print_json, print_problems
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.admission.load import Loaded
    from bulkhead.config.problem import Problem
    from bulkhead.resctrl.plan import ResctrlPlan, WantedGroup
    from bulkhead.resctrl.tree import Offer, ResctrlGroup
    from bulkhead.results.resctrl import GroupResult, GroupSettingsResult, ResctrlResult, SharesDescription

Root = Annotated[
    Path,
    typer.Option("--root", help="Directory at which resctrl is mounted.", file_okay=False, show_default=True),
]
DEFAULT_ROOT = Path("/sys/fs/resctrl")


@dataclass(frozen=True)
class Looked:
    """A system file, and what the kernel's resctrl offers for it."""

    loaded: Loaded
    root: Path
    offer: Offer | None = None
    plan: ResctrlPlan | None = None
    refused: tuple[str, ...] = ()  # of the kernel, or of its tree

    def problems(self, which: str) -> tuple[Problem, ...]:
        found = () if self.plan is None else getattr(self.plan, which)
        return tuple(self.loaded.locate(one) for one in found)


def register(app: typer.Typer) -> None:
    resctrl = typer.Typer(
        no_args_is_help=True,
        help="Show and set shares of cache and bandwidth on a running Linux through its resctrl.",
    )
    resctrl.command("show")(show)
    resctrl.command("apply")(apply)
    app.add_typer(resctrl, name="resctrl")


def show(
    system: SystemFile, overrides: Overrides = None, root: Root = DEFAULT_ROOT, as_json: AsJson = False
) -> None:
    """Show the settings of groups, what the file asks for, and what the kernel cannot express."""
    looked = _look(system, overrides or [], root)
    _report("show", looked, as_json=as_json)
    if looked.refused or looked.loaded.problems or looked.problems("findings"):
        raise typer.Exit(1)


def apply(
    system: SystemFile,
    overrides: Overrides = None,
    root: Root = DEFAULT_ROOT,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial",
            help="Apply what the kernel can express although the file asks for more. Without "
            "it, nothing is applied then.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a resctrl group for each domain, with its share of the cache, its bandwidth and its CPUs."""
    looked = _look(system, overrides or [], root)
    plan, wrong = looked.plan, bool(looked.problems("findings"))
    if plan is not None and not wrong and (partial or not plan.lacking):
        looked = replace(looked, refused=_write(root, plan.wanted))
        _report("apply", looked, as_json=as_json)
        if not looked.refused:
            return
    else:
        if plan is not None and not wrong:
            unwritten = ("nothing is written: `--partial` applies what can be expressed",)
            looked = replace(looked, refused=looked.refused + unwritten)
        _report("apply", looked, as_json=as_json)
    raise typer.Exit(1)


def _look(system: str, overrides: list[str], root: Path) -> Looked:
    from bulkhead.admission.load import load_system
    from bulkhead.resctrl.plan import plan_groups
    from bulkhead.resctrl.tree import ResctrlError, offer_of

    loaded = load_system(system, overrides, emulated=True)
    if loaded.system is None or loaded.platform is None:
        return Looked(loaded, root)
    try:
        offer = offer_of(root)
        return Looked(loaded, root, offer, plan_groups(loaded.system, loaded.platform, offer, root))
    except ResctrlError as error:
        return Looked(loaded, root, refused=(str(error),))


def _write(root: Path, wanted: Sequence[WantedGroup]) -> tuple[str, ...]:
    """Write the groups; returns what the kernel refused, or reads back differently. The default group is
    written last, so that every task keeps resources until then."""
    from bulkhead.resctrl.tree import ResctrlError, read_group, schemata_text, write

    try:
        for one in sorted(wanted, key=lambda one: one.group == ""):
            if one.schemata:
                write(root, one.group, "schemata", schemata_text(one.schemata))
            if one.cpus is not None:
                write(root, one.group, "cpus_list", ",".join(str(cpu) for cpu in one.cpus) + "\n")
        wrong = []
        for one in wanted:
            found = read_group(root, one.group)
            name = one.group or "the default group"
            wrong += [
                f"{name}: {line} is {dict(found.schemata.get(line, {}))} after {dict(values)} was written"
                for line, values in one.schemata.items()
                if found.schemata.get(line) != values
            ]
            if one.cpus is not None and found.cpus != one.cpus:
                wrong.append(f"{name}: has CPUs {list(found.cpus)} after {list(one.cpus)} was written")
        return tuple(wrong)
    except ResctrlError as error:
        return (str(error),)


def _report(command: str, looked: Looked, *, as_json: bool) -> None:
    problems = looked.loaded.problems + looked.problems("findings")
    if as_json:
        print_json(_json(command, looked, problems))
        return
    print_problems(problems)
    print_problems(looked.problems("lacking"), kind="not expressed")
    print_problems(looked.problems("notices"), kind="notice")
    for text in looked.refused:
        complain(f"error: {text}")
    if looked.plan is not None and looked.offer is not None:
        _show_groups(looked, looked.offer, looked.plan)


def _show_groups(looked: Looked, offer: Offer, plan: ResctrlPlan) -> None:
    from rich.table import Table
    from rich.text import Text

    from bulkhead.resctrl.tree import groups_of

    wanted = {one.group: one for one in plan.wanted}
    present = {group.name: group for group in groups_of(looked.root)}
    table = Table(title=f"resctrl in {looked.root}", title_justify="left")
    for heading in ("group", "", "llc", "bandwidth", "CPUs", "occupies"):
        table.add_column(heading, no_wrap=heading == "group")
    for name in dict.fromkeys([*present, *wanted]):
        shown = name or "(default)"
        if name in present:
            table.add_row(*(Text(cell) for cell in (shown, "has", *_cells(offer, present[name]))))
            shown = ""
        if name in wanted and looked.loaded.ok:
            table.add_row(*(Text(cell) for cell in (shown, "asks for", *_cells(offer, wanted[name]))))
    console().print(table)


def _cells(offer: Offer, group: ResctrlGroup | WantedGroup) -> tuple[str, str, str, str]:
    from bulkhead.units import size_text

    described = describe(offer, group)
    occupancy = getattr(group, "occupancy", {})
    cpus = ", ".join(str(cpu) for cpu in group.cpus or ())
    return described["llc"], described["bandwidth"], cpus, ", ".join(map(size_text, occupancy.values()))


def describe(offer: Offer, group: ResctrlGroup | WantedGroup) -> SharesDescription:
    """Schemata in the notation of a system file; values that differ between caches are shown for each."""
    from fractions import Fraction

    from bulkhead.resctrl.tree import MB, MOST_PERCENT
    from bulkhead.units import mask_text, percent_text

    masks = group.schemata.get(offer.cache.names[0], {}) if offer.cache is not None else {}
    portions = offer.cache.portions if offer.cache is not None else 1
    parts = [
        f"{{ portions: {mask_text(mask)} }}, {percent_text(Fraction(mask.bit_count(), portions))}"
        for mask in dict.fromkeys(masks.values())
    ]
    rates = dict.fromkeys(group.schemata.get(MB, {}).values())
    limits = [f"{{ max: {rate} % }}" if rate <= MOST_PERCENT else f"{rate}" for rate in rates]
    return {"llc": "; ".join(parts), "bandwidth": "; ".join(limits)}


def _json(command: str, looked: Looked, problems: Sequence[Problem]) -> ResctrlResult:
    from bulkhead.resctrl.tree import groups_of

    offer, plan = looked.offer, looked.plan
    groups: list[GroupResult] = []
    if offer is not None and plan is not None:
        wanted = {one.group: one for one in plan.wanted}
        present = {group.name: group for group in groups_of(looked.root)}
        groups = [
            {
                "name": name,
                "has": _group_json(offer, present.get(name)),
                "asks": _group_json(offer, wanted.get(name)),
            }
            for name in dict.fromkeys([*present, *wanted])
        ]
    failed = bool(problems or looked.refused)
    reasons = [problem.text() for problem in problems] + list(looked.refused)
    common = result_object(
        f"resctrl {command}",
        system=looked.loaded.system.name if looked.loaded.system else None,
        platform=looked.loaded.platform.name if looked.loaded.platform else None,
        verdict="error" if failed else "ok",
        reasons=reasons,
    )
    return {
        **common,
        "root": str(looked.root),
        "groups": groups,
        "not_expressed": [problem.json() for problem in looked.problems("lacking")],
        "notices": [notice.json() for notice in looked.problems("notices")],
    }


def _group_json(offer: Offer, group: ResctrlGroup | WantedGroup | None) -> GroupSettingsResult | None:
    if group is None:
        return None
    return {
        **describe(offer, group),
        "schemata": {
            line: {str(one): value for one, value in of.items()} for line, of in group.schemata.items()
        },
        "cpus": None if group.cpus is None else list(group.cpus),
        "occupancy_bytes": {str(one): value for one, value in getattr(group, "occupancy", {}).items()},
    }
