"""Worst neighbouring tables for algorithms whose releases are only compared: found by the exact gradient.

One entry changes one sum in one comparison, and what follows is the same on both inputs. So the search is
over the comparisons that can be reached, and in each over the sums of its arms, a continuous problem whose
objective and gradient `race` gives. Many starts are looked at, the best ones are climbed; the event is
chosen anew after every climb.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Algorithm, Query, Truncated
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.environments import Table
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray
from verifiable_dp.evidence.blackbox.machine import Machine, Node, UnsupportedError
from verifiable_dp.evidence.exact import law as exact
from verifiable_dp.evidence.exact import limits, race

FLOOR = 1e-6  # least probability of the event whose log-ratio is made large
LEVEL = 0.05
_Z = 1.6448536269514722  # normal quantile of LEVEL
_BELOW = (1.0, 4.0, 8.0, 13.0)  # gaps of the starts: the margin less so many scales
_CLIMBS = 3  # starts that are climbed from, for each objective
_ROUNDS = 4  # choices of the event on a climb
_ALIKE = 6  # digits of log-ratios that have to differ
_BLOCKS = 2  # comparisons of all K arms that are searched; one of three arms, one of two


@dataclass(frozen=True)
class WorstDecision:
    """A comparison that can be reached, and what one changed reward does to it.

    Attributes
    ----------
    before : (T, K) float
        Table on which it is reached.
    query
        Its block, one row.
    arms : (m,) int
        Who takes part; the changed entry is of the first one.
    low, high : (m,) float
        Sums if every reward of the block is the least, or the largest, that counts.
    rewards : (float, float)
        These rewards.
    change
        What moving one reward from the least to the largest does to the sum of the first arm.
    scales : (m,) float
        Of the noise.
    margin
        Arms further than this below the largest release are removed.
    """

    before: FloatArray
    query: Query
    arms: IntArray
    low: FloatArray
    high: FloatArray
    rewards: tuple[float, float]
    change: float
    scales: FloatArray
    margin: float

    @property
    def box(self) -> list[tuple[float, float]]:
        """Bounds of the sums on the left input; the first arm has one reward at its least."""
        most = self.high.copy()
        most[0] -= self.change
        return list(zip(self.low.tolist(), most.tolist(), strict=True))

    def laws(self, values: FloatArray) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        """(log P, gradient) with the sums `values` (m,), and with the first of them changed."""
        moved = values.copy()
        moved[0] += self.change
        return (
            race.survivors(values, self.scales, self.margin),
            race.survivors(moved, self.scales, self.margin),
        )

    def pair(self, values: FloatArray) -> TablePair:
        """Tables with these sums."""
        low, high = self.rewards
        table = self.before.copy()
        start, rounds = int(self.query.start[0]), int(self.query.rounds[0])
        pulls = self.query.pulls()[0]
        share = (values - self.low) / (self.high - self.low)
        for arm, part in zip(self.arms.tolist(), share.tolist(), strict=True):
            table[start:, arm] = np.clip(low + part * (high - low), low, high)
        arm = int(self.arms[0])
        steps = np.arange(rounds)
        pulled = self.query.take(np.zeros(rounds, np.int64)).arm(steps) == arm
        place = start + int(steps[pulled][0])
        # What the changed entry lacks against its arm's mean is spread over the arm's other pulls.
        others = low + share[0] * (high - low) * pulls[arm] / max(int(pulls[arm]) - 1, 1)
        table[start:, arm] = np.clip(others, low, high)
        table[place, arm] = low
        bounds = (min(low, float(table.min())), max(high, float(table.max())))
        return TablePair(table, place, arm, high, bounds)


# ---------------------------------------------------------------- comparisons that can be reached


def decisions(algorithm: Algorithm) -> list[WorstDecision]:
    """The first comparisons of K arms that tables can bring about, and the first of three and of two arms.

    Raises
    ------
    UnsupportedError
        If the algorithm is of another form, or an arm has no noise, or shares its draw.
    """
    if algorithm.n_arms < 2:
        raise UnsupportedError("algorithm: with one arm nothing is compared")
    k = algorithm.n_arms
    wanted = {size: 1 for size in (3, 2) if size < k}
    return [d for size, most in {k: _BLOCKS, **wanted}.items() for d in _reached(algorithm, size, most)]


def _reached(algorithm: Algorithm, size: int, most: int) -> list[WorstDecision]:
    """The first `most` comparisons of the arms 0 .. size - 1: these pay the most, the others the least."""
    low, high = algorithm.search_bounds
    table = np.full((algorithm.horizon, algorithm.n_arms), low)
    table[:, :size] = high
    machine = Machine(algorithm, Table(table))
    number = 0
    path: list[int] = []
    found: list[WorstDecision] = []
    while len(found) < most:
        node = machine.nodes[number]
        if node.leaf or int(node.active.sum()) < size:
            break
        if int(node.active.sum()) == size:
            found.append(_decision(algorithm, table, machine.query(number), path, node))
        gone = node.active & (node.values < np.nanmax(node.values) - node.margin)
        removed = int(gone @ (1 << np.arange(algorithm.n_arms)))
        path.append(removed)
        number = machine.child(number, removed)
    return found


def _decision(
    algorithm: Algorithm, table: FloatArray, query: Query, path: list[int], node: Node
) -> WorstDecision:
    rewards = _rewards(algorithm, query)
    arms = np.flatnonzero(node.active)
    scales = node.scales[arms]
    if (node.counts[arms] > 0).any() or not ((scales > 0).all() and node.margin > 0):
        raise UnsupportedError("the algorithm's comparisons are not of sums with Laplace noise")
    if len(set(node.slots[arms].tolist())) < len(arms) or len(arms) > race.MOST_ARMS:
        raise UnsupportedError(f"algorithm: arms share a draw, or more than {race.MOST_ARMS} are compared")
    sums = []
    for reward in rewards:
        flat = table.copy()
        flat[int(query.start[0]) :, arms] = reward
        sums.append(_node_at(Machine(algorithm, Table(flat)), path).values[arms])
    change = (sums[1][0] - sums[0][0]) / int(query.pulls()[0, arms[0]])
    return WorstDecision(table, query, arms, sums[0], sums[1], rewards, float(change), scales, node.margin)


def _node_at(machine: Machine, path: list[int]) -> Node:
    number = 0
    for removed in path:
        number = machine.child(number, removed)
    return machine.nodes[number]


def _rewards(algorithm: Algorithm, query: Query) -> tuple[float, float]:
    """The least and the largest reward that count in a block."""
    if query.ask is None:
        return algorithm.search_bounds
    if not isinstance(query.ask, Truncated):
        raise UnsupportedError("the algorithm asks for more than sums of rewards")
    arm = int(np.flatnonzero(query.active[0])[0])
    limit, centre = float(query.ask.limit[0, arm]), float(query.ask.centre[0, arm])
    return centre - limit, centre + limit


# ---------------------------------------------------------------- objectives


def event_ratio(log_p: FloatArray, gradient: FloatArray, event: BoolArray) -> tuple[float, FloatArray]:
    """Log-probability of a set of atoms, and its gradient (m,)."""
    inside = log_p[event]
    total = float(np.logaddexp.reduce(inside))
    return total, np.exp(inside - total) @ gradient[event]


def bound_at(
    decision: WorstDecision, values: FloatArray, event: BoolArray, flipped: bool, runs: int
) -> tuple[float, FloatArray]:
    """Lower bound on epsilon that an event gives at n runs a side, to first order, and its gradient.

    log(p / q) - z sqrt(1/(n p) + 1/(n q)): the delta method's limit, smooth in the sums.
    """
    here, there = (event_ratio(*law, event) for law in decision.laws(values))
    (one, up), (zero, down) = (there, here) if flipped else (here, there)
    noise = math.sqrt((math.exp(-one) + math.exp(-zero)) / runs)
    slope = _Z / (2 * noise * runs)
    value = one - zero - _Z * noise
    return value, up - down + slope * (math.exp(-one) * up + math.exp(-zero) * down)


def _event(log_p: FloatArray, log_q: FloatArray, runs: int) -> tuple[float, BoolArray, bool]:
    best = limits.best_event(log_p, log_q, runs, LEVEL)
    return best.bound, best.atoms, best.flipped


def _event_at_floor(log_p: FloatArray, log_q: FloatArray, floor: float) -> tuple[float, BoolArray, bool]:
    """The largest log-ratio of an event that has the probability `floor` in the world it speaks for."""
    best: tuple[float, BoolArray, bool] = (0.0, np.ones(len(log_p), bool), False)
    for flipped, (one, zero) in enumerate(((log_p, log_q), (log_q, log_p))):
        order = np.argsort(-limits.log_ratio(one, zero), kind="stable")
        p, q = (np.logaddexp.accumulate(law[order]) for law in (one, zero))
        ratio = np.where(p >= math.log(floor) - 1e-9, limits.log_ratio(p, q), -np.inf)
        at = int(np.argmax(ratio))
        if ratio[at] > best[0]:
            atoms = np.zeros(len(one), bool)
            atoms[order[: at + 1]] = True
            best = (float(ratio[at]), atoms, bool(flipped))
    return best


# ---------------------------------------------------------------- the search


def _starts(decision: WorstDecision) -> list[FloatArray]:
    """Sums from which to climb, inside the box: the first arm on top, or at the threshold below another."""
    m, far = len(decision.arms), -2 * decision.margin
    scale = float(decision.scales.max())
    found = []
    for below in _BELOW:
        edge = -(decision.margin - below * scale)
        shapes = [[0.0, *[edge] * (m - 1)], [edge, 0.0, *[far] * (m - 2)]]
        if m > 2:
            shapes += [[0.0, edge, *[rest] * (m - 2)] for rest in (far, 0.0)]
            shapes += [[edge, 0.0, *[rest] * (m - 2)] for rest in (edge, 0.0, edge / 2)]
        found += shapes
    low, high = (np.array(side) for side in zip(*decision.box, strict=True))
    return [np.clip(high.min() + np.array(shape), low, high) for shape in found]


def _climbed(
    decision: WorstDecision,
    values: FloatArray,
    choose: Callable[[FloatArray, FloatArray], tuple[float, BoolArray, bool]],
    improve: Callable[[FloatArray, BoolArray, bool], FloatArray],
) -> tuple[float, FloatArray]:
    """Choose the event and improve the sums for it, in turn, as long as that pays."""

    def chosen(at: FloatArray) -> tuple[float, BoolArray, bool]:
        here, there = decision.laws(at)
        return choose(here[0], there[0])

    best, event, flipped = chosen(values)
    for _ in range(_ROUNDS):
        tried = improve(values, event, flipped)
        value, event, flipped = chosen(tried)
        if not value > best + 1e-6:
            return (value, tried) if value > best else (best, values)
        best, values = value, tried
    return best, values


def _for_bound(decision: WorstDecision, runs: int) -> Callable[[FloatArray, BoolArray, bool], FloatArray]:
    """Improves the sums for the bound at n runs a side."""
    from scipy.optimize import minimize

    scale = decision.scales.max()
    box = [(low / scale, high / scale) for low, high in decision.box]

    def loss(x: FloatArray, event: BoolArray, flipped: bool) -> tuple[float, FloatArray]:
        value, gradient = bound_at(decision, x * scale, event, flipped, runs)
        return -value, -gradient * scale

    def improve(values: FloatArray, event: BoolArray, flipped: bool) -> FloatArray:
        options = {"maxiter": 40, "ftol": 1e-9}
        done = minimize(loss, values / scale, (event, flipped), "L-BFGS-B", True, bounds=box, options=options)
        return np.asarray(np.clip(done.x * scale, *np.array(decision.box).T))

    return improve


Weighed = tuple[float, FloatArray]  # a log-probability and its gradient


def _for_ratio(decision: WorstDecision, floor: float) -> Callable[[FloatArray, BoolArray, bool], FloatArray]:
    """Improves the sums for the log-ratio of an event whose probability must not fall below `floor`."""
    from scipy.optimize import minimize

    scale = decision.scales.max()
    box = [(low / scale, high / scale) for low, high in decision.box]

    def both(x: FloatArray, event: BoolArray, flipped: bool) -> tuple[Weighed, Weighed]:
        here, there = (event_ratio(*law, event) for law in decision.laws(x * scale))
        return (there, here) if flipped else (here, there)

    def loss(x: FloatArray, event: BoolArray, flipped: bool) -> tuple[float, FloatArray]:
        (one, up), (zero, down) = both(x, event, flipped)
        return zero - one, (down - up) * scale

    def improve(values: FloatArray, event: BoolArray, flipped: bool) -> FloatArray:
        often = {
            "type": "ineq",
            "fun": lambda x: both(x, event, flipped)[0][0] - math.log(floor),
            "jac": lambda x: both(x, event, flipped)[0][1] * scale,
        }
        options = {"maxiter": 40, "ftol": 1e-9}
        done = minimize(
            loss,
            values / scale,
            (event, flipped),
            "SLSQP",
            True,
            bounds=box,
            constraints=[often],
            options=options,
        )
        return np.asarray(np.clip(done.x * scale, *np.array(decision.box).T))

    return improve


def _search(
    decision: WorstDecision,
    starts: Sequence[FloatArray],
    choose: Callable[[FloatArray, FloatArray], tuple[float, BoolArray, bool]],
    improve: Callable[[FloatArray, BoolArray, bool], FloatArray],
) -> tuple[float, FloatArray]:
    """The best sums that climbs from the best of `starts` come to; of equally good ones the first.

    Arms that are alike give climbs that are: which of them ends higher by a rounding differs by machine.
    """
    promise = []
    for start in starts:
        here, there = decision.laws(start)
        promise.append(choose(here[0], there[0])[0])
    order = sorted(range(len(starts)), key=lambda number: (-round(promise[number], _ALIKE), number))
    climbs = [_climbed(decision, starts[number], choose, improve) for number in order[:_CLIMBS]]
    return max(climbs, key=lambda climb: round(climb[0], _ALIKE))


@dataclass(frozen=True)
class WorstFound:
    """A pair that the search came to.

    Attributes
    ----------
    pair
        The tables.
    objective
        ``bound`` or ``ratio``: what was made large.
    value
        The lower bound on epsilon that the best event gives at the given number of runs, or the largest
        log-ratio of an event that is not rarer than `FLOOR`; of the whole law of the actions.
    """

    pair: TablePair
    objective: str
    value: float


def search(algorithm: Algorithm, claim: PrivacyClaim, runs: int, *, floor: float = FLOOR) -> list[WorstFound]:
    """The worst pair for either objective in each comparison that can be reached, the best ones first.

    Parameters
    ----------
    algorithm
        The target, whose releases are only compared.
    claim
        What is tested: with delta > 0 the bounds are those of the test for it.
    runs
        Test runs a side.
    floor
        Least probability of an event whose log-ratio counts.

    Raises
    ------
    UnsupportedError
        If the algorithm is of another form.
    """
    validate.integer("runs", runs, least=1)
    above = floor * 1.001  # so that rounding in the sums of a table does not push the event below the floor
    found = []
    for decision in decisions(algorithm):
        starts = _starts(decision)
        _, sums = _search(decision, starts, lambda p, q: _event(p, q, runs), _for_bound(decision, runs))
        pair = decision.pair(sums)
        bound = exact.law(algorithm, pair).best_event(runs, LEVEL, delta=claim.delta).bound
        found.append(WorstFound(pair, "bound", bound))
        _, sums = _search(
            decision,
            [*starts, sums],
            lambda p, q: _event_at_floor(p, q, above),
            _for_ratio(decision, above),
        )
        pair = decision.pair(sums)
        found.append(WorstFound(pair, "ratio", exact.law(algorithm, pair).epsilon_at(floor)))
    return sorted(found, key=lambda item: (item.objective, -round(item.value, _ALIKE)))


def worst_pairs(algorithm: Algorithm, claim: PrivacyClaim, runs: int) -> list[TablePair]:
    """Pairs for an audit with `runs` test runs a side, strongest first: see `search`."""
    return [item.pair for item in search(algorithm, claim, runs)]
