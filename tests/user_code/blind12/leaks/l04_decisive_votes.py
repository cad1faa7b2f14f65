"""Best-arm identification from randomised votes.

Each reward becomes a vote (good or bad), flipped by randomised response before it is
counted; rewards too close to one half carry no opinion and cast no vote.  The arms are
polled until each has enough votes, then the winner is played.
Claim: epsilon-local-DP for every reward, epsilon = 1.5.
"""
import enum
import math

EPSILON = 1.5
QUORUM = 6
P_TRUE = math.exp(EPSILON) / (1 + math.exp(EPSILON))


class Vote(enum.Enum):
    GOOD = 1
    BAD = -1
    NONE = 0


def opinion(reward):
    match reward:
        case r if r >= 0.55:
            return Vote.GOOD
        case r if r <= 0.45:
            return Vote.BAD
        case _:
            return Vote.NONE


def randomise(vote, rng):
    match vote:
        case Vote.NONE:
            return vote
        case Vote.GOOD | Vote.BAD:
            return vote if rng.random() < P_TRUE else Vote(-vote.value)


def play(rewards, rng):
    horizon, k = rewards.shape
    ballots = {a: [] for a in range(k)}
    path = []
    for t in range(horizon):
        arm = min(ballots, key=lambda a: (len(ballots[a]) >= QUORUM, -len(ballots[a]), a))
        if all(len(b) >= QUORUM for b in ballots.values()):
            arm = max(ballots, key=lambda a: sum(ballots[a][:QUORUM]))
        path.append(arm)
        vote = randomise(opinion(rewards[t, arm]), rng)
        if vote is not Vote.NONE:
            ballots[arm].append(vote.value)
    return path
