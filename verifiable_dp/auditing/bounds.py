"""A bound on regret as its users give it: a number, or a function of gaps, horizon and parameters."""

from __future__ import annotations

import inspect
import math
import warnings
from dataclasses import dataclass

from verifiable_dp.core.environments import Environment
from verifiable_dp.core.populations import Population
from verifiable_dp.core.validate import Function, Given, InputError, Json, JsonDict, one_line
from verifiable_dp.evidence.regret.common import least_horizon
from verifiable_dp.targets.adapters import parameters_of
from verifiable_dp.targets.players import Player, Setting
from verifiable_dp.targets.source import CodeSource, load

_MOST = 1 << 53  # doubles hold no larger whole number exactly
_ACCEPTED = "a number greater than 0, a function (gaps, horizon, ...) -> number, or file.py:function"


@dataclass(frozen=True)
class GivenBound:
    """A bound on the pseudo-regret at the horizon.

    Parameters
    ----------
    value
        A number, or `bound(gaps, horizon, ...)` with gaps (K,) in units of reward, or with the population in
        place of the gaps where users have contexts; further parameters are filled by their names with the
        number of arms (`n_arms`) and the parameters of the algorithm.
    name
        Number or reference, as given.
    """

    value: float | Function[float]
    name: str

    @classmethod
    def of(cls, given: Given) -> GivenBound:
        """From what a user gives.

        Raises
        ------
        InputError
            If it is neither a number greater than 0, nor a function, nor a reference to one.
        """
        if isinstance(given, str):
            try:
                given = float(given)
            except ValueError:
                if ":" not in given:
                    raise InputError(f"bound must be {_ACCEPTED}, got {given!r}") from None
                return cls(_function(load(given)), given)
        if callable(given):
            return cls(_function(given), str(getattr(given, "__qualname__", type(given).__name__)))
        try:
            number = math.nan if isinstance(given, bool) else float(given)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not (math.isfinite(number) and number > 0):
            raise InputError(f"bound must be {_ACCEPTED}, got {given!r}")
        return cls(number, f"{number:g}")

    def as_dict(self) -> JsonDict:
        """Plain values from which `read` makes it again."""
        if callable(self.value):
            return {"name": self.name, "source": CodeSource.named(self.value, self.name).as_dict()}
        return {"name": self.name, "value": self.value}

    @classmethod
    def read(cls, plain: Json) -> GivenBound:
        """From plain values; imports the function's file.

        Raises
        ------
        InputError
            If the function can no longer be found, or its file has changed.
        """
        if "value" in plain:
            return cls(float(plain["value"]), str(plain["name"]))
        name = str(plain["name"])
        return cls(_function(CodeSource.read(plain["source"], name).load()), name)

    def at(self, environment: Environment | Population, player: Player, setting: Setting) -> float:
        """The bound on an instance.

        Raises
        ------
        InputError
            If the function raises, or returns no finite number of at least 0.
        """
        if not callable(self.value):
            return self.value
        given = self._arguments(self.value, player, setting)
        try:
            first = environment if isinstance(environment, Population) else environment.gaps.copy()
            value = self.value(first, setting.horizon, **given)
            number = float(value)
        except Exception as error:
            raise InputError(f"bound: {self.name} raised {one_line(error)}") from None
        if not (math.isfinite(number) and number >= 0):
            raise InputError(f"bound: {self.name} must return a finite number of at least 0, got {value!r}")
        return number

    @property
    def takes(self) -> tuple[str, ...]:
        """Names of the parameters after the first two; none of a number."""
        return tuple(parameters_of(self.value))[2:] if callable(self.value) else ()

    def _arguments(self, function: Function[float], player: Player, setting: Setting) -> JsonDict:
        """What the parameters after the first two are given."""
        given: JsonDict = {}
        known = {"n_arms": setting.n_arms, **setting.parameters}
        for name, parameter in list(parameters_of(function).items())[2:]:
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            default = player.default(name)
            if name in known or default is not None:
                given[name] = known.get(name, default)
            elif parameter.default is parameter.empty:
                raise InputError(
                    f"bound: parameter {name} of {self.name} must be n_arms, a parameter of the algorithm "
                    "(parameters={...}), or have a default"
                )
        return given

    def least_horizon(
        self, environment: Environment | Population, player: Player, setting: Setting
    ) -> int | None:
        """The least horizon at which an algorithm could break the bound; None if it is not known."""
        worst = largest_gap(environment)

        def bound(horizon: int) -> float:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    return self.at(environment, player, Setting(setting.n_arms, horizon, setting.parameters))
            except InputError:
                return math.inf  # not defined at this horizon

        return least_horizon(bound, lambda horizon: worst * horizon, most=_MOST)


def largest_gap(environment: Environment | Population) -> float:
    """What one round may cost at most."""
    return environment.spread if isinstance(environment, Population) else float(environment.gaps.max())


def _function(given: Given) -> Function[float]:
    parameters = list(parameters_of(given).values()) if callable(given) else []
    positional = [p for p in parameters if p.kind in _POSITIONAL]
    if len(positional) < 2 and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        raise InputError("bound must be a function whose first two parameters are gaps and horizon")
    found: Function[float] = given
    return found


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
