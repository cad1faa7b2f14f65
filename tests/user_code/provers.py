"""The programs of the provers' benchmark in plain NumPy, each answering queries that may all move by 1.

CheckDP (Wang, Ding, Kifer & Zhang, CCS 2020) and ShadowDP (PLDI 2019) prove or refute them in languages of
their own. `RIGHT` gives the bound of each on five queries, EPSILON being 1; `WRONG` ones have none there.
"""

from __future__ import annotations

import numpy as np

EPSILON = 1.0
LIMIT = 1  # answers above the threshold


def noisy_max(queries, rng):
    return int(np.argmax(queries + rng.laplace(0, 2 / EPSILON, len(queries))))


def bad_noisy_max(queries, rng):
    """Returns the noisy maximum itself."""
    return float(np.max(queries + rng.laplace(0, 2 / EPSILON, len(queries))))


def sparse_vector(queries, rng):
    threshold, found, answers = 1.0 + rng.laplace(0, 2 / EPSILON), 0, []
    for q in queries:
        if found < LIMIT:
            above = q + rng.laplace(0, 4 * LIMIT / EPSILON) >= threshold
            found += int(above)
            answers.append(int(above))
    return answers + [0] * (len(queries) - len(answers))


def bad_sparse_vector_1(queries, rng):
    """No noise on the queries, and no limit."""
    threshold = 1.0 + rng.laplace(0, 2 / EPSILON)
    return [int(q >= threshold) for q in queries]


def bad_sparse_vector_2(queries, rng):
    """No limit."""
    threshold = 1.0 + rng.laplace(0, 2 / EPSILON)
    return [int(q + rng.laplace(0, 2 / EPSILON) >= threshold) for q in queries]


def bad_sparse_vector_3(queries, rng):
    """The noise of the queries does not grow with the limit, and is meant for less than they move."""
    threshold, found, answers = 1.0 + rng.laplace(0, 4 / EPSILON), 0, []
    for q in queries:
        if found < LIMIT:
            above = q + rng.laplace(0, 4 / (3 * EPSILON)) >= threshold
            found += int(above)
            answers.append(int(above))
    return answers + [0] * (len(queries) - len(answers))


def gap_sparse_vector(queries, rng):
    """Tells by how much the noisy query lies above the noisy threshold."""
    threshold, found, answers = 1.0 + rng.laplace(0, 2 / EPSILON), 0, []
    for q in queries:
        if found < LIMIT:
            noisy = q + rng.laplace(0, 4 * LIMIT / EPSILON)
            if noisy >= threshold:
                answers.append(noisy - threshold)
                found += 1
            else:
                answers.append(0.0)
    return answers + [0.0] * (len(queries) - len(answers))


def bad_gap_sparse_vector(queries, rng):
    """Tells the noisy query itself, whose noise decided before."""
    threshold, found, answers = 1.0 + rng.laplace(0, 2 / EPSILON), 0, []
    for q in queries:
        if found < LIMIT:
            noisy = q + rng.laplace(0, 2 * LIMIT / EPSILON)
            if noisy >= threshold:
                answers.append(noisy)
                found += 1
            else:
                answers.append(0.0)
    return answers + [0.0] * (len(queries) - len(answers))


def numeric_sparse_vector(queries, rng):
    """Tells the answer with fresh noise, which takes a third of the budget."""
    threshold, found, answers = 1.0 + rng.laplace(0, 3 / EPSILON), 0, []
    for q in queries:
        if found < LIMIT:
            if q + rng.laplace(0, 6 * LIMIT / EPSILON) >= threshold:
                answers.append(q + rng.laplace(0, 3 * LIMIT / EPSILON))
                found += 1
            else:
                answers.append(0.0)
    return answers + [0.0] * (len(queries) - len(answers))


def bad_numeric_sparse_vector(queries, rng):
    """The answer has the noise of the comparisons, whose scale is that of the gap."""
    threshold, found, answers = 1.0 + rng.laplace(0, 2 / EPSILON), 0, []
    for q in queries:
        if found < LIMIT:
            if q + rng.laplace(0, 4 * LIMIT / EPSILON) >= threshold:
                answers.append(q + rng.laplace(0, LIMIT / EPSILON))
                found += 1
            else:
                answers.append(0.0)
    return answers + [0.0] * (len(queries) - len(answers))


def adaptive_sparse_vector(queries, rng):
    """A first look with much noise; only what does not stand out by far is looked at again."""
    threshold, answers, spent = 1.0 + rng.laplace(0, 2 / EPSILON), [], 0.0
    for q in queries:
        if spent > EPSILON / 2 - EPSILON / 4:
            answers.append(0)
            continue
        if q + rng.laplace(0, 16 / EPSILON) - threshold >= 10.0:
            answers.append(2)
            spent += EPSILON / 8
        elif q + rng.laplace(0, 8 / EPSILON) - threshold >= 0:
            answers.append(1)
            spent += EPSILON / 4
        else:
            answers.append(0)
    return answers


def bad_adaptive_sparse_vector(queries, rng):
    """A first look has too little noise, and what it costs is forgotten."""
    threshold, answers, spent = 1.0 + rng.laplace(0, 2 / EPSILON), [], 0.0
    for q in queries:
        if spent > EPSILON / 4:
            answers.append(0)
            continue
        if q + rng.laplace(0, 1 / EPSILON) - threshold >= 10.0:
            answers.append(2)
        elif q + rng.laplace(0, 8 / EPSILON) - threshold >= 0:
            answers.append(1)
            spent += EPSILON / 4
        else:
            answers.append(0)
    return answers


def partial_sum(queries, rng):
    """One of the queries moves by at most 1."""
    return float(sum(queries) + rng.laplace(0, 1 / EPSILON))


def bad_partial_sum(queries, rng):
    return float(sum(queries) + rng.laplace(0, 1 / (2 * EPSILON)))


def smart_sum(queries, rng):
    """Running sums from blocks of two; a query is in one block and in one tail."""
    done, tail, answers = 0.0, 0.0, []
    for i, q in enumerate(queries):
        if (i + 1) % 2 == 0:
            done = done + tail + q + rng.laplace(0, 2 / EPSILON)
            tail = 0.0
            answers.append(done)
        else:
            noisy = q + rng.laplace(0, 2 / EPSILON)
            tail = tail + q
            answers.append(done + noisy)
    return answers


def bad_smart_sum(queries, rng):
    """A query enters two sums, each of which has noise for one."""
    done, answers = 0.0, []
    for i, q in enumerate(queries):
        done = done + q
        answers.append(done + rng.laplace(0, 1 / EPSILON) if i % 2 else done + rng.laplace(0, 2 / EPSILON))
    return answers


def noisy_max_gaussian(queries, rng):
    return int(np.argmax(queries + rng.normal(0, SIGMA, len(queries))))


def sum_gaussian(queries, rng):
    return float(sum(queries) + rng.normal(0, SIGMA))


SIGMA = 4.0
ALL, ONE = "every query moves by at most 1", "one query moves by at most 1"
RIGHT = {
    noisy_max: (ALL, 1.0),
    sparse_vector: (ALL, 1.0),
    gap_sparse_vector: (ALL, 1.0),
    numeric_sparse_vector: (ALL, 1.0),
    adaptive_sparse_vector: (ALL, 0.8125),
    partial_sum: (ONE, 1.0),
    smart_sum: (ONE, 1.0),
}
WRONG = {
    bad_noisy_max: ALL,
    bad_sparse_vector_1: ALL,
    bad_sparse_vector_2: ALL,
    bad_sparse_vector_3: ALL,
    bad_gap_sparse_vector: ALL,
    bad_numeric_sparse_vector: ALL,
    bad_adaptive_sparse_vector: ALL,
    bad_partial_sum: ONE,
    bad_smart_sum: ONE,
}
# Neighbouring queries on which the bad programs give most away.
WORST = {
    bad_noisy_max: ((0.0,) * 5, (1.0,) * 5),
    bad_sparse_vector_1: ((1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0, 0.0)),
    bad_sparse_vector_2: ((0.5, 0.5, 1.5, 1.5, 1.5), (1.5, 1.5, 0.5, 0.5, 0.5)),
    bad_sparse_vector_3: ((0.0, 0.0, 0.0, 0.0, 1.0), (1.0, 1.0, 1.0, 1.0, 0.0)),
    bad_gap_sparse_vector: ((0.0, 0.0, 0.0, 0.0, 1.0), (1.0, 1.0, 1.0, 1.0, 0.0)),
    bad_numeric_sparse_vector: ((3.0, 0.0, 0.0, 0.0, 0.0), (4.0, 0.0, 0.0, 0.0, 0.0)),
    bad_adaptive_sparse_vector: ((11.5, 11.5, 11.5, 10.5, 10.5), (10.5, 10.5, 10.5, 11.5, 11.5)),
    bad_partial_sum: ((0.0,) * 5, (1.0, 0.0, 0.0, 0.0, 0.0)),
    bad_smart_sum: ((0.0,) * 5, (1.0, 0.0, 0.0, 0.0, 0.0)),
}
