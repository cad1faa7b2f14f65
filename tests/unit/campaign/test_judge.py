"""What audits came to, from their records alone: what has none that holds is unusable."""

import json
import shutil
from pathlib import Path

import pytest

import verifiable_dp as vdp
from tests.commands import run
from verifiable_dp import api
from verifiable_dp.campaign.judge import Expected, judge
from verifiable_dp.record import requests, signing
from verifiable_dp.record.requested import REASONS
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

NO_REQUEST = (
    "02-a/record.json: there is no request for it; audit again with --request request.json in the same "
    "folder, or check the record alone with verify"
)


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


def saved(report, place):
    """A record with its request beside it, as an audit leaves them."""
    report.save(place)
    (place / "request.json").write_text(report.parsed.provenance.request.written(), "utf-8")


@pytest.fixture
def folder(made, tmp_path):
    for number, report in enumerate(made.values(), start=1):
        saved(report, tmp_path / f"reports/{number:02d}-a")
    return tmp_path / "reports"


ASKED = [
    ([RIGHT], [RIGHT], 0),
    ([RIGHT, WEAK], [RIGHT, WEAK], 3),
    ([RIGHT, WRONG, WEAK], [], 1),
    ([RIGHT], [RIGHT, "b.py:x"], 2),
    ([RIGHT, WRONG], [WRONG, WRONG], 2),
    ([], [], 2),
]


@pytest.mark.parametrize(("there", "targets", "status"), ASKED)
def test_the_status_is_the_worst_of_all_that_is_there(there, targets, status, made, tmp_path):
    for number, target in enumerate(there):
        saved(made[target], tmp_path / str(number))
    judged = judge(tmp_path, targets)
    assert judged.exit_status == status
    assert len(judged.reports) == len(there)
    assert all(line.endswith(": it has no valid record") for line in judged.failed)


# ---------------------------------------------------------------- which request a record answers


def test_a_record_of_another_job_under_the_same_name_hides_nothing(folder, made):
    """Planted in place of what is refuted, it answers no request, whatever its target is called."""
    kept = folder.parent / "asked"
    for path in folder.glob("*/request.json"):
        (kept / path.parent.name).mkdir(parents=True)
        shutil.copy(path, kept / path.parent.name)
    assert judge(folder, [], None, Expected([str(kept)])).exit_status == 1
    other, refuted = made[RIGHT], made[WRONG]
    renamed = sealed({**other.record, "target": {**other.record["target"], "name": WRONG}})
    provenance = {**renamed["provenance"], "request": refuted.record["provenance"]["request"]}
    copied = sealed({**renamed, "provenance": provenance})
    for planted, said in ((other.record, "the request in"), (renamed, "the request in"), (copied, "")):
        vdp.Report(planted).save(folder / "02-a")
        for given in ([], [str(kept)]):
            judged = judge(folder, [WRONG], None, Expected(given))
            # What is copied answers the question with other counts: only a rerun tells.
            assert judged.exit_status == (2 if said else 3)
            assert any(said in line for line in judged.failed) == bool(said)
    saved(other, folder / "02-a")  # its request, too
    assert judge(folder, [], None, Expected([str(kept)])).exit_status == 2
    assert judge(folder, [WRONG]).exit_status == 2


def test_what_answers_no_request_is_an_error(folder, made):
    (folder / "02-a/request.json").unlink()
    judged = judge(folder)
    assert (judged.exit_status, judged.failed) == (2, [NO_REQUEST])
    made[WRONG].save(folder / "01-a")
    assert judge(folder).exit_status == 2
    older = {**made[WRONG].record, "provenance": dict(made[WRONG].record["provenance"])}
    del older["provenance"]["request"]
    vdp.Report(sealed(older)).save(folder / "01-a")
    failed = judge(folder).failed
    assert any("it answers no request, but" in line for line in failed), failed


def test_a_request_without_a_record_is_an_error(folder):
    shutil.rmtree(folder / "02-a")
    assert judge(folder).exit_status == 3
    (folder / "02-a").mkdir()
    asked = requests.made({**made_of(folder), "seed": 5}, None)
    (folder / "02-a/request.json").write_text(asked.written(), "utf-8")
    judged = judge(folder)
    assert (judged.exit_status, judged.failed) == (2, [f"{RIGHT}: it has no valid record"])


@pytest.mark.parametrize("name", ["other.json", "record.json"])
def test_a_request_without_a_record_is_one_in_whatever_folder_it_lies(name, folder, made):
    """In the folder of an entry of the campaign, too. Broken variant: it counts as the entry's."""
    (folder.parent / "a.py").write_text(CODE, "utf-8")
    campaign = folder.parent / "c.toml"
    row = f'[[targets]]\ntarget = "{RIGHT}"\nname = "01-a"\nepsilon = 1.0\nbudget = "smoke"\n'
    campaign.write_text(row, "utf-8")
    for other in ("02-a", "03-a"):
        shutil.rmtree(folder / other)
    assert judge(folder, [RIGHT], campaign).exit_status == 0  # control
    asked = requests.made(without(made[WEAK].record["provenance"]["request"]), None)
    place = folder / "01-a" / name
    place.with_name("request.json" if name == "record.json" else "other.request.json").write_text(
        asked.written()
    )
    judged = judge(folder, [RIGHT], campaign)
    said = [f"{WEAK}: it has no valid record"]
    assert judged.exit_status == 2
    assert (judged.failed == said) == (name == "other.json")
    judged = judge(folder, [RIGHT, WEAK], campaign)
    assert (judged.exit_status, any(line.startswith(f"{WEAK}: ") for line in judged.failed)) == (2, True)


def made_of(folder):
    """What a request of the folder asks."""
    return without(json.loads((folder / "01-a/request.json").read_text("utf-8")))


def without(whole):
    """What was asked, without what tells two requests apart."""
    apart = ("schema_version", "made", "nonce", "digest", "declarations")
    return {key: value for key, value in whole.items() if key not in apart}


def test_of_given_requests_all_are_needed_and_nothing_else_counts(folder, made):
    digests = {name: made[name].parsed.provenance.request.digest for name in made}
    assert judge(folder, [], None, Expected(list(digests.values()))).exit_status == 1
    judged = judge(folder, [], None, Expected([digests[RIGHT], digests[WEAK]]))
    assert (judged.exit_status, judged.failed) == (2, [NO_REQUEST])
    with pytest.raises(vdp.InputError, match="has the digest"):
        judge(folder, [], None, Expected(["sha256:" + "0" * 64]))
    kept = folder.parent / "kept.json"
    shutil.copy(folder / "02-a/request.json", kept)
    for name in ("01-a", "03-a"):
        shutil.rmtree(folder / name)
    assert judge(folder, [], None, Expected([str(kept)])).exit_status == 1


def test_a_record_that_says_something_else_than_its_request_does_not_answer_it(folder, made):
    record = made[RIGHT].record
    for part, edited in {
        "seed": {"seed": 7},
        "target": {"target": {**record["target"], "role": "baseline"}},
        "plan": {"plan": {**record["plan"], "detect": 3}},
        "not_covered": {"not_covered": record["not_covered"][:1]},
    }.items():
        vdp.Report(sealed({**record, **edited})).save(folder / "01-a")
        judged = judge(folder)
        assert judged.exit_status == 2, part
        assert ["another question" in line for line in judged.failed] == [True], part


def test_a_reason_that_was_noted_is_told(folder):
    folder.joinpath(REASONS).write_text("b.py:x\tno file\x1b[2J\nb.py:x\t" + "y" * 9999 + "\nrest\n")
    first, second = judge(folder, ["b.py:x", RIGHT]).failed
    assert first == r"b.py:x: no file\x1b[2J"
    assert len(second) < 600


def test_a_record_alone_is_not_judged(folder):
    record = next(folder.glob("*/record.json"))
    with pytest.raises(
        vdp.InputError, match="is a file; give the folder that holds the record and its request"
    ):
        judge(record)


def test_a_record_that_does_not_hold_is_named(folder):
    path = folder / "02-a/record.json"
    path.write_text(path.read_text("utf-8").replace('"refuted"', '"not_refuted"'), "utf-8")
    judged = judge(folder, [RIGHT, WRONG])
    assert judged.exit_status == 2
    assert any(
        line.startswith("02-a/record.json: ") and "edited or corrupted" in line for line in judged.failed
    )
    assert f"{WRONG}: it has no valid record" in judged.failed


def test_of_a_campaign_each_target_needs_its_record_in_its_folder(folder, made):
    (folder.parent / "a.py").write_text(CODE, "utf-8")
    campaign = folder.parent / "c.toml"
    rows = "".join(
        f'[[targets]]\ntarget = "{t}"\nname = "{n}"\n' for t, n in ((RIGHT, "one"), (WRONG, "two"))
    )
    campaign.write_text(f'[defaults]\nepsilon = 1.0\nbudget = "smoke"\n{rows}', "utf-8")
    assert judge(folder, [], campaign).exit_status == 2
    for name in ("01-a", "02-a", "03-a"):
        shutil.rmtree(folder / name)
    saved(made[RIGHT], folder / "one")
    judged = judge(folder, [], campaign)
    assert (judged.exit_status, judged.failed) == (2, [f"{campaign}: two: it has no valid record"])
    shutil.copytree(folder / "one", folder / "two")  # of another target
    assert judge(folder, [], campaign).exit_status == 2
    saved(made[WRONG], folder / "two")
    assert judge(folder, [], campaign).exit_status == 1


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("seed = 7", "seed is 0 there, and 7 here"),
        ("epsilon = 0.1", "claim.epsilon is 1.0 there, and 0.1 here"),
        ('budget = "quick"', "plan.budget is 'smoke' there, and 'quick' here"),
        ("bounds = [0, 2]", "inputs.bounds is [0.0, 1.0] there, and [0.0, 2.0] here"),
        ("own_neighbours = true", "plan.own_neighbours is False there, and True here"),
        ("numerics = true", "plan.numerics is False there, and True here"),
        ('declarations = "d.toml"', "declarations is None there, and {"),
        ("timeout = 60", ""),
    ],
)
def test_a_record_of_another_question_answers_for_no_target_of_a_campaign(key, said, folder, made):
    (folder.parent / "a.py").write_text(CODE, "utf-8")
    rest = "".join(
        f"{line}\n" for line in ("epsilon = 1.0", 'budget = "smoke"') if not key.startswith(line[:6])
    )
    campaign = folder.parent / "c.toml"
    (folder.parent / "d.toml").write_text('[[unprotected_outputs]]\nwhat = "a board"\nreaders = "public"\n')
    campaign.write_text(f'[[targets]]\ntarget = "{RIGHT}"\nname = "one"\n{key}\n{rest}', "utf-8")
    for name in ("01-a", "02-a", "03-a"):
        shutil.rmtree(folder / name)
    saved(made[RIGHT], folder / "one")
    judged = judge(folder, [], campaign)
    assert judged.exit_status == (2 if said else 0)
    assert [said in line for line in judged.failed] == [True] * bool(said)


def test_of_records_of_one_target_the_worst_counts(made, tmp_path):
    """Whichever is found first; a target that stands twice needs two."""
    for first, second in ((RIGHT, WRONG), (WRONG, RIGHT)):
        for name, one in zip(("03-x", "04-x"), (first, second), strict=True):
            found = made[one].record
            asked = found["provenance"]["request"]
            renamed = requests.made({**without(asked), "target": {**asked["target"], "name": "a.py:x"}}, None)
            provenance = {**found["provenance"], "request": renamed.as_dict()}
            target = {**found["target"], "name": "a.py:x"}
            saved(vdp.Report(sealed({**found, "target": target, "provenance": provenance})), tmp_path / name)
        judged = judge(tmp_path, ["a.py:x"])
        assert judged.exit_status == 1, judged.failed
        assert [name for name, _ in judged.reports] == ["a.py:x", "a.py:x"]
        assert judge(tmp_path, ["a.py:x", "a.py:x"]).exit_status == 1
        assert judge(tmp_path, ["a.py:x"] * 3).exit_status == 2


def test_the_line_of_a_verdict_says_of_which_promise_it_is(folder):
    first, *_ = run(folder, "judge", ".").stdout.splitlines()
    assert first == f"not_refuted: {RIGHT}: epsilon 1, delta 0; neighbours: the pairs of data tested"


def test_each_record_needs_a_signature_where_a_key_is_given(folder, tmp_path):
    """Control: without a key no signature is looked for."""
    (private, public), (other, _) = (signing.keygen(tmp_path / name) for name in ("mine", "other"))
    for path in folder.glob("*/record.json"):
        Path(f"{path}.sig").write_text(signing.sign(json.loads(path.read_text("utf-8")), private), "utf-8")
    assert judge(folder, [], None, Expected(keys=[public])).exit_status == 1
    path = folder / "02-a/record.json"
    for key, said in ((other, "not valid for mine"), (None, "no signature found")):
        Path(f"{path}.sig").unlink()
        if key:
            Path(f"{path}.sig").write_text(signing.sign(json.loads(path.read_text("utf-8")), key), "utf-8")
        done = run(folder, "judge", ".", "--key", public)
        assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
        assert judge(folder).exit_status == 1


def test_no_code_of_a_target_is_run(folder, monkeypatch):
    """Control: a rerun of the same record imports its file."""
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
    saved(report, tmp_path / "01-ucb1")
    assert judge(tmp_path, ["ucb1"], None, Expected(check="regret")).exit_status == status
    assert judge(tmp_path).exit_status == status
    # It says nothing of privacy, which is what a target needs unless something else is asked for.
    judged = judge(tmp_path, ["ucb1"])
    assert (judged.exit_status, len(judged.failed)) == (2, 1)
    assert judged.failed[0].startswith("ucb1: it has no valid record of this kind")
    assert judge(tmp_path, [], None, Expected(require="tested-paths")).exit_status == (status or 3)
    with pytest.raises(vdp.InputError, match="check must be one of"):
        Expected(check="privacy")
