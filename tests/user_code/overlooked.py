"""Leaks that once had an upper bound of 1: EPSILON = 1 is claimed of each, and none keeps it.

Each breaks one premise of the bound that was taken for granted: what numbers of few bits do to raw ones,
arguments of NumPy's functions, noise that is used in two ways, what hardly ever happens.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import threading

import numpy as np

EPSILON = 1.0


def _committed(rewards, arm):
    horizon, n_arms = rewards.shape
    arms = np.arange(horizon) % n_arms
    arms[horizon // 2 :] = arm
    return arms


def _with_noise(rewards, rng, values, scale=1.0):
    return _committed(rewards, int(np.argmax(values + rng.laplace(0, scale, len(values)))))


def _half(rewards):
    return rewards[: len(rewards) // 2].sum(axis=0)


# ---------------------------------------------------------------- numbers of few bits


def small_whole_numbers(rewards, rng):
    """20 times 6.4 becomes -128."""
    return _with_noise(rewards, rng, np.floor(6.4 * _half(rewards)).astype(np.int8), 7.0)


def kept_in_small_whole_numbers(rewards, rng):
    kept = np.zeros(rewards.shape[1], dtype=np.int8)
    kept[:] = np.floor(6.4 * _half(rewards))
    return _with_noise(rewards, rng, kept, 7.0)


def added_up_in_small_whole_numbers(rewards, rng):
    bits = (rewards[:20] > 0.5).astype(np.int64) * 7
    return _with_noise(rewards, rng, np.sum(bits, axis=0, dtype=np.int8), 7.0)


def difference_without_a_sign(rewards, rng):
    """0 - 1 becomes 255."""
    counts = (rewards[:20] > 0.5).sum(axis=0).astype(np.uint8)
    return _committed(rewards, int((counts[0] + np.uint8(12)) - counts[1] + rng.laplace(0, 1) > 12))


def sums_as_whole_numbers(rewards, rng):
    return _with_noise(rewards, rng, np.sum(0.1 * rewards[:20] + 0.95, axis=0, dtype=int), 0.1)


def low_bits(rewards, rng):
    """32 becomes 0."""
    return _with_noise(rewards, rng, (rewards[:34] > 0.5).sum(axis=0) & 31)


def any_of_small_numbers(rewards, rng):
    told = np.array([np.any(0.001 * rewards[:1, arm]) for arm in range(rewards.shape[1])])
    return _with_noise(rewards, rng, told * 1.0, 0.001)


def none_of_small_numbers(rewards, rng):
    return _with_noise(rewards, rng, np.logical_not(0.001 * rewards[:20]).sum(axis=0), 0.001)


# ---------------------------------------------------------------- arguments of functions


def mean_written_elsewhere(rewards, rng):
    kept = np.zeros(rewards.shape[1])
    np.mean(rewards[:1], axis=0, out=kept)
    return _with_noise(rewards, rng, _half(rewards) + kept)


def largest_written_elsewhere(rewards, rng):
    kept = np.zeros(rewards.shape[1])
    rewards[:1].max(0, kept)
    return _with_noise(rewards, rng, _half(rewards) + kept)


def reduced_elsewhere(rewards, rng):
    kept = np.zeros(rewards.shape[1])
    np.add.reduce(rewards[:1], axis=0, out=kept)
    return _with_noise(rewards, rng, _half(rewards) + kept)


def sum_where_raw(rewards, rng):
    ones = np.sum(np.ones(2), where=rewards[:2, 0] > 0.5)
    return _with_noise(rewards, rng, _half(rewards) + ones * np.eye(rewards.shape[1])[0])


def sum_from_raw(rewards, rng):
    added = np.sum(np.zeros(2), initial=rewards[0, 0])
    return _with_noise(rewards, rng, _half(rewards) + added * np.eye(rewards.shape[1])[0])


# ---------------------------------------------------------------- noise that is used in two ways


def one_size_with_two_signs(rewards, rng):
    """Both noises have one size, so that two sums tell how far they are apart."""
    sums, size = _half(rewards), rng.exponential(1)
    signs = rng.choice([-1, 1], size=2)
    arms = _committed(rewards, int(sums[0] + signs[0] * size > 10))
    arms[-1] = int(sums[1] + signs[1] * size > 10)
    return arms


def generator_set_back(rewards, rng):
    inner = rng._bit_generator
    state = inner.state
    noisy = _half(rewards) + rng.laplace(0, 1, rewards.shape[1])
    inner.state = state
    return _committed(rewards, int(np.argmax(noisy - rng.laplace(0, 1, len(noisy)))))


def beside_a_large_weight(rewards, rng):
    """One draw for two sums that differ by a reward, small beside a multiple of what hardly moves."""
    sum_ = 1e10 * np.clip(rewards[0, 0], 0, 1e-11) + rng.laplace(0, 1.2)
    more = sum_ + rewards[1, 0]
    arms = _committed(rewards, int(sum_ > 0))
    arms[-1] = int(more > 0.5)
    return arms


# ---------------------------------------------------------------- what hardly ever happens, without a branch


def rare_entry_of_a_table(rewards, rng):
    scales = np.ones(1000)
    scales[7] = 1e-6
    return _with_noise(rewards, rng, _half(rewards), scales[rng.integers(1000)])


def rare_choice(rewards, rng):
    return _with_noise(rewards, rng, _half(rewards), rng.choice([1.0, 1e-6], p=[0.999, 0.001]))


def rare_choice_of_many(rewards, rng):
    return _with_noise(rewards, rng, _half(rewards), rng.choice([1.0] * 500 + [1e-6] + [1.0] * 499))


def rare_success(rewards, rng):
    return _with_noise(rewards, rng, _half(rewards), 1.0 - 0.9999 * rng.binomial(1, 1e-6))


def rare_count(rewards, rng):
    return _with_noise(rewards, rng, _half(rewards), 1 / (1 + 100 * rng.poisson(1e-6)))


def rare_number(rewards, rng):
    rare = float(rng.integers(1000) == 7)
    return _with_noise(rewards, rng, _half(rewards), 1.0 - 0.9999 * rare)


# ---------------------------------------------------------------- branches that look the same in every run


def _drawn(rng):
    return int(1000 * rng.random())


def _leak(rewards):
    return _committed(rewards, int(np.argmax(_half(rewards))))


def _right(rewards, rng):
    return _with_noise(rewards, rng, _half(rewards))


def rare_text(rewards, rng):
    return _leak(rewards) if f"{_drawn(rng)}" == "7" else _right(rewards, rng)


def rare_argument(rewards, rng):
    """`k` is also what numbers of arms are called."""
    rare = functools.reduce(lambda found, k: 1 if k == 7 else found, [_drawn(rng)], 0)
    return _with_noise(rewards, rng, _half(rewards), 1.0 - 0.9999 * rare)


@contextlib.contextmanager
def _lent(rng):
    yield _drawn(rng)


def rare_context(rewards, rng):
    with _lent(rng) as number:
        pass
    return _leak(rewards) if number == 7 else _right(rewards, rng)


class _Holder:
    def __init__(self, held):
        self.held = held


class _Heir(_Holder):
    pass


def rare_inheritance(rewards, rng):
    return _leak(rewards) if _Heir(_drawn(rng)).held == 7 else _right(rewards, rng)


@dataclasses.dataclass
class _Field:
    entry: int = 0


@dataclasses.dataclass
class _FieldOfHeir(_Field):
    pass


def rare_inherited_field(rewards, rng):
    return _leak(rewards) if _FieldOfHeir(_drawn(rng)).entry == 7 else _right(rewards, rng)


@dataclasses.dataclass(frozen=True)
class _Frozen:
    thawed: int = 0


def rare_frozen_field(rewards, rng):
    kept = _Frozen()
    object.__setattr__(kept, "thawed", _drawn(rng))
    return _leak(rewards) if kept.thawed == 7 else _right(rewards, rng)


def _another(function):
    return lambda rng: _drawn(rng)


@_another
def _zero(rng):
    return 0


def rare_decoration(rewards, rng):
    return _leak(rewards) if _zero(rng) == 7 else _right(rewards, rng)


# ---------------------------------------------------------------- exceptions and threads


def rare_exception(rewards, rng):
    try:
        if _drawn(rng) == 7:
            raise KeyError
        return _right(rewards, rng)
    except KeyError:
        return _leak(rewards)


def rare_exception_of_a_list(rewards, rng):
    try:
        _ = ([0] * 999)[_drawn(rng)]
    except IndexError:
        return _leak(rewards)
    return _right(rewards, rng)


def rare_exception_suppressed(rewards, rng):
    scale = 1e-6
    with contextlib.suppress(KeyError):
        dict.fromkeys(range(999))[_drawn(rng)]
        scale = 1.0
    return _with_noise(rewards, rng, _half(rewards), scale)


def rare_thread(rewards, rng):
    found = []

    def work():
        found.append(_leak(rewards) if _drawn(rng) == 7 else _right(rewards, rng))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0]


def whole_part_by_divmod(rewards, rng):
    """What stands for a reward knows no divmod, and raises what a number does not."""
    added = np.zeros(rewards.shape[1])
    for value in (1.5, 0.999 + 1e-9 * rewards[0, 0]):
        try:
            added[0] = 1e4 * (divmod(value, 1)[1] - 0.999)
        except TypeError:
            added[0] = 0.0
    return _with_noise(rewards, rng, _half(rewards) + added * 1e5)


# ---------------------------------------------------------------- exponentials of which there are no numbers


def _one_of(rewards, rng, weights):
    found = np.searchsorted(np.cumsum(weights) / weights.sum(), rng.random())
    return _committed(rewards, min(int(found), len(weights) - 1))


def exponentials_too_large(rewards, rng):
    """At 20 the weight is infinite, and the last arm is taken."""
    return _one_of(rewards, rng, np.exp(_half(rewards) / 2 + 700))


def exponentials_too_small(rewards, rng):
    """At 0 both weights are 0, and so are none of the chances."""
    return _one_of(rewards, rng, np.exp(_half(rewards) / 2 - 746))


# ---------------------------------------------------------------- comparisons that seem certain


def rare_chance(rewards, rng):
    """A coin whose chance is 0 in nearly all runs."""
    if rng.random() < float(_drawn(rng) == 7):
        return _leak(rewards)
    return _right(rewards, rng)


def _answer_or_error(reward, rng):
    if reward > 0.999:
        raise ValueError
    return int(rng.random() < 0.01)


def answer_that_raises(rewards, rng):
    """What is raised for rewards that hardly ever come is not what happens for all others."""
    scale = 1e-6
    for t in range(8):
        try:
            added = _answer_or_error(rewards[t, 0], rng)
            scale = 1e-6
        except ValueError:
            added, scale = 0, 1.0
    return _with_noise(rewards, rng, _half(rewards), scale + 0 * added)


# ---------------------------------------------------------------- the best so far, which stands for several


def same_as_the_best(rewards, rng):
    """Which arm is the best is told by identity, with too little noise."""
    best, best_value = -1, -9.0
    for arm, total in enumerate(_half(rewards)):
        value = total + rng.laplace(0, 0.1)
        if value > best_value:
            best, best_value = arm, value
    arms = _committed(rewards, 0)
    arms[-2:] = [int(best is arm) for arm in range(2)]
    return arms


# ---------------------------------------------------------------- noise that cancels


def masks_that_cancel(rewards, rng):
    """Servers mask their shares with the same noise, once with each sign: the sum of all has none."""
    scores = []
    for arm in range(2):
        shares = (rng.dirichlet(np.ones(3), size=8) * rewards[:8, arm][:, None]).sum(axis=0)
        noise = rng.laplace(0, 1, 3)
        scores.append(round(float((shares + noise - np.roll(noise, 1)).sum()), 9))
    return _committed(rewards, int(np.argmax(scores)))
