"""Champion against challenger, with Laplace noise free of outliers.

A round of the contest gives the challenger six pulls.  The sum of its rewards gets
Laplace(1/epsilon) noise and the challenger becomes champion when the noisy sum is at
least half of the pulls.  The champion then gets four pulls (not learned from) before
the next challenger comes.  Wild noise values, which would only upset the contest, are
drawn again.  Claims epsilon = 1.5 (pure).
"""
EPSILON = 1.5
PULLS, REST = 6, 4
CAP = 4.0              # in units of the noise scale


def calm_laplace(scale, rng):
    while True:
        noise = rng.laplace(0.0, scale)
        if abs(noise) <= CAP * scale:
            return noise


def challengers(n_arms, champion):
    return [(champion + k) % n_arms for k in range(1, n_arms)]


def play(rewards, rng):
    T, K = rewards.shape
    actions, champion, turn = [], 0, 0
    while len(actions) < T:
        line = challengers(K, champion)
        rival = line[turn % len(line)]
        turn += 1
        total = 0.0
        for _ in range(min(PULLS, T - len(actions))):
            total += rewards[len(actions), rival]
            actions.append(rival)
        if total + calm_laplace(1.0 / EPSILON, rng) >= PULLS / 2:
            champion = rival
        actions.extend([champion] * min(REST, T - len(actions)))
    return actions
