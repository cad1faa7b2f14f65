"""Whose regret is claimed: an algorithm with its name, its parameters and its code."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from verifiable_dp.auditing import record_parts
from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.units import Plays, Role
from verifiable_dp.core.validate import Given, InputError, Json, JsonDict
from verifiable_dp.registry import entries as registry
from verifiable_dp.targets.players import Player, Setting
from verifiable_dp.targets.roles import EPSILON
from verifiable_dp.targets.source import NOT_FOUND, CodeSource, code_of, in_cell


@dataclass(frozen=True)
class RegretSubject:
    """An algorithm with what it is called and how it is given.

    Attributes
    ----------
    name
        In the report.
    player, setting
        What is played, at which number of arms, horizon and parameters.
    listed
        Whether it is found in the catalogue under its name.
    source
        Where its code is.
    """

    name: str
    player: Player
    setting: Setting
    listed: bool
    source: CodeSource

    @classmethod
    def of(
        cls,
        thing: Given,
        name: str,
        *,
        n_arms: int | None = None,
        horizon: int | None = None,
        parameters: Json | None = None,
        contexts: Contexts | None = None,
    ) -> RegretSubject:
        """Recognise a target; numbers that an `Algorithm` brings along need not be given.

        Raises
        ------
        InputError
            If its form is not known, or a number or a parameter is missing or does not fit.
        """
        given = dict(parameters or {})
        listed, code = False, thing
        if isinstance(thing, Algorithm):
            listed, code = registry.find(thing) is not None, type(thing)
            given = {**thing.parameters, **given}
            own = {key: given.pop(key, None) for key in ("n_arms", "horizon")}
            n_arms = own["n_arms"] if n_arms is None else n_arms
            horizon = own["horizon"] if horizon is None else horizon
        player = Player.of(code, given, contexts)
        for key, value in given.items():
            if not player.takes(key):
                known = ", ".join(player.names) or "none"
                raise InputError(f"parameters: {name} has no parameter {key!r}; accepted: {known}")
            if not isinstance(thing, Algorithm) and not isinstance(value, int | float | str | None):
                raise InputError(f"parameters: {key} must be a number, a string or None, got {value!r}")
        for key, number, flag in (("n_arms", n_arms, "--arms K"), ("horizon", horizon, "--horizon T")):
            if number is None:
                raise InputError(f"{key} must be given for your own code ({flag})")
        arms, rounds = validate.arms_and_horizon(n_arms, horizon)
        words = name if ":" in name else getattr(code, "__qualname__", name)
        return cls(name, player, Setting(arms, rounds, given), listed, CodeSource.named(code, words))

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of its rewards, [0, 1] where it is not finite or not known."""
        made = self.player.made(self.setting)
        return made.bounds if isinstance(made, Algorithm) and np.isfinite(made.bounds).all() else (0.0, 1.0)

    @property
    def shared(self) -> JsonDict:
        """Parameters that a rival is given, too: those that were set, and defaults of beta and epsilon."""
        defaults = {
            name: self.player.default(name) for name in ("beta", *EPSILON) if name in self.player.names
        }
        return {
            **{name: value for name, value in defaults.items() if value is not None},
            **self.setting.parameters,
        }

    @property
    def described(self) -> str:
        """Its name and its parameters."""
        defaults = {name: self.player.default(name) for name in self.player.names}
        found = {key: value for key, value in defaults.items() if value is not None}
        found |= self.as_dict()["parameters"]
        words = (f"{k} {v:g}" if isinstance(v, float) else f"{k} {v}" for k, v in sorted(found.items()))
        return f"{self.name} ({', '.join(words)})"

    def as_dict(self) -> JsonDict:
        """The target of a record."""
        parameters = {
            key: value.item() if isinstance(value, np.generic) else value
            for key, value in self.setting.parameters.items()
        }
        made = self.player.made(self.setting) if self.listed else None
        if isinstance(made, Algorithm):
            return record_parts.target(made, registry.find(made))
        return {
            "name": self.name,
            "kind": "user",
            "parameters": {"n_arms": self.setting.n_arms, "horizon": self.setting.horizon, **parameters},
            "source": self.source.as_dict(),
            "role": Role.USER,
            "plays": Plays.ARMS,
            "note": NOT_FOUND if in_cell(code_of(self.player.target)) else "",
            "paper": "",
            "model": "central",
        }

    @classmethod
    def read(cls, target: Json, contexts: Contexts | None = None) -> RegretSubject:
        """From the target of a record; imports its code.

        Raises
        ------
        InputError
            If the code can no longer be found, or has changed.
        """
        parameters = dict(target["parameters"])
        numbers = {key: parameters.pop(key, None) for key in ("n_arms", "horizon")}
        if target["kind"] == "algorithm":
            listed = registry.make(target["name"], **target["parameters"])
            return cls.of(listed, target["name"], **numbers, parameters=parameters, contexts=contexts)
        source = CodeSource.read(target["source"], target["name"])
        thing = source.load()
        if isinstance(thing, type) and issubclass(thing, Algorithm):
            # Lists are what JSON makes of tuples.
            plain = {k: tuple(v) if isinstance(v, list) else v for k, v in parameters.items()}
            setting = Setting(numbers["n_arms"], numbers["horizon"], plain)
            return cls(target["name"], Player(thing, "algorithm", contexts), setting, False, source)
        found = cls.of(thing, target["name"], **numbers, parameters=parameters, contexts=contexts)
        return replace(found, source=source)
