"""Exponential-mechanism bandit.

python b17_argparse_expmech.py --horizon 30 --epsilon 0.5
"""
import argparse

import numpy as np


class Env:
    def __init__(self, k, rng):
        self.mu = rng.random(k)
        self.n_arms = k
        self.rng = rng

    def pull(self, arm):
        return float(self.rng.random() < self.mu[arm])


def exponential_mechanism(utility, sensitivity, epsilon):
    p = np.exp(epsilon * (utility - utility.max()) / (2 * sensitivity))
    return np.random.choice(len(utility), p=p / p.sum())


def experiment(env, horizon, epsilon):
    K = env.n_arms
    u = np.zeros(K)
    for t in range(20):
        u[t % K] += env.pull(t % K)
    arm = exponential_mechanism(u, sensitivity=1 / K, epsilon=epsilon)
    total = u.sum()
    for t in range(20, horizon):
        total += env.pull(arm)
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--arms", type=int, default=4)
    parser.add_argument("--horizon", type=int, default=30)
    parser.add_argument("--epsilon", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    print(experiment(Env(args.arms, np.random.default_rng(args.seed)), args.horizon, args.epsilon))


if __name__ == "__main__":
    main()
