import numpy as np


def play(rewards, rng):
    """DP-UCB with adaptive, doubling, forgetful episodes (in the manner of Azize & Basu 2022).

    An episode pulls ONE arm twice as often as that arm's last episode did.  Its mean is taken over this episode only
    and gets Laplace(1/(n eps)), n its length: sensitivity 1/n.  Episodes are disjoint, one release each: eps-DP.
    """
    eps = 1.0
    T, K = rewards.shape
    last_n = np.ones(K, dtype=int)
    pulls = np.zeros(K)
    mean = np.zeros(K)
    log = []

    def episode(a, n):
        x = []
        while len(x) < n and len(log) < T:
            x.append(rewards[len(log), a])
            log.append(a)
        if len(x) == n:
            mean[a] = np.mean(x) + rng.laplace(0, 1 / (n * eps))
            last_n[a] = n
        pulls[a] += len(x)

    for a in range(K):
        episode(a, 1)
    while len(log) < T:
        width = np.sqrt(np.log(len(log) + 1) / (2 * last_n)) + np.log(len(log) + 1) / (eps * last_n)
        a = int(np.argmax(mean + width))
        episode(a, 2 * int(last_n[a]))
    return np.array(log)
