"""What is asked of an audit: built once, checked when it is made, and passed on whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, TypedDict, TypeVar

from verifiable_dp.auditing.plans import Budget, Progress, silent, sizes_of
from verifiable_dp.core import claims, validate
from verifiable_dp.core.claims import MODELS
from verifiable_dp.core.contexts import Contexts, shape_of, words_of
from verifiable_dp.core.contextual import ContextualAlgorithm
from verifiable_dp.core.units import ADJACENCIES, Protected, TrustModel, Unit
from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence.blackbox.statistics import DETECT
from verifiable_dp.evidence.blackbox.test import ALPHA, CONFIDENCE, Plan
from verifiable_dp.targets.process import TIMEOUT
from verifiable_dp.targets.roles import GivenRole

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def _plain(record: DataclassInstance) -> JsonDict:
    return {one.name: getattr(record, one.name) for one in fields(record)}


class AuditOptions(TypedDict, total=False):
    """Options of `audit`: the promise, the inputs and the tests.

    Attributes
    ----------
    epsilon, delta
        The promise. A callable needs an epsilon, and its delta is 0 if None; an algorithm states both.
    n_arms, horizon
        K and T; needed for `play` and `play_many`, which receive rewards of shape (T, K).
    contexts
        For your own bandit that receives a context before it chooses: the dimension D of the context, or
        ``(K, D)``, also written ``"KxD"``, if each arm has its own context. The code is `play(contexts,
        rewards, rng)`, or a class whose methods take a `context`. Neighbouring inputs differ in the context
        and the rewards of one user.
    context_norm
        Largest Euclidean norm of a context; 1 if None.
    model
        What the adversary sees: all actions (``central``, the default for your own code), the noisy report
        of every reward (``local``) or, with contexts, all actions except those of the user whose data change
        (``joint``, the default for the catalogue's algorithms).
    protects
        With contexts: ``context`` (the default) protects context and reward; ``reward`` protects only the
        reward.
    reward
        If your own code generates its rewards: the function or method that returns a reward, as
        ``file.py:function`` or ``module:Class.method``. The audit supplies the rewards instead.
    bounds
        Range of the rewards, or of the entries of the data; (0, 1) if None.
    observe
        What the adversary sees of an algorithm: ``actions`` or ``releases``; None for what its proof covers.
    pairs
        Neighbouring inputs to use instead of searching: `TablePair`s for a bandit, pairs (left, right) of
        data for a mechanism.
    budget
        ``smoke``, ``quick`` (the default), ``standard``, ``thorough`` or a number of seconds. Each budget
        sets a number of runs. A number of seconds also limits the time, and each named budget has a time
        limit for slow code. If a time limit makes the audit smaller, the record says so.
    runs
        For your own code: total number of plays (for a mechanism, 150 draws per play). Overrides the budget;
        see docs/targets.md.
    timeout
        Time limit for one run of your own code, in seconds; 60 if None.
    seed
        Whole number, 0 by default. With the plan in the record, the seed determines every count.
    workers
        Number of processes, 1 by default. Results do not depend on this number.
    alpha
        Family-wise probability of refuting a promise that holds, 1e-6 by default.
    confidence
        Confidence of `epsilon_lower`, .95 by default.
    detect
        Factor above 1; 2 by default. Without an upper bound, ``not_refuted`` requires that the audit would
        have refuted the claim, with probability .95, if the true epsilon at the tested event were this
        factor times the claim.
    mutants
        Whether to also test that the auditor of a catalogue algorithm catches the broken variants; True by
        default.
    sequential
        Whether to take samples in growing batches until the evidence suffices or the budget is used up. A
        badly broken claim is then refuted early.
    numerics
        Whether to also audit the floats that a mechanism's sampler returns: unless the sampler prevents it,
        their last bits can tell inputs apart. If False, we treat the noise as real numbers.
    own_neighbours
        Whether a mechanism that you name as text or as a command may supply the neighbouring data itself. If
        so, the mechanism's own code decides which inputs we test.
    adjacency
        For your own code: ``replace`` (one reward or data entry takes any other value; the default for
        bandits), ``add-remove`` (one round or entry is left out) or ``zero-out`` (one reward or entry
        becomes 0). None for a mechanism, because its pairs of data determine the adjacency.
    group
        Size k of a group: we audit the promise that the claim for one reward implies for k rewards (k
        epsilon if delta is 0; see `claims.group`), on inputs that differ in k rewards or, with `UserPair`s,
        in one user's rewards.
    epsilon_parameter
        Name of the constructor or function parameter that sets epsilon in your own code, if we do not
        recognise it. The parameter receives the claimed epsilon or, to measure power, a larger one.
    rho
        For a mechanism: a promise of rho-zCDP instead of epsilon, stated at `delta` (1e-5 if None).
    mu
        For a mechanism: like `rho`, but a promise of mu-GDP (Gaussian differential privacy).
    curve
        Whether to also bound delta at many epsilons, and epsilon at many deltas; always done with `rho` or
        `mu`.
    request
        File with the request, the question that the audit answers. If the file does not exist, we write it
        before the target's code runs; otherwise, we compare it with this call. The record always contains a
        copy.
    cage
        Isolation of your own code on Linux: ``none`` (the default), ``best`` or ``required``. As far as the
        system supports it, the code has no root rights, no network, no other processes, no files except its
        own temporary ones, and limited processor time and memory; the record says which limits apply.
        ``required`` refuses to run without a cage.
    """

    epsilon: float | None
    delta: float | None
    n_arms: int | None
    horizon: int | None
    contexts: int | str | tuple[int, int] | None
    context_norm: float | None
    model: str | None
    protects: str | None
    reward: str | None
    bounds: tuple[float, float] | None
    observe: str | None
    pairs: Sequence[validate.Given] | None
    budget: str | float
    runs: int | None
    timeout: float | None
    seed: int
    workers: int
    alpha: float
    confidence: float
    detect: float
    mutants: bool
    sequential: bool
    numerics: bool
    own_neighbours: bool
    adjacency: str | None
    group: int | None
    rho: float | None
    mu: float | None
    curve: bool
    epsilon_parameter: str | None
    request: validate.Given
    cage: str


@dataclass(frozen=True)
class Promise:
    """The promise that is put to the test; what is None comes from the algorithm.

    Parameters
    ----------
    epsilon, delta
        Of one changed reward, or of neighbouring data.
    rho, mu
        Of zCDP, or of Gaussian differential privacy, in place of epsilon.
    observe
        What the adversary sees.
    group
        Number of changed rewards for which the promise is tested.
    model, protects
        To users with contexts, see `claims.PrivacyClaim.of_users`; a model of None is that of the algorithm,
        for a user's code ``central``.
    adjacency
        One of `units.ADJACENCIES`; None for the usual one.

    Raises
    ------
    InputError
        If one is out of range, or does not fit another.
    """

    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None
    observe: str | None = None
    group: int | None = None
    model: str | None = None
    protects: str = "context"
    adjacency: str | None = None
    mu: float | None = None

    @property
    def native(self) -> str:
        """The parameter that is promised: epsilon, or rho or mu, which promise a whole curve."""
        return next((name for name in claims.CURVED if getattr(self, name) is not None), "epsilon")

    @property
    def curved(self) -> bool:
        """Whether the promise is a whole curve."""
        return self.native in claims.CURVED

    def __post_init__(self) -> None:
        validate.choice("model", self.model or "central", MODELS)
        validate.choice("protects", self.protects, ("context", "reward"))
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", validate.positive("epsilon", self.epsilon))
        if self.delta is not None:
            object.__setattr__(self, "delta", validate.delta(self.delta))
        if self.adjacency is not None:
            validate.choice("adjacency", self.adjacency, ADJACENCIES)
        if self.group is not None:
            object.__setattr__(self, "group", validate.integer("group", self.group, least=1))
            if self.adjacency not in (None, "replace"):
                raise InputError(f"`group` works only with adjacency='replace', got {self.adjacency!r}")
        if self.rho is not None and self.mu is not None:
            raise InputError("`rho` and `mu` must not be given together; they are separate promises")
        for name in claims.CURVED:
            if getattr(self, name) is None:
                continue
            object.__setattr__(self, name, validate.positive(name, getattr(self, name)))
            if self.epsilon is not None:
                raise InputError(
                    f"{name} must be given without epsilon: epsilon follows from {name} and delta"
                )
            if self.delta == 0:
                raise InputError(f"delta must lie in (0, 1) with {name}: at delta 0, no finite epsilon holds")


@dataclass(frozen=True)
class Inputs:
    """On what a target is run.

    Parameters
    ----------
    n_arms, horizon
        K and T of a user's bandit.
    bounds
        Range of the rewards, or of the entries of the data.
    pairs
        Neighbouring inputs to use in place of those that are searched for.
    parameters
        Of a user's code, by name.
    reward
        The function of a user's code whose rewards are replaced, as ``file.py:function``.
    epsilon_parameter
        The parameter of a user's code that is epsilon.
    contexts, context_norm
        Form of the contexts, None for a bandit without; kept as numbers.

    Raises
    ------
    InputError
        If a parameter cannot be kept in a record.
    """

    n_arms: int | None = None
    horizon: int | None = None
    bounds: tuple[float, float] = (0.0, 1.0)
    pairs: Sequence[validate.Given] | None = None
    parameters: Json = field(default_factory=dict)
    reward: str = ""
    contexts: validate.Given = None
    context_norm: float = 1.0
    epsilon_parameter: str = ""

    def __post_init__(self) -> None:
        if self.contexts is not None:
            object.__setattr__(self, "contexts", shape_of(self.contexts))
        for name, value in self.parameters.items():
            if not isinstance(value, bool | int | float | str | None):
                raise InputError(
                    f"parameters: {name} must be a number, text, true, false or None, got {value!r}"
                )

    def recorded(self) -> JsonDict:
        """Parameters and replaced rewards as a record keeps them beside those of its own."""
        found = {f"{_SET}{name}": value for name, value in self.parameters.items()}
        if self.contexts is not None:
            found |= {"contexts": words_of(self.contexts), "context_norm": self.context_norm}
        return found | {name: getattr(self, name) for name in _TEXTS if getattr(self, name)}

    @property
    def bandit(self) -> bool:
        """Whether they are those of a bandit."""
        return self.n_arms is not None or self.horizon is not None

    @property
    def form(self) -> Contexts | None:
        """Of the contexts; None for a bandit without.

        Raises
        ------
        InputError
            If they do not fit the arms.
        """
        if self.contexts is None:
            return None
        if self.n_arms is None:
            raise InputError("n_arms must be given with contexts (--arms K; in Python n_arms=K)")
        return Contexts(self.n_arms, self.contexts, self.context_norm, self.bounds)

    @classmethod
    def read(cls, recorded: Json) -> Inputs:
        """From the parameters of a record."""
        own = {name.removeprefix(_SET): value for name, value in recorded.items() if name.startswith(_SET)}
        rest = {name: value for name, value in recorded.items() if not name.startswith(_SET)}
        return cls(**rest, parameters=own)


_TEXTS = ("reward", "epsilon_parameter")
_SET = "set:"  # before names of parameters of a user's code, in a record


@dataclass(frozen=True)
class Settings:
    """How an audit is made.

    Parameters
    ----------
    budget, runs, timeout, seed, workers, alpha, confidence, detect, sequential, curve, mutants, numerics,
    own_neighbours
        As in `verifiable_dp.audit`.
    plan
        Sizes of the black box of a mechanism, in place of those that the budget stands for.
    trusted
        Whether draws of one call of a mechanism are known to be independent of each other.
    power
        Whether the power of a mechanism's audit is measured.

    Raises
    ------
    InputError
        If one is out of range.
    """

    budget: str | float = "quick"
    runs: int | None = None
    timeout: float = TIMEOUT
    seed: int = 0
    workers: int = 1
    alpha: float = ALPHA
    confidence: float = CONFIDENCE
    detect: float = DETECT
    sequential: bool = False
    curve: bool = False
    mutants: bool = True
    numerics: bool = False
    own_neighbours: bool = False
    plan: Plan | None = None
    trusted: bool = False
    power: bool = True

    def __post_init__(self) -> None:
        checked = {
            "seed": validate.integer("seed", self.seed, least=0),
            "workers": validate.workers(self.workers),
            "alpha": validate.probability("alpha", self.alpha),
            "confidence": validate.probability("confidence", self.confidence),
            "detect": validate.factor("detect", self.detect),
            "timeout": validate.positive("timeout", self.timeout),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        for name in ("sequential", "curve", "mutants", "numerics", "own_neighbours"):
            object.__setattr__(self, name, bool(getattr(self, name)))
        _ = self.sizes

    @cached_property
    def sizes(self) -> Budget:
        """What the budget stands for."""
        return sizes_of(self.budget, self.runs)


_Part = TypeVar("_Part", Promise, Inputs, Settings)


def split(options: AuditOptions) -> tuple[Promise, Inputs, Settings]:
    """The three parts of what is asked; bounds, a timeout, a reward, … of None are the default ones.

    Raises
    ------
    InputError
        If one is out of range.
    """
    usual = ("bounds", "timeout", "reward", "epsilon_parameter", "context_norm", "model", "protects")
    given: JsonDict = {
        name: value for name, value in options.items() if value is not None or name not in usual
    }

    def part(kind: type[_Part]) -> _Part:
        return kind(**{one.name: given[one.name] for one in fields(kind) if one.name in given})

    return part(Promise), part(Inputs), part(Settings)


@dataclass(frozen=True)
class AuditRequest:
    """One audit: of what, for which promise, on which inputs, and how.

    Parameters
    ----------
    target
        An algorithm, a callable, or a command (`Exec`).
    name
        Under which it is reported.
    promise, inputs, settings
        What is asked.
    pinned
        The plan of an earlier record, whose sizes are used again.
    progress
        Is called with a line of text at each stage.

    Raises
    ------
    InputError
        If settings do not fit the promise.
    """

    target: validate.Given
    name: str
    promise: Promise = Promise()
    inputs: Inputs = Inputs()
    settings: Settings = Settings()
    pinned: Json | None = None
    progress: Progress = field(default=silent, compare=False)

    def __post_init__(self) -> None:
        promise, inputs = self.promise, self.inputs
        users = promise.model == "joint" or promise.protects != "context"
        # A name may be that of an algorithm that is told contexts.
        told = inputs.contexts is not None or isinstance(self.target, ContextualAlgorithm | str)
        if users and not told:
            raise InputError(
                "model='joint' and `protects` need contexts; give the dimension of a user's context, "
                "such as 5"
            )
        if promise.model == "local" and inputs.contexts is not None:
            raise InputError("model='local' works only without contexts; a report is about one reward")
        if promise.model == "local" and (promise.delta or promise.group is not None or promise.adjacency):
            raise InputError("model='local' works only with delta 0, and without `group` and `adjacency`")
        if inputs.contexts is not None and promise.group is not None:
            raise InputError(
                "`group` works only without contexts; with contexts, the unit is one user's round"
            )
        if promise.adjacency is not None and inputs.pairs is not None:
            raise InputError(
                "`adjacency` must be left out with `pairs`; the pairs determine how the inputs differ"
            )
        if promise.adjacency is not None and inputs.contexts is not None:
            raise InputError("`adjacency` works only without contexts; with contexts, one user is replaced")
        if self.pinned is None and self.settings.sequential and (self.settings.curve or self.promise.curved):
            raise InputError(
                "`sequential` must be off with `curve`, `rho` or `mu`; a curve is measured at one sample size"
            )

    def given(self) -> GivenRole:
        """What a user's code may ask for."""
        promise, inputs = self.promise, self.inputs
        return GivenRole(
            promise.epsilon,
            promise.delta or 0.0,
            inputs.parameters,
            inputs.reward,
            inputs.form,
            inputs.epsilon_parameter,
        )

    def asked(self) -> JsonDict:
        """What decides the outcome apart from the target: workers do not."""
        whole = {**_plain(self.promise), **_plain(self.inputs), **_plain(self.settings)}
        del whole["workers"]
        return whole

    def noted(self, event_epsilon: float, event_delta: float) -> JsonDict:
        """What a plan keeps of group, rho, curve and detect; of a widened promise that about one event."""
        plan: JsonDict = {}
        if self.promise.group is not None:
            plan |= {
                "group": self.promise.group,
                "event_epsilon": event_epsilon,
                "event_delta": event_delta,
            }
        for name in claims.CURVED:
            if getattr(self.promise, name) is not None:
                plan[name] = getattr(self.promise, name)
        if self.settings.curve:
            plan["curve"] = True
        if self.settings.detect != DETECT:
            plan["detect"] = self.settings.detect
        return plan


def promised(plan: Json, claim: Json) -> Promise:
    """The promise that an audit with this plan and claim was asked to test."""
    one = claim["unit"] in (Unit.REWARD, Unit.ENTRY) and not plan.get("given_pairs")
    adjacency = str(claim["adjacency"]) if one else None
    curved = {name: plan[name] for name in claims.CURVED if name in plan}
    if curved:
        return Promise(delta=claim["delta"], adjacency=adjacency, **curved)
    if "group" in plan:
        return Promise(plan["event_epsilon"], plan["event_delta"], group=int(plan["group"]))
    if claim.get("protects"):
        users = Protected(claim["protects"])
        return Promise(claim["epsilon"], claim["delta"], model=users.model, protects=users.what)
    local = claim["trust_model"] == TrustModel.LOCAL
    protects, model, adjacency = "context", "local" if local else "central", None if local else adjacency
    return Promise(claim["epsilon"], claim["delta"], model=model, protects=protects, adjacency=adjacency)
