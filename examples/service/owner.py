"""The owner of one live session: the only process that draws noise, behind a Unix socket.

python owner.py --new    make the session, once
python owner.py          restore it and answer until SIGTERM
python owner.py --help   where its files are, and what it promises

One request a connection, as a line of JSON; the answer is a line with an HTTP status and a body. Requests
wait for each other. No reward is written to the log or into an answer.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import signal
import socketserver
import stat
import sys
import threading
import time
from pathlib import Path

import numpy as np

import verifiable_dp as vdp

MOST_BYTES = 512  # of a request
Body = dict[str, object]


class Owner:
    """Answers requests from one session.

    Parameters
    ----------
    session
        In its file.
    algorithm
        That of the session.
    tick
        Seconds: that of the session.
    """

    def __init__(self, session: vdp.Session, algorithm: vdp.Algorithm, tick: float) -> None:
        self._session, self._algorithm, self._tick = session, algorithm, tick
        self._lock = threading.Lock()
        self._updates, self._seconds, self._refused = 0, 0.0, 0

    def answer(self, line: bytes) -> tuple[int, Body]:
        """HTTP status and body."""
        try:
            asked = json.loads(line) if len(line) <= MOST_BYTES else None
        except (ValueError, RecursionError):
            asked = None
        known = {"select": self._select, "update": self._update}
        known |= {"state": self._state, "metrics": self._metrics}
        if not (isinstance(asked, dict) and asked.get("do") in list(known)):
            return 400, {"error": "the request is not JSON of the expected form, or too long"}
        # Held through the tick of an update: nobody sees its result before the tick is over.
        with self._lock:
            try:
                return known[asked["do"]](asked)
            except vdp.BudgetError:
                log("stopped: the next release would exceed the claim")
                return 410, {"error": "session: its budget is spent; no further reward is taken"}
            except (vdp.InputError, OSError) as error:
                log(str(error))
                return 503, {"error": "session: not done, see the log of the owner; send it again"}

    def _select(self, _: Body) -> tuple[int, Body]:
        if self._session.finished:
            return 410, {"error": "session: all rounds are played"}
        return 200, {"round": self._session.rounds, "arm": self._session.select()}

    def _update(self, asked: Body) -> tuple[int, Body]:
        number, reward, now = asked.get("round"), asked.get("reward"), self._session.rounds
        low, high = self._algorithm.bounds
        wrong: tuple[int, Body] | None = None
        if type(number) is not int:
            wrong = 400, {"error": "round must be the whole number that /select gave"}
        elif number < now:  # before anything else: whoever sends it again after a crash has to hear this
            wrong = 409, {"error": "this round has its reward already", "round": now}
        elif self._session.finished:
            wrong = 410, {"error": "session: all rounds are played"}
        elif number > now:
            wrong = 409, {"error": "this round has not begun", "round": now}
        elif type(reward) not in (int, float) or not low <= reward <= high:  # type: ignore[operator]
            wrong = 422, {"error": f"reward must be a number from {low:g} to {high:g}"}
        if wrong is not None:
            self._refused += 1
            return wrong
        begun = time.monotonic()
        self._session.update(reward, round=number)  # type: ignore[arg-type]
        self._updates += 1
        self._seconds += self._ticks(time.monotonic() - begun)
        return 200, {"round": self._session.rounds}

    def _ticks(self, seconds: float) -> float:
        """Rounded to whole ticks: how long exactly an update took can depend on its noise."""
        return max(1, round(seconds / self._tick)) * self._tick if self._tick else seconds

    def _state(self, _: Body) -> tuple[int, Body]:
        session = self._session
        shown = {"rounds": session.rounds, "finished": session.finished, "generation": session.generation}
        return 200, {**shown, "public": public(session.state)}

    def _metrics(self, _: Body) -> tuple[int, Body]:
        claim = self._algorithm.claim
        return 200, {
            "rounds": self._session.rounds,
            "generation": self._session.generation,
            "spent": self._session.spent,
            "claimed": claim.epsilon if claim else None,
            "spending": self._session.spending(),
            "updates": self._updates,
            "seconds": self._seconds,
            "refused": self._refused,
        }


def public(thing: object) -> object:
    """The first row of the arrays of a state as JSON values; null for what is not a number yet."""
    if thing is None:
        return None
    if dataclasses.is_dataclass(thing):
        return {field.name: public(getattr(thing, field.name)) for field in dataclasses.fields(thing)}
    row = np.asarray(thing)[0].tolist()
    found: object = json.loads(json.dumps(row), parse_constant=lambda _: None)
    return found


def log(line: str) -> None:
    """A line on the standard error stream."""
    print(f"owner: {line}", file=sys.stderr, flush=True)


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Listens on a Unix socket that only this user can open.

    Parameters
    ----------
    path
        Of the socket. One that is there is replaced: the lock on the session's file, which is held by now,
        keeps every other owner of this session away.
    owner
        Who answers.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, path: str, owner: Owner) -> None:
        self.owner = owner
        if os.path.lexists(path):
            if not stat.S_ISSOCK(os.lstat(path).st_mode):
                raise vdp.InputError(f"socket: {path!r} is not a socket; give another path")
            os.unlink(path)
        before = os.umask(0o177)
        try:
            super().__init__(path, Handler)
        finally:
            os.umask(before)

    def handle_error(self, *_: object) -> None:
        """Log the type only: a message could quote data."""
        log(f"a request failed: {type(sys.exception()).__name__}")


class Handler(socketserver.StreamRequestHandler):
    """One connection."""

    timeout = 10.0
    server: Server

    def handle(self) -> None:
        """Answer one request."""
        status, body = self.server.owner.answer(self.rfile.readline(MOST_BYTES + 1))
        self.wfile.write(json.dumps({"status": status, "body": body}).encode() + b"\n")


def secret(path: str) -> bytes:
    """The key in a file that only its owner can read."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_mode & 0o077:
            raise vdp.InputError(f"key: others can read {path!r}; run: chmod 600 {path}")
        return file.read()


def begin(algorithm: vdp.Algorithm, options: argparse.Namespace) -> vdp.Session:
    """Make the session; refuse if there has been one."""
    counter = vdp.FileCounter(options.counter)
    if os.path.lexists(options.session) or counter.value():
        raise vdp.InputError(
            f"--new: {options.session!r} exists or its counter is not at 0; start without --new, or begin "
            "another session with another file, another counter and a budget of its own"
        )
    return algorithm.session(path=options.session, key=secret(options.key), counter=counter)


def restore(algorithm: vdp.Algorithm, options: argparse.Namespace) -> vdp.Session:
    """Go on with the session."""
    counter = vdp.FileCounter(options.counter)
    return algorithm.restore(options.session, key=secret(options.key), counter=counter, tick=options.tick)


def given(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    shown = argparse.ArgumentDefaultsHelpFormatter
    parser = argparse.ArgumentParser(description="Own one live session.", formatter_class=shown)
    add = parser.add_argument
    add("--session", default="state/session.json", help="file of the session, on a local disk")
    add("--key", default="key", help="file of its key: at least 16 secret bytes, mode 0600")
    add("--counter", default="counter/session", help="file of its counter: on another disk, in no backup")
    add("--socket", default="run/owner.sock", help="Unix socket to listen on")
    add("--algorithm", default="dp-ucb", help="name in the catalogue")
    add("--arms", type=int, default=3, help="number of arms")
    add("--epsilon", type=float, default=1.0, help="privacy loss to promise")
    add("--horizon", type=int, default=10_000, help="number of rounds")
    add("--tick", type=float, default=0.05, help="seconds: updates are answered at whole multiples")
    add("--new", action="store_true", help="make the session and exit")
    add("--rotate-to", metavar="KEY", help="file of a new key: write the session with it and exit")
    options = parser.parse_args(arguments)
    if not (math.isfinite(options.tick) and options.tick >= 0):
        parser.error("--tick must be at least 0")
    return options


def main(arguments: list[str] | None = None) -> None:
    """Make the session, give it another key, or own it until SIGTERM."""
    options = given(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        algorithm = vdp.make(
            options.algorithm, n_arms=options.arms, epsilon=options.epsilon, horizon=options.horizon
        )
        with (begin if options.new else restore)(algorithm, options) as session:
            at = f"round {session.rounds}, generation {session.generation}"
            if options.new:
                return log(f"made {options.session}")
            if options.rotate_to:
                session.save(options.session, key=secret(options.rotate_to))
                return log(f"{options.session} now needs the key in {options.rotate_to}")
            with Server(str(Path(options.socket)), Owner(session, algorithm, options.tick)) as server:
                log(f"{options.session} is open at {at}")
                server.serve_forever(poll_interval=0.1)
    except (vdp.InputError, OSError) as error:
        sys.exit(f"owner: {error}")


if __name__ == "__main__":
    main()
