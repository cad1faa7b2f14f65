"""The interactive game: adversaries that choose rewards from the actions so far, ready ones and a learnt one.

Both worlds run the same adversary; they differ in the reward of one round, the challenge. Alignment
replays every ready strategy; the black box also *learns* one: the weights of a linear policy and its
challenge round are chosen on selection runs by the cross-entropy method, and fresh runs decide.

Source of the method: Rubinstein & Kroese, The Cross-Entropy Method (2004), ch. 2 and 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace

import numpy as np

from verifiable_dp.core import adversaries
from verifiable_dp.core.adversaries import FEATURES, Strategy
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.neighbours import AnyPair, ContextGame, InteractivePair
from verifiable_dp.core.validate import FloatArray, IntArray, Json, JsonDict
from verifiable_dp.evidence import normal
from verifiable_dp.evidence.alignment import searching
from verifiable_dp.evidence.alignment.checking import Instance
from verifiable_dp.evidence.alignment.replay import exceeds
from verifiable_dp.evidence.alignment.searching import Found, plain
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.algorithm_runs import AlgorithmSampler
from verifiable_dp.evidence.blackbox.events import EventSetting, choose
from verifiable_dp.evidence.blackbox.test import TUNE, Plan, Terms
from verifiable_dp.evidence.check import Check

_OWN = 0xADA  # keeps the draws of the game apart from those of the rest of an audit
_LEADS = 8  # games that alignment cannot clear and the black box tries
_ELITE = 4  # one of so many candidates forms the next generation
_SPREAD, _LEAST_SPREAD, _SMOOTHING = 2.0, 0.3, 0.7
_REPLAYED = 8  # runs with free noise that are replayed for each pair


@dataclass(frozen=True)
class AdversarySizes:
    """How much is tried; with the seed it determines every count.

    Attributes
    ----------
    challenges
        Rounds that are tried as the challenge.
    population, generations
        Candidates of each generation of the search, and their number.
    probe, select, test
        Runs a side to rate a candidate, to choose the event on, and to test it on.
    """

    challenges: int
    population: int
    generations: int
    probe: int
    select: int
    test: int

    @classmethod
    def of(cls, horizon: int, steps: int, most: int) -> AdversarySizes:
        """Sizes for runs of `horizon` rounds where the test may play `steps` rounds a side, `most` runs."""
        # A run costs some rounds beyond its own; the least size is what a bound of .8 epsilon takes.
        test = int(np.clip(steps // (horizon + 512), 4000, max(4000, min(most // 16, 400_000))))
        generations = int(np.clip((math.log2(steps) - 16) // 2, 2, 8))
        probe = int(np.clip(test // 16, 200, 4000))
        rounds = 2 + generations // 2 if horizon <= 4096 else 1
        return cls(rounds, 8 + 4 * (generations // 2), generations, probe, test // 2, test)

    @classmethod
    def read(cls, mapping: Json) -> AdversarySizes:
        """The sizes of an earlier record."""
        return cls(**{field.name: int(mapping[field.name]) for field in fields(cls)})

    def shorter(self, part: int) -> AdversarySizes:
        """With a part of the runs of the test; the search stays."""
        return replace(self, select=max(1, self.select // part), test=max(1, self.test // part))

    def as_dict(self) -> dict[str, int]:
        """Plain values."""
        return asdict(self)


# ---------------------------------------------------------------- ready strategies


def strategies(algorithm: Algorithm) -> list[Strategy]:
    """Ready adversaries for an algorithm with two arms or more.

    Where it removes arms by a margin, one keeps arm 0 ahead by that of the first release, less one unit of
    noise: near the decision.
    """
    bounds, horizon = algorithm.search_bounds, algorithm.horizon
    margin = algorithm.margin(algorithm.start(np.zeros(1, np.int64)))
    near = 2.0
    if margin is not None and np.isfinite(margin[0]):
        near = max(float(margin[0]) - 1.0, 0.0) / (bounds[1] - bounds[0])
    return [
        adversaries.tease(bounds, near),
        adversaries.tease(bounds),
        adversaries.tease(bounds, 0.0, 1.0),
        adversaries.flatter(bounds, 0),
        adversaries.flatter(bounds, algorithm.n_arms - 1),
        adversaries.balance(bounds),
        adversaries.punish(bounds),
        adversaries.restless(bounds),
        adversaries.alternate(bounds, 1),
        adversaries.alternate(bounds, max(2, horizon // (8 * algorithm.n_arms))),
    ]


def challenges(horizon: int, count: int) -> IntArray:
    """At most `count` rounds from 0 on, evenly spaced."""
    return np.unique(np.arange(count) * horizon // count)


def pairs(algorithm: Algorithm, count: int) -> list[InteractivePair]:
    """Every ready strategy with each of `count` challenge rounds; rewards of the challenge are the bounds."""
    low, high = algorithm.search_bounds
    return [
        InteractivePair(strategy, int(place), low, high, (low, high))
        for place in challenges(algorithm.horizon, count)
        for strategy in strategies(algorithm)
    ]


# ---------------------------------------------------------------- alignment


def align(
    algorithm: Algorithm,
    games: Sequence[InteractivePair],
    *,
    epsilon: float,
    small_epsilon: float,
    visible: bool,
    seed: int,
    name: str = "interactive alignment",
) -> tuple[Check, Found, list[InteractivePair]]:
    """Replay every game in both directions, with free and with one-sided noise.

    Games that cost more than epsilon are returned too: where the releases are not seen they are leads for
    the black box.

    Parameters
    ----------
    algorithm
        A small instance.
    games
        What it is played against.
    epsilon, small_epsilon
        The claim, and what the small instance claims: costs are stated in units of the claim.
    visible
        Whether the adversary sees every release, so that a transcript's loss is exact.
    seed
        Of the noise.
    """
    found, leads = Found(0, 0.0, 0.0, "", {}), []
    for game in games:
        one = searching.examine(algorithm, game, seed=seed, runs=_REPLAYED)
        found = found.merge(one)
        leads += [game] if exceeds(one.cost, small_epsilon) else []
        if visible and exceeds(found.loss, small_epsilon):
            break
    unit = epsilon / small_epsilon
    statistics = {
        "epsilon": epsilon,
        "visible": visible,
        "examined": found.examined,
        "max_cost": plain(found.cost * unit),
        "max_loss": plain(found.loss * unit),
        "divergence": found.divergence,
        "strategies": len({game.name for game in games}),
        "challenges": len({game.challenge for game in games}),
    }
    return Check.of(name, "alignment", statistics), found, leads


# ---------------------------------------------------------------- a learnt adversary


def _generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(TUNE, _OWN))))


@dataclass(frozen=True)
class _Belief:
    """Normal law of the weights, and law of the part of the run in which the challenge lies."""

    mean: FloatArray
    spread: FloatArray
    chances: FloatArray

    @classmethod
    def first(cls, parts: int) -> _Belief:
        n = len(FEATURES)
        return cls(np.zeros(n), np.full(n, _SPREAD), np.full(parts, 1 / parts))

    def draw(self, generator: np.random.Generator, count: int) -> tuple[FloatArray, IntArray]:
        """Weights (count, m) and parts (count,) of the challenge."""
        weights = self.mean + self.spread * generator.standard_normal((count, len(self.mean)))
        return weights, generator.choice(len(self.chances), count, p=self.chances)

    def learn(self, weights: FloatArray, place: IntArray) -> _Belief:
        """Moved towards the elite, whose weights and parts are given."""
        shares = np.bincount(place, minlength=len(self.chances)) / len(place)
        keep = 1 - _SMOOTHING
        chances = keep * self.chances + _SMOOTHING * shares
        return _Belief(
            keep * self.mean + _SMOOTHING * weights.mean(axis=0),
            np.maximum(keep * self.spread + _SMOOTHING * weights.std(axis=0), _LEAST_SPREAD),
            chances / chances.sum(),
        )


def _plain_policies() -> FloatArray:
    """Weights of policies that are nearly ready ones, (m, 10): where the search starts."""
    at = {name: i for i, name in enumerate(FEATURES)}
    weights = np.zeros((6, len(FEATURES)))
    weights[0, at["lead of the sum"]] = -4.0  # tease
    weights[1, at["arm 0 against others"]] = 4.0  # flatter
    weights[2, at["share of pulls"]] = -4.0  # balance
    weights[3, at["stayed"]] = -4.0  # restless
    weights[4, at["arm 0 after the challenge"]] = 4.0  # follow the challenge up
    weights[5, at["lead of the mean"]] = -4.0
    return weights


def learn(
    sampler: AlgorithmSampler,
    sizes: AdversarySizes,
    *,
    delta: float = 0.0,
    leads: Sequence[InteractivePair] = (),
) -> InteractivePair:
    """The learnt adversary: weights and challenge round that promise the largest bound on epsilon.

    Each generation's candidates are rated on the same fresh draws by the promise of the event that is
    chosen for them (`events.choose`); the best quarter forms the law of the next generation. Of the best
    candidates of all generations, draws of their own decide. Deterministic given the sampler's seed.

    Parameters
    ----------
    sampler
        Plays the algorithm.
    sizes
        Candidates and runs.
    delta
        Of the claim.
    leads
        Games whose challenge is worth a try.
    """
    algorithm = sampler.algorithm
    (low, high), horizon = algorithm.search_bounds, algorithm.horizon
    # Parts of the run in which the challenge may lie: the first round is one of its own.
    edges = np.unique(np.concatenate([[0, 1], challenges(horizon, 2 * sizes.challenges)[1:], [horizon]]))
    generator = _generator(sampler.seed)
    belief = _Belief.first(len(edges) - 1)
    rated: list[tuple[float, InteractivePair]] = []
    for generation in range(sizes.generations):
        weights, place = belief.draw(generator, sizes.population)
        rounds = generator.integers(edges[place], edges[place + 1])
        if generation == 0:
            known = _plain_policies()[: sizes.population // 2]
            weights[: len(known)] = known
            if leads:
                rounds[: len(known)] = generator.choice([game.challenge for game in leads], len(known))
                place = np.searchsorted(edges, rounds, side="right") - 1
        games = [
            InteractivePair(adversaries.learnt((low, high), horizon, at, w), at, low, high, (low, high))
            for w, at in zip(weights, rounds.tolist(), strict=True)
        ]
        scores = np.array([_promise(sampler, g, sizes.probe, sizes.test, generation, delta) for g in games])
        order = np.argsort(-scores, kind="stable")
        elite = order[: max(2, sizes.population // _ELITE)]
        belief = belief.learn(weights[elite], place[elite])
        rated += [(float(scores[i]), games[i]) for i in elite.tolist()]
    rated.sort(key=lambda pair: pair[0], reverse=True)
    finals = [game for _, game in rated[:3]]
    more = [_promise(sampler, g, 2 * sizes.probe, sizes.test, sizes.generations, delta) for g in finals]
    return finals[int(np.argmax(more))]


def _promise(
    sampler: AlgorithmSampler, game: InteractivePair, runs: int, test: int, number: int, delta: float
) -> float:
    """Bound on epsilon that the best event of a game promises; a large negative number for none."""
    seen = blackbox.gather(sampler, game, TUNE, number, runs, 1)
    event = choose(*seen, EventSetting(test, delta, caution=1.0))
    return max(event.promise, -1e9)


def black_box(
    sampler: AlgorithmSampler,
    sizes: AdversarySizes,
    terms: Terms,
    *,
    leads: Sequence[InteractivePair] = (),
    name: str = "interactive black box",
) -> tuple[Check, blackbox.Selected]:
    """Learn an adversary, set it beside the ready ones, and put the most promising game to the test.

    Learning and choice use no run of the test. The noise has a seed of its own, which the sampler's gives.
    `leads` are games that join the candidates, such as those that alignment cannot clear.
    """
    own = replace(sampler, seed=sampler.seed + _OWN)
    delta = terms.claim.delta
    learnt = learn(own, sizes, delta=delta, leads=leads)
    games = [learnt, *leads[:_LEADS], *pairs(own.algorithm, max(2, sizes.challenges // 2))]
    return put_to_test(own, games, sizes, terms, name=name)


def put_to_test(
    own: AlgorithmSampler,
    games: Sequence[AnyPair],
    sizes: AdversarySizes,
    terms: Terms,
    *,
    name: str = "interactive black box",
) -> tuple[Check, blackbox.Selected]:
    """Test the most promising of some games by fresh runs; `own` has a seed that no other part has."""
    plan = Plan(2 * sizes.probe, sizes.select, sizes.test, keep=1, finalists=2)
    chosen, _ = blackbox.select(own, games, plan, delta=terms.claim.delta, workers=terms.workers)
    (check,) = blackbox.put_to_test(own, chosen, plan, replace(terms, seed=own.seed), name=name)
    statistics = {**check.statistics, "adversary": chosen[0].pair.as_dict()}
    return Check.of(name, "black_box", statistics), chosen[0]


# ---------------------------------------------------------------- both, as a part of an audit


@dataclass(frozen=True)
class PlayedGame:
    """What an audit gets from the interactive game.

    Attributes
    ----------
    checks
        Alignment, then the black box unless alignment refutes or there is none.
    counterexamples
        Of the checks that refute, each with the parameters of the instance it was found on.
    words
        The game that was put to the test, in words.
    """

    checks: Sequence[Check]
    counterexamples: Sequence[JsonDict]
    words: Sequence[str]

    @classmethod
    def of(cls, aligned: Check, check: Check, chosen: blackbox.Selected, game: Instance) -> PlayedGame:
        """Alignment that refutes nothing, and the black box on the chosen game."""
        event = {
            "check": check.name,
            "pair": chosen.pair.as_dict(),
            "event": check.statistics["event"],
            "looks_at": chosen.event.looks_at(),
            "p_value": check.result["p_value"],
            "epsilon_lower": check.result["epsilon_lower"],
            **game.said,
        }
        found = [event] if check.verdict == "refuted" else []
        return cls([aligned, check], found, [chosen.pair.describe()])


def play(
    small: Instance, game: Instance, sizes: AdversarySizes, terms: Terms, *, visible: bool
) -> PlayedGame:
    """Alignment of every ready strategy on the small instance; the black box, with a learnt one, on `game`.

    Parameters
    ----------
    small
        A small instance.
    game
        An instance that makes the audited promise; best the small one.
    sizes
        How much is tried.
    terms
        Of the test.
    visible
        See `align`.
    """
    align_check, found, leads = align(
        small.algorithm,
        pairs(small.algorithm, sizes.challenges),
        epsilon=terms.claim.epsilon,
        small_epsilon=small.epsilon,
        visible=visible,
        seed=terms.seed,
    )
    if align_check.verdict == "refuted":
        return PlayedGame([align_check], [{"check": align_check.name, **found.worst, **small.said}], [])
    check, chosen = black_box(
        AlgorithmSampler(game.algorithm, terms.claim.observe, terms.seed),
        sizes,
        terms,
        leads=leads if game.algorithm.horizon == small.algorithm.horizon else (),
    )
    return PlayedGame.of(align_check, check, chosen, game)


def play_users(
    game: Instance, games: Sequence[ContextGame], sizes: AdversarySizes, terms: Terms
) -> PlayedGame:
    """The same of adversaries over contexts, on one instance: alignment is exact, and nothing is learnt."""
    align_check, worst = normal.check(
        game.algorithm, terms.claim, games, terms.seed, name="interactive alignment"
    )
    counted = {
        "strategies": len({game.reaction for game in games}),
        "challenges": len({game.round for game in games}),
    }
    align_check = Check.of(align_check.name, "alignment", {**align_check.statistics, **counted})
    if align_check.verdict == "refuted":
        return PlayedGame([align_check], [{"check": align_check.name, **worst, **game.said}], [])
    own = AlgorithmSampler(game.algorithm, terms.claim.observe, terms.seed + _OWN)
    return PlayedGame.of(align_check, *put_to_test(own, games, sizes, terms), game)
