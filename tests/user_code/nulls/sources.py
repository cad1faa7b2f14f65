"""Noise that does not come straight from `rng`: other libraries, the operating system, hand-written
generators.

All explore, then commit to the larger noisy sum, or tell bits; what differs is where the randomness is from.
"""

import functools
import hashlib
import itertools
import math
import os
import random
import secrets
import time
import uuid

import numpy as np
import scipy.stats


def commit(rewards, noise, rounds):
    """Alternate for some public rounds, then play the arm with the larger sum plus noise."""
    horizon, n_arms = rewards.shape
    sums = [rewards[arm:rounds:n_arms, arm].sum() + noise() for arm in range(n_arms)]
    return np.concatenate([np.arange(rounds) % n_arms, np.full(horizon - rounds, np.argmax(sums))])


def standard_random(rewards, rng, epsilon=1.0):
    """Epsilon 1: Laplace noise of scale 1 / epsilon as a difference of two `random.expovariate`, seeded by
    the operating system, on sums of sensitivity 1.
    """
    return commit(rewards, lambda: random.expovariate(epsilon) - random.expovariate(epsilon), 8)


def system_random(rewards, rng, epsilon=2.0):
    """Epsilon 2: exponentials of rate epsilon from `secrets.SystemRandom`, on sums of sensitivity 1."""
    source = secrets.SystemRandom()
    return commit(rewards, lambda: source.expovariate(epsilon) - source.expovariate(epsilon), 6)


def os_urandom(rewards, rng, epsilon=1.0):
    """Epsilon 1: 8 bytes of `os.urandom` make a uniform, the inverse CDF makes it Laplace of scale 1 /
    epsilon, on sums of sensitivity 1.
    """

    def noise():
        u = (int.from_bytes(os.urandom(8), "big") + 0.5) / 2**64 - 0.5
        return -math.copysign(math.log1p(-2 * abs(u)), u) / epsilon if abs(u) < 0.5 else 0.0

    return commit(rewards, noise, 10)


def dev_urandom(rewards, rng, epsilon=3.0):
    """Epsilon 3: uniforms are read from /dev/urandom; -log u is exponential, and the difference of two is
    Laplace, at scale 1 / epsilon on sums of sensitivity 1.
    """
    with open("/dev/urandom", "rb", buffering=0) as device:
        words = np.frombuffer(device.read(16 * rewards.shape[1]), dtype="<u8")
    uniforms = (words.astype(float) + 1) / (2.0**64 + 1)
    exponentials = iter(-np.log(uniforms) / epsilon)
    return commit(rewards, lambda: next(exponentials) - next(exponentials), 6)


def numpy_global(rewards, rng, epsilon=1.0):
    """Epsilon 1: NumPy's old global generator, seeded by the operating system; Laplace noise of scale 1 /
    epsilon on sums of sensitivity 1.
    """
    return commit(rewards, lambda: np.random.laplace(0, 1 / epsilon), 8)  # noqa: NPY002


def numpy_global_response(rewards, rng, epsilon=4.0):
    """Epsilon 4, exactly: each reward's bit is flipped with probability 1 / (1 + e^4) by `np.random.rand` and
    is the next arm.
    """
    arms = [1]
    for t in range(len(rewards) - 1):
        bit = rewards[t, arms[t]] > 0.5
        arms.append(int(bit ^ (np.random.rand() < 1 / (1 + math.exp(epsilon)))))  # noqa: NPY002
    return arms


GENERATOR = np.random.default_rng(20240229)


def module_generator(rewards, rng, epsilon=1.0):
    """Epsilon 1 to whoever does not know the seed: a generator made once, at import, gives Laplace noise of
    scale 1 / epsilon to sums of sensitivity 1. No two runs of a process share noise.
    """
    return commit(rewards, lambda: GENERATOR.laplace(0, 1 / epsilon), 8)


UNSEEDED = np.random.default_rng()


def unseeded_generator(rewards, n_runs, rng, epsilon=2.0):
    """Epsilon 2: a generator made at import from the operating system's entropy; sums of disjoint rewards of
    sensitivity 1 get Laplace noise of scale 1 / epsilon, each run its own.
    """
    horizon = len(rewards)
    sums = np.array([rewards[:6:2, 0].sum(), rewards[1:6:2, 1].sum()])
    winners = (sums + UNSEEDED.laplace(scale=1 / epsilon, size=(n_runs, 2))).argmax(axis=1)
    return np.column_stack([np.tile([0, 1], (n_runs, 3)), *[winners] * (horizon - 6)])


@functools.cache
def process_generator():
    """The one generator of this process, made when it is first needed."""
    return np.random.Generator(np.random.PCG64(31415926))


def once_a_process(rewards, rng, epsilon=5.0):
    """Epsilon 5, exactly, to whoever does not know the seed: a generator of this module's own, made at the
    first call, flips each reward's bit with probability 1 / (1 + e^5); the bit is the next arm.
    """
    coins = process_generator().random(len(rewards))
    arms = [0]
    for t, coin in enumerate(coins[:-1]):
        bit = int(rewards[t, arms[t]] > 0.5)
        arms.append(1 - bit if coin < 1 / (1 + math.exp(epsilon)) else bit)
    return np.array(arms)


def fresh_generator(rewards, rng, epsilon=1.0):
    """Epsilon 1: each run makes its own generator from the operating system's entropy; Laplace noise of scale
    1 / epsilon on sums of sensitivity 1.
    """
    own = np.random.default_rng()
    return commit(rewards, lambda: own.laplace(0, 1 / epsilon), 6)


def congruential(rewards, rng, epsilon=2.0):
    """Epsilon 2: Knuth's 64-bit linear congruential generator, seeded from `rng` for each run; the top 53
    bits make uniforms, -log u exponentials, their difference Laplace of scale 1 / epsilon. Sums have
    sensitivity 1.
    """
    state = int(rng.integers(0, 2**64, dtype=np.uint64))

    def exponential():
        nonlocal state
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        return -math.log(((state >> 11) + 1) / 2**53) / epsilon

    return commit(rewards, lambda: exponential() - exponential(), 8)


def xorshift(rewards, rng, epsilon=3.0):
    """Epsilon 3, exactly: Marsaglia's xorshift, with Vigna's multiplier, seeded from `os.urandom` for each
    run, flips the bit of each reward with probability 1 / (1 + e^3); the bit is the next arm.
    """
    x = int.from_bytes(os.urandom(8), "little") | 1
    arms = [0]
    for t in range(len(rewards) - 1):
        x ^= x >> 12
        x = (x ^ (x << 25)) % 2**64
        x ^= x >> 27
        u = ((x * 2685821657736338717) % 2**64) / 2**64
        told = (rewards[t][arms[-1]] > 0.5) != (u * (1 + math.exp(epsilon)) < 1)
        arms.append(int(told))
    return arms


CALLS = itertools.count()


def clock_seed(rewards, rng, epsilon=1.0):
    """Epsilon 1: SplitMix64 started from the nanoseconds of the clock, mixed with the number of the call. To
    whoever does not know that time the noise is Laplace of scale 1 / epsilon; sums have sensitivity 1.
    """
    state = (time.time_ns() * 0x2545F4914F6CDD1D + next(CALLS) * 0xD1342543DE82EF95) % 2**64

    def uniform():
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
        return (((z ^ (z >> 31)) >> 11) + 1) / 2**53

    return commit(rewards, lambda: math.log(uniform() / uniform()) / epsilon, 6)


KEY = os.urandom(32)
COUNTER = itertools.count()


def hashed_counter(rewards, rng, epsilon=2.0):
    """Epsilon 2: SHA-256 of a secret key, drawn at import, and a counter that never repeats makes uniforms;
    log(u / v) is Laplace of scale 1, divided by epsilon on sums of sensitivity 1.
    """

    def noise():
        digest = hashlib.sha256(KEY + next(COUNTER).to_bytes(8, "big")).digest()
        u, v = (int.from_bytes(half, "big") + 1 for half in (digest[:16], digest[16:]))
        return (math.log(u) - math.log(v)) / epsilon

    return commit(rewards, noise, 8)


def hashed_responses(rewards, rng, epsilon=3.0):
    """Epsilon 3, to 4 digits below: BLAKE2 of a key from `rng` and the round gives 16 bits; the reward's bit
    is flipped if they are below 3109, and 3109 / 65536 is a little more than 1 / (1 + e^3). The bit is the
    next arm.
    """
    key = rng.bytes(16)
    arms = [0]
    for t in range(len(rewards) - 1):
        digest = hashlib.blake2b(t.to_bytes(4, "little"), key=key, digest_size=2).digest()
        flip = int.from_bytes(digest, "little") < 3109
        arms.append(int((rewards[t, arms[t]] > 0.5) != flip))
    return np.array(arms)


def integers_only(rewards, rng, epsilon=1.0986122886681098):
    """Epsilon log 3, exactly: three of four outcomes of `secrets.randbelow(4)` tell the truth about a
    reward's bit, one its opposite; the told bit is the next arm.
    """
    arms = [0]
    for t in range(len(rewards) - 1):
        bit = int(rewards[t, arms[t]] > 0.5)
        arms.append(bit if secrets.randbelow(4) else 1 - bit)
    return arms


def coins_of_uuids(rewards, rng, epsilon=5.0):
    """Epsilon 5, exactly: the first 48 bits of a version 4 UUID are uniform; one in 1 + e^5 of them flips the
    told bit of which arm had the larger sum.
    """
    horizon = len(rewards)
    second = rewards[1:8:2, 1].sum() > rewards[0:8:2, 0].sum()
    flip = (uuid.uuid4().int >> 80) / 2**48 < 1 / (1 + math.exp(epsilon))
    return [0, 1] * 4 + [int(second != flip)] * (horizon - 8)


def spawned(rewards, n_runs, rng, epsilon=1.0):
    """Epsilon 1: each run has a child of `rng` to itself; Laplace noise of scale 1 / epsilon on sums of
    sensitivity 1.
    """
    return np.array(
        [commit(rewards, functools.partial(own.laplace, 0, 1 / epsilon), 6) for own in rng.spawn(n_runs)]
    )


def keyed_philox(rewards, rng, epsilon=4.0):
    """Epsilon 4: Philox keyed by 128 bits from `rng` for each run; Laplace noise of scale 1 / epsilon on sums
    of sensitivity 1.
    """
    own = np.random.Generator(np.random.Philox(key=int.from_bytes(rng.bytes(16), "big")))
    return commit(rewards, lambda: own.laplace(0, 1 / epsilon), 6)


def scipy_laplace(rewards, rng, epsilon=1.0):
    """Epsilon 1: `scipy.stats.laplace` with `rng` as its random state and scale 1 / epsilon, on sums of
    sensitivity 1.
    """
    return commit(rewards, lambda: scipy.stats.laplace.rvs(scale=1 / epsilon, random_state=rng), 8)


def mersenne(rewards, n_runs, rng, epsilon=3.0):
    """Epsilon 3: a Mersenne twister seeded by the operating system at each call; all rows have Laplace noise
    of scale 1 / epsilon of their own on sums of sensitivity 1.
    """
    own = np.random.Generator(np.random.MT19937())
    return np.stack([commit(rewards, lambda: own.laplace(0, 1 / epsilon), 4) for _ in range(n_runs)])


def pool_of_noise(rewards, rng, epsilon=2.0, pool=[]):  # noqa: B006
    """Epsilon 2: noise is drawn 1000 at a time and kept between calls; each value is used once, so that every
    run has fresh Laplace noise of scale 1 / epsilon on sums of sensitivity 1.
    """

    def noise():
        if not pool:
            pool.extend((UNSEEDED.standard_exponential(1000) - UNSEEDED.standard_exponential(1000)).tolist())
        return pool.pop() / epsilon

    return commit(rewards, noise, 6)
