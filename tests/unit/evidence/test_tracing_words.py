"""Each sentence of tracing that accuses a line: a leak of which it is said, a right twin without it."""

import numpy as np
import pytest

from verifiable_dp.auditing import traced
from verifiable_dp.auditing.request import Inputs, Promise
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.tracing import ledger, trace
from verifiable_dp.record import words

HORIZON = 6


def arms(choice):
    return np.full(HORIZON, int(choice))


def branch(rewards, rng):
    return arms(1 if rewards[0, 0] > 0.5 else 0)


def branch_right(rewards, rng):
    return arms(1 if rewards[0, 0] + rng.laplace() > 0.5 else 0)


def index(rewards, rng):
    return arms(np.array([1, 0])[rewards[0, 0].astype(int)])


def index_right(rewards, rng):
    noisy = rewards[0, 0] + rng.laplace()
    return arms(np.array([1, 0])[int(noisy > 0.5)])


def argmax(rewards, rng):
    return arms(np.argmax(rewards[:2].sum(axis=0)))


def argmax_right(rewards, rng):
    return arms(np.argmax(rewards[:2].sum(axis=0) + rng.laplace(0, 1, 2)))


def rows_in_place(rewards, rng):
    """Noise, then data, then more noise, row by row in place: each sum is seen after its noise alone."""
    sums = np.zeros((2, 2))
    for round_ in range(2):
        for arm in range(2):
            sums[arm] += rng.laplace(0, 4, 2)
        sums[round_ % 2] += rewards[round_, 0] * np.array([1.0, 0.5])
    return arms(np.argmax(sums.sum(axis=1)))


def rows_in_place_bare(rewards, rng):
    """As `rows_in_place`, but one row is never hidden."""
    sums = np.zeros((2, 2))
    sums[0] += rng.laplace(0, 4, 2)
    for round_ in range(2):
        sums[round_ % 2] += rewards[round_, 0] * np.array([1.0, 0.5])
    return arms(np.argmax(sums[1]) if rng.random() < 2 else 0)


def returned(rewards, rng):
    return np.where(rewards[:, 0] > 0.5, 1, 0)


def returned_right(rewards, rng):
    return np.where(rewards[:, 0] + rng.laplace(0, 1, HORIZON) > 0.5, 1, 0)


def chance(rewards, rng):
    return arms(rng.poisson(rewards[0, 0] * 5) > 2)


def chance_right(rewards, rng):
    return arms(rng.poisson(5 * max(0.0, float(rewards[0, 0] + rng.laplace()))) > 2)


def text(rewards, rng):
    return arms(f"{rewards[0, 0]:.0f}" == "1")


def text_right(rewards, rng):
    return arms(f"{rewards[0, 0] + rng.laplace():.0f}" == "1")


def number(rewards, rng):
    return arms(float(rewards[0, 0]) > 0.5)


def number_right(rewards, rng):
    return arms(float(rewards[0, 0] + rng.laplace()) > 0.5)


def one_draw_twice_told(rewards, rng):
    noise = rng.laplace()
    first, second = float(rewards[0, 0] + noise), float(2 * rewards[0, 0] + noise)
    return arms(second - first > 0.5)


def draws_of_their_own(rewards, rng):
    noise = rng.laplace(0, 3, 2)
    first, second = float(rewards[0, 0] + noise[0]), float(2 * rewards[0, 0] + noise[1])
    return arms(second - first > 0.5)


def half_used(rewards, rng):
    one, other = rng.exponential(), rng.exponential()
    first, second = float(rewards[0, 0] + (one - other)), float(rewards[0, 0] + other)
    return arms(first - second > 0)


def half_right(rewards, rng):
    one, other = rng.exponential(), rng.exponential()
    first, second = float(rewards[0, 0] + (one - other)), float(rng.exponential())
    return arms(first - second > 0)


def told(rewards, rng):
    coin = rng.random(HORIZON) < 0.7
    bits = rewards[:, 0] > 0.5
    return np.where(coin, bits, ~bits).astype(int) * 0 + coin.astype(int)


def told_right(rewards, rng):
    coin = rng.random(HORIZON) < 0.73
    bits = rewards[:, 0] > 0.5
    return np.where(coin, bits, ~bits).astype(int)


def chances(rewards, rng):
    coin = rng.random()
    bit = coin < 0.4 + 0.2 * rewards[0, 0]
    return arms(int(bit) if coin < 0.9 else 0)


def chances_right(rewards, rng):
    bit = rng.random() < 0.4 + 0.2 * rewards[0, 0]
    return arms(int(bit) if rng.random() < 0.9 else 0)


SENTENCES = [
    (ledger.words_of("branch"), branch, branch_right),
    (ledger.words_of("index"), index, index_right),
    (ledger.words_of("argmax"), argmax, argmax_right),
    (ledger.words_of("argmax"), rows_in_place_bare, rows_in_place),
    (ledger.words_of("output"), returned, returned_right),
    (ledger.words_of("chance"), chance, chance_right),
    (ledger.words_of("text"), text, text_right),
    (ledger.words_of("number"), number, number_right),
    (trace.SHARED, one_draw_twice_told, draws_of_their_own),
    (trace.HALF, half_used, half_right),
    (trace.COINS, told, told_right),
    (trace.CHANCES, chances, chances_right),
]


INPUTS = Inputs(2, HORIZON)


def said(function, inputs=INPUTS, **promised):
    promise = Promise(epsilon=1.0, **promised)
    check, _ = traced.trace(function, "it", 1.0, inputs, 0, traced.Effort(10, most=20), promise)
    return "\n".join(words.leads(Check.read(check.as_dict()))), check


@pytest.mark.parametrize(
    ("sentence", "leak", "right"), SENTENCES, ids=[leak.__name__ for _, leak, _ in SENTENCES]
)
def test_a_sentence_is_said_of_a_leak_and_of_no_right_twin(sentence, leak, right):
    """Control of each other: they differ in what stands before the data is used."""
    assert sentence in said(leak)[0]
    assert said(right)[0] == ""


def test_every_sentence_that_accuses_has_a_twin():
    """But `unsettled`, which accuses nobody; `shared` and `seeds` have theirs in `unit/auditing`."""
    accusing = {*map(ledger.words_of, ledger.WORDS), trace.SHARED, trace.HALF, trace.COINS, trace.CHANCES}
    assert {sentence for sentence, _, _ in SENTENCES} == accusing - {
        ledger.words_of(one) for one in ("unsettled", "shared", "seeds")
    }


def test_noise_before_data_hides_it_by_itself():
    """The cost is that of data before noise: L1 norm 1.5 at scale 4, once."""
    _, check = said(rows_in_place)
    assert check.statistics["max_cost"] == pytest.approx(1.5 / 4)


def table(contexts, rewards, rng):
    """One noisy table; a user's own context picks the row that is read for it."""
    half, value, chosen = len(contexts) // 2, np.zeros((2, 2)), rng.integers(2, size=len(contexts))
    for t in range(half):
        value[int(contexts[t, 0] > 0), chosen[t]] += rewards[t, chosen[t]] - 0.5
    value = value + rng.laplace(0, 1, value.shape)
    for t in range(half, len(contexts)):
        chosen[t] = int(np.argmax(value[int(contexts[t, 0] > 0)]))
    return chosen


def test_other_entries_of_a_draw_are_not_the_same_draw():
    """Where a user's own row is read, other cells come out than on the neighbouring input."""
    text, check = said(table, Inputs(2, 8, contexts=2), model="joint")
    assert trace.SHARED not in text  # control: `one_draw_twice_told`, of which it is said
    assert check.verdict == "not_refuted"
    assert not check.result["holds"]


@pytest.mark.parametrize(("scale", "within"), [(5.0, True), (1.0, False)])
def test_normal_noise_is_charged_at_the_delta_of_the_claim(scale, within):
    """It costs inf at delta 0 however large it is; at 1e-5 a scale of 5 costs .78, a scale of 1 above 1."""

    def play(rewards, rng):
        return arms(float(rewards[0, 0] + rng.normal(0, scale)) > 0.5)

    text, check = said(play, delta=1e-5)
    assert "costs inf" not in text
    assert (text == "") == within
    assert check.result["holds"] == within
    pure, _ = said(play)
    assert "costs inf" in pure  # control: of a claim without delta that is true
