"""Batched bandit that skips missing responses.

A reward of exactly zero is a missing response (the user closed the page).  A batch
of an arm goes on until it has four valid responses; their sum gets Laplace(1/epsilon)
noise, and because the number of responses per batch is fixed the noisy mean has
sensitivity 1/4.  Arms take turns; after a full turn the best noisy mean is played
for four rounds, then a new turn begins.  Claims epsilon = 1.0 (pure).
"""
import heapq

EPSILON = 1.0
NEEDED = 4
BONUS = 4


def batches(n_arms, rng):
    """Coroutine: yields the arm to play and is sent its reward."""
    while True:
        board = []
        for arm in range(n_arms):
            valid = []
            while len(valid) < NEEDED:
                reward = yield arm
                if reward > 0.0:
                    valid.append(min(reward, 1.0))
            mean = (sum(valid) + rng.laplace(0.0, 1.0 / EPSILON)) / NEEDED
            heapq.heappush(board, (-mean, arm))
        best = board[0][1]
        for _ in range(BONUS):
            yield best


def play(rewards, rng):
    T, K = rewards.shape
    policy = batches(K, rng)
    arm = next(policy)
    actions = [arm]
    for t in range(T - 1):
        arm = policy.send(float(rewards[t, arm]))
        actions.append(arm)
    return actions
