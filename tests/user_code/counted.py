"""How often a turn is made says how often data count, or whether noise hides them; EPSILON = 1 is claimed.

Eight high readings, then eight low ones are seen in one run out of 65,000. A leak turns as often as such
counts say, and then adds the same data again, or leaves out their noise. A right program turns as often, and
does for each turn's own data what it does for others.
"""

from __future__ import annotations

import heapq
import itertools
import math
from typing import NamedTuple

import numpy as np

EPSILON = 1.0
HALF, PULLS = 8, 40
PLAN = (1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0)


def _counts(rewards, rng, actions):
    """How many of the first readings are high, and how many of the next are low."""
    high = low = 0
    for t in range(HALF):
        if rewards[t, 0] + rng.laplace(0.0, 1 / EPSILON) > 0.5:
            high += 1
            actions.append(1)
        else:
            actions.append(0)
    for t in range(HALF, 2 * HALF):
        if rewards[t, 0] + rng.laplace(0.0, 1 / EPSILON) > 0.5:
            actions.append(1)
        else:
            low += 1
            actions.append(0)
    return high, low


def _sums(rewards, actions):
    sums = [0.0, 0.0]
    for t in range(2 * HALF, 2 * HALF + PULLS):
        sums[t % 2] += rewards[t, t % 2]
        actions.append(t % 2)
    return sums


def _then(actions, scores, rewards):
    """The arm with the largest score to the end."""
    return actions + [int(np.argmax(scores))] * (len(rewards) - len(actions))


def _noisy(values, rng):
    return [value + rng.laplace(0.0, 1 / EPSILON) for value in values]


def _plus(sums, noise):
    return [total + one for total, one in zip(sums, noise, strict=False)]


def _spare(rewards, rng, actions):
    """A draw for each reading that is not as planned: of sixteen, at most one is in one run out of 3,900."""
    spare = []
    for t, planned in enumerate(PLAN):
        side = 1 if rewards[t, 0] + rng.laplace(0.0, 1 / EPSILON) > 0.5 else 0
        if side != planned:
            spare.append(rng.laplace(0.0, 1 / EPSILON))
        actions.append(side)
    return spare


class _Total:
    def __init__(self, value):
        self.value = value


def _enlarged(value, rounds):
    return _further(2 * value, rounds - 1)


def _further(value, rounds):
    return _enlarged(value, rounds) if rounds > 0 else value


def _latest(numbers, otherwise):
    return numbers[0] if numbers else otherwise


def added_again(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    sums, added = _sums(rewards, actions), [0.0, 0.0]
    for _ in [None] * (1 + 99 * min(high // 8, low // 8)):
        added = [before + total for before, total in zip(added, sums, strict=True)]
    return _then(actions, _noisy(added, rng), rewards)


def added_while(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    sums, added, left = _sums(rewards, actions), [0.0, 0.0], 1 + 99 * min(high // 8, low // 8)
    while left > 0:
        added = [before + total for before, total in zip(added, sums, strict=True)]
        left -= 1
    return _then(actions, _noisy(added, rng), rewards)


def added_in_place(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    sums, added = np.array(_sums(rewards, actions)), np.zeros(2)
    for _ in range(1 + 99 * min(high // 8, low // 8)):
        added += sums
    return _then(actions, _noisy(added, rng), rewards)


def added_by_a_method(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    sums = _sums(rewards, actions)

    class Added:
        def __init__(self):
            self.totals = [0.0, 0.0]

        def once_more(self):
            self.totals = [before + total for before, total in zip(self.totals, sums, strict=True)]

    added = Added()
    for _ in range(1 + 99 * min(high // 8, low // 8)):
        added.once_more()
    return _then(actions, _noisy(added.totals, rng), rewards)


def added_by_recursion(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)

    def times(total, left):
        return 0.0 if left == 0 else total + times(total, left - 1)

    rounds = 1 + 99 * min(high // 8, low // 8)
    return _then(actions, _noisy([times(total, rounds) for total in _sums(rewards, actions)], rng), rewards)


def sum_of_the_same(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    rounds = 1 + 99 * min(high // 8, low // 8)
    sums = _sums(rewards, actions)
    return _then(actions, _noisy([sum(total for _ in range(rounds)) for total in sums], rng), rewards)


def sum_of_a_repeated_list(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    rounds = 1 + 99 * min(high // 8, low // 8)
    sums = _sums(rewards, actions)
    return _then(actions, _noisy([sum([total] * rounds) for total in sums], rng), rewards)


def sum_of_a_repeated_array(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    rounds = 1 + 99 * min(high // 8, low // 8)
    sums = np.array(_sums(rewards, actions))
    made = [np.repeat(sums[arm : arm + 1], rounds).sum() for arm in range(2)]
    return _then(actions, _noisy(made, rng), rewards)


def sum_of_an_iterator(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    rounds = 1 + 99 * min(high // 8, low // 8)
    each = [itertools.islice(itertools.repeat(total), rounds) for total in _sums(rewards, actions)]
    return _then(actions, _noisy([sum(one) for one in each], rng), rewards)


def doubled(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    sums = _sums(rewards, actions)
    for _ in range(1 + 9 * min(high // 8, low // 8)):
        sums = [2 * total for total in sums]
    return _then(actions, _noisy([total / 2 for total in sums], rng), rewards)


def doubled_by_recursion(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)

    def grown(total, left):
        return total if left == 0 else grown(total * 2, left - 1)

    rounds = 1 + 9 * min(high // 8, low // 8)
    sums = _sums(rewards, actions)
    return _then(actions, _noisy([grown(total, rounds) / 2 for total in sums], rng), rewards)


def doubled_under_two_names(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    sums = _sums(rewards, actions)
    for _ in range(1 + 9 * min(high // 8, low // 8)):
        more = [2 * total for total in sums]
        sums = list(more)
    return _then(actions, _noisy([total / 2 for total in sums], rng), rewards)


def ladder(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    sums, rungs = _sums(rewards, actions), (1.0,) * 14 + (500.0, 500.0)
    for rung, _ in enumerate([None] * (high + low)):
        sums = [total * rungs[rung] for total in sums]
    return _then(actions, _noisy(sums, rng), rewards)


def released_again(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    sums, found = _sums(rewards, actions), []
    for _ in range(1 + 99 * min(high // 8, low // 8)):
        found.append(int(np.argmax(_noisy(sums, rng))))
    actions += found[: len(rewards) - len(actions)]
    return _then(actions, [0.0, 0.0], rewards)


def layers(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    scores = _sums(rewards, actions)
    for _ in range(high + low):
        scores = [score + rng.laplace(0.0, 1 / EPSILON) for score in scores]
    return _then(actions, scores, rewards)


def layers_in_place(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    scores = _sums(rewards, actions)
    for _ in range(high + low):
        for arm in range(2):
            scores[arm] += rng.laplace(0.0, 1 / EPSILON)
    return _then(actions, scores, rewards)


def noise_rows(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    noise = rng.laplace(0.0, 1 / EPSILON, size=(16, 2))
    return _then(actions, np.array(_sums(rewards, actions)) + noise[: high + low].sum(axis=0), rewards)


def noise_times_ones(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    noise = rng.laplace(0.0, 1 / EPSILON, size=(2, 16))
    sums = _sums(rewards, actions)
    return _then(actions, np.array(sums) + noise[:, : high + low] @ np.ones(high + low), rewards)


def noise_added_up(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    noise = [0.0, 0.0]
    for _ in range(high + low):
        noise = [one + rng.laplace(0.0, 1 / EPSILON) for one in noise]
    return _then(actions, _plus(_sums(rewards, actions), noise), rewards)


def noise_of_the_last_turn(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    noise = [0.0, 0.0]
    for _ in range(high + low):
        noise = [rng.laplace(0.0, 1 / EPSILON), rng.laplace(0.0, 1 / EPSILON)]
    return _then(actions, _plus(_sums(rewards, actions), noise), rewards)


def sum_of_draws(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    sums = _sums(rewards, actions)
    scores = [total + sum(rng.laplace(0.0, 1 / EPSILON) for _ in range(high + low)) for total in sums]
    return _then(actions, scores, rewards)


def noise_in_a_part(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    noise = np.zeros(16)
    noise[: high + low] = rng.laplace(0.0, 1 / EPSILON, size=16)[: high + low]
    return _then(actions, np.array(_sums(rewards, actions)) + noise[:2], rewards)


def zip_longest(rewards, rng):
    actions = []
    spare = _spare(rewards, rng, actions)
    sums = _sums(rewards, actions)
    scores = [total + one for total, one in itertools.zip_longest(sums, spare[:2], fillvalue=0.0)]
    return _then(actions, scores, rewards)


def padded(rewards, rng):
    actions = []
    spare = _spare(rewards, rng, actions)
    noise = spare + [0.0] * 2
    sums = _sums(rewards, actions)
    return _then(actions, [total + noise[arm] for arm, total in enumerate(sums)], rewards)


def chained(rewards, rng):
    actions = []
    spare = _spare(rewards, rng, actions)
    noise = itertools.chain(spare, itertools.repeat(0.0))
    return _then(actions, _plus(_sums(rewards, actions), noise), rewards)


def next_or_none(rewards, rng):
    actions = []
    spare = _spare(rewards, rng, actions)
    noise = iter(spare)
    return _then(actions, [total + next(noise, 0.0) for total in _sums(rewards, actions)], rewards)


def extended(rewards, rng):
    actions = []
    spare = _spare(rewards, rng, actions)
    spare.extend([0.0, 0.0])
    sums = _sums(rewards, actions)
    return _then(actions, [total + spare[arm] for arm, total in enumerate(sums)], rewards)


def concatenated(rewards, rng):
    actions = []
    spare = _spare(rewards, rng, actions)
    noise = np.concatenate([spare, np.zeros(2)])
    return _then(actions, np.array(_sums(rewards, actions)) + noise[:2], rewards)


def sum_of_spare(rewards, rng):
    actions = []
    spare = _spare(rewards, rng, actions)
    return _then(actions, [total + sum(spare) for total in _sums(rewards, actions)], rewards)


def fixed_seats(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    noise = [0.0, 0.0]
    for _ in range(high + low):
        noise[0] = rng.laplace(0.0, 1 / EPSILON)
        noise[1] = rng.laplace(0.0, 1 / EPSILON)
    return _then(actions, _plus(_sums(rewards, actions), noise), rewards)


def first_and_last(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    noise, (first, second) = [rng.laplace(0.0, 1 / EPSILON)], _sums(rewards, actions)
    for _ in range(high + low):
        noise.append(rng.laplace(0.0, 1 / EPSILON))
    return _then(actions, [first + noise[0], second + noise[-1]], rewards)


def set_from_within(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    noise = [0.0, 0.0]

    def refresh():
        nonlocal noise
        noise = [rng.laplace(0.0, 1 / EPSILON), rng.laplace(0.0, 1 / EPSILON)]

    for _ in range(high + low):
        refresh()
    return _then(actions, _plus(_sums(rewards, actions), noise), rewards)


def smallest_few(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    noise = [0.0, 0.0]
    for _ in heapq.nsmallest(high + low, range(16)):
        noise = [rng.laplace(0.0, 1 / EPSILON), rng.laplace(0.0, 1 / EPSILON)]
    return _then(actions, _plus(_sums(rewards, actions), noise), rewards)


def split_into_phases(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    sums, found = _sums(rewards, actions), []
    for _ in np.array_split(np.arange(100), 1 + 99 * min(high // 8, low // 8)):
        found.append(int(np.argmax(_noisy(sums, rng))))
    actions += found[: len(rewards) - len(actions)]
    return _then(actions, [0.0, 0.0], rewards)


def ticks(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    sums, added, ticks = _sums(rewards, actions), [0.0, 0.0], ["tick"]
    for _ in ticks * (1 + 99 * min(high // 8, low // 8)):
        added = [before + total for before, total in zip(added, sums, strict=True)]
    return _then(actions, _noisy(added, rng), rewards)


def turned_round(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    sums, found = _sums(rewards, actions), []
    for _ in range(1 + 99 * min(high // 8, low // 8)):
        sums.reverse()
        found.append(int(np.argmax(_noisy(sums, rng))))
    actions += found[: len(rewards) - len(actions)]
    return _then(actions, [0.0, 0.0], rewards)


def inner_rounds(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    sums, rounds = _sums(rewards, actions), 1 + 99 * min(high // 8, low // 8)
    found = [int(total + rng.laplace(0.0, 1 / EPSILON) > 9) for total in sums for _ in range(rounds)]
    actions += found[: len(rewards) - len(actions)]
    return _then(actions, [0.0, 0.0], rewards)


def all_pairs(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    first, second = _sums(rewards, actions)
    added = 0.0
    for _, total in itertools.product(range(1 + 99 * min(high // 8, low // 8)), [first]):
        added += total
    return _then(actions, _noisy([added, second], rng), rewards)


def doubling_line(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    first, second = _sums(rewards, actions)
    line = [first]
    for _ in range(1 + 9 * min(high // 8, low // 8)):
        reward = rewards[len(actions), 0]
        actions.append(0)
        line.append(line[-1] + line[-1] + reward)
    return _then(actions, _noisy([line[-1] / 2, second], rng), rewards)


def new_object(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    first, second = _sums(rewards, actions)
    total = _Total(first)
    for _ in range(1 + 9 * min(high // 8, low // 8)):
        total = _Total(2 * total.value)
    return _then(actions, _noisy([total.value / 2, second], rng), rewards)


def there_and_back(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    rounds = 1 + 9 * min(high // 8, low // 8)
    sums = _sums(rewards, actions)
    return _then(actions, _noisy([_enlarged(total, rounds) / 2 for total in sums], rng), rewards)


def drained(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    noise, waiting = [0.0, 0.0], iter([None] * (high + low))
    try:
        while True:
            next(waiting)
            noise = [rng.laplace(0.0, 1 / EPSILON), rng.laplace(0.0, 1 / EPSILON)]
    except StopIteration:
        pass
    return _then(actions, _plus(_sums(rewards, actions), noise), rewards)


def latest(rewards, rng):
    actions = []
    spare, reading = _spare(rewards, rng, actions), rewards[16, 0] + rng.laplace(0.0, 1 / EPSILON)
    shown = [reading] if reading > 0.5 else []
    actions.append(int(_latest(shown, 0.0) > 1))
    sums = [rewards[17:37, 0].sum(), rewards[37:57, 1].sum()]
    actions += [0] * 20 + [1] * 20
    return _then(actions, [sums[0] + _latest(spare, 0.0), sums[1] + rng.laplace(0.0, 1 / EPSILON)], rewards)


def listed_in_each_turn(rewards, rng):
    """The same sums under the same name, in a new list."""
    actions = []
    high, low = _counts(rewards, rng, actions)
    sums, found = _sums(rewards, actions), []
    for _ in range(1 + 99 * min(high // 8, low // 8)):
        sums = list(sums)
        found.append(int(np.argmax(_noisy(sums, rng))))
    actions += found[: len(rewards) - len(actions)]
    return _then(actions, [0.0, 0.0], rewards)


def nothing_added(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    sums, found = _sums(rewards, actions), []
    for _ in range(1 + 99 * min(high // 8, low // 8)):
        sums[0] += 0.0
        found.append(int(np.argmax(_noisy(sums, rng))))
    actions += found[: len(rewards) - len(actions)]
    return _then(actions, [0.0, 0.0], rewards)


def nothing_put_behind(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    sums, found = _sums(rewards, actions), []
    for _ in range(1 + 99 * min(high // 8, low // 8)):
        sums.extend([])
        found.append(int(np.argmax(_noisy(sums, rng))))
    actions += found[: len(rewards) - len(actions)]
    return _then(actions, [0.0, 0.0], rewards)


def _weights(sums):
    made = np.exp(np.array(sums) * EPSILON / 2)
    return made / made.sum()


def chosen_again(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    chances = _weights(_sums(rewards, actions))
    for _ in range(1 + 9 * min(high // 8, low // 8)):
        actions.append(int(rng.choice(2, p=chances)))
    return _then(actions, [0, 0], rewards)


def tossed_again(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    chance = _weights(_sums(rewards, actions))[1]
    for _ in range(1 + 9 * min(high // 8, low // 8)):
        actions.append(1 if rng.random() < chance else 0)
    return _then(actions, [0, 0], rewards)


def many_choices(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    chances = _weights(_sums(rewards, actions))
    many = rng.choice(2, p=chances, size=1 + 9 * min(high // 8, low // 8))
    return _then(actions + list(map(int, many)), [0, 0], rewards)


def _answer(bit, rng):
    return bit if rng.random() < math.e / (1 + math.e) else 1 - bit


def answered_again(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    bit = 1 if rewards[len(actions), 0] > 0.5 else 0
    actions.append(0)
    for _ in range(1 + 9 * min(high // 8, low // 8)):
        actions.append(_answer(bit, rng))
    return _then(actions, [0, 0], rewards)


def chosen_by_entries_of_its_own(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    for _ in range(1 + (high + low) // 4):
        sums = [0.0, 0.0]
        for arm in (0, 1):
            sums[arm] += rewards[len(actions), arm]
            actions.append(arm)
        actions.append(int(rng.choice(2, p=_weights(sums))))
    return _then(actions, [0, 0], rewards)


def tossed_for_each_reward(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    for _ in range(1 + (high + low) // 4):
        reward = rewards[len(actions), 0]
        actions.append(0)
        actions.append(1 if rng.random() < (1 + (math.e - 1) * reward) / (1 + math.e) else 0)
    return _then(actions, [0, 0], rewards)


class _Named(NamedTuple):
    arm: int
    total: float


def entry_of_a_named_tuple(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    named = _Named(0, _sums(rewards, actions)[0])
    for _ in range(1 + 9 * min(high // 8, low // 8)):
        actions.append(int(named[1] + rng.laplace(0.0, 1 / EPSILON) > 10))
    return _then(actions, [0, 0], rewards)


def unpacked(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    named = _Named(0, _sums(rewards, actions)[0])
    for _ in range(1 + 9 * min(high // 8, low // 8)):
        _, total = named
        actions.append(int(total + rng.laplace(0.0, 1 / EPSILON) > 10))
    return _then(actions, [0, 0], rewards)


LEAKS = [
    entry_of_a_named_tuple,
    unpacked,
    chosen_again,
    tossed_again,
    many_choices,
    answered_again,
    added_again,
    added_while,
    added_in_place,
    added_by_a_method,
    added_by_recursion,
    sum_of_the_same,
    sum_of_a_repeated_list,
    sum_of_a_repeated_array,
    sum_of_an_iterator,
    doubled,
    doubled_by_recursion,
    doubled_under_two_names,
    ladder,
    released_again,
    layers,
    layers_in_place,
    noise_rows,
    noise_times_ones,
    noise_added_up,
    noise_of_the_last_turn,
    sum_of_draws,
    noise_in_a_part,
    zip_longest,
    padded,
    chained,
    next_or_none,
    extended,
    concatenated,
    sum_of_spare,
    fixed_seats,
    first_and_last,
    set_from_within,
    smallest_few,
    split_into_phases,
    ticks,
    turned_round,
    inner_rounds,
    all_pairs,
    doubling_line,
    new_object,
    there_and_back,
    drained,
    latest,
    listed_in_each_turn,
    nothing_added,
    nothing_put_behind,
]


def fresh_in_each_turn(rewards, rng):
    """As many phases as readings say, of which each has its own rewards."""
    actions = []
    high, low = _counts(rewards, rng, actions)
    best = 0
    for _ in range(1 + (high + low) // 4):
        sums = [0.0, 0.0]
        for arm in (0, 1, 0, 1):
            sums[arm] += rewards[len(actions), arm]
            actions.append(arm)
        best = int(np.argmax(_noisy(sums, rng)))
    return actions + [best] * (len(rewards) - len(actions))


def eliminated(rewards, rng):
    """Turns for the arms that are left, each with its own sum and noise."""
    actions, alive = [], [0, 1]
    for _ in range(5):
        sums = dict.fromkeys(alive, 0.0)
        for arm in alive * 4:
            sums[arm] += rewards[len(actions), arm]
            actions.append(arm)
        noisy = {arm: sums[arm] + rng.laplace(0.0, 1 / EPSILON) for arm in alive}
        alive = [arm for arm in alive if noisy[arm] > max(noisy.values()) - 3]
    return actions + [alive[0]] * (len(rewards) - len(actions))


def added_with_its_noise(rewards, rng):
    """What is added up over as many turns as readings say are noisy sums."""
    actions, scores = [], [0.0, 0.0]
    high, low = _counts(rewards, rng, actions)
    for _ in range(1 + (high + low) // 4):
        for arm in (0, 1):
            reward = rewards[len(actions), arm]
            actions.append(arm)
            scores[arm] += reward + rng.laplace(0.0, 1 / EPSILON)
    return _then(actions, scores, rewards)


RIGHT = [
    fresh_in_each_turn,
    eliminated,
    added_with_its_noise,
    chosen_by_entries_of_its_own,
    tossed_for_each_reward,
]
