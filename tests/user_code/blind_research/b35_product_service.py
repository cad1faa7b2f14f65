"""Offer optimisation service: picks the banner, learns from clicks; per-click epsilon-DP by design."""
import json
import logging
import math
import secrets

log = logging.getLogger(__name__)
_sysrand = secrets.SystemRandom()


def _geometric(q: float) -> int:
    """P(k) = (1 - q) q^k"""
    return int(math.log(1.0 - _sysrand.random()) / math.log(q))


class OfferOptimizer:
    FLUSH_EVERY = 9

    def __init__(self, n_arms: int, epsilon: float = 1.0) -> None:
        self._q = math.exp(-epsilon)
        self._n_arms = n_arms
        self._buffer = [0] * n_arms
        self._wins = [0] * n_arms
        self._clock = 0

    def choose(self) -> int:
        if self._clock % (2 * self.FLUSH_EVERY) < self.FLUSH_EVERY:
            return self._clock % self._n_arms
        return max(range(self._n_arms), key=self._wins.__getitem__)

    def record(self, arm: int, reward: float) -> None:
        learning = self._clock % (2 * self.FLUSH_EVERY) < self.FLUSH_EVERY
        self._clock += 1
        if learning:
            self._buffer[arm] += _sysrand.random() < reward
            if self._clock % (2 * self.FLUSH_EVERY) == self.FLUSH_EVERY:
                self._flush()

    def _flush(self) -> None:
        for i, n in enumerate(self._buffer):
            self._wins[i] += n + _geometric(self._q) - _geometric(self._q)
        self._buffer = [0] * self._n_arms
        log.debug("flushed %s", self.snapshot())

    def snapshot(self) -> str:
        return json.dumps({"wins": self._wins, "clock": self._clock})


if __name__ == "__main__":
    service = OfferOptimizer(3)
    for _ in range(45):
        a = service.choose()
        service.record(a, _sysrand.random())
    print(service.snapshot())
