"""A bandit on Vowpal Wabbit, or on a small learner with its interface: examples are lines of text.

What is learnt comes as ``shared |user a:.5 b:-1``, ``0:-1:.5 |action arm0`` (arm, cost, chance) and
``|action arm1``. Neither promises privacy.
"""

import numpy as np


class Squared:
    """Scores by gradient descent on pairs of features of the user and of the action; explores a little."""

    def __init__(self, epsilon=0.1, rate=0.5):
        self.weights, self.epsilon, self.rate = {}, epsilon, rate

    @staticmethod
    def _features(text):
        found = {}
        for word in text.split("|", 1)[1].split()[1:]:
            name, _, value = word.partition(":")
            found[name] = float(value) if value else 1.0
        return found

    def _pairs(self, lines):
        user = self._features(lines[0])
        for line in lines[1:]:
            own = self._features(line)
            yield {(a, b): x * y for a, x in {**user, "1": 1.0}.items() for b, y in own.items()}

    def _score(self, pairs):
        return sum(self.weights.get(name, 0.0) * value for name, value in pairs.items())

    def predict(self, lines):
        scores = [self._score(pairs) for pairs in self._pairs(lines)]
        chances = [self.epsilon / len(scores)] * len(scores)
        chances[scores.index(min(scores))] += 1 - self.epsilon
        return chances

    def learn(self, lines):
        for line, pairs in zip(lines[1:], self._pairs(lines), strict=True):
            label = line.split("|")[0].strip()
            if label:
                missed = float(label.split(":")[1]) - self._score(pairs)
                for name, value in pairs.items():
                    self.weights[name] = self.weights.get(name, 0.0) + self.rate * missed * value


class OnLines:
    """Turns contexts, arms and rewards into lines; draws arms with the chances that it is told."""

    def __init__(self, learner, n_arms, rng):
        self.learner, self.n_arms, self.rng = learner, n_arms, rng
        self.chances = None

    def _lines(self, context, arm=None, reward=None):
        words = " ".join(f"f{i}:{float(x):.4f}" for i, x in enumerate(context))
        lines = [f"shared |user {words}"]
        for each in range(self.n_arms):
            label = f"{each}:{-float(reward):.4f}:{self.chances[each]:.4f} " if each == arm else ""
            lines.append(f"{label}|action arm{each}")
        return lines

    def select(self, context):
        found = np.array(self.learner.predict(self._lines(context)))
        self.chances = found / found.sum()
        return int(self.rng.choice(self.n_arms, p=self.chances))

    def update(self, context, arm, reward):
        self.learner.learn(self._lines(context, arm, reward))


def small(n_arms, rng):
    return OnLines(Squared(), n_arms, rng)


class Ignoring(Squared):
    """Learns nothing."""

    def learn(self, lines):
        pass


def ignoring(n_arms, rng):
    return OnLines(Ignoring(), n_arms, rng)


def wabbit(n_arms, rng):
    from vowpalwabbit import Workspace

    return OnLines(
        Workspace("--cb_explore_adf --epsilon 0.1 -q ua --quiet -b 8 --random_seed 1"), n_arms, rng
    )
