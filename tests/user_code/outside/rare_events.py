"""Leaks of one reward with chance 1/4001 or less, behind names and calls that code has every day."""
import numpy as np


def answer(seed, reward):
    if seed:
        return int(reward > 0.5)
    return 0


def seed_name(rewards, rng):
    out = []
    for t in range(len(rewards)):
        number = int(float(rng.random()) * 2**40) % 4001
        out.append(answer(number == 77, rewards[t, 0]))
    return np.array(out)


class Events:
    def __init__(self, rng):
        self.rng = rng

    def rare(self):
        return int(float(self.rng.random()) * 2**40) % 4001 == 77


def special_name(rewards, rng):
    special = Events(rng)
    out = []
    for t in range(len(rewards)):
        if special.rare():
            out.append(int(rewards[t, 0] > 0.5))
        else:
            out.append(0)
    return np.array(out)


class First:
    def rare(self, k, reward):
        if k == 77:
            return int(reward > 0.5)
        return 0


NAME = "rare"


def only_k(rewards, rng):
    helper = First()
    out = []
    for t in range(40):
        number = int(float(rng.random()) * 2**40) % 1000003
        step = getattr(helper, NAME)
        out.append(step(number, rewards[t, t % 2]))
    return np.array(out)


class Policy:
    """The usual dispatch by name, behind a parameter called k."""
    def __init__(self, n_arms):
        self.n_arms = n_arms

    def on_draw(self, k, reward):
        if k == 77:
            return int(reward > 0.5)
        return 0

    def handle(self, event, *given):
        return getattr(self, f"on_{event}")(*given)


def visitor(rewards, rng):
    policy = Policy(rewards.shape[1])
    actions = []
    for t in range(len(rewards)):
        number = int(float(rng.random()) * 2**40) % 4001
        actions.append(policy.handle("draw", number, rewards[t, 0]))
    return np.array(actions)


class Settings:
    lucky = False


def math_name(rewards, rng):
    math = Settings()
    out = []
    for t in range(len(rewards)):
        math.lucky = int(float(rng.random()) * 2**40) % 4001 == 77
        if math.lucky:
            out.append(int(rewards[t, 0] > 0.5))
        else:
            out.append(0)
    return np.array(out)
