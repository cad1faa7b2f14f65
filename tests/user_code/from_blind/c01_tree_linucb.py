"""Private LinUCB with a binary tree over rounds (joint DP, pure).

What round t adds is (upper triangle of x x', r x), x the context of the arm that was played.  With |x|_2 <= 1 its L1
norm is at most B = (d+1)/2 + sqrt(d).  If the user of round t is another one, the arm of round t may be another one too,
but the addition is still one vector of L1 norm <= B: the nodes with round t move by at most 2B, and there are L of
them.  Noise Laplace(2 B L / eps) on every entry.  Round t's own choice sees x_t in the clear: that is what "joint"
allows.  No count of pulls is used.
"""
import numpy as np


class TreeLinUCB:
    def __init__(self, n_arms, dim, horizon, epsilon=3.0, rng=None):
        self.d, self.rng = dim, rng
        self.iu = np.triu_indices(dim)
        self.L = int(np.floor(np.log2(horizon))) + 1
        B = (dim + 1) / 2 + np.sqrt(dim)
        self.scale = 2 * B * self.L / epsilon
        m = len(self.iu[0]) + dim
        self.exact, self.noisy = np.zeros((self.L, m)), np.zeros((self.L, m))
        self.t = 0

    def _released(self):
        bits = [i for i in range(self.L) if self.t >> i & 1]
        return self.noisy[bits].sum(axis=0) if bits else np.zeros(self.noisy.shape[1])

    def select(self, context):
        s = self._released()
        m = len(self.iu[0])
        V = np.zeros((self.d, self.d))
        V[self.iu] = s[:m]
        V = V + V.T - np.diag(np.diag(V))
        low = np.linalg.eigvalsh(V).min()
        V = V + (1 + max(0.0, -low)) * np.eye(self.d)
        theta = np.linalg.solve(V, s[m:])
        width = np.sqrt(np.einsum("ki,ij,kj->k", context, np.linalg.inv(V), context))
        return int(np.argmax(context @ theta + 0.5 * width))

    def update(self, context, arm, reward):
        x = context[arm]
        item = np.concatenate([np.outer(x, x)[self.iu], reward * x])
        self.t += 1
        low = (self.t & -self.t).bit_length() - 1
        self.exact[low] = item + self.exact[:low].sum(axis=0)
        self.exact[:low] = 0
        self.noisy[:low] = 0
        self.noisy[low] = self.exact[low] + self.rng.laplace(0, self.scale, len(item))
