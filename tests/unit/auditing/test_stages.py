"""How far a stage of an audit is, and how long it takes yet."""

import re

from tests.asking import audited
from verifiable_dp import api
from verifiable_dp.core import engine
from verifiable_dp.evidence.blackbox.test import Plan
from verifiable_dp.report import finish


def release(data, size, rng):
    return data + rng.laplace(0, 1, size)


PLAN = Plan(24, 200, 600_000)


def draft(**options):
    name = "tests.unit.auditing.test_stages:release"
    return audited(release, name=name, epsilon=1.0, plan=PLAN, power=False, **options)


def test_a_stage_says_how_far_it_is_only_where_it_is_heard():
    said = []
    stages = engine.Stages(said.append)
    with stages.heard():
        first = draft(progress=stages)
    parts = [line for line in said if line.startswith("black box: ") and "left" in line]
    shares = [
        int(re.fullmatch(r"black box: 1200000 draws: (\d+) %, about \d+ s left", line)[1]) for line in parts
    ]
    assert shares == sorted(set(shares))
    assert len(shares) == 9  # of ten shards; the last is followed by another stage or by the end
    before = len(said)
    again = draft()
    assert len(said) == before
    assert again["checks"] == first["checks"]


def test_a_re_run_says_it_and_gives_the_same():
    said = []
    record = finish(draft(), started=0.0, cpu_seconds=0.0).record
    again = api.rerun(record, progress=said.append)
    assert again["checks"] == record["checks"]
    parts = sum(line.startswith("black box: ") and line.endswith(" s left") for line in said)
    assert parts == 10  # counted in the other process, which hears of the last shard, too
