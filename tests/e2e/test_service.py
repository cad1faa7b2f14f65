"""examples/service: one owner of a session behind web workers, in this process and as real processes."""

import asyncio
import contextlib
import http.client
import importlib.util
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import verifiable_dp as vdp
from tests.commands import PATIENCE
from verifiable_dp.core import plot

FOLDER = Path(__file__).parents[2] / "examples" / "service"
ARMS, HORIZON, ROUNDS = 3, 400, 60
SETUP = ("--arms", str(ARMS), "--horizon", str(HORIZON), "--tick", "0")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sessions in files need locks of POSIX")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


def loaded(name):
    """A module of the example, without its folder on the path."""
    spec = importlib.util.spec_from_file_location(f"service_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


owner, web = loaded("owner"), loaded("app")


@pytest.fixture
def place():
    """A folder whose name is short, for a Unix socket has at most 107 bytes."""
    folder = Path(tempfile.mkdtemp(dir="/tmp", prefix="vdp"))
    for name in ("state", "counter", "run"):
        (folder / name).mkdir(mode=0o700)
    key(folder / "key", b"k")
    yield folder
    shutil.rmtree(folder)


def key(path, letter):
    """A file with a key."""
    path.write_bytes(letter * 32)
    path.chmod(0o600)


# ---------------------------------------------------------------- in this process


def call(app, method, path, body=b""):
    """Status, headers and body of one request."""
    sent = []
    parts = [body[start : start + 100] for start in range(0, len(body), 100)] or [b""]
    coming = iter(
        {"type": "http.request", "body": part, "more_body": number + 1 < len(parts)}
        for number, part in enumerate(parts)
    )

    async def receive():
        return next(coming)

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [],
        "client": ("test", 1),
        "server": ("test", 80),
    }
    asyncio.run(app(scope, receive, send))
    start, *rest = sent
    return start["status"], dict(start["headers"]), b"".join(part.get("body", b"") for part in rest).decode()


def post(path, **given):
    status, _, body = call(web.app, "POST", path, json.dumps(given).encode())
    return status, json.loads(body)


def get(path, app=None):
    status, _, body = call(app or web.app, "GET", path)
    return status, json.loads(body)


@contextlib.contextmanager
def serving(session, algorithm, place, monkeypatch, tick=0.0):
    """An owner in a thread, and the workers' door to it."""
    path = str(place / "run" / "owner.sock")
    with owner.Server(path, owner.Owner(session, algorithm, tick)) as server:
        monkeypatch.setattr(web, "SOCKET", path)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield path
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def algorithm():
    return vdp.make("dp-ucb", n_arms=ARMS, epsilon=1.0, horizon=20)


@pytest.fixture
def session(algorithm, place):
    with algorithm.session(path=place / "state" / "session.json") as session:
        yield session


def test_a_session_is_played_to_its_end(session, algorithm, place, monkeypatch):
    with serving(session, algorithm, place, monkeypatch):
        for number in range(20):
            status, found = post("/select")
            assert (status, found["round"]) == (200, number)
            assert 0 <= found["arm"] < ARMS
            assert post("/select") == (200, found)
            assert post("/update", round=number, reward=0.5) == (200, {"round": number + 1})
        assert post("/select")[0] == 410
        assert post("/update", round=20, reward=0.5)[0] == 410
        assert post("/update", round=19, reward=0.5)[0] == 409  # sent again after a crash
        status, state = get("/state")
        assert (status, state["rounds"], state["finished"], state["generation"]) == (200, 20, True, 21)
        assert sum(state["public"]["pulls"]) == 20
        assert set(state) == {"rounds", "finished", "generation", "public"}


def test_what_is_wrong_is_refused_and_no_reward_is_quoted(session, algorithm, place, monkeypatch, capfd):
    secret = 0.7654321
    asked = [
        (400, {"reward": secret}),
        (400, {"round": secret, "reward": 0}),
        (400, {"round": 0, "reward": secret, "more": 1}),
        (400, {"round": "x" * 500, "reward": secret}),
        (400, {"round": True, "reward": secret}),
        (409, {"round": 1, "reward": secret}),
        (409, {"round": -1, "reward": secret}),
        (422, {"round": 0, "reward": secret + 7}),
        (422, {"round": 0, "reward": str(secret)}),
        (422, {"round": 0, "reward": [secret]}),
        (422, {"round": 0, "reward": float("nan")}),
        (422, {"round": 0, "reward": 10**100}),
        (422, {"round": 0, "reward": True}),
    ]
    with serving(session, algorithm, place, monkeypatch):
        told = [post("/update", **given) for _, given in asked]
        assert [status for status, _ in told] == [status for status, _ in asked]
        for body in (b"", b"{", b"[1]", b"[" * 200, b"\xff"):
            assert call(web.app, "POST", "/update", body)[0] == 400
        assert call(web.app, "GET", "/update")[0] == 405
        assert "7654321" not in json.dumps(told)
        assert get("/state")[1]["rounds"] == 0
        assert "verifiable_dp_refused_total 10\n" in call(web.monitor, "GET", "/metrics")[2]
    assert "7654321" not in "".join(capfd.readouterr())


def test_requests_that_are_not_ours_are_refused(session, algorithm):
    lines = (b"", b"\xff", b"[]", b"{}", b'{"do": []}', b'{"do": "close"}', b" " * 600, b"[" * 500)
    assert {owner.Owner(session, algorithm, 0).answer(line)[0] for line in lines} == {400}


def test_what_the_session_spends_is_shown_to_the_operator(session, algorithm, place, monkeypatch):
    with serving(session, algorithm, place, monkeypatch, tick=0.5):
        for number in range(10):
            post("/update", round=number, reward=1)
        status, headers, text = call(web.monitor, "GET", "/metrics")
        assert (status, headers[b"content-type"].split(b";")[0]) == (200, b"text/plain")
        found = dict(re.findall(r"^verifiable_dp_(\w+) (\S+)$", text, re.MULTILINE))
        assert found["rounds"] == found["update_seconds_count"] == "10"
        assert found["generation"] == "11"
        assert float(found["update_seconds_sum"]) % 0.5 == 0
        assert float(found["epsilon_spent"]) == session.spent > 0
        assert float(found["epsilon_claimed"]) == 1
        shown = get("/spending", web.monitor)[1]
        assert shown == {"rounds": 10, "claimed": 1.0, "spending": [list(row) for row in session.spending()]}
        assert shown["spending"][0] == [0, 0]
        assert shown["spending"][-1][1] == session.spent
        status, headers, drawing = call(web.monitor, "GET", "/spending.svg")
        assert headers[b"content-type"] == b"image/svg+xml"
        assert ElementTree.fromstring(drawing).tag.endswith("svg")
        # Whoever plays sees none of it.
        assert call(web.app, "GET", "/metrics")[0] == call(web.app, "GET", "/spending")[0] == 404


def test_spending_begins_anew_with_a_restored_session(session, algorithm, place):
    assert session.spending() == [(0, 0.0)]
    for _ in range(6):
        session.update(1.0)
    rounds, spent = zip(*session.spending(), strict=True)
    assert list(rounds) == sorted(set(rounds))
    assert list(spent) == sorted(set(spent))
    assert spent[-1] == session.spent
    session.close()
    with algorithm.restore(place / "state" / "session.json") as again:
        assert again.spending() == [(6, spent[-1])]
    seeded = algorithm.session(seed=1)
    assert seeded.spending() == []
    with pytest.raises(vdp.InputError, match="plot: this session is not metered"):
        seeded.plot()


def test_what_is_spent_is_drawn_below_the_claim(session, tmp_path):
    """The line has a step wherever `spending` grew. Control: another spending gives another line."""
    for _ in range(6):
        session.update(1.0)
    drawn = session.plot()
    assert drawn.title == f"epsilon spent: {session.spent:.4g} of 1 after 6 rounds"
    assert drawn.save(tmp_path / "spending.svg").read_text("utf-8") == drawn.svg
    assert ElementTree.fromstring(drawn.svg).tag.endswith("svg")
    heights = [200 * (1 - spent) for _, spent in session.spending()]
    line = re.search(r'd="(M 0\.0 [^"]*H 600)"', drawn.svg)[1]
    assert [float(y) for y in re.findall(r"(?:M 0\.0|V) ([\d.]+)", line)] == pytest.approx(heights, abs=0.06)
    other = plot.spending([(0, 0.0), (3, 0.5)], 6, 1.0).svg
    assert 'd="M 0.0 200.0 H 300.0 V 100.0 H 600"' in other
    assert line not in other


def test_an_owner_that_is_away_is_reported(place, monkeypatch):
    monkeypatch.setattr(web, "SOCKET", str(place / "run" / "nobody"))
    status, headers, body = call(web.app, "POST", "/select")
    assert (status, headers[b"retry-after"]) == (503, b"1")
    assert json.loads(body) == web.AWAY
    assert call(web.monitor, "GET", "/metrics")[2].endswith("verifiable_dp_up 0\n")
    assert call(web.monitor, "GET", "/spending")[0] == 503


def test_an_update_that_cannot_be_written_can_be_sent_again(session, algorithm, place, monkeypatch, capfd):
    with serving(session, algorithm, place, monkeypatch):
        with monkeypatch.context() as patch:
            patch.setattr(tempfile, "mkstemp", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "full")))
            assert post("/update", round=0, reward=0.5)[0] == 503
        assert "full" in capfd.readouterr().err
        assert post("/update", round=0, reward=0.5) == (200, {"round": 1})


def test_a_session_without_budget_stops(session, algorithm, place, monkeypatch, capfd):
    def over(*_, **__):
        raise vdp.BudgetError("session: a reward would cost 3")

    with serving(session, algorithm, place, monkeypatch):
        monkeypatch.setattr(type(session), "update", over)
        assert post("/update", round=0, reward=0.5)[0] == 410
    assert "exceed the claim" in capfd.readouterr().err


def test_the_socket_is_the_owners_only(session, algorithm, place, monkeypatch):
    with serving(session, algorithm, place, monkeypatch) as path:
        assert os.stat(path).st_mode & 0o777 == 0o600
    with serving(session, algorithm, place, monkeypatch):  # a stale one is replaced
        assert get("/state")[0] == 200
    Path(path).unlink()
    Path(path).write_text("mine")
    with pytest.raises(vdp.InputError, match="not a socket"):
        owner.Server(path, owner.Owner(session, algorithm, 0))


def test_a_client_that_leaves_does_no_harm(session, algorithm, place, monkeypatch, capfd):
    with serving(session, algorithm, place, monkeypatch) as path:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
        monkeypatch.setattr(owner.Owner, "answer", lambda *_: 1 / 0)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            client.sendall(b'{"do": "state"}\n')
            assert client.recv(10) == b""
    assert "ZeroDivisionError" in capfd.readouterr().err


def run(place, *more):
    """The owner's command line in this process, in its folder."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        with contextlib.chdir(place):
            owner.main([*SETUP, *more])
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_session_is_begun_once_and_its_key_changed(place, capfd):
    run(place, "--new")
    with pytest.raises(SystemExit, match="exists or its counter"):
        run(place, "--new")
    key(place / "key.new", b"n")
    run(place, "--rotate-to", "key.new")
    with pytest.raises(SystemExit, match="another key"):
        run(place, "--rotate-to", "key.new")
    run(place, "--key", "key.new", "--rotate-to", "key.new")
    assert "now needs the key in key.new" in capfd.readouterr().err
    (place / "state" / "session.json").unlink()
    with pytest.raises(SystemExit, match="counter is not at 0"):
        run(place, "--new")
    (place / "key").chmod(0o644)
    (place / "counter" / "session").unlink()
    with pytest.raises(SystemExit, match="others can read"):
        run(place, "--new")
    with pytest.raises(SystemExit):
        run(place, "--tick", "-1")


def test_an_older_copy_is_refused(place):
    run(place, "--new")
    file = place / "state" / "session.json"
    older = file.read_bytes()
    for _ in range(2):
        run(place, "--rotate-to", "key")
    file.write_bytes(older)
    with pytest.raises(SystemExit, match="older copy"):
        run(place)


# ---------------------------------------------------------------- faults that docs/live-sessions.md lists


def test_wall_time_is_not_used(session, algorithm, place, monkeypatch):
    for name in ("time", "time_ns"):
        monkeypatch.setattr(time, name, lambda: 1 / 0)
    session.update(0.5)
    session.close()
    with algorithm.restore(place / "state" / "session.json") as again:
        again.update(0.5)
        assert again.rounds == 2


def test_a_slow_reader_reads_one_state(session, place):
    with open(place / "state" / "session.json") as file:
        found = file.read(10)
        for _ in range(5):
            session.update(0.5)
        found += file.read()
    assert (json.loads(found)["generation"], session.generation) == (1, 6)


def test_a_file_restored_with_its_counter_is_not_noticed(place, algorithm):
    file, counter = place / "state" / "session.json", vdp.FileCounter(place / "counter" / "session")
    algorithm.session(path=file, counter=counter).close()
    shutil.copytree(place, place / "snapshot")
    with algorithm.restore(file, counter=counter) as session:
        session.update(0.5)
    for name in ("state/session.json", "counter/session"):
        shutil.copy(place / "snapshot" / name, place / name)
    with algorithm.restore(file, counter=counter) as session:
        assert session.rounds == 0


# ---------------------------------------------------------------- real processes


class Door(http.client.HTTPConnection):
    """HTTP over a Unix socket, which needs no free port."""

    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def ask(path, method, url, **given):
    """Status and body; 0 where nobody answered."""
    door = Door(path)
    try:
        door.request(method, url, json.dumps(given) if given else None)
        answer = door.getresponse()
        return answer.status, json.loads(answer.read())
    except (OSError, http.client.HTTPException):
        return 0, {}
    finally:
        door.close()


@contextlib.contextmanager
def process(command, place, log):
    """A program in the folder, ended with its group if it has not ended."""
    environment = {**os.environ, "OWNER_SOCKET": str(place / "run" / "owner.sock"), "PYTHONPATH": str(FOLDER)}
    with open(place / log, "ab") as file:
        program = subprocess.Popen(
            [sys.executable, *command],
            cwd=place,
            env=environment,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        yield program
    finally:
        if program.poll() is None:
            program.terminate()
        try:
            program.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()


def until(holds):
    """Wait for it."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def play(path, rounds, taken, seen, stop):
    """Play until `rounds`; note what was answered and what was seen."""
    chance = random.Random(threading.get_ident())
    while not stop.is_set():
        status, found = ask(path, "POST", "/select")
        if status != 200 or found["round"] >= rounds:
            if status == 200:
                return
            time.sleep(0.05)
            continue
        status, told = 503, {}
        while status in (0, 503) and not stop.is_set():  # sent again until somebody says what became of it
            status, told = ask(
                path, "POST", "/update", round=found["round"], reward=float(chance.random() < 0.5)
            )
        assert status in (200, 409), (status, told)
        if status == 200:
            taken.append(found["round"])
        status, state = ask(path, "GET", "/state")
        if status == 200:
            seen.append((state["generation"], state["rounds"], json.dumps(state["public"])))


def test_an_owner_that_is_killed_loses_nothing_and_draws_nothing_twice(place):
    run(place, "--new")
    path, taken, seen, stop = str(place / "run" / "web.sock"), [], [], threading.Event()
    command = [str(FOLDER / "owner.py"), *SETUP]
    workers = ["-m", "uvicorn", "app:app", "--workers", "2", "--uds", path, "--no-access-log"]
    players = [threading.Thread(target=play, args=(path, ROUNDS, taken, seen, stop)) for _ in range(2)]
    with contextlib.ExitStack() as stack:
        stack.enter_context(process(workers, place, "web.log"))
        stack.callback(stop.set)
        first = stack.enter_context(process(command, place, "owner.log"))
        until(lambda: ask(path, "GET", "/state")[0] == 200)
        for player in players:
            player.start()
        until(lambda: len(taken) >= 20)
        first.send_signal(signal.SIGKILL)
        first.wait()
        with process(command, place, "owner.log") as second:
            for player in players:
                player.join(PATIENCE)
                assert not player.is_alive()
            # Only one can own the session.
            with pytest.raises(SystemExit, match="is in use by another session"):
                run(place)
            status, last = ask(path, "GET", "/state")
            second.terminate()
            assert second.wait(PATIENCE) == 0
    assert (status, last["rounds"]) == (200, ROUNDS)
    assert sum(last["public"]["pulls"]) == ROUNDS
    # Each reward that was confirmed counts, in a round of its own; at most one was unconfirmed at the kill.
    assert len(taken) == len(set(taken)) >= ROUNDS - 1
    # A round has one public state, whoever saw it and whenever: nothing was drawn a second time.
    states, newest = {}, 0
    for _, rounds, public in sorted(seen):
        assert states.setdefault(rounds, public) == public
        assert rounds >= newest
        newest = rounds
    log = (place / "owner.log").read_text()
    assert len(re.findall("is open at round", log)) == 2
    assert "Traceback" not in log + (place / "web.log").read_text()
    stored = json.loads((place / "state" / "session.json").read_bytes())
    assert (place / "counter" / "session").read_text() == f"{stored['stamp']}\n"
