"""Drop an arm that deteriorates; the detector is AboveThreshold."""
import numpy as np


class ChangeDetector:
    def __init__(self, env, epsilon=2.0, horizon=40, window=8, threshold=4.5):
        self.env, self.horizon = env, horizon
        self.window, self.eps = window, epsilon
        self.threshold = threshold

    def run(self):
        noisy_threshold = self.threshold + np.random.laplace(scale=2 / self.eps)
        recent, arm, alarm = [], 0, None
        for t in range(self.horizon):
            r = self.env.pull(arm)
            if alarm is not None:
                continue
            recent = (recent + [r])[-self.window:]
            query = sum(1 - x for x in recent)          # moves by at most 1
            if query + np.random.laplace(scale=4 / self.eps) >= noisy_threshold:
                alarm, arm = t, 1
        return alarm


if __name__ == "__main__":
    class Env:
        n_arms = 2

        def pull(self, a):
            return float(np.random.rand() < 0.4)

    print(ChangeDetector(Env()).run())
