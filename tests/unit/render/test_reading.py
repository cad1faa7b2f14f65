"""The first screen of a page holds the answers to the questions of tests/reading.md."""

import functools
import json
import re
from pathlib import Path

import pytest

from tests import visible
from tests.committed import REPORTS
from verifiable_dp.record.model import Record
from verifiable_dp.render import sidecars
from verifiable_dp.render.page import render

READING = (Path(__file__).parents[2] / "reading.md").read_text("utf-8")
QUESTIONS = re.findall(r"^\d\. (.*\?)$", READING, re.MULTILINE)
ANSWERS = {
    name: [answer.split("; ") for answer in re.findall(r"^\d\. (.*)$", said, re.MULTILINE)]
    for name, said in re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", READING, re.MULTILINE | re.DOTALL)
}
_MOST = 150  # words


@functools.cache
def first_screen(name):
    """What is read of the card, from the verdict to what to do next."""
    path = REPORTS / name / "record.json"
    record = json.loads(path.read_text("utf-8"))
    page = render(Record.of(record), drawn=False, around=sidecars.of(path, Record.of(record)))
    return " ".join(visible.first_screen(page))


def missing(name, answers):
    """Words of right answers that are not on the first screen, without regard to case."""
    shown = first_screen(name).lower()
    return [words for answer in answers for words in answer if words.lower() not in shown]


def test_there_are_enough_pages_of_every_kind():
    assert len(QUESTIONS) == 6
    assert len(ANSWERS) >= 8
    assert all(len(answers) == len(QUESTIONS) for answers in ANSWERS.values())


@pytest.mark.parametrize("name", ANSWERS)
def test_the_first_screen_answers_every_question(name):
    assert missing(name, ANSWERS[name]) == []
    assert len(re.findall(r"\S*\w\S*", first_screen(name))) <= _MOST


@pytest.mark.parametrize(
    ("shown", "asked"),
    [("dp-se", "dp-nas"), ("dp-nas", "dp-se"), ("dp-se", "ucb1"), ("ldp-linear", "dp-linear-printed")],
)
def test_the_answers_of_another_page_are_missed(shown, asked):
    """Control: pages that differ in promise, verdict or strength do not answer for each other."""
    found = [bool(missing(shown, [answer])) for answer in ANSWERS[asked]]
    assert sum(found) >= 3
    assert found[2]  # strength
