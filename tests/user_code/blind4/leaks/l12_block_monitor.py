"""Leaves the current arm after a block whose loss exceeds a randomised limit."""

EPS = 2.0
BLOCK = 8


def play(rewards, rng):
    T, K = rewards.shape
    limit = 0.5 * BLOCK + rng.laplace(0, 2.0 / EPS)
    current, acts, block_loss, moved = 0, [], 0.0, False
    for t in range(T):
        acts.append(current)
        block_loss += 1.0 - rewards[t, current]
        if (t + 1) % BLOCK == 0:
            if not moved and block_loss > limit:
                current = (current + 1) % K
                moved = True
            block_loss = 0.0
    return acts
