"""The parent chooses events and counts their hits: results stay the same, and made-up counts are refused."""

import json
import random
import sys

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.commands import CAGED, run, writes_files
from tests.e2e.test_child import forkable  # noqa: F401  used in every test here
from verifiable_dp import api
from verifiable_dp.core.validate import InputError
from verifiable_dp.targets import counting

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux")


def laplace(data, size, rng):
    return data + rng.laplace(0, 1, size)


def leaks(data, size, rng):
    return data + rng.laplace(0, 0.25, size)


def one(data, rng):
    return data + rng.laplace(0, 1)


def vector(data, size, rng):
    return np.sum(data) + rng.laplace(0, 1, (size, 1))


def text(data, size, rng):
    return np.where(rng.random(size) < np.exp(1) / (1 + np.exp(1)), str(data > 0.5), str(data <= 0.5))


def gaussian(data, size, rng):
    return data + rng.normal(0, 3.0, (size, 2))


def global_noise(data, size, rng):
    return data + np.random.laplace(0, 1, size)  # noqa: NPY002


def shared(data, size, rng):
    """Every other draw takes the noise of the one before it."""
    return data + np.repeat(rng.laplace(0, 1, (size + 1) // 2), 2)[:size]


def play(rewards, rng):
    half, n_arms = len(rewards) // 2, rewards.shape[1]
    arms = np.arange(len(rewards)) % n_arms
    sums = np.array([rewards[arm:half:n_arms, arm].sum() for arm in range(n_arms)])
    arms[half:] = np.argmax(sums + rng.laplace(0, 1, n_arms))
    return arms


def plays_leak(rewards, rng):
    arms = play(rewards, rng)
    arms[-1] = int(rewards[0, 0] > 0.5)
    return arms


def play_many(rewards, n_runs, rng):
    return np.array([play(rewards, rng) for _ in range(n_runs)])


def old_random(rewards, rng):
    arms = [t % 2 for t in range(len(rewards))]
    total = float(rewards[0, 0]) + random.gauss(0, 4.0)
    return [*arms[:-1], int(total > 0.5)]


def contextual(contexts, rewards, rng):
    return [int(rng.random() < 0.5) for _ in contexts]


BANDIT = {"n_arms": 2, "horizon": 12}
FORMS = {
    "release": (laplace, {}),
    "release that leaks": (leaks, {}),
    "one draw a call": (one, {}),
    "vectors": (vector, {"pairs": [(np.zeros(3), np.array([0.0, 1.0, 0.0]))]}),
    "text": (text, {}),
    "delta": (gaussian, {"delta": 1e-2}),
    "curve": (gaussian, {"delta": 1e-2, "curve": True}),
    "rho": (gaussian, {"epsilon": None, "rho": 0.5}),
    "sequential": (laplace, {"sequential": True}),
    "sequential leak": (leaks, {"sequential": True}),
    "adjacency": (vector, {"adjacency": "add-remove"}),
    "noise of the process": (global_noise, {}),
    "draws that depend on each other": (shared, {}),
    "play": (play, BANDIT),
    "play that leaks": (plays_leak, BANDIT),
    "play_many": (play_many, BANDIT),
    "noise of the standard library": (old_random, BANDIT),
    "contexts": (contextual, {**BANDIT, "contexts": 2}),
    "group": (play, {**BANDIT, "group": 2}),
}


BY_NIGHT = pytest.param(7, marks=pytest.mark.slow)  # one seed is enough for the day
# Forms that take long, and are counted as others are.
DEAR = (
    *("delta", "curve", "rho", "noise of the process", "play_many", "contexts", "vectors", "sequential leak"),
    *("noise of the standard library", "draws that depend on each other", "adjacency", "play"),
)
NAMES = [pytest.param(name, marks=BY_NIGHT.marks if name in DEAR else ()) for name in FORMS]


def audited(target, given, **more):
    asked = {"epsilon": 1.0, "runs": 1000, **given, **more}
    return vdp.audit(target, **asked).record


def bare(record):
    return json.dumps({**record, "provenance": None, "digest": None}, sort_keys=True)


@pytest.mark.parametrize("seed", [0, BY_NIGHT])
@pytest.mark.parametrize("name", NAMES)
def test_counts_are_those_of_an_audit_in_one_process(name, seed):
    target, given = FORMS[name]
    here, there = (audited(target, given, seed=seed, in_process=apart) for apart in (True, False))
    assert bare(here) == bare(there)
    assert there["provenance"]["counted"]["asked_again"] > 0
    assert "counted" not in here["provenance"]
    assert ("own-temporary-files" in there["provenance"].get("cage", ())) == CAGED
    assert any(check["kind"] in ("black_box", "sequential") for check in there["checks"])


# ---------------------------------------------------------------- code that lies

RIGHT = "import os\n\ndef right(data, size, rng):\n    return data + rng.laplace(0, 1, size)\n"
# It changes what its process sends, as any code could that knows ours; `edit` is called with each message.
EVIL = """
from verifiable_dp.targets import child

send, write = child._send, child._write

def other(channel, message):
    changed = edit(message)
    send(channel, message if changed is None else changed)

child._send = other
"""
LIES = {
    "counts": (
        'if "answer" in m: m["answer"]["draft"]["checks"][0]["statistics"]["k1"] += 1',
        "the counts of 'black box' are not those of the runs that its process sent",
    ),
    "no test": (
        'if "answer" in m: del m["answer"]["draft"]["checks"][0]',
        "had none of its runs counted",
    ),
    "another event": (
        'if "answer" in m: m["answer"]["draft"]["checks"][0]["statistics"]["event"] = "output 1 >= 0"',
        "are not those of the runs",
    ),
    "more noise where it counts": (
        'if "asks" in m and "events" in m["asks"]: m["asks"]["sampler"]["factor"] = 9.0',
        "chosen on other runs",
    ),
    "other neighbours where it counts": (
        'if "asks" in m and "events" in m["asks"]: m["asks"]["pair"]["words"] = "data 0 against 0"',
        "chosen on other runs",
    ),
    "more noise": (
        'if "asks" in m: m["asks"]["sampler"]["factor"] = 9.0',
        "are not those of the runs",
    ),
    "endless runs": (
        'if "asks" in m: m["asks"]["sizes"] = [1 << 31, 1 << 31]',
        "more runs than there can be",
    ),
    "no numbers": ('if "asks" in m: m["asks"]["sizes"] = [1.5, "1"]', "a number that is none"),
    "no sampler": (
        'if "asks" in m: m["asks"]["sampler"]["function"] = "os.system"',
        "sampler that there is not",
    ),
    "nothing": ('if "asks" in m: m["asks"] = None', "runs that cannot be read"),
    "an event that there is not": (
        'if "asks" in m and "events" in m["asks"]: m["asks"]["events"] = [99]',
        "runs that cannot be read",
    ),
    "runs twice": (
        'if "part" in m: m["part"] = 0',
        "runs of another form than it was asked for",
    ),
    "fewer runs": (
        'if "bytes" in m: m["width"], m["bytes"] = 1, 8',
        "runs of another form than it was asked for",
    ),
    "a part that there is not": ('if "part" in m: m["part"] = 77', "runs that cannot be read"),
    "endless bytes": ('if "bytes" in m: m["bytes"] = 1 << 60', "runs that cannot be read"),
    "endless numbers of a run": ('if "part" in m: m["width"] = 1 << 20', "a number that is none"),
    "bytes that do not come": ('if "bytes" in m: m["bytes"] += 1', ""),
}


@pytest.mark.parametrize("name", LIES)
def test_made_up_counts_are_refused(name, tmp_path):
    edit, said = LIES[name]
    (tmp_path / "a.py").write_text(f"{RIGHT}{EVIL}\ndef edit(m):\n    {edit}\n", "utf-8")
    done = run(tmp_path, "audit", "a.py:right", "--epsilon", 1, "--runs", 400, "--json", "r.json")
    assert (done.exit_code, done.stdout) == (2, ""), done.stderr
    assert said in done.stderr
    assert not (tmp_path / "r.json").exists()


def test_the_same_code_without_a_lie_is_counted(tmp_path):
    """The control of all lies."""
    (tmp_path / "a.py").write_text(f"{RIGHT}{EVIL}\ndef edit(m):\n    pass\n", "utf-8")
    done = run(tmp_path, "audit", "a.py:right", "--epsilon", 1, "--runs", 400, "--json", "r.json", "-v")
    assert done.exit_code in (0, 3), done.stderr
    assert "its runs were counted in another" in done.stdout
    assert vdp.verify(tmp_path / "r.json").record["provenance"]["counted"]["asked_again"] > 0


def test_an_empty_checkpoint_that_came_with_the_code_is_counted(tmp_path):
    """Broken variant: a file of that name is taken for steps that were counted before."""
    (tmp_path / "a.py").write_text(f"{RIGHT}\n", "utf-8")
    (tmp_path / "ck").touch()
    options = ("--epsilon", 1, "--runs", 400, "--checkpoint", "ck", "--json", "r.json")
    assert run(tmp_path, "audit", "a.py:right", *options).exit_code in (0, 3)
    assert vdp.verify(tmp_path / "r.json").record["provenance"]["counted"]["asked_again"] > 0


def test_code_that_counts_by_itself_has_its_word_refused(tmp_path):
    alone = "\nfrom verifiable_dp.evidence.blackbox import test\ntest._COUNTER.set(None)\n"
    code = RIGHT.replace("    return", "    test._COUNTER.set(None)\n    return") + alone
    (tmp_path / "a.py").write_text(code, "utf-8")
    done = run(tmp_path, "audit", "a.py:right", "--epsilon", 1, "--runs", 400)
    assert (done.exit_code, "are not those of the runs" in done.stderr) == (2, True), done.stderr


@writes_files
@pytest.mark.parametrize(
    ("value", "pair"),
    [("data", ""), ("data", "[(0, 1)]"), ("(data is None)", "[(None, {'a': 'b'})]")],
)
def test_code_that_differs_between_processes_is_not_acquitted(value, pair, tmp_path):
    """Control: the same code without the difference is. Broken variant: such data are not sent along."""
    (tmp_path / "a.py").write_text(
        "import os\nSHIFT = float(os.path.exists('begun'))\nopen('begun', 'w').close()\n"
        f"\ndef right(data, size, rng):\n    return {value} + SHIFT + rng.laplace(0, 1, size)\n"
        + (pair and f"right.neighbours = {pair}\n"),
        "utf-8",
    )
    asked = ("audit", "a.py:right", "--epsilon", 1, "--budget", "smoke", "--json", "r.json")
    done = run(tmp_path, *asked)
    record = vdp.verify(tmp_path / "r.json").record
    assert done.exit_code == 3, done.stderr
    assert record["checks"][-1]["kind"] == "sources"
    assert "came out differently in a fresh process" in record["checks"][-1]["statistics"]["doubts"][0]
    assert run(tmp_path, *asked).exit_code == 0  # from then on it is the same in all of them


@writes_files
def test_a_new_python_knows_nothing_of_what_is_expected(tmp_path, monkeypatch):
    """Large audits ask one. In a copy of the process that has them, code finds what it should send."""
    (tmp_path / "a.py").write_text(
        "import os, sys\nfrom verifiable_dp.targets import counting\n"
        "known, frame = [], sys._getframe()\n"
        "while frame:\n"
        "    known += [one for one in frame.f_locals.get('samples', []) if one.digest]\n"
        "    frame = frame.f_back\n"
        "if known:\n"
        "    counting.Sample.again = lambda self, *given: next(\n"
        "        one.digest for one in known if (one.path, one.runs) == (self.path, self.runs))\n"
        "SHIFT = float(os.path.exists('begun'))\nopen('begun', 'w').close()\n"
        "def right(data, size, rng):\n    return data + SHIFT + rng.laplace(0, 1, size)\n"
    )
    for least, status in ((0, 3), (api._FRESH_RUNS, 0)):
        monkeypatch.setattr(api, "_FRESH_RUNS", least)
        (tmp_path / "begun").unlink(missing_ok=True)
        done = run(tmp_path, "audit", "a.py:right", "--epsilon", 1, "--budget", "smoke")
        assert done.exit_code == status, done.stderr


def test_code_that_raises_where_it_is_counted_says_so():
    def raises(data, size, rng):
        if size > 3000:  # of the test, not of the first runs
            raise ValueError("no more")
        return laplace(data, size, rng)

    with pytest.raises(InputError, match="release raised ValueError: no more"):
        audited(raises, {}, budget="smoke", runs=None)


def test_a_seed_may_be_large():
    record = audited(laplace, {}, runs=400, seed=2**100)
    assert record["seed"] == 2**100
    assert record["provenance"]["counted"]["asked_again"] > 0


def test_counts_do_not_depend_on_the_workers():
    one, two = (audited(play, BANDIT, workers=workers) for workers in (1, 2))
    assert bare(one) == bare(two)


# Each of these was acquitted before the parent kept what it had counted, and for what.
STATES = {
    "delta": "claim=replace(terms.claim, delta=0.3)",
    "alpha": "alpha=1e-300",
    "confidence": "confidence=1 - 1e-12",
    "tests": "tests=10**9",
}


@pytest.mark.parametrize("name", STATES)
def test_levels_are_those_that_were_asked_for(name, tmp_path):
    """Control: `test_the_same_code_without_a_lie_is_counted`."""
    (tmp_path / "a.py").write_text(
        "from dataclasses import replace\nfrom verifiable_dp.evidence.blackbox import test\n"
        "put = test.put_to_test\n\ndef other(sampler, chosen, plan, terms, **more):\n"
        f"    return put(sampler, chosen, plan, replace(terms, {STATES[name]}), **more)\n\n"
        "test.put_to_test = other\n"
        "\ndef right(data, size, rng):\n    return data + rng.laplace(0, 0.8, size)\n"
    )
    done = run(tmp_path, "audit", "a.py:right", "--epsilon", 1, "--runs", 400)
    assert (done.exit_code, f"states another {name}" in done.stderr) == (2, True), done.stderr


# Code that has its runs made on other pairs of inputs, or of other seeds, than was asked: it leaks on what it
# leaves out. Each was acquitted before the parent made the neighbours itself, but for the last.
LEAKS = "def right(data, size, rng):\n    return data + rng.laplace(0, SCALE, size)\n"
FIRST = (
    "import numpy as np\n\ndef right(data, size, rng):\n    some = np.ravel(data)\n"
    "    return some @ (1, 0.1, 0.1, 0.1, 0.1)[: len(some)] + rng.laplace(0, 0.25, size)\n"
)
PLAYS = (
    "import numpy as np\n\ndef right(rewards, rng):\n    arms = rng.integers(0, 2, len(rewards))\n"
    "    arms[0] = 0\n    arms[1] = int(rewards[0, 0] + rng.laplace(0, 0.2) > 0.5)\n    return arms\n"
)
LOOKS = """
from verifiable_dp.auditing import bandits, mechanisms
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.evidence.blackbox import test
from verifiable_dp.targets.load import DataPair

look, rank = mechanisms.look, test.rank

def other(case, candidates, plan, **more):
    OTHER

bandits.look = mechanisms.look = other
"""
NEAR = "DataPair(0.0, 0.15)"
UNSEEN = "TablePair(np.zeros((12, 2)), 5, 1, 1.0)"
CROWD = "[*candidates, *[DataPair(0.0, 0.1 + i / 9999) for i in range(30)]]"
LAST = "test.rank = lambda *given, **more: rank(*given, **more)[::-1]"
LATE = "TablePair(np.zeros((12, 2)), 5, 0, 1.0)"
OTHERS = {
    "other neighbours": (
        LEAKS,
        f"return look(case, [{NEAR}], plan, **more)",
        "did not compare the pairs of inputs",
    ),
    "neighbours that nobody asked for": (
        LEAKS,
        f"return look(case, {CROWD}, plan, **more)",
        "that it was not asked for",
    ),
    "another one than the best": (
        FIRST,
        f"{LAST}; return look(case, candidates, plan, **more)",
        "did not test the pair of inputs that",
    ),
    "other neighbours of a bandit": (
        PLAYS,
        f"return look(case, [{UNSEEN}], plan, **more)",
        "did not compare the pairs of inputs",
    ),
    "other neighbours in the second look": (
        PLAYS.replace("0.2", "0.9"),
        f"return look(case, [{UNSEEN}] if more.get('number') else candidates, plan, **more)",
        "the pair of inputs that it had tested",
    ),
    "runs of the seed that was asked": (
        LEAKS.replace("SCALE", "1.0"),
        "return next(f for n in range(4, 99) if not (f := look(case, candidates, plan, number=n)).refuted)",
        "are not those of the runs",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_runs_are_made_on_what_was_asked(name, tmp_path):
    """Control: `test_the_same_code_without_a_lie_is_counted`."""
    code, other, said = OTHERS[name]
    (tmp_path / "a.py").write_text(code.replace("SCALE", "0.25") + LOOKS.replace("OTHER", other))
    more = ("--arms", 2, "--horizon", 12) if "rewards" in code else ()
    done = run(tmp_path, "audit", "a.py:right", "--epsilon", 1, "--runs", 2000 if more else 400, *more)
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr


def test_counts_that_refute_cannot_be_left_out(tmp_path):
    """Of the second look, where the first one sees nothing. Control: they are in the record."""
    code = PLAYS.replace("arms[1] = int(rewards[0, 0]", "arms[7] = int(rewards[5, 0]")
    code += LOOKS + "from verifiable_dp.auditing import traced\ntraced.trace = lambda *given: None\n"
    made = f"made = look(case, [{LATE}, *candidates] if more.get('number') else candidates, plan, **more)"
    asked = ("--epsilon", 1, "--runs", 2000, "--arms", 2, "--horizon", 12, "--json", "r.json")
    for kept, status in (("look(case, candidates, plan, **more)", 3), ("made", 1)):
        (tmp_path / "a.py").write_text(code.replace("OTHER", f"{made}; return {kept}"))
        done = run(tmp_path, "audit", "a.py:right", *asked)
        told = (tmp_path / "r.json").read_text("utf-8")
        assert (done.exit_code, counting.LEFT_OUT in told) == (status, status == 3), done.stderr


def test_what_the_neighbours_follow_from_is_asked_again(tmp_path):
    """The arms that are said to be played on plain tables, where other ones are. Control: without the lie."""
    code = "\ndef right(rewards, rng):\n    return [0, int(rewards[0, 0] + rng.laplace(0, 0.2) > 0.5)]\n"
    lie = (
        "from verifiable_dp.targets.elsewhere import Elsewhere\nplayed = Elsewhere.played\n"
        "Elsewhere.played = lambda self, sampler, plays: "
        "played(self, sampler, [(path, arms * 0 + 1) for path, arms in plays])\n"
        "from verifiable_dp.evidence.blackbox import search\n"
        "search.PairSearch._modal = lambda self, actions: actions[0] * 0 + 1\n"
        "from verifiable_dp.auditing import traced\ntraced.trace = lambda *given: None\n"
    )
    asked = ("--epsilon", 1, "--arms", 2, "--horizon", 2, "--runs", 400, "--json", "r.json")
    for more, status in ((lie, 3), ("", 1)):
        (tmp_path / "a.py").write_text(more + code)
        done = run(tmp_path, "audit", "a.py:right", *asked)
        assert done.exit_code == status, done.stderr
        told = (tmp_path / "r.json").read_text("utf-8")
        assert ("came out differently in a fresh process" in told) == bool(more)


def test_code_that_knows_the_runs_that_are_counted_is_not_acquitted(tmp_path):
    """It leaks in runs that are counted, at an event that no others choose. Control: it does not leak."""
    code = (
        "import sys\nimport numpy as np\n\n"
        "def right(data, size, rng):\n"
        "    sys._getframe()  # cannot be traced\n"
        "    made = data + rng.laplace(0, 1, size)\n"
        "    return np.where(made > 3, np.round(made), made) if size > 60000 and data > LEAST else made\n"
    )
    for least, status in ((0.5, 3), (9, 0)):
        (tmp_path / "a.py").write_text(code.replace("LEAST", str(least)))
        asked = ("audit", "a.py:right", "--epsilon", 1, "--budget", "smoke", "--json", "r.json")
        done = run(tmp_path, *asked)
        checks = vdp.verify(tmp_path / "r.json").record["checks"]
        doubts = [check["statistics"]["doubts"] for check in checks if check["name"] == "runs counted"]
        assert (done.exit_code, doubts) == (status, [[counting.UNLIKE]] if status else []), done.stderr


def test_a_rerun_is_counted_and_compared(tmp_path):
    (tmp_path / "a.py").write_text(RIGHT, "utf-8")
    given = ("audit", "a.py:right", "--epsilon", 1, "--runs", 400, "--json", "r.json")
    assert run(tmp_path, *given).exit_code in (0, 3)
    assert run(tmp_path, "verify", "r.json", "--rerun").exit_code == 0
