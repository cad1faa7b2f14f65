"""Local randomised response with memoisation, feeding a two-arm stay/switch rule.

Repeated answers to the same question are memoised (as RAPPOR does with its
permanent response) so that an answer cannot be averaged out over time.  A
private 1 keeps the arm, a private 0 switches.  Claims epsilon = 1.0 (pure).
"""
import math

EPSILON = 1.0


class PermanentResponse:
    def __init__(self, epsilon, rng):
        self.e = math.exp(epsilon)
        self.rng = rng
        self.memory = {}

    def __call__(self, arm, reward):
        key = (arm, round(float(reward), 2))
        if key not in self.memory:
            p = (1.0 + key[1] * (self.e - 1.0)) / (1.0 + self.e)
            self.memory[key] = bool(self.rng.random() < p)
        return self.memory[key]


def play(rewards, rng):
    T, K = rewards.shape
    respond = PermanentResponse(EPSILON, rng)
    arm = 0
    path = []
    for t in range(T):
        path.append(arm)
        if not respond(arm, rewards[t, arm]):
            arm = (arm + 1) % K
    return path
