import asyncio
import math
import random


class AsyncBandit:
    def __init__(self, n_arms, epsilon=1.5, batch=3):
        self.n_arms, self.epsilon, self.batch = n_arms, epsilon, batch
        self.released = [0.0] * n_arms
        self.count = [0] * n_arms
        self.queue = [[] for _ in range(n_arms)]
        self.lock = asyncio.Lock()

    def _noise(self):
        u = random.uniform(-0.5, 0.5)
        return -math.copysign(1 / self.epsilon, u) * math.log(max(1 - 2 * abs(u), 1e-300))

    async def select(self):
        async with self.lock:
            for a in range(self.n_arms):
                if self.count[a] == 0:
                    return a
            t = sum(self.count)
            return max(range(self.n_arms),
                       key=lambda a: self.released[a] / self.count[a] + math.sqrt(math.log(1 + t) / self.count[a]))

    async def update(self, arm, reward):
        async with self.lock:
            self.queue[arm].append(reward)
            if len(self.queue[arm]) == self.batch:
                self.released[arm] += sum(self.queue[arm]) + self._noise()
                self.count[arm] += self.batch
                self.queue[arm].clear()


async def _demo():
    bandit = AsyncBandit(2)
    for _ in range(36):
        a = await bandit.select()
        await bandit.update(a, random.random())
    return bandit.released


if __name__ == "__main__":
    print(asyncio.run(_demo()))
