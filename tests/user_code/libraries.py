"""Bandits of river, MABWiser and SMPyBandits as they are: makers that an audit calls for every run.

None of them promises privacy. Those that are named after chance ignore their rewards.
"""

import numpy as np
import scipy.special


def river_ucb(n_arms, seed):
    from river import bandit

    return bandit.UCB(delta=1, seed=seed)


def river_epsilon_greedy(n_arms, seed):
    from river import bandit

    return bandit.EpsilonGreedy(epsilon=0.1, seed=seed)


def river_thompson(n_arms, seed):
    from river import bandit, proba

    return bandit.ThompsonSampling(reward_obj=proba.Beta(seed=seed), seed=seed)


def river_random(n_arms, seed):
    from river import bandit

    return bandit.RandomPolicy(seed=seed)


def mabwiser_epsilon_greedy(n_arms, seed):
    from mabwiser.mab import MAB, LearningPolicy

    return MAB(list(range(n_arms)), LearningPolicy.EpsilonGreedy(epsilon=0.1), seed=seed)


def mabwiser_ucb(n_arms, seed):
    from mabwiser.mab import MAB, LearningPolicy

    return MAB(list(range(n_arms)), LearningPolicy.UCB1(alpha=1), seed=seed)


def mabwiser_softmax(n_arms, seed):
    from mabwiser.mab import MAB, LearningPolicy

    return MAB(list(range(n_arms)), LearningPolicy.Softmax(tau=0.1), seed=seed)


def mabwiser_random(n_arms, seed):
    from mabwiser.mab import MAB, LearningPolicy

    return MAB(list(range(n_arms)), LearningPolicy.Random(), seed=seed)


def _policies():
    # SMPyBandits 0.9.7 imports this old name, which scipy 1.14 has dropped.
    if not hasattr(scipy.special, "btdtri"):
        scipy.special.btdtri = scipy.special.betaincinv
    # Its import changes what numpy does on division by zero, for the whole process.
    with np.errstate():
        from SMPyBandits import Policies

    return Policies


def smpybandits_ucb(n_arms):
    return _policies().UCB(n_arms)


def smpybandits_epsilon_greedy(n_arms):
    return _policies().EpsilonGreedy(n_arms, epsilon=0.1)


def smpybandits_softmax(n_arms):
    return _policies().Softmax(n_arms, temperature=0.1)


def smpybandits_uniform(n_arms):
    return _policies().Uniform(n_arms)


# ---------------------------------------------------------------- with contexts


def river_linucb(n_arms, seed):
    from river import bandit

    return bandit.LinUCBDisjoint(alpha=1.0, seed=seed)


def mabwiser_linucb(n_arms, seed):
    from mabwiser.mab import MAB, LearningPolicy

    return MAB(list(range(n_arms)), LearningPolicy.LinUCB(alpha=1.0), seed=seed)


def mabwiser_lingreedy(n_arms, seed):
    from mabwiser.mab import MAB, LearningPolicy

    return MAB(list(range(n_arms)), LearningPolicy.LinGreedy(epsilon=0.1), seed=seed)


def contextualbandits_linucb(n_arms, seed):
    from contextualbandits.online import LinUCB

    return LinUCB(n_arms, alpha=1.0, random_state=seed, njobs=1)
