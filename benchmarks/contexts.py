"""What a round of LinUCB costs, as ratios in one run: `python -m benchmarks.contexts` in the root.

LinUCB with one regression for each arm, d = 10 and K = 10, simulated many runs at a time (the users' contexts
and rewards are drawn within the time), beside that of MABWiser and of contextualbandits, where installed, for
users that were drawn before. Medians. Quote ratios, not seconds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from verifiable_dp.core.populations import Linear, Users
from verifiable_dp.core.ridge import LinUCB

DIMENSION, ARMS, LEAST = 10, 10, 20  # times as fast as either library
HORIZON, RUNS, THEIRS = 1_000, 64, 300


def world() -> Linear:
    """Ten parameters along ten axes, and contexts on the sphere."""
    theta = 0.9 * np.eye(ARMS, DIMENSION)
    return Linear(theta.tolist())


def cost(call: Callable[[], Any], rounds: int, repeats: int) -> float:
    """Median CPU seconds of a round, after a call that is not counted."""
    call()
    found = []
    for _ in range(repeats):
        started = time.process_time()
        call()
        found.append((time.process_time() - started) / rounds)
    return statistics.median(found)


def ours(population: Linear, seed: int = 0) -> Any:
    """Arms of all runs; their users are drawn here."""
    drawn = [population.draw(np.random.default_rng([seed, run]), HORIZON) for run in range(RUNS)]
    contexts, rewards = np.array([u.contexts for u in drawn]), np.array([u.rewards for u in drawn])
    return LinUCB().play_users(contexts, rewards)


def of_mabwiser(users: Users) -> None:
    """One run of THEIRS rounds."""
    from mabwiser.mab import MAB, LearningPolicy

    bandit = MAB(list(range(ARMS)), LearningPolicy.LinUCB(alpha=1.0), seed=0)
    for t, context in enumerate(users.contexts):
        given = context[None]
        arm = bandit.predict(given) if t else 0
        step = bandit.partial_fit if t else bandit.fit
        step(decisions=[arm], rewards=[users.rewards[t, arm]], contexts=given)


def of_contextualbandits(users: Users) -> None:
    """One run of THEIRS rounds, with the library's Sherman-Morrison updates."""
    from contextualbandits.online import LinUCB as Theirs

    bandit = Theirs(ARMS, alpha=1.0, fit_intercept=False, random_state=1, njobs=1)
    for t, context in enumerate(users.contexts):
        given = context[None]
        arm = int(np.ravel(bandit.predict(given))[0]) if t else 0
        bandit.partial_fit(given, np.array([arm]), np.array([users.rewards[t, arm]]))


def ratios(repeats: int = 3) -> dict[str, float]:
    """How many times the cost of our round theirs is, by library that is installed."""
    population = world()
    users = population.draw(np.random.default_rng(1), THEIRS)
    mine = cost(lambda: ours(population), HORIZON * RUNS, repeats)
    found = {}
    libraries = {"MABWiser": of_mabwiser, "contextualbandits": of_contextualbandits}
    for name, play in libraries.items():
        try:
            found[name] = cost(lambda play=play: play(users), THEIRS, repeats) / mine  # type: ignore[misc]
        except ImportError:
            print(f"{name} is not installed")
    print(f"a round, d = {DIMENSION}, K = {ARMS}: {mine * 1e6:.2f} microseconds of CPU with its user's draw")
    return found


def main() -> None:
    """Print the ratios; exit status 1 if one is below the promise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    found = ratios(parser.parse_args().repeats)
    for name, ratio in found.items():
        print(f"LinUCB of {name}: {ratio:.0f} times the cost of a simulated round (promised: {LEAST})")
    if any(ratio < LEAST for ratio in found.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
