"""Explore, then commit, with the log in pandas; what goes wrong.

`RIGHT` cost EPSILON, `WRONG` twice that or more.
"""

import numpy as np
import pandas as pd

EPSILON = 1.0


def _plan(rewards):
    horizon, n_arms = rewards.shape
    turns = np.arange(horizon // 2)
    return turns, turns % n_arms


def _committed(rewards, best):
    horizon, n_arms = rewards.shape
    arms = np.arange(horizon) % n_arms
    arms[horizon // 2 :] = int(best)
    return arms


def column(rewards, rng):
    turns, arms = _plan(rewards)
    log = pd.DataFrame({"turn": turns, "arm": arms})
    log["reward"] = rewards[log["turn"], log["arm"]]
    totals = log.groupby("arm")["reward"].sum().reindex(range(rewards.shape[1]), fill_value=0.0)
    noisy = totals + pd.Series(rng.laplace(0, 1 / EPSILON, len(totals)), index=totals.index)
    return _committed(rewards, noisy.idxmax())


def rows(rewards, rng):
    turns, arms = _plan(rewards)
    log = pd.DataFrame([{"arm": arm, "reward": rewards[t, arm]} for t, arm in zip(turns, arms, strict=True)])
    totals = log.groupby("arm").reward.agg(["sum", "count"])
    totals["noisy"] = (totals["sum"] + rng.laplace(0, 1 / EPSILON, rewards.shape[1])) / totals["count"]
    return _committed(rewards, totals["noisy"].idxmax())


def assigned(rewards, rng):
    turns, arms = _plan(rewards)
    log = pd.DataFrame({"arm": arms}).assign(reward=rewards[turns, arms])
    totals = log.groupby("arm")["reward"].sum().to_numpy() + rng.laplace(0, 1 / EPSILON, rewards.shape[1])
    return _committed(rewards, totals.argmax())


def pivot(rewards, rng):
    turns, arms = _plan(rewards)
    log = pd.DataFrame({"arm": arms, "reward": rewards[turns, arms]})
    totals = log.pivot_table(index="arm", values="reward", aggfunc="sum")["reward"]
    return _committed(rewards, np.argmax((totals + rng.laplace(0, 1 / EPSILON, len(totals))).values))


def series(rewards, rng):
    totals = pd.Series(0.0, index=range(rewards.shape[1]))
    for turn, arm in zip(*_plan(rewards), strict=True):
        totals[arm] += rewards[turn, arm]
    totals += rng.laplace(0, 1 / EPSILON, len(totals))
    return _committed(rewards, totals.idxmax())


def located(rewards, rng):
    turns, arms = _plan(rewards)
    log = pd.DataFrame({"arm": arms, "reward": rewards[turns, arms]})
    totals = [log.loc[log.arm == arm, "reward"].sum() for arm in range(rewards.shape[1])]
    return _committed(rewards, np.argmax(totals + rng.laplace(0, 1 / EPSILON, len(totals))))


def too_little_noise(rewards, rng):
    turns, arms = _plan(rewards)
    log = pd.DataFrame({"arm": arms})
    log["reward"] = rewards[turns, arms]
    totals = log.groupby("arm")["reward"].sum() + rng.laplace(0, 0.5 / EPSILON, rewards.shape[1])
    return _committed(rewards, totals.idxmax())


def twice(rewards, rng):
    turns, arms = _plan(rewards)
    log = pd.DataFrame({"arm": arms, "reward": rewards[turns, arms]})
    totals = log.groupby("arm")["reward"].sum()
    first, second = (totals + rng.laplace(0, 1 / EPSILON, rewards.shape[1]) for _ in range(2))
    return _committed(rewards, (first + second).idxmax())


def no_noise(rewards, rng):
    turns, arms = _plan(rewards)
    log = pd.DataFrame({"arm": arms})
    log.insert(1, "reward", rewards[turns, arms])
    return _committed(rewards, log.groupby("arm")["reward"].mean().idxmax())


def raw_mask(rewards, rng):
    turns, arms = _plan(rewards)
    log = pd.DataFrame({"arm": arms, "reward": rewards[turns, arms]})
    good = log[log.reward > 0.5].groupby("arm").size().reindex(range(rewards.shape[1]), fill_value=0)
    return _committed(rewards, (good + rng.laplace(0, 1 / EPSILON, len(good))).idxmax())


RIGHT = {f.__name__: f for f in (column, rows, assigned, pivot, series, located)}
WRONG = {f.__name__: f for f in (too_little_noise, twice, no_noise, raw_mask)}
