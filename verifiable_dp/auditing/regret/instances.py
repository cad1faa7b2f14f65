"""Where regret is measured: environments and populations, their names and their plain values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from verifiable_dp.core import environments, populations
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.environments import Environment, TwoPoint
from verifiable_dp.core.populations import Population
from verifiable_dp.core.validate import Given, InputError, Json, JsonDict, JsonValue

_HOMES = (environments, populations)


def default_instances(n_arms: int, bounds: tuple[float, float]) -> list[TwoPoint]:
    """Two-point instances of three kinds: wide gaps, a near tie, equal gaps."""
    low, high = bounds
    shapes = {
        "wide gaps": [0.9, *np.linspace(0.5, 0.1, n_arms - 1)],
        "near tie": [0.5, 0.48, *[0.3] * (n_arms - 2)],
        "equal gaps": [0.6, *[0.5] * (n_arms - 1)],
    }
    return [
        TwoPoint(tuple(low + (high - low) * float(mean) for mean in means), low, high, name)
        for name, means in shapes.items()
    ]


def form_of(instances: Sequence[Environment | Population]) -> Contexts | None:
    """Form of the contexts of populations; None for environments without.

    Raises
    ------
    InputError
        If the forms differ.
    """
    forms = [one.form if isinstance(one, Population) else None for one in instances]
    if any(form != forms[0] for form in forms):
        raise InputError(
            "environments must all have contexts of the same form and rewards in the same range, or no "
            "contexts"
        )
    return forms[0] if forms else None


def called(environment: Environment | Population) -> str:
    """Its name; without one its type, or its gaps."""
    if isinstance(environment, Population):
        return environment.name or type(environment).__name__
    return environment.name or "gaps " + ", ".join(f"{gap:g}" for gap in environment.gaps)


def plain_environment(environment: object) -> JsonDict | None:
    """JSON values of an environment of this package; None for others."""
    kind = type(environment)
    known = any(getattr(home, kind.__name__, None) is kind for home in _HOMES)
    if not known or not dataclasses.is_dataclass(environment):
        return None
    values = {f.name: getattr(environment, f.name) for f in dataclasses.fields(environment) if f.init}
    plain: JsonDict = {}
    for name, value in values.items():
        if dataclasses.is_dataclass(value):
            inner = plain_environment(value)
            if inner is None:
                return None
            plain[name] = inner
        elif isinstance(value, tuple | int | float | str | None):
            plain[name] = value
        else:
            return None
    return {"type": kind.__name__, **plain}


def read_environment(plain: Json) -> Given:
    """Inverse of `plain_environment`.

    Raises
    ------
    InputError
        If its type is not known.
    """
    values = {name: value for name, value in plain.items() if name != "type"}
    made = {
        name: read_environment(value) if isinstance(value, Mapping) else _tuples(value)
        for name, value in values.items()
    }
    kind = next((found for home in _HOMES if (found := getattr(home, str(plain["type"]), None))), None)
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        raise InputError(f"record: unknown environment {plain['type']!r}")
    return kind(**made)


def _tuples(value: JsonValue) -> JsonValue:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
