"""Champion selection for warehouse routes with one-sided noise.

A small state machine alternates between a survey (each route driven the same number of times) and a
lease of the champion.  The champion is the argmax of survey totals plus exponential noise of mean
1/epsilon, which is epsilon-DP when one total moves by at most one and the others stay.  Only rewards of
the current survey are used; lease rewards are not recorded.  Claims epsilon = 0.5.
"""
import numpy as np

EPSILON = 0.5


def make_router(n_routes, rng, rounds_per_route=2, lease=2):
    state = ("survey", 0)
    totals = [0.0] * n_routes
    champion = None

    def one_sided(total):
        return total - np.log1p(-rng.random()) / EPSILON

    def choose():
        match state:
            case ("survey", k):
                return k % n_routes
            case ("lease", _):
                return champion

    def report(route, reward):
        nonlocal state, totals, champion
        match state:
            case ("survey", k) if k + 1 < rounds_per_route * n_routes:
                totals[route] += min(1.0, max(0.0, reward))
                state = ("survey", k + 1)
            case ("survey", _):
                totals[route] += min(1.0, max(0.0, reward))
                scores = [one_sided(s) for s in totals]
                champion = max(range(n_routes), key=scores.__getitem__)
                state = ("lease", 1)
            case ("lease", k) if k < lease:
                state = ("lease", k + 1)
            case ("lease", _):
                totals, champion = [0.0] * n_routes, None
                state = ("survey", 0)

    return choose, report


def play(rewards, rng):
    horizon, n_routes = rewards.shape
    choose, report = make_router(n_routes, rng)
    actions = []
    for t in range(horizon):
        route = choose()
        report(route, float(rewards[t, route]))
        actions.append(route)
    return np.array(actions)
