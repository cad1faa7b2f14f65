"""Audits are conducted where no code of the target runs: results stay the same, and nothing is believed."""

import json
import random
import sys

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.commands import CAGED, run, writes_files
from tests.e2e.test_child import forkable  # noqa: F401  used in every test here
from verifiable_dp.api import audits
from verifiable_dp.core.validate import InputError
from verifiable_dp.targets import line
from verifiable_dp.targets.heard import UNLIKE

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
    asked = {"epsilon": 1.0, "runs": 400, **given, **more}
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
    "a verdict": (
        'if "asks" in m: return {"answer": {"verdict": "not_refuted"}}',
        "that we did not ask for",
    ),
    "nothing": ('if "asks" in m: m["asks"] = None', "something that is not a verdict"),
    "no kind": ('if "asks" in m and "kind" in m["asks"]: m["asks"]["kind"] = 1', "that we cannot read"),
    "no function": (
        'if "asks" in m and "kind" in m["asks"]: m["asks"]["function"] = {}',
        "that we cannot read",
    ),
    "endless frames": ('if "asks" in m: m["asks"]["frames"] = 1 << 40', "an answer that we cannot read"),
    "no numbers": ('if "asks" in m and m["asks"].get("arrays"): m["asks"] = {"value": 1}', "in a form"),
    "runs twice": ('if "part" in m: m["part"] = 0', "runs in a form that we did not ask for"),
    "fewer runs": ('if "part" in m: m["width"], m["bytes"] = 1, 8', "runs in a form that we did not ask"),
    "a part that there is not": ('if "part" in m: m["part"] = 77', "runs in a form"),
    "endless bytes": ('if "bytes" in m: m["bytes"] = 1 << 60', "runs that we cannot read"),
    "another form of runs": ('if "part" in m: m["width"] = 1 << 20', "that we cannot read"),
    "objects": ('if "of" in m: m["of"] = "|O8"', "an answer that we cannot read"),
    "bytes that do not come": ('if "bytes" in m: m["bytes"] += 1', "fewer bytes than it announced"),
    "other code": (
        'if "asks" in m and "sha256" in str(m["asks"]): m["asks"]["value"]["sha256"] = "0" * 64',
        "but that is not a file that we run",
    ),
    "an upper bound by public states": (
        'if "asks" in m and "certificate" in str(m["asks"]): m["asks"]["value"][0]["method"] = "states"',
        "an answer that we cannot read",
    ),
    "an upper bound without its certificate": (
        'if "asks" in m and "certificate" in str(m["asks"]): '
        'm["asks"]["value"][0]["certificate"] = {"form": "digest", "of": "traced", "epsilon": 1e-9}',
        "",
    ),
    "an error that there is not": (
        'if "asks" in m and "value" in m["asks"]: m["asks"] = {"refused": {}, "error": []}',
        "",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_answers_that_were_not_asked_for_are_refused(name, tmp_path, monkeypatch):
    monkeypatch.setattr(line, "_SILENT", 1.0)
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
    assert "Another process chose its runs" in done.stdout
    assert vdp.verify(tmp_path / "r.json").record["provenance"]["counted"]["asked_again"] > 0


def test_an_empty_checkpoint_that_came_with_the_code_is_counted(tmp_path):
    """Broken variant: a file of that name is taken for steps that were counted before."""
    (tmp_path / "a.py").write_text(f"{RIGHT}\n", "utf-8")
    (tmp_path / "ck").touch()
    options = ("--epsilon", 1, "--runs", 400, "--checkpoint", "ck", "--json", "r.json")
    assert run(tmp_path, "audit", "a.py:right", *options).exit_code in (0, 3)
    assert vdp.verify(tmp_path / "r.json").record["provenance"]["counted"]["asked_again"] > 0


WORDS = {
    "runs": "test.count = lambda *given, **more: (0, 0)",
    "events": "events.EventSetting.events = lambda self, left, right: []",
    "levels": "test.Terms.as_dict = lambda self: {'epsilon': 9.0, 'tests': 10**9}",
    "neighbours": "mechanisms.data_pairs = lambda *given: [load.DataPair(0.0, 0.0)]",
    "looks": "mechanisms.look = None",
    "ranks": "test.rank = lambda *given, **more: [0]",
    "sizes": "mechanisms._plan = lambda case: None",
    "what is left out": "mechanisms.between = mechanisms.power = lambda case: None",
    "verdicts": "conclude.conclusion = lambda *given: ('not_refuted', None)",
}


@pytest.mark.parametrize("name", WORDS)
def test_code_decides_nothing_of_its_audit(name, tmp_path):
    """What an audit rests on may be replaced in the process of the code: nothing of it is used there."""
    (tmp_path / "a.py").write_text(
        "from verifiable_dp.auditing import mechanisms\nfrom verifiable_dp.record import conclude\n"
        "from verifiable_dp.evidence.blackbox import events, test\nfrom verifiable_dp.targets import load\n"
        f"def right(data, size, rng):\n    {WORDS[name]}\n    return data + rng.laplace(0, 0.25, size)\n",
        "utf-8",
    )
    done = run(tmp_path, "audit", "a.py:right", "--epsilon", 1, "--runs", 400)
    refused = "its code replaced" in done.stderr  # by what watches code that is honest
    assert done.exit_code == (2 if refused else 1), done.stderr


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
    asked = (
        "audit",
        "a.py:right",
        "--epsilon",
        1,
        "--runs",
        1000,
        "--json",
        "r.json",
        "--own-neighbours",
    )
    done = run(tmp_path, *asked)
    record = vdp.verify(tmp_path / "r.json").record
    assert done.exit_code == 3, done.stderr
    assert record["checks"][-1]["kind"] == "sources"
    assert "gave different results in a fresh process" in record["checks"][-1]["statistics"]["doubts"][0]
    assert run(tmp_path, *asked).exit_code == 0  # from then on it is the same in all of them


@pytest.mark.parametrize("kept", ["np.min(data)", "np.ptp(data)", "float(np.max(data) > 0.9)"])
def test_what_the_first_run_of_a_process_leaves_is_seen(kept, tmp_path):
    """Broken variant: all processes begin with the same data; `unit/targets/test_adapters.py` sees it."""
    (tmp_path / "a.py").write_text(
        "import numpy as np\nKEPT = {}\n\n\ndef release(data, rng):\n"
        f"    return np.sum(data) + rng.laplace(0, 1.0), KEPT.setdefault('first', {kept})\n",
        "utf-8",
    )
    asked = ("audit", "a.py:release", "--epsilon", 1, "--runs", 400, "--json", "r.json")
    assert run(tmp_path, *asked).exit_code == 3
    record = vdp.verify(tmp_path / "r.json").record
    assert "gave different results in a fresh process" in record["checks"][-1]["statistics"]["doubts"][0]
    assert record["epsilon_upper"] is None


def test_code_does_not_choose_on_which_data_it_is_tested(tmp_path):
    """Unless somebody accepts them, and then it may be run again. Control: without them it is refuted."""
    code = "def leak(data, size, rng):\n    return data + rng.laplace(0, 0.1, size)\n"
    (tmp_path / "a.py").write_text(code, "utf-8")
    asked = ("audit", "a.py:leak", "--epsilon", 1, "--runs", 1000, "--json", "r.json")
    assert run(tmp_path, *asked).exit_code == 1
    (tmp_path / "a.py").write_text(code + "leak.neighbours = [(0.0, 0.01)]\n", "utf-8")
    done = run(tmp_path, *asked)
    assert (done.exit_code, "own code supplies the data for its test" in done.stderr) == (2, True)
    assert run(tmp_path, *asked, "--own-neighbours").exit_code == 0
    assert run(tmp_path, "verify", "r.json", "--rerun").exit_code == 0


@writes_files
def test_a_new_python_knows_nothing_of_what_is_expected(tmp_path, monkeypatch):
    """Large audits ask one. In a copy of the process that has them, code finds what it should send."""
    (tmp_path / "a.py").write_text(
        "import os, sys\nfrom verifiable_dp.targets import heard\nknown, frame = [], sys._getframe()\n"
        "while frame:\n"
        "    known += [one for one in frame.f_locals.get('samples', []) if getattr(one, 'digest', '')]\n"
        "    frame = frame.f_back\n"
        "if known:\n"
        "    heard.Sample.again = lambda self: next(\n"
        "        one.digest for one in known\n"
        "        if (one.path, one.world) == (self.path, self.world)\n"
        "        and one.runs.tolist() == self.runs.tolist())\n"
        "SHIFT = float(os.path.exists('begun'))\nopen('begun', 'w').close()\n"
        "def right(data, size, rng):\n    return data + SHIFT + rng.laplace(0, 1, size)\n"
    )
    for least, status in ((0, 3), (audits._FRESH_RUNS, 0)):
        monkeypatch.setattr(audits, "_FRESH_RUNS", least)
        (tmp_path / "begun").unlink(missing_ok=True)
        done = run(tmp_path, "audit", "a.py:right", "--epsilon", 1, "--runs", 1000)
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


@pytest.mark.parametrize(("target", "given"), [(play, BANDIT), (laplace, {"numerics": True})])
def test_counts_do_not_depend_on_the_workers(target, given):
    """Broken variant: last bits are shared among workers of a process that has no code of the target."""
    one, two = (audited(target, given, workers=workers) for workers in (1, 2))
    assert bare(one) == bare(two)


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
        assert (done.exit_code, doubts) == (status, [[UNLIKE]] if status else []), done.stderr


def test_a_rerun_is_counted_and_compared(tmp_path):
    (tmp_path / "a.py").write_text(RIGHT, "utf-8")
    given = ("audit", "a.py:right", "--epsilon", 1, "--runs", 400, "--json", "r.json")
    assert run(tmp_path, *given).exit_code in (0, 3)
    assert run(tmp_path, "verify", "r.json", "--rerun").exit_code == 0
