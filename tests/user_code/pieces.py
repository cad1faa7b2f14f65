"""Right bandits that are bounded only if something is asked in one piece, each with leaking twins.

EPSILON = 1 is claimed of all. `RIGHT` gives the true cost of each; no leak has a bound within the claim.
"""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

EPSILON = 1.0
KEEP = math.exp(EPSILON) / (1 + math.exp(EPSILON))


def explored(rewards):
    """The sum of every arm in the first half, where all take turns."""
    horizon, n_arms = rewards.shape
    sums = [0.0] * n_arms
    for t in range(horizon // 2):
        sums[t % n_arms] += rewards[t, t % n_arms]
    return sums


def committed(rewards, arm, last=()):
    horizon, n_arms = rewards.shape
    arms = [t % n_arms for t in range(horizon // 2)]
    return arms + [arm] * (horizon - len(arms) - len(last)) + [*last]


# ---------------------------------------------------------------- the best so far


def best_so_far(rewards, rng, scale=1.0):
    best, best_value = None, float("-inf")
    for arm, total in enumerate(explored(rewards)):
        value = total + rng.exponential(scale / EPSILON)
        if value > best_value:
            best, best_value = arm, value
    return committed(rewards, best)


def least_so_far(rewards, rng, scale=1.0):
    """The arm with the least loss, nothing before the first one."""
    arm, least = 0, None
    for other, total in enumerate(explored(rewards)):
        loss = -total - scale * rng.gumbel() / EPSILON
        if least is None or loss <= least:
            least = loss
            arm = other
    return committed(rewards, arm)


def turned_about(rewards, rng, scale=1.0):
    most, leader = -1e9, 0
    for arm, total in enumerate(explored(rewards)):
        noisy = total + rng.laplace(0, scale / EPSILON)
        if most < noisy:
            leader = arm
            most = noisy
    return committed(rewards, leader)


def leads_told(rewards, rng):
    """Who led on the way is played."""
    best, best_value, told = 0, float("-inf"), []
    for arm, total in enumerate(explored(rewards)):
        value = total + rng.exponential(1 / EPSILON)
        if value > best_value:
            best, best_value = arm, value
        told.append(int(best))
    return committed(rewards, best, told)


def value_told(rewards, rng):
    """The best value shows, too: of exponential noise that tells too much."""
    best, best_value = 0, float("-inf")
    for arm, total in enumerate(explored(rewards)):
        value = total + rng.exponential(1 / EPSILON)
        if value > best_value:
            best, best_value = arm, value
    return committed(rewards, best, (int(best_value) % 2,))


def same_noise_for_all(rewards, rng):
    best, best_value, noise = 0, float("-inf"), rng.exponential(1 / EPSILON)
    for arm, total in enumerate(explored(rewards)):
        value = total + noise
        if value > best_value:
            best, best_value = arm, value
    return committed(rewards, best)


def nobody_leads(rewards, rng):
    """Whether anyone is above a limit shows, with too little noise; None stands for nobody."""
    best, best_value = None, -9.0
    for arm, total in enumerate(explored(rewards)):
        value = total + rng.laplace(0, 0.1)
        if value > best_value:
            best, best_value = arm, value
    return committed(rewards, 0, (int(best is None),))


def raw_best(rewards, rng):
    """Noise decides, and what is kept is raw."""
    best, best_value = 0.0, float("-inf")
    for total in explored(rewards):
        value = total + rng.exponential(1 / EPSILON)
        if value > best_value:
            best, best_value = total, value
    return committed(rewards, 0, (int(best > 3),))


def seldom_raw(rewards, rng):
    """What is kept of the best is raw where no run looks."""
    best, best_value, sums = 0, 0.9999999, explored(rewards)
    secret = sums[0]
    value = rng.random()
    if value > best_value:
        best, best_value = secret, value
    return committed(rewards, 0, (int(best > 3),))


# ---------------------------------------------------------------- coins


def told_by_a_coin(rewards, rng, keep=KEEP):
    """Rewards become bits by coins, and bits are told by coins."""
    ones = [0, 0]
    for t in range(len(rewards) // 2):
        bit = rng.random() < rewards[t, t % 2]
        ones[t % 2] += bit if rng.random() < keep else not bit
    return committed(rewards, int(ones[1] > ones[0]))


def turned_by_a_coin(rewards, rng, keep=KEEP):
    arm, arms = 0, []
    for t in range(len(rewards)):
        arms.append(arm)
        win = rewards[t, arm] > 0.5
        if rng.random() >= keep:
            win = not win
        if not win:
            arm = 1 - arm
    return arms


def leader_by_a_coin(rewards, rng, more=1.0):
    """The leader, or any of the others."""
    n_arms = rewards.shape[1]
    leader = int(rewards[: len(rewards) // 2].sum(axis=0).argmax())
    keep = math.exp(more * EPSILON) / (math.exp(more * EPSILON) + n_arms - 1)
    if rng.random() < keep:  # noqa: SIM108
        told = leader
    else:
        told = int(rng.choice([a for a in range(n_arms) if a != leader]))
    return committed(rewards, told)


def rounded_by_a_coin(rewards, rng, scale=1.0):
    counts = [0, 0]
    for t in range(len(rewards) // 2):
        counts[t % 2] += 1 if rng.random() < rewards[t, t % 2] else 0
    return committed(rewards, int(counts[1] + rng.laplace(0, scale / EPSILON) > counts[0]))


def rounded_by_binomial(rewards, rng, scale=1.0):
    counts = [0, 0]
    for t in range(len(rewards) // 2):
        counts[t % 2] += rng.binomial(1, rewards[t, t % 2])
    return committed(rewards, int(counts[1] + rng.laplace(0, scale / EPSILON) > counts[0]))


def sampled_by_a_branch(rewards, rng, rate=0.5, scale=1.0):
    larger = math.log1p(math.expm1(EPSILON) / rate)
    kept, sums = rng.random(len(rewards) // 2) < rate, [0.0, 0.0]
    for t in range(len(kept)):
        if kept[t]:
            sums[t % 2] += rewards[t, t % 2]
    return committed(rewards, int(sums[1] + rng.laplace(0, scale / larger) > sums[0]))


def told_twice_by_coins(rewards, rng):
    ones = [0, 0]
    for t in range(len(rewards) // 2):
        bit = rng.random() < rewards[t, t % 2]
        for _ in range(2):
            ones[t % 2] += bit if rng.random() < KEEP else not bit
    return committed(rewards, int(ones[1] > ones[0]))


def coin_used_again(rewards, rng):
    """The coin that turns the bit shows in the last round."""
    bit, coin = rewards[0, 0] > 0.5, rng.random()
    told = bit if coin < KEEP else not bit
    return committed(rewards, int(told), (int(coin < KEEP),))


def rounded_and_doubled(rewards, rng):
    """Every bit counts twice."""
    counts = [0, 0]
    for t in range(len(rewards) // 2):
        bit = 1 if rng.random() < rewards[t, t % 2] else 0
        counts[t % 2] += 2 * bit
    return committed(rewards, int(counts[1] + rng.laplace(0, 1 / EPSILON) > counts[0]))


def biased_by_rewards_twice(rewards, rng):
    """Two coins of a reward are added up, and both count."""
    counts = [0, 0]
    for t in range(len(rewards) // 2):
        counts[t % 2] += (rng.random() < rewards[t, t % 2]) + (rng.random() < rewards[t, t % 2])
    return committed(rewards, int(counts[1] + rng.laplace(0, 1 / EPSILON) > counts[0]))


def rounded_and_told(rewards, rng):
    """A coin of a raw chance is played."""
    return committed(rewards, int(rng.random() < rewards[0, 0]))


def rounded_and_branched(rewards, rng):
    arms = committed(rewards, 0)
    if rng.binomial(1, rewards[0, 0]):
        arms[-1] = 1
    return arms


def sampled_and_told(rewards, rng):
    """Which rewards count is played: nothing is gained by the sample."""
    rate, larger = 0.5, math.log1p(math.expm1(EPSILON) / 0.5)
    kept, sums = rng.random(len(rewards) // 2) < rate, [0.0, 0.0]
    for t in range(len(kept)):
        if kept[t]:
            sums[t % 2] += rewards[t, t % 2]
    return committed(
        rewards, int(sums[1] + rng.laplace(0, 1 / larger) > sums[0]), (int(kept[0]), int(kept[1]))
    )


# ---------------------------------------------------------------- proposals that look up a list


def proposed_from_a_list(rewards, rng, steep=1.0):
    sums = [min(s, 4.0) for s in explored(rewards)]
    while True:
        arm = int(rng.integers(len(sums)))
        if rng.random() <= math.exp(steep * EPSILON * (sums[arm] - 4)):
            break
    return committed(rewards, arm)


def accepted_too_often(rewards, rng):
    """A chance that the largest sums cut off at 1."""
    sums = explored(rewards)
    while True:
        arm = int(rng.integers(len(sums)))
        if rng.random() <= min(1.0, 2 * math.exp(EPSILON * (sums[arm] - 4))):
            return committed(rewards, arm)


def accepted_surely(rewards, rng):
    """A chance that exceeds 1 where sums exceed 2."""
    sums = [min(s, 4.0) for s in explored(rewards)]
    while True:
        arm = int(rng.integers(len(sums)))
        if rng.random() <= math.exp(EPSILON * (sums[arm] - 2)):
            return committed(rewards, arm)


def gives_up(rewards, rng):
    """After five proposals the best arm is taken."""
    sums = [min(s, 4.0) for s in explored(rewards)]
    for _ in range(5):
        arm = int(rng.integers(len(sums)))
        if rng.random() <= math.exp(EPSILON * (sums[arm] - 4)):
            return committed(rewards, arm)
    return committed(rewards, sums.index(max(sums)))


def proposals_counted(rewards, rng):
    sums, tries = [min(s, 4.0) for s in explored(rewards)], 0
    while True:
        tries += 1
        arm = int(rng.integers(len(sums)))
        if rng.random() <= math.exp(EPSILON * (sums[arm] - 4)):
            return committed(rewards, arm, (tries % 2,))


def looked_up_before(rewards, rng):
    """The position is used before its coin is tossed."""
    sums, last = [min(s, 4.0) for s in explored(rewards)], 0
    while True:
        arm = int(rng.integers(len(sums)))
        last = last + arm
        if rng.random() <= math.exp(EPSILON * (sums[arm] - 4)):
            return committed(rewards, arm, (last % 2,))


def twin(function, **changes):
    def play(rewards, rng):
        return function(rewards, rng, **changes)

    play.__name__ = f"{function.__name__}_with_other_{next(iter(changes))}"
    return play


# ---------------------------------------------------------------- raw conditions


def counted_by_a_branch(rewards, rng, scale=1.0):
    """Raw rewards decide what is added to counts that noise hides."""
    horizon, n_arms = rewards.shape
    good, pulls = [0] * n_arms, [0] * n_arms
    for t in range(horizon // 2):
        if rewards[t, t % n_arms] > 0.5:
            good[t % n_arms] += 1
        pulls[t % n_arms] += 1
    return committed(rewards, max(range(n_arms), key=lambda a: good[a] + rng.laplace(0, scale / EPSILON)))


def weighed_by_a_branch(rewards, rng, scale=2.0):
    """One way or the other: each reward moves what is counted by 2."""
    horizon, n_arms = rewards.shape
    lead = [0] * n_arms
    for t in range(horizon // 2):
        if t % n_arms < n_arms and rewards[t, t % n_arms] > 0.5:
            lead[t % n_arms] += 1
        else:
            lead[t % n_arms] -= 1
    return committed(rewards, max(range(n_arms), key=lambda a: lead[a] + rng.laplace(0, scale / EPSILON)))


def counted_by_a_condition(rewards, rng, scale=1.0):
    horizon, n_arms = rewards.shape
    good = [
        sum(1 if rewards[t, a] >= 0.5 else 0 for t in range(a, horizon // 2, n_arms)) for a in range(n_arms)
    ]
    return committed(rewards, max(range(n_arms), key=lambda a: good[a] + rng.laplace(0, scale / EPSILON)))


def flipped_bits(rewards, rng, keep=KEEP):
    """Randomised response by exclusive or."""
    horizon, n_arms = rewards.shape
    told = [0] * n_arms
    for t in range(horizon // 2):
        bit = int(rewards[t, t % n_arms] > 0.5)
        bit ^= int(rng.random() < 1 - keep)
        told[t % n_arms] += bit
    return committed(rewards, max(range(n_arms), key=lambda a: told[a]))


def flipped_arrays(rewards, rng, keep=KEEP):
    """Rewards are rounded by coins, and then the bits are flipped."""
    values = rewards[np.arange(len(rewards) // 2), np.arange(len(rewards) // 2) % rewards.shape[1]]
    bits = np.logical_xor(rng.random(values.shape) < values, rng.random(values.shape) >= keep)
    told = [np.sum(bits[arm :: rewards.shape[1]]) for arm in range(rewards.shape[1])]
    return committed(rewards, int(np.argmax(told)))


def counted_twice_by_a_branch(rewards, rng):
    """What is counted beside shows as it is."""
    horizon, n_arms = rewards.shape
    good, calls = [0] * n_arms, 0
    for t in range(horizon // 2):
        if rewards[t, t % n_arms] > 0.5:
            good[t % n_arms] += 1
            calls += 1
    arm = max(range(n_arms), key=lambda a: good[a] + rng.laplace(0, 1 / EPSILON))
    return committed(rewards, arm, (int(calls) % 2,))


def seldom_and_raw(rewards, rng):
    """A raw condition behind one that seldom holds: what it adds is not hidden by enough noise."""
    horizon, n_arms = rewards.shape
    good = [0] * n_arms
    for t in range(horizon // 2):
        seldom = round(rng.laplace(0, 1), 6) > 1e9
        if seldom and rewards[t, t % n_arms] > 0.5:
            good[t % n_arms] += 9
    return committed(rewards, max(range(n_arms), key=lambda a: good[a] + rng.laplace(0, 1 / EPSILON)))


def raw_side(rewards, rng):
    """A condition on noise, between raw numbers."""
    sums = explored(rewards)
    best = sums[0] if sums[0] + rng.laplace(0, 1 / EPSILON) > 3 else sums[1]
    return committed(rewards, 0, (1 if best > 3 else 0,))


def entries_from_the_start(rewards, rng):
    totals = dict.fromkeys(range(rewards.shape[1]), 0.0)
    return _from_a_dictionary(rewards, rng, totals)


def entries_as_they_come(rewards, rng):
    """Arms without a positive reward have no entry, and no noise."""
    return _from_a_dictionary(rewards, rng, defaultdict(float))


def _from_a_dictionary(rewards, rng, totals):
    horizon, n_arms = rewards.shape
    asked = [t % n_arms for t in range(horizon - 3)]
    for t, arm in enumerate(asked):
        if rewards[t, arm] > 0:
            totals[arm] += rewards[t, arm]
    noisy = {arm: total + rng.laplace(0, 1 / EPSILON) for arm, total in totals.items()}
    best = max(range(n_arms), key=lambda arm: noisy.get(arm, 0.0))
    return asked + [best] * 3


def phases_by_cases(rewards, rng, steep=1.0, seldom=None):
    """The last case always fits; what follows if none did, or what `seldom` fits, is looked at too."""
    horizon, n_arms = rewards.shape
    arms, sums, phase = [], np.zeros(n_arms), "explore"
    for t in range(horizon):
        match phase:
            case "explore" if t < horizon - 4:
                arms.append(t % n_arms)
                sums[arms[-1]] += rewards[t, arms[-1]]
            case "explore":
                noisy = sums + rng.laplace(0, 1 / steep / EPSILON, n_arms)
                match int(rng.integers(0, 1000)):
                    case 7 if seldom:
                        noisy = sums
                    case _:
                        phase = "commit"
                arms.append(int(np.argmax(noisy)))
            case "commit":
                arms.append(arms[-1])
    return arms


def responding(keep, n_arms):
    """A function that another one makes, and which knows what that one was given."""

    def respond(arm, rng):
        if rng.random() < keep:
            return arm
        return (arm + int(rng.integers(1, n_arms))) % n_arms

    return respond


def winner_by_response(rewards, rng, steep=1.0):
    """The raw winner, by a function of its position, leaves through a response."""
    sums = explored(rewards)
    lifted = math.exp(steep * EPSILON)
    respond = responding(lifted / (lifted + len(sums) - 1), len(sums))
    return committed(rewards, respond(max(range(len(sums)), key=lambda arm: (sums[arm], -arm)), rng))


def winner_told(rewards, rng):
    sums = explored(rewards)
    return committed(rewards, max(range(len(sums)), key=sums.__getitem__))


RIGHT = {
    phases_by_cases: EPSILON,
    winner_by_response: EPSILON,
    **dict.fromkeys((best_so_far, least_so_far, turned_about, told_by_a_coin, turned_by_a_coin), EPSILON),
    **dict.fromkeys((leader_by_a_coin, rounded_by_a_coin, rounded_by_binomial, sampled_by_a_branch), EPSILON),
    proposed_from_a_list: EPSILON,
    entries_from_the_start: EPSILON,
    **dict.fromkeys(
        (counted_by_a_branch, weighed_by_a_branch, counted_by_a_condition, flipped_bits, flipped_arrays),
        EPSILON,
    ),
}
LEAKS = [
    *(twin(winner_by_response, steep=2.0), winner_told),
    *(twin(phases_by_cases, steep=2.0), twin(phases_by_cases, seldom=True)),
    *(twin(f, scale=0.5) for f in (best_so_far, least_so_far, turned_about, sampled_by_a_branch)),
    *(twin(f, keep=0.9) for f in (told_by_a_coin, turned_by_a_coin)),
    *(twin(f, scale=0.5) for f in (rounded_by_a_coin, rounded_by_binomial)),
    *(twin(leader_by_a_coin, more=2.0), twin(proposed_from_a_list, steep=2.0)),
    *(
        leads_told,
        entries_as_they_come,
        value_told,
        same_noise_for_all,
        nobody_leads,
        raw_best,
        seldom_raw,
        told_twice_by_coins,
        coin_used_again,
    ),
    *(rounded_and_doubled, biased_by_rewards_twice, rounded_and_told, rounded_and_branched, sampled_and_told),
    *(accepted_too_often, accepted_surely, gives_up, proposals_counted, looked_up_before),
    *(twin(f, scale=0.5) for f in (counted_by_a_branch, counted_by_a_condition)),
    *(twin(weighed_by_a_branch, scale=1.0), twin(flipped_bits, keep=0.9), twin(flipped_arrays, keep=0.9)),
    *(counted_twice_by_a_branch, seldom_and_raw, raw_side),
]
