# SPDX-License-Identifier: Apache-2.0
"""`--set KEY=VALUE` of an experiment: values that replace those of its file.

The command calls it after reading the file and before making points. Errors name the key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from bulkhead.config.problem import key_text, nearest_of, quoted
from bulkhead.experiments.check import findings_of
from bulkhead.experiments.model import BadExperiment, BadSetting, Experiment, Sectioned
from bulkhead.experiments.said import Plot
from bulkhead.experiments.sweep import BadRange, is_value, plain, values_of, word


def with_settings(experiment: Experiment | Sectioned, settings: Sequence[str]) -> Experiment | Sectioned:
    """Applies `--set key=value`: a swept or fixed value, or the platform; ranges as `8..512..8`. Raises
    BadExperiment."""
    if isinstance(experiment, Sectioned):
        if settings:
            name = experiment.name
            raise BadExperiment(
                f"--set {settings[0]}: '{name}' has sections (see --only), and no values that can be set"
            )
        return experiment
    sweep, fixed = dict(experiment.sweep), dict(experiment.fixed)
    changed: dict[str, Any] = {}
    more: list[str] = []  # fixed values that are swept now
    for setting in settings:
        key, separator, text = setting.partition("=")
        if not separator:
            raise BadSetting(f"--set {quoted(setting)} is not a setting (allowed: KEY=VALUE)")
        value = _set_value(setting, text)
        if key in sweep or key in fixed:
            _swept(key, value)
        if key in sweep:
            sweep[key] = _swept_value(experiment, key, value)
        elif key in fixed:
            if len(_swept(key, value)) > 1:
                sweep[key] = value
                del fixed[key]
                more.append(key)
            else:
                fixed[key] = value
        elif key in ("platform", "leave_out", "iterations", "seeds"):
            changed[key] = value
        else:
            known = [*sweep, *fixed, "platform", "leave_out", "iterations", "seeds"]
            near = nearest_of(key, known)
            hint = f"; did you mean '{near}'?" if near else ""
            raise BadExperiment(f"--set {key}: the experiment has no such value{hint} ({', '.join(known)})")
    made = experiment.model_copy(update={"sweep": sweep, "fixed": fixed, **changed})
    made = made.model_copy(update={"plots": (*made.plots, *_plots_over(made, more))})
    made = _at_one_value(made, {key: experiment.fixed[key] for key in more})
    try:
        Experiment.model_validate({key: getattr(made, key) for key in Experiment.model_fields})
    except ValidationError as error:
        wrong = [f"--set {key_text(item['loc'])}: {item['msg']}" for item in error.errors(include_url=False)]
        raise BadExperiment("\n".join(wrong)) from error
    found = [f"--set {key_text(one.path)}: {one.cause}" for one in findings_of(made)]
    if found:
        raise BadExperiment("\n".join(found))
    return made


def with_seeds(experiment: Experiment | Sectioned, seeds: int | None) -> Experiment | Sectioned:
    """Applies `--seeds N`, to the sections that have seeds. Raises BadExperiment."""
    if seeds is None:
        return experiment
    if isinstance(experiment, Sectioned) and not _has_seeds(experiment):
        raise BadExperiment(f"--seeds {seeds}: '{experiment.name}' has no section with seeds")
    return experiment.model_copy(update={"seeds": seeds})


def quick(experiment: Experiment | Sectioned) -> Experiment | Sectioned:
    """Applies `--quick`: the file's values for it. Raises BadExperiment."""
    if isinstance(experiment, Sectioned):
        if not all(one.experiment or _has(name, "quick") for name, one in experiment.sections.items()):
            raise BadExperiment(
                f"--quick: '{experiment.name}' has sections without `quick` (select others by --only)"
            )
        return experiment.model_copy(update={"size": "quick"})
    if not experiment.quick:
        raise BadExperiment(f"--quick: '{experiment.name}' has no `quick` values (use --set and --seeds)")
    found = with_settings(
        experiment, [f"{key}={json.dumps(_plain(value))}" for key, value in experiment.quick.items()]
    )
    assert isinstance(found, Experiment)
    return found


def full(experiment: Experiment | Sectioned) -> Experiment | Sectioned:
    """Applies `--full`: the published size, which takes too long for everyday use. Raises BadExperiment."""
    if not isinstance(experiment, Sectioned) or not all(_has(name, "full") for name in experiment.sections):
        raise BadExperiment(f"--full: '{experiment.name}' has no larger set than its usual one")
    return experiment.model_copy(update={"size": "full"})


def _has_seeds(what: Sectioned) -> bool:
    """Whether any section has seeds."""
    from bulkhead.experiments.sections import WAYS

    return any(one.experiment is not None or WAYS[name].seeded for name, one in what.sections.items())


def _has(name: str, size: str) -> bool:
    from bulkhead.experiments.sections import WAYS

    return name in WAYS and size in WAYS[name].sizes


def _plain(value: Any) -> Any:
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else plain(value)


def _swept(key: str, value: Any) -> list[Any]:
    try:
        return values_of(key, value)
    except BadRange as error:
        raise BadSetting(f"--set {error}") from error


def _plots_over(experiment: Experiment, keys: Sequence[str]) -> Iterator[Plot]:
    """Line plots of the data of bar plots, over fixed numbers that are swept now."""
    for key in keys:
        if not all(isinstance(plain(value), (int, float)) for value in values_of(key, experiment.sweep[key])):
            continue
        several = [
            name
            for name, values in experiment.sweep.items()
            if name != key and len(values_of(name, values)) > 1
        ]
        for plot in experiment.plots:
            if plot.kind == "bars":
                yield plot.model_copy(
                    update={"kind": "lines", "x": key, "x_label": key, "series": tuple(several)}
                )


def _at_one_value(experiment: Experiment, meant: Mapping[str, Any]) -> Experiment:
    """Bars and plots over time show the file's value of a key that is swept now, or else its first value."""
    at: dict[str, Any] = {}
    for key, value in meant.items():
        values = [plain(one) for one in values_of(key, experiment.sweep[key])]
        at[key] = plain(value) if plain(value) in values else values[0]
    bars = {n for n, plot in enumerate(experiment.plots) if plot.kind == "bars"}
    return experiment.model_copy(
        update={
            "plots": tuple(
                plot.model_copy(update={"where": {**at, **plot.where}}) if number in bars else plot
                for number, plot in enumerate(experiment.plots)
            ),
            "series": tuple(
                one.model_copy(update={"where": {**at, **one.where}}) for one in experiment.series
            ),
        }
    )


def _swept_value(experiment: Experiment, key: str, value: Any) -> Any:
    """A swept value that no part uses as `$key` only selects among the file's values. Raises BadExperiment
    for others."""
    if any(f"${key}" in str(part.given()) + str(part.memory) for part in experiment.parts):
        return value
    known = [word(one) for one in values_of(key, experiment.sweep[key])]
    for one in values_of(key, value):
        if not is_value(one) or word(one) not in known:
            raise BadExperiment(f"--set {key}: '{one}' is not one of {', '.join(known)}")
    return value


def _set_value(setting: str, text: str) -> Any:
    try:
        value = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError) as error:
        raise BadSetting(f"--set {quoted(setting)}: the value cannot be read") from error
    return [_exact(one) for one in value] if isinstance(value, list) else _exact(value)


def _exact(value: Any) -> Any:
    """A float in the type that the file's numbers have."""
    return Decimal(repr(value)) if isinstance(value, float) else value
