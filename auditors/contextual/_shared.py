"""What auditors of bandits with contexts share: users of a linear model, how they are played, neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace

import numpy as np

from verifiable_dp.algorithms.contextual._regression import Regression
from verifiable_dp.core.algorithm import Algorithm, Query, play
from verifiable_dp.core.claims import Basis, RegretClaim
from verifiable_dp.core.contextual import Rule
from verifiable_dp.core.mechanisms.tree import SLOT_BITS, Nodes
from verifiable_dp.core.neighbours import ContextPair
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.populations import Linear
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, IntArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.comparison import comparison
from verifiable_dp.registry.auditor import Mutant
from verifiable_dp.registry.mutants import Make, result, shared
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import RUNS, TRIALS, TheoremTrial
from verifiable_dp.registry.wrapped import Listed

SHEET = Sheet(__file__)
claim, mutant = SHEET.claim, SHEET.mutant

MIDDLE, SLOPE = 0.5, 0.45
_BALANCE = 0.8  # between 1/sqrt 2, the width of what was seen once, and what a reward of 1 adds to it


def linear_users(n_arms: int, dimension: int) -> Linear:
    """Users whose arms have contexts (u, 1)/sqrt 2, u uniform on the sphere, and pay 1 or 0.

    The mean is linear, .5 + .45 <u, e_1>.
    """
    theta = np.zeros(dimension)
    theta[0], theta[-1] = SLOPE * 2**0.5, MIDDLE * 2**0.5
    name = f"users with linear rewards, K = {n_arms}, d = {dimension}"
    return Linear(tuple(theta.tolist()), n_arms, "intercept", (0.0, 1.0), name)


@dataclass
class Crowd:
    """A stream of such users for n runs; adds up pseudo-regret by run.

    Attributes
    ----------
    users, rng
        Who comes, and what draws them.
    regret
        So far, (n,).
    gram
        Exact sum of x x' over the arms taken, (n, d, d).
    """

    users: Linear
    rng: np.random.Generator
    regret: FloatArray
    gram: FloatArray
    _now: tuple[FloatArray, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, users: Linear, seed: int, runs: int) -> Crowd:
        """A stream of its own for each seed."""
        d = users.shape[-1]
        return cls(users, np.random.default_rng([seed, 1]), np.zeros(runs), np.zeros((runs, d, d)))

    def meet(self, query: Query, run: IntArray) -> Query:
        """See `Met.meet`: one user for each run."""
        n = len(run)
        contexts = self.users.contexts(self.rng, n)
        means = self.users.means(contexts)
        assert isinstance(query.ask, Rule)
        each, arm = np.arange(n), query.ask.choose(contexts)
        self.regret += means.max(axis=1) - means[each, arm]
        x = contexts[each, arm]
        self.gram += x[:, :, None] * x[:, None, :]
        self._now = x, (self.rng.random(n) < means[each, arm]).astype(np.float64)
        return replace(query, active=np.arange(self.users.n_arms) == arm[:, None])

    def answer(self, query: Query, run: IntArray) -> FloatArray:
        """The items of the users met last."""
        assert isinstance(query.ask, Rule)
        return query.ask.items(*self._now)


def regret(algorithm: Algorithm, users: Linear, runs: int, seed: int) -> FloatArray:
    """Pseudo-regret at the horizon, by run."""
    crowd = Crowd.of(users, seed, runs)
    play(algorithm, crowd, Seeded(seed), np.arange(runs), keep=())
    return crowd.regret


def states(algorithm: Algorithm, crowd: Crowd, seed: int) -> Iterator[Own]:
    """The public state after each round of runs on a crowd."""
    run = np.arange(len(crowd.regret))
    state, memory, noise = algorithm.start(run), algorithm.private(run), Seeded(seed)
    for _ in range(algorithm.horizon):
        query = crowd.meet(algorithm.query(state), run)
        memory, released = algorithm.release(state, memory, query, crowd.answer(query, run), noise)
        state = algorithm.decide(state, query, released)
        yield state


# ---------------------------------------------------------------- neighbours


def pairs(algorithm: Regression) -> list[ContextPair]:
    """The first user replaced by one of opposite context; then another axis, later users, and an own choice.

    The first user's contexts are longer than they may count. With items of equal norm at right angles to each
    other, the first pair is the worst there is.
    """
    form, last = algorithm.form, algorithm.horizon - 1
    low, high = form.bounds
    long = np.zeros(form.shape)
    long[:, 0] = form.norm
    calm = np.tile(long * algorithm.norm / form.norm, (algorithm.horizon, 1, 1))
    paid = np.full((algorithm.horizon, form.n_arms), high)
    turned = np.roll(calm[0], 1, axis=1) if algorithm.dimension > 1 else calm[0] / 2
    early = calm.copy()
    early[0] = long
    crowd = np.tile(long, (algorithm.horizon, 1, 1))
    crowd[1::2] = form.apart(long)
    # The next user's second arm is as good as the first is with half of what it paid.
    close = np.zeros((algorithm.horizon, *form.shape))
    close[:, 0, 0] = close[0, :, 0] = algorithm.norm
    close[1:, 1, 1 % algorithm.dimension] = _BALANCE * algorithm.norm
    # Only one arm is worth taking: that user's own action tells which one it is.
    mine, other = (
        np.where(np.arange(form.n_arms)[:, None] == arm, long, 0.0) for arm in (0, form.n_arms - 1)
    )
    own = calm.copy()
    own[last] = mine
    return [
        ContextPair(form, early, paid, 0, -long, joint=True),
        ContextPair(form, calm, paid, 0, turned, np.full(form.n_arms, low), joint=True),
        ContextPair(
            form, crowd, np.where(np.arange(algorithm.horizon)[:, None] % 2, low, paid), 0, -long, joint=True
        ),
        ContextPair(form, calm, paid, last // 2, -calm[0], joint=True),
        ContextPair(form, calm, 0 * paid, 0, reward=paid[0], joint=True),
        ContextPair(form, close, 0 * paid, 0, reward=paid[0], joint=True),
        ContextPair(form, own, paid, last, other, joint=True),
    ]


def reward_pairs(algorithm: Regression) -> list[ContextPair]:
    """A reward falls from the largest to the least: one of the first two, a later one, or that of close arms.

    All contexts but those of the last pair are longer than they may count, and the axes come in turn.
    """
    form, n = algorithm.form, algorithm.horizon
    turns = np.zeros((n, *form.shape))
    turns[np.arange(n), 0, np.arange(n) % form.dimension] = form.norm
    close = np.zeros((n, *form.shape))
    close[:, 0, 0] = close[:, 1, 1 % form.dimension] = algorithm.norm
    paid, low = np.full((n, form.n_arms), form.bounds[1]), np.full(form.n_arms, form.bounds[0])
    return [
        ContextPair(form, turns, paid, 0, reward=low),
        ContextPair(form, turns, paid, 1, reward=low),
        ContextPair(form, turns, paid, n // 4, reward=low),
        ContextPair(form, close, paid, 0, reward=low),
    ]


# ---------------------------------------------------------------- claims, and what breaks them

OURS = "our own derivation (see the class)"


SHORT = {"horizon": 400, "alpha": 0.1}  # a probability takes many runs


def definite(trial: TheoremTrial) -> Iterator[Check]:
    """Whether V less its exact Gram matrix lies in [Upsilon, 3 Upsilon] after every round."""
    rule = trial.changed(**SHORT)
    users, runs = linear_users(rule.rule.n_arms, rule.rule.dimension), trial.runs(TRIALS)
    crowd, outside = Crowd.of(users, trial.seed, runs), np.zeros(runs, bool)
    least = rule.rule.upsilon
    for state in states(rule.algorithm, crowd, trial.seed):
        added = np.linalg.eigvalsh(np.linalg.inv(state.inverse) - crowd.gram)
        outside |= (added[:, 0] < least * (1 - 1e-6)) | (added[:, -1] > 3 * least * (1 + 1e-6))
    yield trial.probability(
        f"on {users.name}", outside, float(rule.rule.alpha), instance=users.name, horizon=rule.rule.horizon
    )


def ellipsoid(trial: TheoremTrial) -> Iterator[Check]:
    """Whether the true parameter leaves the ellipsoid after any round."""
    rule = trial.changed(**SHORT)
    users, runs = linear_users(rule.rule.n_arms, rule.rule.dimension), trial.runs(TRIALS)
    crowd, outside = Crowd.of(users, trial.seed, runs), np.zeros(runs, bool)
    for state in states(rule.algorithm, crowd, trial.seed):
        asked = rule.algorithm.rule(state)
        off = asked.estimate - np.array(users.theta)
        length = np.einsum("ni,nij,nj->n", off, np.linalg.inv(asked.inverse), off)
        outside |= np.sqrt(np.maximum(length, 0.0)) > asked.radius
    yield trial.probability(
        f"on {users.name}", outside, float(rule.rule.alpha), instance=users.name, horizon=rule.rule.horizon
    )


@dataclass(frozen=True)
class AgainstUniform:
    """Mean regret beside that of uniform play, which is known for these users and `factor` times as large."""

    factor: float

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """One check."""
        rule = trial.rule
        users, runs = linear_users(rule.n_arms, rule.dimension), trial.runs(RUNS)
        rng = np.random.default_rng([trial.seed, 2])
        means = users.means(users.contexts(rng, 2000 * runs)).reshape(runs, 2000, -1)
        uniform = (means.max(axis=2) - means.mean(axis=2)).mean(axis=1) * rule.horizon
        yield comparison(
            f"{trial.claim.name} on {users.name}",
            regret(trial.algorithm, users, runs, trial.seed),
            uniform,
            factor=self.factor,
            claim=trial.claim.name,
            instance=users.name,
            horizon=rule.horizon,
        )


DEFINITE_CLAIM = claim("definite", checks=[definite], paper=OURS)


def claims(paper: str, learns: AgainstUniform) -> tuple[RegretClaim, ...]:
    """What holds of every regression here: the ellipsoid as in `paper`, and less regret than uniform play."""
    found = claim("ellipsoid", checks=[ellipsoid], paper=paper)
    if paper == OURS:
        found = replace(
            found, source=replace(found.source, basis=Basis.OURS, statement=SHEET.words("widened"))
        )
    return (found, claim("learns", checks=[learns], paper="our own claim", factor=learns.factor))


def _asked(**changes: Callable[[Own], FloatArray]) -> Make:
    """Another rule for users; each change is a function of the right one."""

    def other(rule: Listed, asked: Own, state: Own) -> Own:
        return replace(asked, **{name: change(asked) for name, change in changes.items()})

    return result("rule", other)


ONE_DRAW = shared(lambda rule, slot: slot >> SLOT_BITS)


class LeavesOnly(Nodes):
    """Nodes of more than one item are released as they are; to be mixed into a tree."""

    def scales(self, number: IntArray) -> FloatArray:
        """Of the noise of each node."""
        return super().scales(number) * (number % 2)


class LateNoise(Nodes):
    """The first node is released as it is; to be mixed into a tree."""

    def scales(self, number: IntArray) -> FloatArray:
        """Of the noise of each node."""
        return super().scales(number) * (number > 1)


def tree_of(kind: type[Nodes] | None = None, **changes: Callable[[Listed, Own], float]) -> Make:
    """Another tree: of another kind, or with fields that are functions of the rule and its tree."""

    def other(rule: Listed, tree: Own) -> Nodes:
        found = {each.name: getattr(tree, each.name) for each in fields(tree)}
        return (kind or type(tree))(**found | {name: make(rule, tree) for name, make in changes.items()})

    return result("tree", other)


LEARNS = AgainstUniform(4.0)  # where noise keeps privacy


def regret_mutants(learns: AgainstUniform) -> tuple[Mutant, ...]:
    """Rules for users that lose regret or the ellipsoid, with the checks that catch them."""
    return (
        mutant(
            "uniform",
            _asked(estimate=lambda asked: 0 * asked.estimate, radius=lambda asked: 0 * asked.radius),
            learns,
        ),
        mutant("timid", _asked(radius=lambda asked: 10 * asked.radius), learns),
        mutant("inverted", _asked(estimate=lambda asked: -asked.estimate), learns),
        mutant("greedy", _asked(radius=lambda asked: 0 * asked.radius), ellipsoid),
        mutant("overconfident", _asked(radius=lambda asked: asked.radius / 10), ellipsoid),
        mutant("ten times", _asked(estimate=lambda asked: 10 * asked.estimate), ellipsoid),
    )


SHIFT_MUTANTS = (
    mutant("no shift", result("ridge", lambda rule, ridge: 0.0), definite),
    mutant("half shift", result("ridge", lambda rule, ridge: ridge / 2), definite),
)
NOT_CLIPPED = mutant("not clipped", _asked(norm=lambda asked: np.full_like(asked.norm, 1e12)))
