"""What audits came to, from their records alone: what has none that holds is unusable."""

import shutil

import pytest

import verifiable_dp as vdp
from verifiable_dp import api
from verifiable_dp.campaign.judge import REASONS, judge
from verifiable_dp.record.sealing import sealed

CODE = """
def right(data, size, rng):
    return data + rng.laplace(0, 1, size)

def wrong(data, size, rng):
    return data + rng.laplace(0, 0.2, size)

def weak(data, size, rng):
    return data + rng.uniform(-4e9, 4e9, size)
"""
RIGHT, WRONG, WEAK = "a.py:right", "a.py:wrong", "a.py:weak"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Records with each of the verdicts."""
    place = tmp_path_factory.mktemp("made")
    (place / "a.py").write_text(CODE, "utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(place)
        found = {target: vdp.audit(target, epsilon=1.0, budget="smoke") for target in (RIGHT, WRONG, WEAK)}
    assert [report.verdict for report in found.values()] == ["not_refuted", "refuted", "inconclusive"]
    return found


@pytest.fixture
def folder(made, tmp_path):
    for number, report in enumerate(made.values(), start=1):
        report.save(tmp_path / f"reports/{number:02d}-a")
    return tmp_path / "reports"


ASKED = [
    ([RIGHT], 0),
    ([RIGHT, WEAK], 3),
    ([RIGHT, WRONG, WEAK], 1),
    ([RIGHT, "b.py:x"], 2),
    ([WRONG, WRONG], 2),
    ([], 2),
]


@pytest.mark.parametrize(("targets", "status"), ASKED)
def test_the_status_is_the_worst_of_what_was_asked(targets, status, folder):
    judged = judge(folder, targets)
    assert judged.exit_status == status
    assert len(judged.reports) + len(judged.failed) == len(targets)
    assert all(line.endswith(": no record of it verifies") for line in judged.failed)


def test_a_reason_that_was_noted_is_told(folder):
    folder.joinpath(REASONS).write_text("b.py:x\tno file\x1b[2J\nb.py:x\t" + "y" * 9999 + "\nrest\n")
    first, second = judge(folder, ["b.py:x", RIGHT]).failed
    assert first == r"b.py:x: no file\x1b[2J"
    assert len(second) < 600


def test_a_record_that_does_not_hold_is_named(folder):
    path = folder / "02-a/record.json"
    path.write_text(path.read_text("utf-8").replace('"refuted"', '"not_refuted"'), "utf-8")
    judged = judge(folder, [RIGHT, WRONG])
    assert judged.exit_status == 2
    assert any(
        line.startswith("02-a/record.json: ") and "edited or corrupted" in line for line in judged.failed
    )
    assert f"{WRONG}: no record of it verifies" in judged.failed


def test_of_a_campaign_each_target_needs_its_record_in_its_folder(folder, made):
    (folder.parent / "a.py").write_text(CODE, "utf-8")
    campaign = folder.parent / "c.toml"
    rows = "".join(
        f'[[targets]]\ntarget = "{t}"\nname = "{n}"\n' for t, n in ((RIGHT, "one"), (WRONG, "two"))
    )
    campaign.write_text(f'[defaults]\nepsilon = 1.0\nbudget = "smoke"\n{rows}', "utf-8")
    assert judge(folder, [], campaign).exit_status == 2
    made[RIGHT].save(folder / "one")
    judged = judge(folder, [], campaign)
    assert (judged.exit_status, judged.failed) == (2, [f"{campaign}: two: no record of it verifies"])
    shutil.copytree(folder / "one", folder / "two")  # of another target
    assert judge(folder, [], campaign).exit_status == 2
    made[WRONG].save(folder / "two")
    assert judge(folder, [RIGHT, WRONG], campaign).exit_status == 1
    # What the campaign has taken counts for no target.
    shutil.rmtree(folder / "01-a")
    assert judge(folder, [RIGHT, WRONG], campaign).exit_status == 2


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("seed = 7", "seed 0, asked was 7"),
        ("epsilon = 0.1", "claim's epsilon 1.0, asked was 0.1"),
        ('budget = "quick"', "budget 'smoke', asked was 'quick'"),
        ("bounds = [0, 2]", "bounds [0.0, 1.0], asked was [0.0, 2.0]"),
        ("timeout = 60", ""),
    ],
)
def test_a_record_of_another_question_answers_for_no_target_of_a_campaign(key, said, folder, made):
    (folder.parent / "a.py").write_text(CODE, "utf-8")
    rest = "".join(
        f"{line}\n" for line in ("epsilon = 1.0", 'budget = "smoke"') if not key.startswith(line[:6])
    )
    campaign = folder.parent / "c.toml"
    campaign.write_text(f'[[targets]]\ntarget = "{RIGHT}"\nname = "one"\n{key}\n{rest}', "utf-8")
    made[RIGHT].save(folder / "one")
    judged = judge(folder, [], campaign)
    assert judged.exit_status == (2 if said else 0)
    assert [said in line for line in judged.failed] == [True] * bool(said)


def test_of_records_of_one_target_the_worst_counts(folder, made):
    """Whichever is found first; a target that stands twice needs two."""
    for first, second in ((RIGHT, WRONG), (WRONG, RIGHT)):
        renamed = [
            vdp.Report(
                sealed({**made[one].record, "target": {**made[one].record["target"], "name": "a.py:x"}})
            )
            for one in (first, second)
        ]
        for name, report in zip(("03-x", "04-x"), renamed, strict=True):
            report.save(folder / name)
        judged = judge(folder, ["a.py:x"])
        assert judged.exit_status == 1
        assert [name for name, _ in judged.reports] == ["a.py:x", "a.py:x"]
        assert judge(folder, ["a.py:x", "a.py:x"]).exit_status == 1
        assert judge(folder, ["a.py:x"] * 3).exit_status == 2
    assert judge(folder, [RIGHT]).exit_status == 0


def test_no_code_of_a_target_is_run(folder, monkeypatch):
    """Control: a re-run of the same record imports its file."""
    monkeypatch.chdir(folder)
    (folder / "a.py").write_text("raise SystemExit(0)\n", "utf-8")
    assert judge(folder, [WRONG]).exit_status == 1
    with pytest.raises(vdp.InputError):
        vdp.verify(folder / "02-a/record.json", rerun=api.rerun)


@pytest.mark.parametrize(("bound", "status"), [(10.0, 0), (1.0, 1)])
def test_a_check_of_regret_alone_is_judged_by_its_own_verdict(bound, status, tmp_path):
    """Its verdict on privacy is inconclusive, as it asks nothing about it."""
    report = vdp.check_regret("ucb1", n_arms=2, horizon=50, bound=bound, runs=64)
    assert report.regret_verdict == {0: "consistent", 1: "contradicted"}[status]
    report.save(tmp_path / "01-ucb1")
    assert judge(tmp_path, ["ucb1"]).exit_status == status
