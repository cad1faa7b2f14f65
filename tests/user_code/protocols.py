"""One bandit in many forms, as research code is written: epsilon is a parameter, noise follows from it."""

from dataclasses import dataclass

import numpy as np


class Core:
    """Takes the arms in turn for half of the rounds, then the one with the largest noisy sum."""

    def __init__(self, n_arms, horizon, epsilon, rng=None):
        self.n_arms, self.horizon, self.eps = n_arms, horizon, epsilon
        self.rng = rng if rng is not None else np.random.default_rng()
        self.sums, self.count, self.leader = np.zeros(n_arms), 0, None

    def _next(self):
        if self.count < self.horizon // 2:
            return self.count % self.n_arms
        if self.leader is None:
            noise = self.rng.laplace(0, 1 / self.eps, self.n_arms)
            self.leader = int(np.argmax(self.sums + noise))
        return self.leader

    def _see(self, arm, reward):
        if self.count < self.horizon // 2:
            self.sums[arm] += reward
        self.count += 1


class Named(Core):
    def get_arm(self, t):
        assert t == self.count
        return self._next()

    def observe(self, rew, t, arm_idx):
        assert t == self.count
        self._see(arm_idx, rew)


class Stepping(Core):
    def step(self, last_reward, last_arm):
        if last_arm is not None:
            self._see(last_arm, last_reward)
        return self._next()


class Running(Core):
    def run(self, env):
        env.reset()
        for _ in range(self.horizon):
            arm = self._next()
            self._see(arm, env.pull(arm))
        raise RuntimeError("the plots that come after a run are not needed")


class Gym(Core):
    def fit(self, env):
        _obs, done = env.reset(), False
        assert env.action_space.n == self.n_arms == len(env)
        while not done:
            action = self._next()
            _obs, reward, done, _info = env.step(action)
            self._see(action, reward)


def train(env, epsilon, rng):
    """The interface of gymnasium."""
    core = Core(env.action_space.n, env.T, epsilon, rng)
    _, _info = env.reset(seed=1)
    while True:
        result = env.step(core._next())
        _, reward, terminated, truncated, _info = result
        core._see(core._next(), reward)
        if terminated or truncated:
            break


def draws(bandit, horizon, eps, seed=0):
    core = Core(bandit.K, horizon, eps, np.random.default_rng(seed))
    for t in range(horizon):
        arm = core._next()
        core._see(arm, bandit.draw(t, arm))
    return core.sums


def indexed(env, T, eps):
    core = Core(env.n_arms, T, eps, np.random.default_rng())
    for _ in range(T):
        arm = core._next()
        core._see(arm, env.step(arm)[1])


def pulls(pull, K, T, eps):
    core = Core(K, T, eps)
    for _ in range(T):
        arm = core._next()
        core._see(arm, pull(arm))


class Turns(Core):
    """One round a call, in the environment of the constructor."""

    def __init__(self, env, epsilon):
        super().__init__(env.n_arms, env.horizon, epsilon)
        self.env = env

    def step(self):
        arm = self._next()
        self._see(arm, self.env.sample_reward(arm))


class Objects(Core):
    """Arms are objects."""

    def __init__(self, arms, epsilon):
        super().__init__(len(arms), 0, epsilon)
        self.arms = arms

    def simulate(self, T):
        self.horizon = T
        for _ in range(T):
            arm = self._next()
            self._see(arm, self.arms[arm].draw())


class Configured(Core):
    def __init__(self, config):
        super().__init__(config["n_arms"], config.horizon, config.get("epsilon"))
        self.quiet = config.get("quiet", True)

    def select(self):
        return self._next()

    def update(self, arm, reward):
        self._see(arm, reward)


@dataclass
class Numbers:
    K: int
    T: int
    epsilon: float


class Dataclass(Core):
    def __init__(self, numbers: Numbers):
        super().__init__(numbers.K, numbers.T, numbers.epsilon)

    act = Core._next

    def learn(self, action, reward):
        self._see(action, reward)


def yielding(n_arms, horizon, rng, epsilon):
    core = Core(n_arms, horizon, epsilon, rng)
    while True:
        arm = core._next()
        reward = yield arm
        core._see(arm, reward)


class Async(Core):
    async def choose_arm(self):
        return self._next()

    async def update(self, arm, reward):
        self._see(arm, reward)


async def awaiting(env, horizon, epsilon):
    core = Core(env.K, horizon, epsilon)
    for _ in range(horizon):
        arm = core._next()
        core._see(arm, await env.pull(arm))


async def async_yielding(n_arms, horizon, epsilon):
    core = Core(n_arms, horizon, epsilon)
    while True:
        arm = core._next()
        core._see(arm, (yield arm))


async def coroutine(rewards, rng, epsilon):
    return with_epsilon(rewards, epsilon, rng)


def with_epsilon(rewards, epsilon, rng):
    horizon, n_arms = rewards.shape
    core = Core(n_arms, horizon, epsilon, rng)
    arms = []
    for t in range(horizon):
        arm = core._next()
        core._see(arm, rewards[t, arm])
        arms.append(arm)
    return np.array(arms)


class Casino:
    """An environment that code makes by itself."""

    def __init__(self, probabilities):
        self.probabilities = probabilities

    def sample_from(self, arm):
        return float(np.random.rand() < self.probabilities[arm]), 0.1  # noqa: NPY002 - as it is written


def inside(T, epsilon):
    casino, core = Casino([0.3, 0.7]), Core(2, T, epsilon)
    for _ in range(T):
        arm = core._next()
        reward, _ = casino.sample_from(arm)
        core._see(arm, reward)


def payout(which):
    return float(np.random.rand() < 0.5)  # noqa: NPY002


def by_function(n_rounds, epsilon):
    core = Core(2, n_rounds, epsilon)
    for _ in range(n_rounds):
        arm = core._next()
        core._see(arm, payout(arm))


TAKEN = (
    *("Named", "Stepping", "Running", "Gym", "train", "draws", "indexed", "pulls", "Turns", "Objects"),
    *(
        "Configured",
        "Dataclass",
        "yielding",
        "Async",
        "awaiting",
        "async_yielding",
        "coroutine",
        "with_epsilon",
    ),
)
REPLACED = {"inside": "Casino.sample_from", "by_function": "payout"}
