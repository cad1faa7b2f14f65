"""What is claimed of regret: the options of users, and the claims that they come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TypedDict

from verifiable_dp.auditing import rates
from verifiable_dp.auditing.bounds import GivenBound
from verifiable_dp.auditing.rates import GAP, Rate
from verifiable_dp.auditing.regret.instances import (
    called,
    default_instances,
    form_of,
    plain_environment,
    read_environment,
)
from verifiable_dp.auditing.regret.subject import RegretSubject
from verifiable_dp.core import validate
from verifiable_dp.core.environments import Environment
from verifiable_dp.core.populations import Population
from verifiable_dp.core.validate import Function, Given, InputError, Json, JsonDict

_CLAIMED = ("bound", "scaling", "better_than", "factor")
RUNS = {"quick": 64, "standard": 256, "thorough": 1024}


class RegretOptions(TypedDict, total=False):
    """Claims that `check_regret` tests, and the instances on which it tests them.

    Attributes
    ----------
    bound
        Claimed upper bound on the mean pseudo-regret at the horizon: a number, a function `bound(gaps,
        horizon, ...)` with gaps (K,), or ``file.py:function``. Other parameters of the function receive
        `n_arms` and the algorithm's parameters by name.
    scaling
        Claimed rates, each with everything else fixed: ``{"T": 0.5, "K": 1, "gap": -1, "epsilon": -1}``,
        where ``epsilon`` is a parameter of the algorithm. ``"log"`` claims log T; ``"sqrt"`` and
        ``"linear"`` mean the exponents 0.5 and 1; ``(0.5, 0.05)`` is a claim with a margin (.15 by default).
        An exponent of T or K between 0 and 1 is a claim about the worst instance: unless you set `gap`, we
        search for the worst gap at each T. For any other rate over T, we use pilot runs to choose the gap,
        the horizons and the runs that you do not set.
    environments
        For `bound` and `better_than`: one or more environments or lists of Bernoulli means; None for wide
        gaps, a near tie and equal gaps. If the bound is a function, None adds the instance on which pilot
        runs come nearest to the bound: the last arm is best by .1 to .9 and, if the bound takes epsilon,
        pilot runs try epsilons down to 1/256 of the given value. With contexts: one or more populations from
        `vdp.populations`, or ``linear`` (the default), ``logistic``, ``types`` or ``misleading``; we measure
        rates on the first.
    contexts
        Form of the contexts that your own code receives, D or ``"KxD"``; not needed if you give a
        population.
    n_arms, horizon
        K and T, needed for your own code; we measure rates over T from T/32 or T/8 to T. You can omit the
        horizon if your only claim is a rate over T that is not about the worst instance.
    parameters
        Parameters of the algorithm, by name.
    runs
        Runs per point. If None, `budget` sets 64, 256 or 1024, or 4 times as many if pilot runs show the
        need.
    beta
        If set, we test that the bound holds for each run with probability at least 1 - beta, instead of for
        the mean.
    gap
        Gap of the instance on which we measure rates, in units of the range of rewards; .25 if None, or up
        to .9 if pilot runs show the need.
    values
        Values at which we measure rates, by quantity: ``{"epsilon": [0.1, 0.2, 0.5, 1]}``.
    better_than, factor
        The claim that the mean regret of this rival is at least `factor` (1 by default) times the mean
        regret of `target`. The rival gets the number of arms, horizon, beta and epsilon of `target`, and any
        `parameters` that it accepts.
    rival_parameters
        Parameters of the rival that differ from `target`, by name.
    request, cage
        See `AuditOptions`.
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
    request: Given
    cage: str


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
        names = [one.name for one in fields(self) if one.name not in _CLAIMED]
        return [name for name in names if getattr(self, name) is not None]


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
    bound: GivenBound | None = None
    beta: float | None = None
    rates: Sequence[Rate] = ()
    gap: float = GAP
    rival: RegretSubject | None = None
    factor: float = 1.0

    @property
    def population(self) -> Population | None:
        """Where rates are measured, if users have contexts."""
        first = self.instances[0]
        return first if isinstance(first, Population) else None

    def as_dict(self) -> JsonDict:
        """Plain values from which `read` makes them again."""
        plain = [plain_environment(environment) for environment in self.instances]
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
            raise InputError("record: its environments were given as Python objects; rerun it from Python")
        instances = [read_environment(item) for item in plain["instances"]]
        form = form_of(instances)
        return cls(
            runs=plain["runs"],
            instances=instances,
            bound=None if plain["bound"] is None else GivenBound.read(plain["bound"]),
            beta=plain["beta"],
            rates=[Rate.read(item) for item in plain["rates"]],
            gap=plain["gap"],
            rival=None if plain["rival"] is None else RegretSubject.read(plain["rival"], form),
            factor=plain["factor"],
        )


def claims_of(
    subject: RegretSubject,
    asked: Asked,
    instances: Sequence[Environment | Population] = (),
    rival: RegretSubject | None = None,
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
            raise InputError(f"environments must have {arms} arms (n_arms), got {environment.n_arms}")
    named = [called(environment) for environment in instances]
    if len(set(named)) < len(named):
        raise InputError(f"environments must have different names or gaps, got {'; '.join(named)}")
    form = form_of(instances)
    if rival is None and asked.rival_parameters is not None:
        raise InputError("`rival_parameters` needs `better_than`")
    if beta is not None:
        if asked.bound is None:
            raise InputError(
                "`beta` needs `bound`; beta is the probability with which a run may exceed the bound"
            )
        beta = validate.probability("beta", beta)
    if gap is not None and not 0 < validate.positive("gap", gap) <= 1:
        raise InputError(f"gap must lie in (0, 1], in units of the range of rewards, got {gap!r}")
    parsed = []
    if asked.scaling is not None:
        given = {"gap": gap, "values": asked.values, "crowd": form is not None}
        parsed = rates.parsed(asked.scaling, subject.player, subject.setting, **given)
    elif gap is not None or asked.values is not None:
        raise InputError(f"{'`gap` needs' if gap is not None else '`values` needs'} `scaling`")
    found = Claims(
        runs=validate.integer("runs", RUNS[budget] if asked.runs is None else asked.runs, least=2),
        instances=list(instances) or default_instances(arms, subject.bounds),
        bound=None if asked.bound is None else GivenBound.of(asked.bound),
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
