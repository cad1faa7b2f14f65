"""Numbers that many noisy readings decide together; EPSILON = 1 is claimed of each.

Of seventeen readings each is as `PLAN` has it with chance a half, and a leak weighs sums with a number that
is 1000 if all are. Each branch comes out both ways in every second run. A right program lets readings decide
what costs nothing.
"""

from __future__ import annotations

import math
import operator
from collections import deque
from functools import reduce
from itertools import islice

import numpy as np

EPSILON = 1.0
PLAN = (1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 1)
N = len(PLAN)


def _finished(rewards, rng, gain, noise=1.0):
    """Turns of both arms, then the one with the larger noisy sum, which `gain` weighs."""
    turns = [t % 2 for t in range(N, N + 20)]
    sums = [sum(float(rewards[N + i, a]) for i, a in enumerate(turns) if a == arm) for arm in range(2)]
    noisy = [gain * s + rng.laplace(0.0, noise / EPSILON) for s in sums]
    return [0] * N + turns + [int(np.argmax(noisy))] * (len(rewards) - N - 20)


def _read(rewards, t, rng):
    return rewards[t, 0] + rng.laplace(0.0, 1 / EPSILON)


def _for_all(hits):
    """1000 if there are as many as can be, by what rises with them, and 1 else."""
    return 1.0 + 999.0 * max(0, hits - N + 1)


def added_comparisons(rewards, rng):
    hits = 0
    for t in range(N):
        reading = _read(rewards, t, rng)
        hits += (reading > 0.5) if PLAN[t] else (reading <= 0.5)
    return _finished(rewards, rng, _for_all(hits))


def never_set(rewards, rng):
    """What was there first is left where no reading replaces it."""
    gain = 1000.0
    for t in range(N):
        if _read(rewards, t, rng) > 0.5:
            if not PLAN[t]:
                gain = 1.0
        elif PLAN[t]:
            gain = 1.0
    return _finished(rewards, rng, gain)


def set_by_another_function(rewards, rng):
    gain = 1000.0

    def missed():
        nonlocal gain
        gain = 1.0

    for t in range(N):
        if _read(rewards, t, rng) > 0.5:
            if not PLAN[t]:
                missed()
        elif PLAN[t]:
            missed()
    return _finished(rewards, rng, gain)


def data_under_the_same_name(rewards, rng):
    gain = 1000.0
    for t in range(N):
        if _read(rewards, t, rng) > 0.5:
            if not PLAN[t]:
                gain = 1.0
        elif PLAN[t]:
            gain = 1.0
    weight = gain
    gain = float(rewards[0, 0])
    return _finished(rewards, rng, weight)


def multiplied_in_place(rewards, rng):
    """The name of the product holds the number first, then data and noise."""
    score = 1000.0
    for t in range(N):
        if (_read(rewards, t, rng) > 0.5) != bool(PLAN[t]):
            score = 1.0
    score *= rewards[N : N + 20, 0].sum()
    score += rng.laplace(0.0, 1 / EPSILON)
    return [0] * (N + 20) + [int(score > 10.0)] * (len(rewards) - N - 20)


def tested_first(rewards, rng):
    gain = 1000.0
    for t in range(N):
        reading = _read(rewards, t, rng)
        if gain > 1.0 and reading > 0.5:
            if not PLAN[t]:
                gain = 1.0
        elif gain > 1.0 and PLAN[t]:
            gain = 1.0
    return _finished(rewards, rng, gain)


def lowered_while_high(rewards, rng):
    gain = 1000.0
    for t in range(N):
        if gain > 1.0 and (_read(rewards, t, rng) > 0.5) != bool(PLAN[t]):
            gain = 1.0
    return _finished(rewards, rng, gain)


def running_minimum(rewards, rng):
    gain = 1000.0
    for t in range(N):
        cap = 1000.0 if (_read(rewards, t, rng) > 0.5) == bool(PLAN[t]) else 1.0
        gain = min(gain, cap)
    return _finished(rewards, rng, gain)


def lowest_cap(rewards, rng):
    gain = 1000.0
    for t in range(N):
        cap = 1000.0 if (_read(rewards, t, rng) > 0.5) == bool(PLAN[t]) else 1.0
        if cap < gain:
            gain = cap
    return _finished(rewards, rng, gain)


def least_of_a_list(rewards, rng):
    readings = [_read(rewards, t, rng) for t in range(N)]
    kept = [plan if reading > 0.5 else 1 - plan for plan, reading in zip(PLAN, readings, strict=True)]
    return _finished(rewards, rng, 1.0 + 999.0 * min(kept))


def left_by_a_comparison(rewards, rng):
    t = 0
    for t in range(N):
        if (_read(rewards, t, rng) > 0.5) != bool(PLAN[t]):
            break
    return _finished(rewards, rng, 1.0 + 999.0 * max(0, t - N + 2))


def handed_on(rewards, rng):
    def after(t, gain):
        if t == N:
            return gain
        if _read(rewards, t, rng) > 0.5:
            return after(t + 1, gain if PLAN[t] else 1.0)
        return after(t + 1, 1.0 if PLAN[t] else gain)

    return _finished(rewards, rng, after(0, 1000.0))


def counted_by_calls(rewards, rng):
    def after(t, hits):
        if t == N:
            return hits
        if _read(rewards, t, rng) > 0.5:
            return after(t + 1, hits + PLAN[t])
        return after(t + 1, hits + 1 - PLAN[t])

    return _finished(rewards, rng, _for_all(after(0, 0)))


def folded(rewards, rng):
    def step(gain, t):
        if _read(rewards, t, rng) > 0.5:
            return gain if PLAN[t] else 1.0
        return 1.0 if PLAN[t] else gain

    return _finished(rewards, rng, reduce(step, range(N), 1000.0))


def loop_that_is_left(rewards, rng):
    t = 0
    for t in range(N + 1):
        if t == N:
            break
        if _read(rewards, t, rng) > 0.5:
            if not PLAN[t]:
                break
        elif PLAN[t]:
            break
    return _finished(rewards, rng, _for_all(t))


def iterator(rewards, rng):
    gains = iter([1.0] * N + [1000.0])
    for t in range(N):
        if _read(rewards, t, rng) > 0.5:
            if PLAN[t]:
                next(gains)
        elif not PLAN[t]:
            next(gains)
    return _finished(rewards, rng, next(gains))


def generator(rewards, rng):
    def ladder():
        for _ in range(N):
            yield 1.0
        yield 1000.0

    gains = ladder()
    for t in range(N):
        if (_read(rewards, t, rng) > 0.5) == bool(PLAN[t]):
            next(gains)
    return _finished(rewards, rng, next(gains))


def length(rewards, rng):
    good = []
    for t in range(N):
        if _read(rewards, t, rng) > 0.5:
            if PLAN[t]:
                good.append(t)
        elif not PLAN[t]:
            good.append(t)
    return _finished(rewards, rng, _for_all(len(good)))


def grades(rewards, rng):
    found = []
    for t in range(N):
        if _read(rewards, t, rng) > 0.5:
            found.append(PLAN[t])
        else:
            found.append(1 - PLAN[t])
    found.sort()
    return _finished(rewards, rng, 1.0 + 999.0 * found[0])


class _Gain:
    def __init__(self, gain):
        self.gain = gain

    def times(self, by):
        return _Gain(max(1.0, self.gain * by))


def objects(rewards, rng):
    one = _Gain(1000.0)
    for t in range(N):
        one = one.times(PLAN[t]) if _read(rewards, t, rng) > 0.5 else one.times(1 - PLAN[t])
    return _finished(rewards, rng, one.gain)


def arms(rewards, rng):
    hits = 0
    for t in range(N):
        arm = int(np.argmax(rewards[t] + rng.laplace(0.0, 2 / EPSILON, 2)))
        hits += arm if PLAN[t] else 1 - arm
    return _finished(rewards, rng, _for_all(hits))


def dictionary(rewards, rng):
    met = {}
    for t in range(N):
        if _read(rewards, t, rng) > 0.5:
            met[t] = PLAN[t]
        else:
            met[t] = 1 - PLAN[t]
    return _finished(rewards, rng, 1.0 + 999.0 * min(met.values()))


def taken_out(rewards, rng):
    gains = {"gain": 1000.0}
    for t in range(N):
        if _read(rewards, t, rng) > 0.5:
            if not PLAN[t]:
                gains.pop("gain", None)
        elif PLAN[t]:
            gains.pop("gain", None)
    return _finished(rewards, rng, gains.get("gain", 1.0))


def arrays(rewards, rng):
    noisy = rewards[:N, 0] + rng.laplace(0.0, 1 / EPSILON, N)
    plan = np.array(PLAN)
    kept = np.where(noisy > 0.5, plan, 1 - plan)
    return _finished(rewards, rng, 1.0 + 999.0 * kept.min())


def shelves(rewards, rng):
    """Coins move pieces; where one is missing an exception lowers the gain."""
    one, other, gain = [1] * 2, [1] * 3, 1000.0
    for pieces in (2, 3, 1, 3) * 4:
        try:
            for _ in range(pieces):
                if rng.random() < 0.5:
                    one.append(other.pop())
                else:
                    other.append(one.pop())
        except IndexError:
            gain = 1.0
    return _finished(rewards, rng, gain)


def desks(rewards, rng):
    """Of twelve visitors nine go to the desk in the middle; the ends are looked at."""
    visits = [0] * 3
    for _ in range(12):
        visits[rng.integers(3)] += 1
    return _finished(rewards, rng, 1.0 + 999.0 * min(1, visits[1] // 9))


def _as_planned(rewards, rng):
    """Whether each reading is as it has it."""
    return [(_read(rewards, t, rng) > 0.5) == bool(PLAN[t]) for t in range(N)]


def turned_wheel(rewards, rng):
    """Entries are moved as far as draws say."""
    wheel = deque([1.0] * N + [1000.0])
    wheel.rotate(-sum(_as_planned(rewards, rng)))
    return _finished(rewards, rng, wheel[0])


def sorted_by_readings(rewards, rng):
    seen = _as_planned(rewards, rng)
    gains = [1000.0, 1.0]
    gains.sort(key=lambda gain: sum(seen) < N and gain > 1.0)
    return _finished(rewards, rng, gains[0])


def length_of_text(rewards, rng):
    hits = sum(_as_planned(rewards, rng))
    return _finished(rewards, rng, 1.0 + 999.0 * max(0, len(str(10 ** max(0, hits - N + 1))) - 1))


def mapped_operator(rewards, rng):
    seen = [int(_read(rewards, t, rng) > 0.5) for t in range(N)]
    return _finished(rewards, rng, _for_all(sum(map(operator.eq, seen, PLAN))))


def named_in_one_of_two(rewards, rng):
    n = 0
    for t in range(N):
        (n := n + PLAN[t]) if _read(rewards, t, rng) > 0.5 else (n := n + 1 - PLAN[t])
    return _finished(rewards, rng, _for_all(n))


def appended_behind_and(rewards, rng):
    met = []
    for t in range(N):
        reading = _read(rewards, t, rng)
        _ = reading > 0.5 and met.append(PLAN[t])
        _ = reading <= 0.5 and met.append(1 - PLAN[t])
    return _finished(rewards, rng, _for_all(sum(met)))


def counted_until_any(rewards, rng):
    turns = 0

    def missed(t):
        nonlocal turns
        turns += 1
        return (_read(rewards, t, rng) > 0.5) != bool(PLAN[t])

    any(missed(t) for t in range(N))
    return _finished(rewards, rng, _for_all(turns))


def skipped_ahead(rewards, rng):
    gains = iter([1.0] * N + [1000.0])
    for seen in _as_planned(rewards, rng):
        list(islice(gains, int(seen)))
    return _finished(rewards, rng, next(gains))


def as_many_ones(rewards, rng):
    hits = sum(_as_planned(rewards, rng))
    return _finished(rewards, rng, _for_all(sum([1] * hits)))


def last_of_a_loop(rewards, rng):
    good, last = [0], 0
    for t in range(N):
        if _read(rewards, t, rng) > 0.5:
            if PLAN[t]:
                good.append(t)
        elif not PLAN[t]:
            good.append(t)
    for last, _ in enumerate(good):  # noqa: B007
        pass
    return _finished(rewards, rng, _for_all(last))


def sign_of_a_parameter(rewards, rng):
    """The constant that a branch sets is not all that it may be."""

    def signed(weight):
        if not all(_as_planned(rewards, rng)):
            weight = -1.0
        return weight * rewards[N : N + 20, 0].sum() + rng.laplace(0.0, 1 / EPSILON)

    return [0] * (N + 20) + [int(signed(1000.0) > 10.0)] * (len(rewards) - N - 20)


def sign_that_another_function_sets(rewards, rng):
    sign = 1.0

    def enlarge():
        nonlocal sign
        sign = 1000.0

    if all(_as_planned(rewards, rng)):
        enlarge()
    total = sign * rewards[N : N + 20, 0].sum() + rng.laplace(0.0, 1 / EPSILON)
    return [0] * (N + 20) + [int(total > 10.0)] * (len(rewards) - N - 20)


def used_in_the_last_call(rewards, rng):
    def after(t, hits):
        if t == N:
            return _finished(rewards, rng, _for_all(hits))
        if _read(rewards, t, rng) > 0.5:
            return after(t + 1, hits + PLAN[t])
        return after(t + 1, hits + 1 - PLAN[t])

    return after(0, 0)


LEAKS = [
    *(turned_wheel, sorted_by_readings, length_of_text, mapped_operator, named_in_one_of_two),
    *(appended_behind_and, counted_until_any, skipped_ahead, as_many_ones, last_of_a_loop),
    *(used_in_the_last_call, sign_of_a_parameter, sign_that_another_function_sets),
    *(added_comparisons, never_set, set_by_another_function, data_under_the_same_name, multiplied_in_place),
    *(
        tested_first,
        lowered_while_high,
        running_minimum,
        lowest_cap,
        least_of_a_list,
        left_by_a_comparison,
        handed_on,
    ),
    *(counted_by_calls, folded, loop_that_is_left, iterator, generator),
    *(length, grades, objects, arms, dictionary, taken_out, arrays, shelves, desks),
]


def best_reading(rewards, rng):
    """The largest is kept, and where it was."""
    best, place = -9.0, 0
    for t in range(N):
        reading = _read(rewards, t, rng)
        if reading > best:
            best, place = reading, t
    return [place % 2, *_finished(rewards, rng, 1.0)[1:]]


def pulls(rewards, rng):
    """Readings count, and their number sets which arms are pulled."""
    count = 0
    for t in range(N):
        if _read(rewards, t, rng) > 0.5:
            count += 1
    return [count % 2, *_finished(rewards, rng, 1.0)[1:]]


def loop_with_an_end(rewards, rng):
    t = 0
    for t in range(N):
        if _read(rewards, t, rng) > 0.5:
            break
    return [t % 2, *_finished(rewards, rng, 1.0)[1:]]


def own_laplace(rewards, rng):
    """A draw says the sign of what counts, and not how much."""
    u = rng.random() - 0.5
    total = float(rewards[:10, 0].sum()) - math.copysign(1.0, u) * math.log1p(-2 * abs(u)) / EPSILON
    return [0] * 10 + [int(total > 5.0)] * (len(rewards) - 10)


RIGHT = [best_reading, pulls, loop_with_an_end, own_laplace]
