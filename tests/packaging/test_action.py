"""The GitHub Action and the script behind it: read as the runner reads them, and run as it runs them."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest
import yaml

from tests import formats
from tests.commands import PATIENCE
from verifiable_dp.core import files
from verifiable_dp.core.steering import steering

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
INPUTS = {name: given.get("default", "") for name, given in ACTION["inputs"].items()}
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")
PAGE = (ROOT / "docs" / "continuous-integration.md").read_text("utf-8")
FILES = dict(re.findall(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
GITLAB = re.search(r"^.* On GitLab:\n\n```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1]
MECHANISMS = """
def wrong(data, size, rng):
    return data + rng.laplace(0, 0.5, size)

def unseeded(data, size, rng):
    import numpy
    return data + numpy.random.default_rng().laplace(0, 1, size)
"""


def test_it_has_the_shape_of_a_composite_action():
    assert ACTION["runs"]["using"] == "composite"
    assert {"name", "description", "inputs", "outputs", "runs"} == set(ACTION)
    for given in ACTION["inputs"].values():
        assert set(given) == {"description", "default"}
        assert isinstance(given["default"], str)
    for step in ACTION["runs"]["steps"]:
        assert ("run" in step) != ("uses" in step)
        assert "shell" in step or "uses" in step
    assert unpinned((ROOT / "action.yml").read_text("utf-8")) == []
    assert unpinned(PAGE.replace("OWNER/REPOSITORY@COMMIT", "")) == []
    assert unpinned("- uses: actions/checkout@v4\n- uses: other/x@" + "0" * 40 + " # v1.0.0\n") != []


def unpinned(text):
    """Uses of anything but the code host's own actions at a commit whose version is named; tags are moved."""
    pinned = re.compile(r"(actions|github)/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    found = re.findall(r"^ *(?:- )?uses: (.+)$", text, re.MULTILINE)
    return [use for use in found if use and not pinned.fullmatch(use)]


def test_it_is_an_action_by_its_schema(tmp_path):
    formats.service("github-actions", ROOT / "action.yml")
    text = (ROOT / "action.yml").read_text("utf-8")
    for right, wrong in {"using: composite": "using: composit", "shell: bash": "shel: bash"}.items():
        (tmp_path / "action.yml").write_text(text.replace(right, wrong, 1), "utf-8")
        with pytest.raises(formats.NotOfTheFormatError):
            formats.service("github-actions", tmp_path / "action.yml")


def test_every_expression_names_something_that_exists():
    text = (ROOT / "action.yml").read_text("utf-8")
    for expression in EXPRESSION.findall(text):
        for name in re.findall(r"inputs\.([\w-]+)", expression):
            assert name in INPUTS, name
        for step, output in re.findall(r"steps\.(\w+)\.outputs\.(\w+)", expression):
            (run,) = (s["run"] for s in ACTION["runs"]["steps"] if s.get("id") == step)
            assert f'"{output}=$' in run
    assert set(re.findall(r"inputs\.([\w-]+)", " ".join(EXPRESSION.findall(text)))) == set(INPUTS)


def test_inputs_cannot_become_code_and_nothing_secret_is_kept():
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert "cache" not in step.get("uses", "")
        if step["name"] != "Set up Python":  # pip's, of the requirements alone
            assert not any("cache" in key for key in step.get("with", {}))
    assert STEPS["Set up Python"]["with"]["cache"] == "${{ inputs.requirements != '' && 'pip' || '' }}"
    text = (ROOT / "action.yml").read_text("utf-8")
    assert not re.search(r"secrets\.|github\.token|GITHUB_TOKEN", text)


def environment(folder, **more):
    scripts = sysconfig.get_path("scripts")
    kept = {key: os.environ[key] for key in ("HOME", "LANG", "NUMBA_CACHE_DIR") if key in os.environ}
    return {
        **kept,
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "step-summary"),
        **more,
    }


def run(step, folder, inputs, outputs=None, **more):
    """Run a step as a runner does: bash with its flags, the step's variables from the inputs.

    `more` are variables that an earlier step has set.
    """

    def value(found):
        kind, name = found[1].strip().partition(".")[::2]
        return inputs[name] if kind == "inputs" else (outputs or {})[name.rpartition(".")[2]]

    given = {key: EXPRESSION.sub(value, text) for key, text in STEPS[step].get("env", {}).items()}
    script = folder / "step.sh"
    script.write_text(STEPS[step]["run"], "utf-8")
    place = EXPRESSION.sub(value, STEPS[step].get("working-directory", "."))
    shell = STEPS[step]["shell"]
    shell = "bash --noprofile --norc -e -o pipefail {0}" if shell == "bash" else shell
    done = subprocess.run(
        [str(script) if word == "{0}" else word for word in shell.split()],
        cwd=folder / place,
        env=environment(folder, **{**more, **given}),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    return done


WRONG, UNSEEDED = "01-mechanisms.py-wrong", "02-mechanisms.py-unseeded"  # how two folders begin
INSTALLED = {"scripts": sysconfig.get_path("scripts"), "libraries": ""}


def placed(folder, begins):
    """The folder of a target, whose name ends with twelve digits of the digest of its request."""
    (found,) = folder.glob(f"audit-reports/{begins}-*")
    asked = json.loads((found / "request.json").read_text("utf-8"))
    assert found.name == f"{begins}-{asked['digest'].removeprefix('sha256:')[:12]}"
    return found


def asked(folder):
    """The digests of the requests in a folder, as the step that asks gives them to the runner."""
    found = [json.loads(path.read_text("utf-8")) for path in folder.glob("audit-reports/*/request.json")]
    return " ".join(request["digest"] for request in found)


def judged(folder, inputs, requests=None, **more):
    """Exit status of the step that judges what the step before it has left."""
    (folder / "output").unlink(missing_ok=True)
    given = {**INSTALLED, "requests": asked(folder) if requests is None else requests}
    done = run("Judge", folder, inputs, given, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return (folder / "output").read_text(), done


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """A job that audits two mechanisms, one of them broken, up to the verdict."""
    folder = tmp_path_factory.mktemp("job")
    (folder / "mechanisms.py").write_text(MECHANISMS, "utf-8")
    targets = "mechanisms.py:wrong\n\n  \nmechanisms.py:unseeded\n"
    inputs = {
        **INPUTS,
        "targets": targets,
        "epsilon": "1",
        "budget": "smoke",
        "options": "--workers 1  --delta 1e-6",
        "detect": "1.01",  # more than so few draws can show, so what is right stays undecided
    }
    asking = run("Ask", folder, inputs)
    assert asking.returncode == 0, asking.stdout + asking.stderr
    requests = (folder / "output").read_text("utf-8").removeprefix("requests=").strip()
    assert sorted(requests.split()) == sorted(asked(folder).split())
    assert len(requests.split()) == 2
    assert not list(folder.glob("audit-reports/*/record.json"))
    audit = run("Audit", folder, inputs)
    assert audit.returncode == 0, audit.stdout + audit.stderr
    judged(folder, inputs, requests)
    assert run("Summary", folder, inputs).returncode == 0
    outputs = dict(line.split("=") for line in (folder / "output").read_text().splitlines())
    return folder, inputs, outputs, audit


def test_the_audit_keeps_records_and_renderings(job):
    folder, _, outputs, _ = job
    reports = folder / "audit-reports"
    kept = sorted(path for path in reports.iterdir() if path.is_dir() and path.name != "sarif")
    assert kept == [placed(folder, WRONG), placed(folder, UNSEEDED)]
    found = [json.loads((path / "record.json").read_text("utf-8")) for path in kept]
    assert [record["verdict"] for record in found] == ["refuted", "inconclusive"]
    assert all(record["claim"]["delta"] == 1e-6 for record in found)
    assert outputs == {"status": "1"}
    assert all(path.name in (reports / "index.html").read_text("utf-8") for path in kept)
    for path in kept:
        assert (path / "record.html").is_file()
        formats.junit(path / "junit.xml")


def test_folders_of_two_jobs_that_are_merged_lose_no_answer(job, tmp_path):
    """The other job audits code of the same name. Broken variant: the last folder replaces the first one."""
    (tmp_path / "mechanisms.py").write_text(MECHANISMS.replace("0.5", "1"), "utf-8")
    inputs = {**job[1], "targets": "mechanisms.py:wrong", "detect": "", "options": ""}
    assert run("Audit", tmp_path, inputs).returncode == 0
    assert judged(tmp_path, inputs)[0] == "status=0\nshort=0\n"  # control
    for place in (placed(job[0], WRONG), placed(tmp_path, WRONG)):
        shutil.copytree(place, tmp_path / "merged" / "audit-reports" / place.name, dirs_exist_ok=True)
    assert judged(tmp_path / "merged", inputs)[0] == "status=1\nshort=0\n"


def test_what_audited_code_does_to_later_steps_decides_nothing(job, tmp_path):
    """Its variables could be in GITHUB_ENV, its folder in GITHUB_PATH. Control: a plain step obeys them.

    Each of them alone would change the status, so that they may come together.
    """
    shutil.copytree(placed(job[0], WRONG), tmp_path / "audit-reports" / WRONG)
    inputs = {**job[1], "targets": "mechanisms.py:wrong"}
    evil = tmp_path / "bin"
    evil.mkdir()
    for name in ("verifiable-dp", "python", "env", "bash"):
        (evil / name).write_text("#!/bin/sh\nexit 0\n", "utf-8")
        (evil / name).chmod(0o755)
    (tmp_path / "evil.sh").write_text("echo evil; exit 0\n", "utf-8")
    (tmp_path / "verifiable_dp.py").write_text("raise SystemExit(0)\n", "utf-8")
    steered = {"BASH_ENV": str(tmp_path / "evil.sh"), "PYTHONPATH": str(tmp_path)}
    path = f"{evil}{os.pathsep}{environment(tmp_path)['PATH']}"
    output, _ = judged(tmp_path, inputs, PATH=path, **steered)
    assert output == "status=1\n"
    verdict = run("Verdict", tmp_path, {**inputs, "fail-on": "refuted"}, {"status": "1"}, **steered)
    assert verdict.returncode == 1
    assert "evil" in run("Summary", tmp_path, inputs, **steered).stdout


REPLACES = """
import json, pathlib, shutil

def release(data, size, rng):
    place = pathlib.Path("audit-reports")
    for other in place.glob("01-*"):
        for name in ("record.json", "request.json"):
            shutil.copy("made/" + name, other / name)
    return data + rng.laplace(0, 1, size)
"""


@pytest.mark.slow
def test_a_target_that_replaces_the_record_of_another_one_hides_nothing(job, tmp_path):
    """Record and request of another question are put in the place of what is refuted."""
    (tmp_path / "mechanisms.py").write_text(MECHANISMS, "utf-8")
    (tmp_path / "b.py").write_text(REPLACES, "utf-8")
    shutil.copytree(placed(job[0], UNSEEDED), tmp_path / "made")
    inputs = {**job[1], "targets": "mechanisms.py:wrong\nb.py:release", "detect": "", "options": ""}
    assert run("Ask", tmp_path, inputs).returncode == 0
    requests = (tmp_path / "output").read_text("utf-8").removeprefix("requests=").strip()
    assert run("Audit", tmp_path, inputs).returncode == 0
    (replaced,) = tmp_path.glob(f"audit-reports/{WRONG}-*/record.json")
    assert json.loads(replaced.read_text())["verdict"] != "refuted"
    output, done = judged(tmp_path, inputs, requests)
    assert output == "status=2\n"
    assert "has the digest" in done.stderr


def test_audited_code_sees_nothing_that_steers_the_job(tmp_path):
    """Not in what its process was started with, either: `environ` of Python is only a copy of that."""
    (tmp_path / "a.py").write_text(
        "def release(data, size, rng):\n"
        "    open('seen', 'wb').write(open('/proc/self/environ', 'rb').read())\n"
        "    return data + rng.laplace(0, 1, size)\n",
        "utf-8",
    )
    inputs = {**INPUTS, "targets": "a.py:release", "epsilon": "1", "options": "--runs 400"}
    steered = {"BASH_ENV": "/dev/null", "ACTIONS_RUNTIME_TOKEN": "x", "My_Secret": "x", "MONKEY": "x"}
    assert run("Audit", tmp_path, inputs, **steered).returncode == 0
    seen = {row.partition("=")[0] for row in (tmp_path / "seen").read_text().split("\0")}
    assert (
        not {"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "BASH_ENV", "ACTIONS_RUNTIME_TOKEN", "My_Secret"} & seen
    )
    assert {"GITHUB_ACTION_PATH", "MONKEY", "PATH"} <= seen


@pytest.mark.parametrize("env", ["/dev/null", "production"])
def test_the_script_drops_the_variables_that_a_child_does_not_inherit(env, tmp_path):
    """Two lists, one in bash: what either drops, the other does. ENV is the path of a file, or a word."""
    drops = [
        "GITHUB_ENV",
        "GITHUB_PATH",
        "GITHUB_OUTPUT",
        "GITHUB_STATE",
        "GITHUB_STEP_SUMMARY",
        "BASH_ENV",
    ]
    drops += [
        "ACTIONS_X",
        "SSH_AUTH_SOCK",
        "A_TOKEN",
        "token",
        "SECRETS",
        "DB_PASSWORD",
        "PASSWD",
        "CREDENTIALS",
    ]
    drops += ["X_JWT", "API_KEY", "APIKEY", "ACCESS_KEY_ID", "ACCESSKEY", "PRIVATE_KEY", "PRIVATEKEY"]
    drops += [
        "GPG_PASSPHRASE",
        "DB_PASS",
        "SIGNING_KEY",
        "GH_PAT",
        "DOCKER_AUTH_CONFIG",
        "SENTRY_DSN",
        "MYSQL_PWD",
    ]
    drops += ["COOKIE", "A_WEBHOOK_URL", "CONNECTION_STRING", "GIT_ASKPASS", "PGPASSFILE"]
    hold = {
        "INDEX_URL": "https://me:x@host/simple",
        "A_REPOSITORY": "git://x@host",
        "PEM": "-PRIVATE KEY-----\nx",
    }
    keeps = [
        "GITHUB_SHA",
        "GITHUB_ENVIRONMENT",
        "MONKEY",
        "KEYBOARD",
        "ENVIRONMENT",
        "PATH",
        "HOME",
        "ACCESS",
    ]
    keeps += ["PASSES", "PATIENCE", "AUTHOR", "A_PWDS"]
    none = {"AN_ADDRESS": "https://host/simple?to=a@b", "A_MAIL": "me@host"}
    (hold if "/" in env else none)["ENV"] = env
    given = {**dict.fromkeys([*drops, *keeps], "x"), **hold, **none}
    drops, keeps = [*drops, *hold], [*keeps, *none]
    assert steering(given) == drops
    (tmp_path / "verifiable-dp").write_text(
        '#!/bin/bash\necho "$VERIFIABLE_DP_WITHHELD" >../told\ncompgen -e >../own\n'
        "tr '\\0' '\\n' </proc/$PPID/environ | sed 's/=.*//' >../above\n",
        "utf-8",
    )
    (tmp_path / "verifiable-dp").chmod(0o755)
    (tmp_path / "here").mkdir()
    variables = {**given, "BASH_ENV": "/dev/null"}
    variables |= {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "TARGETS": "a.py:x"}
    command = ["bash", ROOT / "ci" / "audit.sh", "audit"]
    subprocess.run(command, env=variables, cwd=tmp_path / "here", capture_output=True, check=True)
    for place in ("own", "above"):  # what it sees of itself, and in /proc of its parent
        seen = set((tmp_path / place).read_text().split())
        assert seen & {*drops, *keeps} == set(keeps), place
    assert sorted((tmp_path / "told").read_text().split()) == sorted(drops)


def test_sarif_files_can_be_uploaded_together(job):
    runs = [formats.sarif(path)["runs"] for path in (job[0] / "audit-reports/sarif").iterdir()]
    assert [len(found) for found in runs] == [1, 1]
    assert len({found[0]["automationDetails"]["id"] for found in runs}) == 2


def test_the_summary_has_every_target(job):
    summary = (job[0] / "step-summary").read_text("utf-8")
    assert summary.count("audit record\n") == 2
    assert "**Does not hold: epsilon is at least " in summary


@pytest.mark.parametrize(
    ("fail_on", "passes"), [("refuted", "03"), ("inconclusive", "0"), ("never", "013"), ("often", "")]
)
def test_the_verdict_fails_the_job_as_asked(job, fail_on, passes):
    folder, inputs, _, _ = job
    for status in "0123":
        given = {"status": status, "short": "0"}
        done = run("Verdict", folder, {**inputs, "fail-on": fail_on}, given)
        assert (done.returncode == 0) == (status in passes), (fail_on, status)
        assert f"exit status {status}" in done.stdout or fail_on == "often"


@pytest.mark.parametrize(
    ("require", "status", "passes"), [("tested-paths", 0, True), ("certified", 3, False)]
)
def test_less_evidence_than_is_required_is_a_status_of_its_own_and_fails_the_job(
    require, status, passes, tmp_path
):
    """Broken variants: the script takes it for a target that was not audited; the job passes."""
    (tmp_path / "m.py").write_text("def right(data, size, rng):\n    return data + rng.laplace(0, 1, size)\n")
    inputs = {**INPUTS, "targets": "m.py:right", "epsilon": "1", "budget": "smoke"}
    inputs["options"] = f"--require {require}"
    assert run("Audit", tmp_path, inputs).returncode == 0
    output, done = judged(tmp_path, inputs)
    assert output == f"status={status}\nshort={int(status == 3)}\n", done.stdout + done.stderr
    assert ("not enough evidence: m.py:right" in done.stdout, "Not audited" in done.stdout) == (
        not passes,
        False,
    )
    outputs = dict(line.split("=") for line in output.splitlines())
    verdict = run("Verdict", tmp_path, {**inputs, "fail-on": "refuted"}, outputs)
    assert (verdict.returncode == 0) == passes


def test_an_audit_that_made_no_record_fails_under_every_rule(job):
    done = run("Verdict", job[0], {**job[1], "fail-on": "never"}, {"status": "", "short": ""})
    assert done.returncode == 1


@pytest.mark.parametrize("given", [{}, {"TARGETS": ""}, {"TARGETS": " \n "}])
def test_without_targets_no_folder_is_left_that_the_next_run_refuses(given, tmp_path):
    command = ["bash", ROOT / "ci" / "audit.sh", "--epsilon", "1"]
    variables = environment(tmp_path, REPORTS="kept", **given)
    done = subprocess.run(
        command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 2
    assert "TARGETS or CAMPAIGN must name something" in done.stderr
    assert not (tmp_path / "kept").exists()


def test_the_script_hands_its_own_descriptor_to_nobody(tmp_path):
    """By which a log in a file could be written to, unmarked. Control: what the program says is in it."""
    program = tmp_path / "bin/verifiable-dp"
    program.parent.mkdir()
    program.write_text(f"{ASKED}{{ echo forged >&3; }} 2>/dev/null\necho said\nexit 2\n")
    program.chmod(0o755)
    variables = environment(tmp_path, REPORTS="kept", TARGETS="a.py:right")
    variables["PATH"] = f"{program.parent}{os.pathsep}{variables['PATH']}"
    command = ["bash", ROOT / "ci" / "audit.sh", "audit", "--epsilon", "1"]
    with (tmp_path / "log").open("w") as log:
        subprocess.run(command, cwd=tmp_path, env=variables, stdout=log, stderr=log, timeout=PATIENCE)
    found = (tmp_path / "log").read_text()
    assert ("said" in found, "forged" in found) == (True, False)


@pytest.mark.slow
def test_what_could_not_be_audited_is_named_in_the_summary(tmp_path):
    (tmp_path / "mechanisms.py").write_text(MECHANISMS, "utf-8")
    (tmp_path / "c.toml").write_text(
        '[defaults]\nepsilon = 1\nbudget = 0.1\n[[targets]]\ntarget = "mechanisms.py:gone"\n', "utf-8"
    )
    command = ["bash", ROOT / "ci" / "audit.sh", "--epsilon", "1", "--runs", "400"]
    asked = {"TARGETS": "none.py:x\nmechanisms.py:wrong\nmechanisms.py:`wrng`", "CAMPAIGN": "c.toml"}
    variables = environment(tmp_path, REPORTS="kept", **asked)
    done = subprocess.run(
        command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 2
    assert "did you mean 'wrong'?" in done.stderr
    head, _, rest = (
        (tmp_path / "kept" / "summary.md").read_text("utf-8").partition("\n\n# mechanisms.py:wrong")
    )
    lines = head.strip().splitlines()
    assert lines[0] == "# Not audited"
    assert [line.split(": ")[0] for line in lines[2:]] == [
        "- `none.py:x",
        "- `c.toml",
        "- `mechanisms.py:wrng",
    ]
    assert all(line.count("`") == 2 for line in lines[2:])
    assert "no file 'none.py'" in lines[2]
    assert rest.count("Not audited") == 0
    assert len(list((tmp_path / "kept").glob("02-mechanisms.py-wrong-*/record.json"))) == 1
    assert len(list((tmp_path / "kept").glob("*/record.json"))) == 1


def test_inputs_are_not_run(tmp_path):
    targets = "$(touch marker).py:x\n`touch marker`\n--help"
    inputs = {**INPUTS, "targets": targets, "epsilon": "$(touch marker)"}
    done = run("Audit", tmp_path, inputs)
    assert done.returncode == 0
    output, _ = judged(tmp_path, inputs)
    assert "verifiable-dp: " in done.stderr
    assert "Usage:" not in done.stdout + done.stderr
    assert output == "status=2\nshort=0\n"
    assert not (tmp_path / "marker").exists()
    assert not list(tmp_path.rglob("record.json"))


ASKED = """#!/bin/bash
if [[ $* == *--ask* ]]; then
  while [[ $1 != --ask ]]; do shift; done
  echo '{}' >"$2" && printf 'sha256:%064d  %s\\n' 7 "$2" && exit
fi
"""
PROGRAM = f"""{ASKED}
echo "$*" >>../called
while [[ $1 != --json ]]; do shift; done
echo >"$2"
"""


@pytest.mark.parametrize("check", ["audit", "regret"])
def test_targets_are_trimmed_and_taken_in_the_folder_and_the_mode_that_are_given(check, tmp_path):
    """A program that notes what it is asked stands in for ours."""
    (tmp_path / "code").mkdir()
    (tmp_path / "verifiable-dp").write_text(PROGRAM, "utf-8")
    (tmp_path / "verifiable-dp").chmod(0o755)
    inputs = {**INPUTS, "targets": "  a.py:x \r\n\t\n\tb c.py:y\t", "check": check, "options": "--gap .2"}
    inputs["working-directory"] = "code"
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = run("Audit", tmp_path, inputs, PATH=path)
    assert done.returncode == 0, done.stderr
    found = [line.split(" --request ") for line in (tmp_path / "called").read_text("utf-8").splitlines()]
    assert [before for before, _ in found] == [f"{check} --budget quick --seed 0 --gap .2 --cage best"] * 2
    assert [after.partition(" -- ")[2] for _, after in found] == ["a.py:x", "b c.py:y"]
    of = "-regret" if check == "regret" else ""  # beside that of its privacy
    assert (tmp_path / f"code/audit-reports/01-a.py-x{of}-000000000000/record.json").is_file()
    wrong = run("Audit", tmp_path, {**inputs, "check": "regrets", "report-folder": "other"}, PATH=path)
    assert (wrong.returncode, "CHECK must be audit or regret" in wrong.stderr) == (2, True)


def test_options_of_all_lines_are_asked(tmp_path):
    """Broken variant: those of the first line."""
    (tmp_path / "verifiable-dp").write_text(PROGRAM, "utf-8")
    (tmp_path / "verifiable-dp").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    inputs = {**INPUTS, "targets": "a.py:x", "options": "--numerics\r\n--require every-path\n"}
    assert run("Audit", tmp_path, inputs, PATH=path).returncode == 0
    assert "--seed 0 --numerics --require every-path --cage" in (tmp_path / "../called").read_text("utf-8")


def test_a_campaign_takes_no_options_of_targets(tmp_path):
    """Broken variant: they are dropped, and the campaign's own claim is audited. Control: the test below."""
    (tmp_path / "pyproject.toml").write_text(
        "[tool.verifiable-dp]\n[[tool.verifiable-dp.targets]]\n", "utf-8"
    )
    for inputs in ({"campaign": "campaign.toml"}, {"campaign": ""}):
        done = run("Audit", tmp_path, {**INPUTS, "targets": "", **inputs, "options": "--require certified"})
        assert (done.returncode, "arguments work only with TARGETS" in done.stderr) == (2, True)


def test_options_of_the_judge_are_handed_on_beside_a_campaign(tmp_path):
    """Broken variant: the campaign takes their place."""
    program = PROGRAM.replace("while", "exit 2\nwhile").replace("../called", "called")
    (tmp_path / "verifiable-dp").write_text(program, "utf-8")
    (tmp_path / "verifiable-dp").chmod(0o755)
    given = environment(tmp_path, REPORTS=str(tmp_path), CAMPAIGN="c.toml", TARGETS="")
    given["PATH"] = f"{tmp_path}{os.pathsep}{given['PATH']}"
    command = ["bash", ROOT / "ci" / "audit.sh", "judge", "--max-age", "3d"]
    subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, timeout=60)
    assert f"judge --check audit --max-age 3d --campaign c.toml -- {tmp_path}" in (
        tmp_path / "called"
    ).read_text("utf-8")


def test_the_verdict_does_not_hang_on_uploads():
    assert STEPS["Upload SARIF"]["continue-on-error"] is True
    assert STEPS["Verdict"]["if"] == "${{ !cancelled() }}"


def test_requirements_are_installed_with_the_package(tmp_path):
    (tmp_path / "python").write_text('#!/bin/bash\nprintf "%s\\n" "$@"\n', "utf-8")
    (tmp_path / "python").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{environment(tmp_path)['PATH']}"
    common = ["-P", "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    locked = ["--require-hashes", "-r", f"{ROOT}/ci/requirements.lock"]
    alone = ["--no-deps", "--no-build-isolation", str(ROOT)]
    needs = ["-r", "my needs.txt"]
    for version, requirements, wanted in (
        ("", "", [[str(ROOT)]]),
        ("", "my needs.txt", [[str(ROOT), *needs]]),
        ("3.12", "", [locked, alone]),
        ("3.12", "my needs.txt", [locked, alone, needs]),
    ):
        inputs = {**INPUTS, "requirements": requirements, "python-version": version}
        done = run("Install verifiable-dp", tmp_path, inputs, PATH=path)
        assert done.stdout.splitlines() == [word for more in wanted for word in (*common, *more)], done.stderr


FLAGS = """#!/bin/bash
flags=()
while [[ $1 != install ]]; do flags+=("$1"); shift; done
exec "$PYTHON" "${flags[@]}" --version
"""


def test_a_file_of_the_repository_does_not_install_the_package(tmp_path):
    """A `pip.py`, also by PYTHONPATH. Control, and the broken variant: without -P it is run.

    In place of installing, pip says its version.
    """
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").write_text(FLAGS, "utf-8")
    (tmp_path / "bin/python").chmod(0o755)
    (tmp_path / "pip.py").write_text("print('of the repository')\n", "utf-8")
    path = f"{tmp_path / 'bin'}{os.pathsep}{environment(tmp_path)['PATH']}"
    steps = [STEPS["Install verifiable-dp"]["run"], FILES["job.sh"].splitlines()[0]]
    for text in (*steps, *(step.replace("python -P", "python") for step in steps)):
        (tmp_path / "step.sh").write_text(text, "utf-8")
        given = environment(tmp_path, PATH=path, PYTHON=sys.executable, PYTHONPATH=".", PYTHON_VERSION="")
        done = subprocess.run(
            ["bash", "-e", "step.sh"], cwd=tmp_path, env=given, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("pip " if text in steps else "of the repository"), text


def test_what_the_action_installs_is_pinned_by_digest():
    """Also what builds the package, and all that it needs; a line without a digest pip refuses."""
    text = (ROOT / "ci/requirements.lock").read_text("utf-8")
    rows = re.split(r"\n(?=[a-z])", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip())
    pinned = {row.partition("==")[0]: row.count("--hash=sha256:") for row in rows}
    assert all(pinned.values()), [name for name, many in pinned.items() if not many]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    needed = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    names = {re.split(r"[^A-Za-z0-9-]", one)[0].lower() for one in needed}
    assert names <= set(pinned)
    assert len(pinned) > len(names)


def test_the_bill_of_materials_names_every_package_of_the_lock():
    """Control: a package that a lock does not name is not in its bill."""
    lock = ROOT / "ci/requirements.lock"
    given = [sys.executable, str(ROOT / "ci/sbom.py"), str(lock)]
    bill = json.loads(subprocess.run(given, capture_output=True, text=True, check=True).stdout)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    text = lock.read_text("utf-8")
    pinned = re.findall(r"^([a-z][\w.-]*)==", text, re.MULTILINE)
    found = bill["components"]
    assert [one["name"] for one in found] == pinned
    assert "numpy" in pinned
    assert "numpy" not in {one["name"] for one in sbom_of(text.replace("numpy==", "other=="))}
    digests = {one["content"] for part in found for one in part["hashes"]}
    assert digests == set(re.findall(r"sha256:([0-9a-f]{64})", text))
    assert {one["bom-ref"] for one in found} == set(bill["dependencies"][0]["dependsOn"])


def sbom_of(text):
    return runpy.run_path(str(ROOT / "ci/sbom.py"))["bill"](text)["components"]


def test_a_folder_in_use_is_refused(job):
    done = run("Audit", job[0], job[1])
    assert done.returncode == 2
    assert "must be a new or empty folder" in done.stderr


def test_git_ignores_a_folder_of_reports_that_we_make(tmp_path):
    """Else the code of a command counts as changed. Control: a folder that was there is left as it is."""
    (tmp_path / "mine.py").write_text("def release(data, size, rng):\n    return data\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "there").mkdir()
    for place, made in (("new/reports", True), ("there", False)):
        given = environment(tmp_path, REPORTS=place, TARGETS="mine.py:release")
        command = ["bash", ROOT / "ci" / "audit.sh", "ask", "--epsilon", "1"]
        subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, check=True)
        assert len([*(tmp_path / place).glob("*/request.json")]) == 1
        listed = subprocess.run(["git", "status", "-s"], cwd=tmp_path, capture_output=True, text=True)
        assert (place.partition("/")[0] not in listed.stdout) == made
        shutil.rmtree(next((tmp_path / place).glob("01-*")))
        subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, check=True)
    for folder in (tmp_path / "own", tmp_path / "there"):
        files.make_ignored_folder("out", folder)
        assert (folder / ".gitignore").exists() == (folder.name == "own")


def test_a_folder_behind_a_link_is_refused(tmp_path):
    """As a checkout may hold one, anywhere on the way to where reports go."""
    (tmp_path / "other").mkdir()
    (tmp_path / "build").symlink_to("other")
    for place in ("build", "build/", "build/more/reports"):
        given = environment(tmp_path, REPORTS=place, TARGETS="nas")
        command = ["bash", ROOT / "ci" / "audit.sh", "ask"]
        done = subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True)
        assert (done.returncode, "with no link on the way" in done.stderr) == (2, True), place
    assert not list((tmp_path / "other").iterdir())


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_lies_in_place_of_a_page_is_not_put_into_the_summary(kind, job, tmp_path):
    """No page is made of a record that does not hold; what is there comes with the folder."""
    reports = tmp_path / "reports"
    shutil.copytree(placed(job[0], WRONG), reports / WRONG)
    (reports / WRONG / "record.json").write_text("{}")
    page = reports / WRONG / "record.md"
    page.unlink()
    (tmp_path / "other").write_text("of the judge alone")
    page.symlink_to(tmp_path / "other") if kind == "link" else os.mkfifo(page)
    given = environment(tmp_path, REPORTS=str(reports), TARGETS="mechanisms.py:wrong")
    done = subprocess.run(
        ["bash", ROOT / "ci" / "audit.sh", "judge"], env=given, capture_output=True, timeout=300
    )
    assert done.returncode == 2
    assert "of the judge alone" not in (reports / "summary.md").read_text()


def test_the_action_installs_the_package(tmp_path):
    # As the step says, but into a folder, without a network and without what is installed already.
    (tmp_path / "step.sh").write_text(STEPS["Install verifiable-dp"]["run"], "utf-8")
    quiet = {
        "PIP_TARGET": str(tmp_path / "site"),
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # this means: without isolation
    }
    done = subprocess.run(
        ["bash", "-e", tmp_path / "step.sh"],
        env=environment(tmp_path, PYTHON_VERSION="", **quiet),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site/verifiable_dp/auditors/dp_se.py").is_file()
    program = "import verifiable_dp; print(verifiable_dp.__file__)"
    where = subprocess.run(
        [sys.executable, "-P", "-c", program],
        env=environment(tmp_path, PYTHONPATH=str(tmp_path / "site")),
        capture_output=True,
        text=True,
    )
    assert str(tmp_path / "site") in where.stdout


def test_the_workflow_of_the_page_gives_inputs_that_exist():
    workflow = yaml.safe_load(FILES[".github/workflows/privacy.yml"])
    (job,) = workflow["jobs"].values()
    (step,) = (step for step in job["steps"] if "@COMMIT" in step.get("uses", ""))
    assert set(step["with"]) <= set(INPUTS)
    documented = set(re.findall(r"`([\w-]+)`", "".join(re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE))))
    assert set(INPUTS) <= documented


SERVICES = {
    "github-workflows": (FILES[".github/workflows/privacy.yml"], ("runs-on:", "runs_on:")),
    "github-workflows of judging": (FILES["judge.yml"], ("runs-on:", "runs_on:")),
    "gitlab-ci": (GITLAB, ("junit:", "junits:")),
}


@pytest.mark.parametrize("service", SERVICES)
def test_jobs_of_the_page_are_jobs_by_their_schemas(service, tmp_path):
    text, change = SERVICES[service]
    assert len(text.splitlines()) > 8
    path = tmp_path / "job.yml"
    path.write_text(text, "utf-8")
    formats.service(service.split()[0], path)
    path.write_text(text.replace(*change), "utf-8")
    with pytest.raises(formats.NotOfTheFormatError):
        formats.service(service.split()[0], path)


@pytest.mark.slow
def test_a_campaign_is_audited(tmp_path):
    (tmp_path / "mechanisms.py").write_text(MECHANISMS, "utf-8")
    (tmp_path / "campaign.toml").write_text(
        "[defaults]\nbudget = 0.3\nepsilon = 1.0\n"
        '[[targets]]\ntarget = "mechanisms.py:wrong"\n'
        '[[targets]]\ntarget = "mechanisms.py:wrong"\nname = "weaker"\nepsilon = 2.5\n',
        "utf-8",
    )
    inputs = {**INPUTS, "campaign": "campaign.toml"}
    assert run("Ask", tmp_path, inputs).returncode == 0
    assert len(asked(tmp_path).split()) == 2
    done = run("Audit", tmp_path, inputs)
    assert done.returncode == 0
    output, _ = judged(tmp_path, {**INPUTS, "campaign": "campaign.toml"})
    assert output == "status=1\n", done.stdout + done.stderr
    records = list((tmp_path / "audit-reports").glob("*/record.json"))
    assert sorted(json.loads(path.read_text("utf-8"))["claim"]["epsilon"] for path in records) == [1.0, 2.5]
    written = list((tmp_path / "audit-reports/sarif").glob("*.sarif"))
    assert len([formats.sarif(path) for path in written]) == 2


@pytest.mark.slow
def test_the_script_of_the_page_runs_as_it_stands(tmp_path):
    for name in ("job.sh", "noisy_sum.py"):
        (tmp_path / name).write_text(FILES[name], "utf-8")
    (tmp_path / "ci").mkdir()
    (tmp_path / "ci/audit.sh").write_bytes((ROOT / "ci/audit.sh").read_bytes())
    # The package is installed here already, and not from an index.
    quiet = {"VERIFIABLE_DP": "verifiable-dp", "PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1"}
    done = subprocess.run(
        ["bash", "job.sh"], cwd=tmp_path, env=environment(tmp_path, **quiet), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (folder,) = (tmp_path / "audit-reports").glob("01-*")
    kept = {path.name for path in folder.iterdir()}
    assert kept == {"request.json", "record.json", "record.html", "record.md", "junit.xml"}
