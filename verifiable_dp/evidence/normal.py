"""Alignment of releases with normal or Wishart noise, and the certificate of bandits that are told contexts.

A run is recorded on one input and replayed on its neighbour with the same releases. Changes that do not
depend on the noise cost what one release of normal noise costs at distance mu, mu^2 being the sum of ((q -
q')/sd)^2: delta is known exactly at every epsilon. Of Wishart noise it is known by `mechanisms.wishart`; what
such releases cost is said as the mu that comes to the same epsilon at the claim's delta.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from verifiable_dp.core.algorithm import Algorithm, Query, play
from verifiable_dp.core.claims import PrivacyClaim, gdp_mu
from verifiable_dp.core.contextual import ContextualAlgorithm, UserTable
from verifiable_dp.core.mechanisms import wishart
from verifiable_dp.core.neighbours import AnyPair
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.symmetric import matrix, rows_of
from verifiable_dp.core.tapes import Recorder, Replayer, Tape
from verifiable_dp.core.units import Protected
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray, Json, JsonDict
from verifiable_dp.evidence.alignment.checking import Paid, over_time
from verifiable_dp.evidence.alignment.replay import TOLERANCE, Replay, exceeds, replay
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.doors import ours
from verifiable_dp.evidence.judge.laws import epsilon_of_mu
from verifiable_dp.evidence.premises import REPLAYED, Premise, Taken
from verifiable_dp.evidence.upper import Method, UpperBound, mu_of

RUNS = 16  # replays of a pair; where at most a tenth of all runs leaves the path, all do so with chance 1e-16
LARGEST = 0.1  # delta at which runs that leave the path still refute
MOST_ROUNDS = 512  # of a certificate
USERS, FARTHEST = 2000, 1e6  # whose items are looked at, and the longest of their contexts
_LISTED = 64

Matrices = Sequence[tuple[IntArray, FloatArray, int]]  # see `tapes.Replayer`


# ---------------------------------------------------------------- alignment


@dataclass(frozen=True)
class NormalFound:
    """The costliest transcripts that were seen.

    Attributes
    ----------
    examined
        Number of transcripts.
    mu
        Of the costliest one.
    fixed
        The largest mu of a pair whose transcripts all cost the same; at most that much, of Wishart noise.
    divergence
        Why a run left the recorded path; empty if none did.
    worst
        Counterexample or costliest case as plain values.
    """

    examined: int = 0
    mu: float = 0.0
    fixed: float = 0.0
    divergence: str = ""
    worst: Json = field(default_factory=dict)

    def merge(self, other: NormalFound) -> NormalFound:
        """Both together."""
        dearer = max(other, self, key=lambda found: (found.fixed, found.mu))
        return NormalFound(
            self.examined + other.examined,
            max(self.mu, other.mu),
            max(self.fixed, other.fixed),
            self.divergence or other.divergence,
            dearer.worst or self.worst or other.worst,
        )


def examine(algorithm: Algorithm, pair: AnyPair, *, seed: int, delta: float = 0.0) -> NormalFound:
    """Replay a pair in both directions; `delta` is where Wishart noise is examined."""
    found = NormalFound()
    for turned in (False, True):
        done = replay(algorithm, pair, seed=seed, runs=RUNS, turned=turned)
        mu = np.sqrt(done.square)
        alike = bool(np.isinf(mu).all()) or bool(mu.max() - mu.min() <= TOLERANCE * mu.max())
        fixed = float(mu.min()) if alike else 0.0
        if (mixed := (done.cost > 0) & np.isfinite(done.cost)).any():  # Laplace noise besides: no mu is known
            mu, fixed = np.where(mixed, np.inf, mu), 0.0
        if done.matrices and not np.isinf(mu).all():
            most, fixed = _of_matrices(done.matrices, delta, 0 if done.diverged else RUNS)
            mu[np.isfinite(mu)] = most
        found = found.merge(
            NormalFound(
                RUNS,
                float(mu.max()),
                fixed,
                next(iter(done.diverged.values()), ""),
                _counterexample(pair, done, int(np.argmax(mu)), seed, turned),
            )
        )
    return found


def _of_matrices(matrices: Matrices, delta: float, runs: int) -> tuple[float, float]:
    """What mu the releases with Wishart noise come to at `delta`: at most, and at least in all of `runs`.

    Changes along one axis, or by s (z z' - y y') at a right angle, have known laws. What lies between them
    costs no more than the dearer one of both, and no less than its part along one axis.
    """
    upper, lower = Counter[wishart.WishartRelease](), Counter[wishart.WishartRelease]()
    every, shapes = True, set()
    for _, change, freedom in matrices:
        each = np.linalg.eigvalsh(change)
        size, low, high = each.shape[1], -each[:, 0].min(), each[:, -1].max()
        most = float(f"{max(low, high, 0.0):.12g}")
        small = TOLERANCE * most
        every &= len(change) == runs and bool(np.ptp(change, axis=0).max() <= small)
        if most == 0:
            continue
        if size > 2 and np.abs(each[:, 1:-1]).max() > small:  # more than one user
            return math.inf, 0.0
        shapes.add(
            ("add", "remove") if min(low, high) <= small else ("replace",) if abs(low - high) <= small else ()
        )
        upper[wishart.WishartRelease(most, freedom, size)] += 1
        # The entry on that axis alone is chi-square with k degrees of freedom.
        lower[wishart.WishartRelease(most, freedom, 1)] += 1
    known = shapes.pop() if len(shapes) == 1 else ()
    whole = wishart.epsilon_of(_times(upper), delta, known or wishart.KINDS)
    if not every:
        return _mu(whole, delta), 0.0
    part = _times(upper) if known else _times(lower)
    return _mu(whole, delta), _mu(
        wishart.epsilon_of(part, delta, known or ("add", "remove"), least=True), delta
    )


def _paid(claim: PrivacyClaim, found: NormalFound) -> Paid:
    """Cost and loss of a run so far: epsilons at delta; the loss where all runs of a pair cost the same."""

    def paid(replayer: Replayer, run: int) -> tuple[float, float]:
        most = least = math.sqrt(replayer.square[run]) if replayer.cost[run] == 0 else math.inf
        mine = [(at, change[at == run], k) for at, change, k in replayer.matrices if run in at]
        if mine and most < math.inf:
            most, least = _of_matrices(mine, claim.delta, 1)
        return claim.epsilon_of_normal(most), _loss(least, claim.delta) if found.fixed > 0 else 0.0

    return paid


def _times(releases: Counter[wishart.WishartRelease]) -> tuple[wishart.WishartRelease, ...]:
    return tuple(replace(release, times=count) for release, count in releases.items())


def _mu(epsilon: float, delta: float) -> float:
    return gdp_mu(epsilon, delta) if 0 < epsilon < math.inf else epsilon


def _counterexample(pair: AnyPair, done: Replay, run: int, seed: int, turned: bool) -> JsonDict:
    rows = done.tape.rows(run)[:12]
    return {
        "pair": pair.as_dict(),
        "seed": seed,
        "sign": 0,
        "run": run,
        "turned": turned,
        "divergence": done.diverged.get(run, ""),
        "releases": [{name: row[name] for name in ("slot", "value", "scale", "output")} for row in rows],
    }


def _loss(mu: float, delta: float) -> float:
    """Epsilon at delta; nothing where runs that leave the path may be the share that delta allows."""
    return 0.0 if math.isinf(mu) and delta >= LARGEST else epsilon_of_mu(mu, delta)


def check(
    algorithm: Algorithm,
    claim: PrivacyClaim,
    pairs: Sequence[AnyPair],
    seed: int,
    *,
    name: str = "alignment",
    timed: bool = False,
    enough: bool = False,
) -> tuple[Check, Json]:
    """The alignment check on neighbouring inputs, and the costliest case; `enough` stops at a refutation.

    If it is `timed`, it records how the costliest case pays over the rounds.
    """
    found, costliest = NormalFound(), None
    for pair in pairs:
        one = examine(algorithm, pair, seed=seed, delta=claim.delta)
        found = found.merge(one)
        costliest = pair if found.worst is one.worst else costliest
        if enough and exceeds(_loss(found.fixed, claim.delta), claim.epsilon):
            break
    statistics: JsonDict = {
        "epsilon": claim.epsilon,
        "visible": claim.observe == "releases",
        "examined": found.examined,
        "max_cost": plain(claim.epsilon_of_normal(found.mu)),
        "max_loss": plain(_loss(found.fixed, claim.delta)),
        "divergence": found.divergence,
    }
    if timed and costliest is not None:
        drawn = {key: found.worst[key] for key in ("sign", "turned", "run")}
        paid = _paid(claim, found)
        statistics["spent"] = over_time(algorithm, costliest, seed=seed, paid=paid, **drawn)
    cost, loss = statistics["max_cost"], statistics["max_loss"]
    return Check.of(name, "alignment", statistics), {**found.worst, "cost": cost, "loss": loss}


# ---------------------------------------------------------------- what users answer


def _items_hold(algorithm: ContextualAlgorithm, *, trace: bool, rewards: bool) -> bool:
    """Whether items are what their bound takes for granted, of users with contexts far beyond any norm."""
    rng, form, most = np.random.default_rng(0), algorithm.form, float(algorithm.item_norm or 0.0)
    vectors = rng.standard_normal((USERS, *form.shape))
    vectors /= np.linalg.norm(vectors, axis=-1, keepdims=True)
    lengths = np.array([0.0, 0.5, 1.0, form.norm, 10 * form.norm, FARTHEST])
    contexts = vectors * rng.choice(lengths, (USERS, form.n_arms, 1))
    low, high = form.bounds
    each = np.arange(USERS)

    def answer(paid: FloatArray) -> FloatArray:
        users = UserTable(form, np.hstack([paid, contexts.reshape(USERS, -1)]))
        return users.answer(replace(algorithm.query(algorithm.start(each)), start=each), each)

    paid = rng.choice([low, (low + high) / 2, high], (USERS, form.n_arms))
    if rewards:
        ends = [np.linalg.norm(answer(np.full_like(paid, end)) - answer(paid), axis=1) for end in (low, high)]
        return bool((ends[0] + ends[1]).max() <= most * (1 + TOLERANCE))
    found = answer(paid)
    whole = matrix(found, rows_of(found.shape[1]))
    length = np.trace(whole, axis1=1, axis2=2) if trace else np.linalg.norm(found, axis=1)
    return bool(
        length.max() <= most * (1 + TOLERANCE) and np.linalg.eigvalsh(whole).min() >= -TOLERANCE * most
    )


# ---------------------------------------------------------------- the certificate


# Noise, its parameters and the norm of items that is clipped.
_OF_NORMAL = ("normal", "standard deviation in all entries", "Frobenius norm")
_OF_WISHART = ("Wishart", "scale and degrees of freedom", "trace")


def certificate(algorithm: ContextualAlgorithm, claim: PrivacyClaim, tested_by: str) -> UpperBound | None:
    """The upper bound on what the releases tell of one user, over all replaced users; None without one.

    Two positive semidefinite matrices of Frobenius norm at most b are at most sqrt 2 b apart: their inner
    product is not negative. With Wishart noise their trace counts, see `mechanisms.wishart`. Where contexts
    are public, what a reward changes of an item counts. Which releases a user's item enters, and with which
    noise, is read off two inputs for each round: of our own code alone.
    """
    most = algorithm.item_norm
    if claim.protects in (None, Protected.CONTEXT_CENTRAL):  # a user's own action tells of the user
        return None
    rewards = claim.protects is not Protected.CONTEXT_JOINT
    if most is None or claim.delta == 0 or algorithm.horizon > MOST_ROUNDS or not ours(algorithm):
        return None
    rows = _nodes(algorithm, rewards=rewards)
    kinds = {freedom > 0 for row in rows or () for _, freedom in row}
    matrices = kinds == {True}
    if rows is None or len(kinds) > 1 or not _items_hold(algorithm, trace=matrices, rewards=rewards):
        return None
    apart = float(most) * (1 if matrices or rewards else math.sqrt(2))
    states: dict[tuple[tuple[float, ...], ...], str] = {}
    for number, row in enumerate(rows):
        terms = tuple(
            (apart, scale, times, freedom) if matrices else (apart, scale, times)
            for (scale, freedom), times in sorted(Counter(row).items())
        )
        states.setdefault(terms, f"user {number + 1}")
    listed = sorted(states, key=mu_of, reverse=True)
    found = {
        "form": "wishart" if matrices else "normal",
        "states": [
            {"state": states[terms], "terms": [list(term) for term in terms]} for terms in listed[:_LISTED]
        ],
        "cheaper": max(0, len(listed) - _LISTED),
    }
    if matrices:
        found["size"] = rows_of(algorithm.rule(algorithm.start(np.zeros(1, np.int64))).size)
    noise, parameter, norm = _OF_WISHART if matrices else _OF_NORMAL
    drawn: JsonDict = {"noise": noise, "parameter": parameter}
    if rewards:
        premises = tuple(Premise(taken, tested_by=tested_by) for taken in REPLAYED)
    else:
        premises = (
            Premise(Taken.POST_PROCESSING_OF_OTHERS, tested_by=tested_by),
            Premise(Taken.STATED_NOISE_OF_ITEMS, drawn, tested_by),
            Premise(Taken.CLIPPED, {"norm": norm, "users": USERS, "farthest": FARTHEST}),
        )
    return UpperBound.of(
        found,
        method=Method.ROUNDS if rewards else Method.USERS,
        premises=(*premises, Premise(Taken.IDEAL_NOISE, {"noise": noise})),
        paths=len(rows),
        delta=claim.delta,
    )


class _EachReplaced(UserTable):
    """Run number i has another user in round i."""

    other: FloatArray

    def _brought(self, query: Query, run: IntArray) -> tuple[FloatArray, FloatArray]:
        at = np.minimum(query.start, len(self.table) - 1)
        rows = np.where((query.start == run)[:, None], self.other[at], self.table[at])
        return self.form.split(rows)


def _nodes(algorithm: ContextualAlgorithm, *, rewards: bool) -> list[list[tuple[float, int]]] | None:
    """Scale and degrees of freedom, 0 if normal, of the noise of each release that an item enters, by round.

    None where something is not as the certificate needs it: a run that leaves the path, a release that does
    not move by the whole item, noise that differs between the entries of one release. With `rewards` alone
    users differ by nothing else; their contexts are then the axes in turn.
    """
    form, n = algorithm.form, algorithm.horizon
    contexts = np.zeros((n, *form.shape))
    contexts[np.arange(n), ..., np.arange(n) % form.dimension if rewards else 0] = form.norm
    table = form.table(contexts, np.full((n, form.n_arms), form.bounds[0]))
    if not rewards:
        # An item that every entry of it has a part in: all that its noise hides is seen.
        contexts = np.full(contexts.shape, form.norm / math.sqrt(form.dimension))
    other = form.table(contexts, np.full((n, form.n_arms), form.bounds[1]))
    runs = np.arange(n, dtype=np.int64)
    here, there = UserTable(form, table), _EachReplaced(form, table)
    there.other = other
    recorder = Recorder(Seeded(0))
    play(algorithm, here, recorder, runs)
    tape = recorder.tape()
    replayer = _Reader(tape, n)
    play(algorithm, there, replayer, runs)
    replayer.finish()
    if replayer.diverged or (replayer.cost > 0).any():
        return None
    query = algorithm.query(algorithm.start(runs[:1]))
    zero = runs[:1] * 0
    difference = there.answer(query, zero) - here.answer(query, zero)
    whole = float(np.linalg.norm(difference))
    return replayer.noises(n, whole, waiting=rewards)


class _Reader(Replayer):
    """Also keeps by how much each release moved, and its noise."""

    def __init__(self, tape: Tape, runs: int) -> None:
        super().__init__(tape, runs)
        self.moves: list[tuple[IntArray, FloatArray, FloatArray, int]] = []

    def _charge_normal(self, run: IntArray, value: FloatArray, rows: Mapping[str, FloatArray]) -> None:
        super()._charge_normal(run, value, rows)
        self.moves.append((run, rows["value"] - value, rows["scale"], 0))

    def _charge_wishart(
        self, run: IntArray, value: FloatArray, rows: Mapping[str, FloatArray], noisy: BoolArray
    ) -> None:
        super()._charge_wishart(run, value, rows, noisy)
        self.moves.append((run, rows["value"] - value, rows["scale"], int(rows["freedom"].max())))

    def noises(self, runs: int, whole: float, *, waiting: bool) -> list[list[tuple[float, int]]] | None:
        """By run, the noise of each release that moved; None unless each moved by the whole item.

        The last item may move none; where items may be `waiting`, so may several of the last.
        """
        found: list[list[tuple[float, int]]] = [[] for _ in range(runs)]
        for run, moved, scale, freedom in self.moves:
            length = np.sqrt(np.bincount(run, moved**2, minlength=runs))
            least = np.full(runs, np.inf)
            np.minimum.at(least, run, scale)
            most = np.zeros(runs)
            np.maximum.at(most, run, scale)
            for number in np.flatnonzero(length > 0).tolist():
                if not math.isclose(length[number], whole, rel_tol=1e-9) or least[number] != most[number]:
                    return None
                found[number].append((float(least[number]), freedom))
        last = max((run for run, row in enumerate(found) if row), default=-1) if waiting else runs - 2
        return found if last >= 0 and all(found[: last + 1]) else None
