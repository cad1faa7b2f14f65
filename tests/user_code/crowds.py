"""Bandits with a context for each arm that regress on noisy sums, and their twins that leak."""

import numpy as np


def clipped(x):
    return x / max(1.0, np.linalg.norm(x))


def symmetric(noise):
    upper = np.triu(noise)
    return upper + np.triu(upper, 1).T


def own_choice(each, gram, vector):
    """The arm that looks best to a user by what is public."""
    d = len(vector)
    theta = np.linalg.solve(gram + 50 * np.eye(d), vector)
    factor = np.linalg.inv(np.linalg.cholesky(gram @ gram + np.eye(d)))
    widths = [np.sqrt(np.maximum(np.sum((factor @ x) ** 2), 0.0)) for x in each]
    return np.argmax([x @ theta + width for x, width in zip(each, widths, strict=True)])


def as_it_is(x):
    return x


def sums(contexts, rewards, draw, sizes, short=clipped):
    """Each user's x x' and r x are released once, with noise of these sizes."""
    horizon, _, d = contexts.shape
    gram, vector, arms = np.zeros((d, d)), np.zeros(d), np.zeros(horizon, int)
    for t in range(horizon):
        arm = own_choice(contexts[t], gram, vector)
        x = short(contexts[t, arm])
        gram = gram + np.outer(x, x) + symmetric(sizes[0] * draw(0, 1, (d, d)))
        vector = vector + rewards[t, arm] * x + sizes[1] * draw(0, 1, d)
        arms[t] = arm
    return arms


def sizes(d, epsilon=1.0):
    """Of Laplace noise: half of epsilon for each of the two releases."""
    return 2 * (d + 1) / epsilon, 4 * np.sqrt(d) / epsilon


def laplace(contexts, rewards, rng):
    return sums(contexts, rewards, rng.laplace, sizes(contexts.shape[2]))


def gaussian(contexts, rewards, rng):
    return sums(contexts, rewards, rng.normal, (8.0, 8.0))


def unclipped(contexts, rewards, rng):
    return sums(contexts, rewards, rng.laplace, sizes(contexts.shape[2]), as_it_is)


def unclipped_gaussian(contexts, rewards, rng):
    return sums(contexts, rewards, rng.normal, (8.0, 8.0), as_it_is)


def bare_gram(contexts, rewards, rng):
    return sums(contexts, rewards, rng.laplace, (0.0, sizes(contexts.shape[2])[1]))


def on_tree(contexts, rewards, rng, share, above):
    """Partial sums of a tree over the users; `above` is the share of inner nodes."""
    horizon, _, d = contexts.shape
    levels = int(horizon).bit_length()
    exact = [(np.zeros((d, d)), np.zeros(d)) for _ in range(levels)]
    noisy = list(exact)
    arms = np.zeros(horizon, int)
    for t in range(horizon):
        gram = sum(node[0] for node in noisy)
        vector = sum(node[1] for node in noisy)
        arm = own_choice(contexts[t], gram, vector)
        x = clipped(contexts[t, arm])
        level, node = 0, (np.outer(x, x), rewards[t, arm] * x)
        while ((t + 1) >> level) % 2 == 0:
            node = (node[0] + exact[level][0], node[1] + exact[level][1])
            exact[level] = noisy[level] = (np.zeros((d, d)), np.zeros(d))
            level += 1
        exact[level] = node
        size = above if level else share
        noisy[level] = (
            node[0] + size * symmetric(rng.laplace(0, sizes(d)[0], (d, d))),
            node[1] + size * rng.laplace(0, sizes(d)[1], d),
        )
        arms[t] = arm
    return arms


def tree(contexts, rewards, rng):
    levels = len(contexts).bit_length()
    return on_tree(contexts, rewards, rng, levels, levels)


def shallow(contexts, rewards, rng):
    return on_tree(contexts, rewards, rng, 1, 1)


def leaves(contexts, rewards, rng):
    return on_tree(contexts, rewards, rng, len(contexts).bit_length(), 0.0)


def follower(contexts, rewards, rng):
    """The choice of each user shows what the user before brought."""
    arms = np.zeros(len(rewards), int)
    for t in range(1, len(rewards)):
        arms[t] = np.argmax(contexts[t - 1, :, 0])
    return arms


def fixed_arm(contexts, rewards, rng):
    """Only the vector is released; its argmax is seen."""
    total, arms = np.zeros(2), []
    for t in range(len(rewards)):
        arms.append(int(np.argmax(np.linalg.solve(np.eye(2), total))))
        x = clipped(contexts[t, 0])
        total = total + rewards[t, 0] * x + rng.laplace(0, 4 * np.sqrt(2), 2)
    return np.array(arms)
