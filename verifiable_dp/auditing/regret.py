"""Regret checks on their own: those of a catalogue algorithm, and claims about anyone's algorithm."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict

import numpy as np

from verifiable_dp.auditing import drafts, rates, tightest
from verifiable_dp.auditing.bounds import Bound, largest_gap
from verifiable_dp.auditing.plans import Progress, silent
from verifiable_dp.auditing.rates import GAP, Rate
from verifiable_dp.core import engine, environments, populations, validate
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.claims import Basis, RegretClaim
from verifiable_dp.core.claims import Source as Proof
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.environments import Environment, TwoPoint
from verifiable_dp.core.populations import Population
from verifiable_dp.core.units import Plays, Role
from verifiable_dp.core.validate import FloatArray, Function, Given, InputError, Json, JsonDict, JsonValue
from verifiable_dp.evidence.blackbox.test import CONFIDENCE
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.exclusions import Exclusion, Left
from verifiable_dp.evidence.regret import judges
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.study import cell_seed
from verifiable_dp.targets import players
from verifiable_dp.targets.players import Part, Player, Setting
from verifiable_dp.targets.roles import EPSILON
from verifiable_dp.targets.source import NOT_FOUND, Source, code_of, in_cell

RUNS = {"quick": 64, "standard": 256, "thorough": 1024}
SHARD = 8  # runs of a user's code that one task plays; results do not depend on it
_FINALISTS = 3  # gaps that the search for the worst one looks at twice
_PROOF = Proof("the claim of whoever ran the check", "as given", basis=Basis.GIVEN)


def regret_only(
    algorithm: Algorithm,
    *,
    budget: str | float = "quick",
    seed: int = 0,
    workers: int = 1,
    mutants: bool = False,
    progress: Progress = silent,
) -> JsonDict:
    """Run the regret checks of a catalogue algorithm, and those of its regret mutants; a draft of a record.

    Raises
    ------
    InputError
        If the algorithm has no auditor.
    """
    auditor = registry.find(algorithm)
    if auditor is None:
        raise InputError(f"target: {getattr(algorithm, 'name', algorithm)} has no auditor with regret checks")

    def measured(played: Algorithm, size: str) -> list[Check]:
        return list(auditor.regret(played, size, seed, workers))

    checks = engine.kept("regret", functools.partial(measured, algorithm, str(budget)))
    entries: list[JsonDict] = []
    for mutant in auditor.mutants if mutants else ():
        if mutant.breaks != "regret":
            continue
        progress(f"mutant: {mutant.name}")
        measure = functools.partial(measured, mutant.make(algorithm), "mutant")
        found = engine.kept("regret of a mutant", measure, mutant.name)
        wrong = [c for c in found if c.verdict == "contradicted"]
        entries.append(
            {
                "name": mutant.name,
                "fault": mutant.fault,
                "breaks": "regret",
                "bounding": mutant.bounding,
                "verdict": "contradicted" if wrong else "not_contradicted",
                "decided_by": "; ".join(c.name for c in wrong),
                "counterexample": {},
                "checks": [c.as_dict() for c in found],
            }
        )
    claim = algorithm.claim
    return {
        "target": drafts.target(algorithm, auditor),
        "claim": claim.as_dict() if claim else None,
        "plan": {"budget": str(budget)},
        "checks": [],
        "pairs": [],
        "confidence": CONFIDENCE,
        "power": None,
        "counterexamples": [],
        "mutants": entries,
        "regret": {
            "parameters": drafts.plain_parameters(algorithm),
            "mutants_tried": mutants,
            "claims": [c.as_dict() for c in auditor.claims],
            "checks": [c.as_dict() for c in checks],
        },
        "not_covered": _left(Left.PRIVACY),
        "seed": seed,
    }


def _left(*left: Left) -> list[JsonDict]:
    return [Exclusion(one).as_dict() for one in (*left, Left.INPUTS)]


# ---------------------------------------------------------------- claims about anyone's algorithm


@dataclass(frozen=True)
class Subject:
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
    source: Source

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
    ) -> Subject:
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
                raise InputError(f"parameters: {key!r} must be a parameter of {name}, which are: {known}")
            if not isinstance(thing, Algorithm) and not isinstance(value, int | float | str | None):
                raise InputError(f"parameters: {key} must be a number, a string or None, got {value!r}")
        for key, number, flag in (("n_arms", n_arms, "--arms K"), ("horizon", horizon, "--horizon T")):
            if number is None:
                raise InputError(f"{key} must be given for your own code ({flag})")
        arms, rounds = validate.arms_and_horizon(n_arms, horizon)
        words = name if ":" in name else getattr(code, "__qualname__", name)
        return cls(name, player, Setting(arms, rounds, given), listed, Source.named(code, words))

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
            return drafts.target(made, registry.find(made))
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
    def read(cls, target: Json, contexts: Contexts | None = None) -> Subject:
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
        source = Source.read(target["source"], target["name"])
        thing = source.load()
        if isinstance(thing, type) and issubclass(thing, Algorithm):
            # Lists are what JSON makes of tuples.
            plain = {k: tuple(v) if isinstance(v, list) else v for k, v in parameters.items()}
            setting = Setting(numbers["n_arms"], numbers["horizon"], plain)
            return cls(target["name"], Player(thing, "algorithm", contexts), setting, False, source)
        found = cls.of(thing, target["name"], **numbers, parameters=parameters, contexts=contexts)
        return replace(found, source=source)


@dataclass(frozen=True)
class Claims:
    """What is claimed of the regret of an algorithm, and where it is measured.

    Attributes
    ----------
    runs
        Of every point.
    instances
        Where the bound and the comparison are held against measurements.
    bound
        None without one.
    beta
        Probability with which a run may exceed the bound; None for a bound on the mean.
    rates
        See `rates`.
    gap
        Of the instance of rates that are not about the worst one, in units of the range.
    rival
        What the algorithm is claimed to be better than, by `factor`; None without one.
    """

    runs: int
    instances: Sequence[Environment | Population]
    bound: Bound | None = None
    beta: float | None = None
    rates: Sequence[Rate] = ()
    gap: float = GAP
    rival: Subject | None = None
    factor: float = 1.0

    @property
    def population(self) -> Population | None:
        """Where rates are measured, if users have contexts."""
        first = self.instances[0]
        return first if isinstance(first, Population) else None

    def as_dict(self) -> JsonDict:
        """Plain values from which `read` makes them again."""
        plain = [_plain_environment(environment) for environment in self.instances]
        return {
            "runs": self.runs,
            "instances": plain if all(plain) else [],
            "bound": None if self.bound is None else self.bound.as_dict(),
            "beta": self.beta,
            "rates": [rate.as_dict() for rate in self.rates],
            "gap": self.gap,
            "rival": None if self.rival is None else self.rival.as_dict(),
            "factor": self.factor,
        }

    @classmethod
    def read(cls, plain: Json) -> Claims:
        """From plain values; imports what they refer to.

        Raises
        ------
        InputError
            If something can no longer be found, or has changed.
        """
        if not plain["instances"]:
            raise InputError("record: its environments were given as Python objects; re-run it from Python")
        instances = [_environment(item) for item in plain["instances"]]
        form = _form(instances)
        return cls(
            runs=plain["runs"],
            instances=instances,
            bound=None if plain["bound"] is None else Bound.read(plain["bound"]),
            beta=plain["beta"],
            rates=[Rate.read(item) for item in plain["rates"]],
            gap=plain["gap"],
            rival=None if plain["rival"] is None else Subject.read(plain["rival"], form),
            factor=plain["factor"],
        )


class RegretOptions(TypedDict, total=False):
    """What may be claimed of `check_regret`'s target, and on what the claims are tested.

    Attributes
    ----------
    bound
        What the mean of the pseudo-regret at the horizon is claimed not to exceed: a number, or
        `bound(gaps, horizon, ...)` with gaps (K,), whose further parameters are filled by name with `n_arms`
        and the algorithm's parameters; or ``file.py:function``.
    scaling
        Claimed rates, each with all else fixed: ``{"T": 0.5, "K": 1, "gap": -1, "epsilon": -1}`` where
        ``epsilon`` is a parameter of the algorithm. ``"log"`` claims log T, ``"sqrt"`` and ``"linear"`` are
        the exponents 0.5 and 1; ``(0.5, 0.05)`` is a claim with its margin (.15 if not given). An exponent
        of T or K between 0 and 1 is a claim on the worst instance, whose gap is looked for at each T, unless
        `gap` is given. For any other rate over T pilot runs choose the gap, the horizons and the runs, as
        far as they are not given.
    environments
        An environment, or several, or lists of means of Bernoulli arms, for `bound` and `better_than`; None
        for wide gaps, a near tie and equal gaps and, where the bound is a function, for the instance at which
        pilot runs come nearest to it: the last arm best by a gap of .1 to .9 and, where the bound takes
        epsilon, at epsilons down to 1/256 of the one given. With contexts: a population of
        `vdp.populations`, or several, or ``linear``, ``logistic``, ``types`` or ``misleading`` (linear by
        default); rates are measured on the first.
    contexts
        Your own code is told contexts of this form, D or ``"KxD"``; not needed where a population is given.
    n_arms, horizon
        K and T, needed for your own code; rates over T are measured from T/32 or T/8 to T. If such a rate,
        not on the worst instance, is all that is claimed, the horizon may be left out.
    parameters
        Of the algorithm, by name.
    runs
        Of every point; 64, 256 or 1024 by `budget` if None, or 4 times as many where pilot runs ask for it.
    beta
        The bound is claimed for each run with probability at least 1 - beta instead of for the mean.
    gap
        Of the instance of rates, in units of the range of rewards; .25 if None, or up to .9 where pilot runs
        ask for it.
    values
        Where rates are measured, by quantity: ``{"epsilon": [0.1, 0.2, 0.5, 1]}``.
    better_than, factor
        Another target: the mean regret of `target` times `factor`, which is 1 by default, is claimed to be at
        most its mean regret. It has the number of arms, the horizon, beta and epsilon of `target`, and what
        `parameters` hold, as far as it takes them.
    rival_parameters
        Of `better_than`, by name, where they are to differ.
    """

    bound: float | str | Function[float] | None
    scaling: Json | None
    environments: Given
    contexts: Given
    n_arms: int | None
    horizon: int | None
    parameters: Json | None
    runs: int | None
    beta: float | None
    gap: float | None
    values: Mapping[str, Sequence[float]] | None
    better_than: Given
    factor: float
    rival_parameters: Json | None


@dataclass(frozen=True)
class Asked:
    """The arguments of `verifiable_dp.check_regret` that say what is claimed, as given; None: not claimed."""

    bound: Given = None
    scaling: Given = None
    better_than: Given = None
    factor: Given = 1.0
    rival_parameters: Json | None = None
    environments: Given = None
    contexts: Given = None
    n_arms: int | None = None
    horizon: int | None = None
    parameters: Json | None = None
    runs: int | None = None
    beta: Given = None
    gap: Given = None
    values: Mapping[str, Sequence[float]] | None = None

    @property
    def own(self) -> bool:
        """Whether anything is claimed beside what papers do."""
        return any(claim is not None for claim in (self.bound, self.scaling, self.better_than))

    def details(self) -> list[str]:
        """Names of what was given that only details such a claim."""
        names = (
            "environments",
            "contexts",
            "n_arms",
            "horizon",
            "parameters",
            "runs",
            "beta",
            "gap",
            "values",
            "rival_parameters",
        )
        return [name for name in names if getattr(self, name) is not None]


def claims(
    subject: Subject,
    asked: Asked,
    instances: Sequence[Environment | Population] = (),
    rival: Subject | None = None,
    budget: str = "quick",
) -> Claims:
    """What is claimed of a subject, on given instances and beside a rival.

    Raises
    ------
    InputError
        If an argument is unusable.
    """
    arms, gap, beta = subject.setting.n_arms, asked.gap, asked.beta
    for environment in instances:
        if environment.n_arms != arms:
            raise InputError(f"environments must have n_arms = {arms} arms, got {environment.n_arms}")
    named = [_called(environment) for environment in instances]
    if len(set(named)) < len(named):
        raise InputError(f"environments must have different names or gaps, got {'; '.join(named)}")
    form = _form(instances)
    if rival is None and asked.rival_parameters is not None:
        raise InputError("rival_parameters needs better_than")
    if beta is not None:
        if asked.bound is None:
            raise InputError("beta needs bound: the probability with which a run may exceed it")
        beta = validate.probability("beta", beta)
    if gap is not None and not 0 < validate.positive("gap", gap) <= 1:
        raise InputError(f"gap must lie in (0, 1], in units of the range, got {gap!r}")
    parsed = []
    if asked.scaling is not None:
        given = {"gap": gap, "values": asked.values, "crowd": form is not None}
        parsed = rates.parsed(asked.scaling, subject.player, subject.setting, **given)
    elif gap is not None or asked.values is not None:
        raise InputError(f"{'gap' if gap is not None else 'values'} needs scaling")
    found = Claims(
        runs=validate.integer("runs", RUNS[budget] if asked.runs is None else asked.runs, least=2),
        instances=list(instances) or default_instances(arms, subject.bounds),
        bound=None if asked.bound is None else Bound.of(asked.bound),
        beta=beta,
        rates=parsed,
        gap=GAP if gap is None else float(gap),
        rival=rival,
        factor=validate.positive("factor", asked.factor),
    )
    if found.bound is not None:
        for environment in found.instances:
            found.bound.at(environment, subject.player, subject.setting)  # refuse it before any work
    return found


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


def _form(instances: Sequence[Environment | Population]) -> Contexts | None:
    """Form of the contexts of populations; None for environments without.

    Raises
    ------
    InputError
        If the forms differ.
    """
    forms = [one.form if isinstance(one, Population) else None for one in instances]
    if any(form != forms[0] for form in forms):
        raise InputError(
            "environments must have contexts of one form and rewards of one range, or no contexts"
        )
    return forms[0] if forms else None


_HOMES = (environments, populations)


def _plain_environment(environment: object) -> JsonDict | None:
    """JSON values of an environment of this package; None for others."""
    homes = [module.__name__ for module in _HOMES]
    if type(environment).__module__ not in homes or not dataclasses.is_dataclass(environment):
        return None
    values = {f.name: getattr(environment, f.name) for f in dataclasses.fields(environment) if f.init}
    plain: JsonDict = {}
    for name, value in values.items():
        if dataclasses.is_dataclass(value):
            inner = _plain_environment(value)
            if inner is None:
                return None
            plain[name] = inner
        elif isinstance(value, tuple | int | float | str | None):
            plain[name] = value
        else:
            return None
    return {"type": type(environment).__name__, **plain}


def _environment(plain: Json) -> Given:
    values = {name: value for name, value in plain.items() if name != "type"}
    made = {
        name: _environment(value) if isinstance(value, Mapping) else _tuples(value)
        for name, value in values.items()
    }
    kind = next((found for home in _HOMES if (found := getattr(home, str(plain["type"]), None))), None)
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        raise InputError(f"record: unknown environment {plain['type']!r}")
    return kind(**made)


def _tuples(value: JsonValue) -> JsonValue:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


@dataclass(frozen=True)
class Cells:
    """Runs that are asked for, by name."""

    seed: int
    workers: int
    asked: dict[str, list[Part]] = field(default_factory=dict)

    def ask(
        self,
        name: str,
        subject: Subject,
        setting: Setting,
        environment: Environment | Population,
        runs: int,
    ) -> None:
        """Independent runs under a name of their own."""
        seed = cell_seed(name, self.seed)
        size = runs if players.whole(subject.player, setting) else SHARD
        self.asked[name] = [
            Part(subject.player, setting, environment, seed, first, min(first + size, runs))
            for first in range(0, runs, size)
        ]

    def run(self) -> dict[str, FloatArray]:
        """Regrets of all that was asked for, (runs,) by name; nothing is asked for afterwards."""
        keys = [(name, i) for name, parts in self.asked.items() for i in range(len(parts))]
        parts = [self.asked[name][i] for name, i in keys]
        found = {
            keys[number]: values for number, values in engine.run(players.regret, parts, workers=self.workers)
        }
        joined = {
            name: np.concatenate([found[name, i] for i in range(len(parts))])
            for name, parts in self.asked.items()
        }
        self.asked.clear()
        return joined


def check_claims(
    subject: Subject,
    claims: Claims,
    *,
    budget: str = "quick",
    seed: int = 0,
    workers: int = 1,
    progress: Progress = silent,
) -> JsonDict:
    """Measure regret where the claims speak of it; a draft of a record.

    Raises
    ------
    InputError
        If the code raises or returns no arms, or regret is 0 where a rate is claimed.
    """
    noted = players.notes(subject.player, subject.setting, claims.instances[0], seed)
    noted += tightest.notes(subject.player, subject.setting, claims.bound)
    cells = Cells(seed, workers)
    searched = [rate for rate in claims.rates if rate.worst]
    progress("regret on instances")
    _ask_instances(cells, subject, claims)
    for rate in searched:
        gaps = {x: rates.gaps(rate.at(x, subject.setting, 0.0)[0]) for x in rate.values}
        _ask_search(cells, subject, rate, "first", gaps, max(8, claims.runs // 8))
    found = cells.run()
    checks = [
        *_bound_checks(subject, claims, found),
        *_tightest_check(cells, subject, claims, progress),
        *_comparison_checks(subject, claims, found),
    ]
    for rate in claims.rates:
        progress(f"regret over {rate.over}")
        worst = rate in searched
        where = (
            _worst_gaps(cells, subject, rate, found, claims.runs)
            if worst
            else [claims.gap] * len(rate.values)
        )
        checks.append(_rate_check(cells, subject, rate, where, claims))
    return _draft(subject, claims, checks, noted, budget, seed)


def again(record: Json, *, workers: int = 1, progress: Progress = silent) -> JsonDict:
    """Run the claims of a record again; a draft.

    Raises
    ------
    InputError
        If its code can no longer be found, or has changed.
    """
    plan = record["plan"]
    claims = Claims.read(plan["regret"])
    return check_claims(
        Subject.read(record["target"], _form(claims.instances)),
        claims,
        budget=plan["budget"],
        seed=int(record["seed"]),
        workers=workers,
        progress=progress,
    )


def _called(environment: Environment | Population) -> str:
    if isinstance(environment, Population):
        return environment.name or type(environment).__name__
    return environment.name or "gaps " + ", ".join(f"{gap:g}" for gap in environment.gaps)


def _ask_instances(cells: Cells, subject: Subject, claims: Claims) -> None:
    for instance in claims.instances:
        if claims.bound is not None or claims.rival is not None:
            cells.ask(f"instance/{_called(instance)}", subject, subject.setting, instance, claims.runs)
        if claims.rival is not None:
            rival = claims.rival
            cells.ask(f"rival/{_called(instance)}", rival, rival.setting, instance, claims.runs)


def at(
    subject: Subject, rate: Rate, x: float, gap: float, population: Population | None = None
) -> tuple[Setting, TwoPoint | Population]:
    """Where a rate's quantity is x: the setting, and the population, or one arm that is better by `gap`."""
    setting, gap = rate.at(x, subject.setting, gap)
    if population is not None:
        return setting, population
    return setting, rates.even(setting.n_arms, gap, subject.bounds, f"gap {gap:g}")


def _ask_search(
    cells: Cells,
    subject: Subject,
    rate: Rate,
    stage: str,
    gaps: Mapping[float, Sequence[float]],
    runs: int,
) -> None:
    for x, tried in gaps.items():
        for gap in tried:
            setting, instance = at(subject, rate, x, gap)
            cells.ask(_searched(rate, stage, x, gap), subject, setting, instance, runs)


def _searched(rate: Rate, stage: str, x: float, gap: float) -> str:
    return f"search/{rate.over}/{stage}/{x:.17g}/{gap:.17g}"


def _worst_gaps(
    cells: Cells, subject: Subject, rate: Rate, found: Mapping[str, FloatArray], runs: int
) -> list[float]:
    """At each x the gap with the largest mean regret: the best three of the first look get a second one."""
    left = {}
    for x in rate.values:
        tried = rates.gaps(rate.at(x, subject.setting, 0.0)[0])
        means = {gap: float(found[_searched(rate, "first", x, gap)].mean()) for gap in tried}
        left[x] = sorted(tried, key=means.__getitem__)[-_FINALISTS:]
    _ask_search(cells, subject, rate, "second", left, max(8, runs // 2))
    again = cells.run()
    return [
        max(left[x], key=lambda gap: again[_searched(rate, "second", x, gap)].mean()) for x in rate.values
    ]


def _rate_check(cells: Cells, subject: Subject, rate: Rate, gaps: Sequence[float], claims: Claims) -> Check:
    population, runs = claims.population, claims.runs
    for x, gap in zip(rate.values, gaps, strict=True):
        setting, instance = at(subject, rate, x, gap, population)
        cells.ask(f"rate/{rate.over}/{x:.17g}", subject, setting, instance, runs)
    found = cells.run()
    points = [(x, found[f"rate/{rate.over}/{x:.17g}"]) for x in rate.values]
    silent_at = [x for x, values in points if not values.mean() > 0]
    if silent_at:
        raise InputError(f"scaling: regret must be above 0 at every {rate.over}, it is 0 at {silent_at[0]:g}")
    fixed: JsonDict = {"n_arms": subject.setting.n_arms, "horizon": subject.setting.horizon}
    fixed.pop({"T": "horizon", "K": "n_arms"}.get(rate.over, ""), None)
    if rate.over != "gap" and population is None:
        fixed["gaps"] = list(gaps)
    # Of the regret of uniform play: near 1 nothing has been learnt yet.
    fixed["shares"] = [
        round(float(values.mean()) / _uniform(*at(subject, rate, x, gap, population)), 6)
        for (x, values), gap in zip(points, gaps, strict=True)
    ]
    return judges.scaling(
        rate.name,
        points,
        exponent=rate.exponent,
        log_power=rate.log_power,
        margin=rate.margin,
        at_most=population is not None and rate.over == "T",
        claim=rate.name,
        instance=_where(rate, population),
        over=rate.over,
        runs=runs,
        **fixed,
    )


def _where(rate: Rate, population: Population | None) -> str:
    if population is not None:
        return _called(population)
    return "the worst gap at each" if rate.worst else "one arm better than the others"


def _uniform(setting: Setting, instance: TwoPoint | Population) -> float:
    if isinstance(instance, Population):
        return instance.uniform_regret(setting.horizon)
    return setting.horizon * float(instance.gaps.mean())


def _bound_checks(subject: Subject, claims: Claims, found: Mapping[str, FloatArray]) -> Iterable[Check]:
    for instance in claims.instances if claims.bound is not None else ():
        values = found[f"instance/{_called(instance)}"]
        yield _bound_check(subject.player, subject.setting, claims, instance, values)


def _bound_check(
    player: Player,
    setting: Setting,
    claims: Claims,
    instance: Environment | Population,
    values: FloatArray,
) -> Check:
    """The claimed bound against measured regrets."""
    bound, beta = claims.bound, claims.beta
    assert bound is not None
    limit = bound.at(instance, player, setting)
    largest = largest_gap(instance) * setting.horizon
    name = f"bound on {_called(instance)}"
    common: JsonDict = {
        "least_horizon": bound.least_horizon(instance, player, setting),
        "claim": "bound",
        "instance": _called(instance),
        "horizon": setting.horizon,
        "bound": limit,
        "largest": largest,
    }
    if beta is None:
        return judges.mean_bound(name, values, **common)
    return judges.probability(name, values > limit, probability=beta, vacuous=limit >= largest, **common)


def _tightest_check(cells: Cells, subject: Subject, claims: Claims, progress: Progress) -> Iterable[Check]:
    """The bound where pilot runs come nearest to it, unless the instances were given."""
    player, setting = subject.player, subject.setting
    usual = default_instances(setting.n_arms, subject.bounds)
    if claims.bound is None or list(claims.instances) != usual:
        return
    progress("where the bound is tightest")
    tried: list[tuple[float, tightest.Point]] = []
    for point in tightest.points(player, setting, claims.bound, subject.bounds):
        name = f"pilot/{point.instance.name}"
        try:
            cells.ask(name, subject, point.setting, point.instance, tightest.PILOTS)
            tried.append((float(cells.run()[name].mean()) / max(point.limit, 1e-300), point))
        except InputError:
            if not point.moved:
                raise
            cells.asked.clear()  # the code does not take this epsilon
    if not tried:
        return
    near, best = max(tried, key=lambda found: found[0])
    runs = claims.runs * (tightest.MORE if near > tightest.NEAR else 1)
    cells.ask("tightest", subject, best.setting, best.instance, runs)
    yield _bound_check(player, best.setting, claims, best.instance, cells.run()["tightest"])


def _comparison_checks(subject: Subject, claims: Claims, found: Mapping[str, FloatArray]) -> Iterable[Check]:
    if claims.rival is None:
        return
    for instance in claims.instances:
        yield judges.comparison(
            f"comparison on {_called(instance)}",
            found[f"instance/{_called(instance)}"],
            found[f"rival/{_called(instance)}"],
            factor=claims.factor,
            claim="comparison",
            instance=_called(instance),
            rival=claims.rival.described,
            horizon=subject.setting.horizon,
        )


def _stated(claims: Claims) -> list[RegretClaim]:
    stated = []
    if claims.bound is not None:
        often = "the mean of" if claims.beta is None else f"with probability {1 - claims.beta:g}"
        kind = "mean" if claims.beta is None else "probability"
        words = f"{often} the pseudo-regret at the horizon is at most the bound"
        stated.append(RegretClaim("bound", words, claims.bound.name, _PROOF, kind))
    for rate in claims.rates:
        where = "on the worst instance" if rate.worst else f"at gaps of {claims.gap:g} of the range"
        where = where if claims.population is None else f"on {_called(claims.population)}"
        slower = ", or more slowly" if claims.population is not None and rate.over == "T" else ""
        words = f"mean pseudo-regret grows like {rate.formula}{slower}, all else fixed"
        domain = "" if rate.over == "gap" else where
        stated.append(RegretClaim(rate.name, words, rate.formula, _PROOF, "scaling", domain=domain))
    if claims.rival is not None:
        words = f"mean pseudo-regret at most 1/{claims.factor:g} of that of {claims.rival.described}"
        stated.append(RegretClaim("comparison", words, "", _PROOF, "comparison"))
    return stated


def _draft(
    subject: Subject, claims: Claims, checks: Sequence[Check], noted: Sequence[str], budget: str, seed: int
) -> JsonDict:
    made = subject.player.made(subject.setting)
    promise = made.claim if isinstance(made, Algorithm) else None
    target = subject.as_dict()
    target["note"] = "; ".join(note for note in (target["note"], *noted) if note)
    return {
        "target": target,
        "claim": promise.as_dict() if promise else None,
        "plan": {"budget": budget, "regret": claims.as_dict()},
        "checks": [],
        "pairs": [],
        "confidence": CONFIDENCE,
        "power": None,
        "counterexamples": [],
        "mutants": [],
        "regret": {
            "parameters": target["parameters"],
            "mutants_tried": False,
            "claims": [claim.as_dict() for claim in _stated(claims)],
            "checks": [check.as_dict() for check in checks],
        },
        "not_covered": _left(Left.PRIVACY, Left.OTHER_INSTANCES),
        "seed": seed,
    }
