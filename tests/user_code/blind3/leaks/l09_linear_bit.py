"""One-bit reports of rewards; an arm is kept while its bit is 1."""


def bit(reward, epsilon, rng):
    return rng.random() < 0.5 + epsilon * (reward - 0.5)


def play(rewards, rng, epsilon=0.5):
    arm, actions = 0, []
    for t in range(len(rewards)):
        actions.append(arm)
        if not bit(rewards[t, arm], epsilon, rng):
            arm = 1 - arm
    return actions
