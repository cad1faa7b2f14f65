"""What a simulated round costs, as ratios in one run: `python -m benchmarks.simulation` in the root.

Medians of five. Each row is held against a plain loop that is written here and compiled in the same way;
river, MABWiser and SMPyBandits, where installed, against the same. Quote ratios, not seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

import verifiable_dp as vdp
from tests.user_code import libraries
from verifiable_dp.auditors._settings import s1
from verifiable_dp.core.algorithm import Data, play
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.validate import FloatArray

ROUNDS, ARMS = 10_000_000, 5
FULL, RUNS = 50_000_000, 30  # of DP-SE: the experiments of Sajed & Sheffet
LIBRARY_ROUNDS = {"river": 20_000, "MABWiser": 2_000, "SMPyBandits": 20_000}


@njit(nogil=True)
def plain_ucb1(means, horizon, seed):  # type: ignore[no-untyped-def]
    """UCB1 as one writes it first: every index in every round."""
    np.random.seed(seed)  # noqa: NPY002 - the only generator that numba seeds inside a function
    k = len(means)
    pulls, sums = np.zeros(k), np.zeros(k)
    for t in range(horizon):
        arm = t
        if t >= k:
            best = -1.0
            for a in range(k):
                value = sums[a] / pulls[a] + math.sqrt(2 * math.log(t) / pulls[a])
                if value > best:
                    best, arm = value, a
        sums[arm] += np.random.random() < means[arm]  # noqa: NPY002
        pulls[arm] += 1
    return pulls


@njit(nogil=True)
def plain_dp_ucb(means, horizon, seed, scale, levels, width):  # type: ignore[no-untyped-def]
    """DP-UCB likewise: a tree of noise for each arm, every index in every round."""
    np.random.seed(seed)  # noqa: NPY002
    k = len(means)
    pulls, sums, estimates = np.zeros(k), np.zeros(k), np.zeros(k)
    nodes = np.zeros((k, levels + 1))
    for t in range(horizon):
        arm = t
        if t >= k:
            best = -math.inf
            for a in range(k):
                value = (estimates[a] + width) / pulls[a] + math.sqrt(2 * math.log(t) / pulls[a])
                if value > best:
                    best, arm = value, a
        sums[arm] += np.random.random() < means[arm]  # noqa: NPY002
        pulls[arm] += 1
        level, n = 0, int(pulls[arm])
        while (n >> level) & 1 == 0:
            nodes[arm, level] = 0.0
            level += 1
        nodes[arm, level] = np.random.laplace(0.0, scale)  # noqa: NPY002
        estimates[arm] = sums[arm] + nodes[arm].sum()
    return pulls


def median_of(call: Callable[[], Any], repeats: int = 5) -> float:
    """Median seconds of a call, after one that is not counted."""
    call()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


# ---------------------------------------------------------------- libraries


def river(rewards: FloatArray) -> None:
    policy, arms = libraries.river_ucb(ARMS, 0), list(range(ARMS))
    for row in rewards:
        arm = policy.pull(arms)
        policy.update(arm, row[arm])


def mabwiser(rewards: FloatArray) -> None:
    policy, arm = libraries.mabwiser_ucb(ARMS, 0), 0
    policy.fit([arm], [rewards[0, arm]])
    for row in rewards[1:]:
        arm = policy.predict()
        policy.partial_fit([arm], [row[arm]])


def smpybandits(rewards: FloatArray) -> None:
    policy = libraries.smpybandits_ucb(ARMS)
    policy.startGame()
    with np.errstate(all="ignore"):  # it divides by the pulls of arms that were not pulled yet
        for row in rewards:
            arm = policy.choice()
            policy.getReward(arm, row[arm])


LIBRARIES: dict[str, Callable[[FloatArray], None]] = {
    "river": river,
    "MABWiser": mabwiser,
    "SMPyBandits": smpybandits,
}


def library_rows(means: FloatArray) -> list[tuple[str, float | None]]:
    """Seconds a round of UCB of each library; None where it cannot be imported."""
    rows: list[tuple[str, float | None]] = []
    for name, call in LIBRARIES.items():
        rounds = LIBRARY_ROUNDS[name]
        rewards = (np.random.default_rng(0).random((rounds, ARMS)) < means).astype(np.float64)
        try:
            with contextlib.redirect_stdout(None):  # SMPyBandits prints as it is imported
                call(rewards[:1])
        except ImportError:
            rows.append((f"UCB of {name}", None))
        else:
            each = median_of(lambda c=call, r=rewards: c(r)) / rounds  # type: ignore[misc]
            rows.append((f"UCB of {name}, a round", each))
    return rows


# ---------------------------------------------------------------- the table


def _by_blocks(algorithm: Any, data: Callable[[], Data]) -> Callable[[], Any]:
    """One run of an elimination on these data."""
    return lambda: play(algorithm, data(), Seeded(1), np.arange(1), keep=())


def rows(rounds: int) -> list[tuple[str, float | None]]:
    """Names with the seconds that a round takes; the first is the reference."""
    environment = s1("C2", ARMS)
    means = np.array(environment.means)
    private = vdp.make("dp-ucb", n_arms=ARMS, epsilon=1.0, horizon=rounds)
    tree = private.mechanism  # type: ignore[attr-defined]
    rule = (tree.scale, tree.levels, private.width)  # type: ignore[attr-defined]
    found: list[tuple[str, float | None]] = [
        ("plain UCB1 loop, a round", median_of(lambda: plain_ucb1(means, rounds, 1)) / rounds),
        ("plain DP-UCB loop, a round", median_of(lambda: plain_dp_ucb(means, rounds, 1, *rule)) / rounds),
    ]
    for algorithm in (vdp.make("ucb1", n_arms=ARMS, horizon=rounds), private):
        each = median_of(lambda a=algorithm: vdp.simulate(a, environment, runs=1)) / rounds  # type: ignore[misc]
        found.append((f"{algorithm.name} kernel, a round", each))
    short = vdp.make("dp-se", n_arms=ARMS, epsilon=0.25, horizon=rounds // 10)
    pulls = median_of(_by_blocks(short, lambda: environment.pulled(1, 1))) / short.horizon
    found.append(("dp-se, rewards one by one, a round", pulls))
    full = vdp.make("dp-se", n_arms=ARMS, epsilon=0.25, horizon=FULL)
    whole = median_of(lambda: vdp.simulate(full, environment, runs=RUNS))
    found.append((f"dp-se, T={FULL:.0e}, {RUNS} runs: a round", whole / FULL / RUNS))
    return found + library_rows(means)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of the compiled loops")
    found = rows(parser.parse_args().rounds)
    reference = found[0][1] or math.nan
    print(f"{f'K={ARMS}, C2':<44}{'median':>14}{'ratio to plain UCB1':>22}")
    for name, seconds in found:
        if seconds is None:
            print(f"{name:<44}{'cannot be imported':>36}")
        else:
            print(f"{name:<44}{seconds * 1e9:>11.4g} ns{seconds / reference:>22.3g}")


if __name__ == "__main__":
    main()
