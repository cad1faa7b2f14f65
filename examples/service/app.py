"""Web workers in front of the owner of a session; they keep nothing, so any number of them can run.

`app` is for those who play, `monitor` for those who operate it: how much is spent, and how long updates take,
can depend on data.
"""

from __future__ import annotations

import asyncio
import json
import os

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from verifiable_dp.core import plot

SOCKET = os.environ.get("OWNER_SOCKET", "run/owner.sock")
PATIENCE = 30.0  # seconds
MOST_BYTES = 256  # of the body of a request
Body = dict[str, object]
AWAY = {"error": "the owner of the session cannot be reached; send the same request again"}


async def ask(do: str, **more: object) -> tuple[int, Body]:
    """What the owner answers: HTTP status and body."""
    try:
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_unix_connection(SOCKET, limit=1 << 26)
            try:
                writer.write(json.dumps({**more, "do": do}).encode() + b"\n")
                found = json.loads(await reader.readline())
            finally:
                writer.close()
        return int(found["status"]), dict(found["body"])
    except (OSError, ValueError):  # away, too slow, or killed before it could answer
        return 503, dict(AWAY)


def shown(status: int, body: Body) -> Response:
    """As JSON."""
    return JSONResponse(body, status, headers={"Retry-After": "1"} if status == 503 else None)


async def select(_: Request) -> Response:
    """The round and its arm; the same for everybody until the round has its reward."""
    return shown(*await ask("select"))


async def update(request: Request) -> Response:
    """Take {"round": ..., "reward": ...}; answered once it lasts."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            break
    try:
        given = json.loads(body) if len(body) <= MOST_BYTES else None
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict) or set(given) != {"round", "reward"}:
        return shown(400, {"error": 'the body must be {"round": ..., "reward": ...}'})
    return shown(*await ask("update", round=given["round"], reward=given["reward"]))


async def state(_: Request) -> Response:
    """What anybody may see."""
    return shown(*await ask("state"))


async def metrics(_: Request) -> Response:
    """In the text format of Prometheus."""
    status, found = await ask("metrics")
    rows: list[tuple[str, str, str, object]] = [
        ("up", "gauge", "Whether the owner answers.", int(status == 200))
    ]
    if status == 200:
        rows += [
            ("rounds", "gauge", "Rewards taken.", found["rounds"]),
            ("generation", "counter", "States written.", found["generation"]),
            ("epsilon_spent", "gauge", "Largest privacy loss of a reward so far.", found["spent"]),
            ("epsilon_claimed", "gauge", "Privacy loss that is promised.", found["claimed"]),
            ("refused_total", "counter", "Updates refused since the owner's start.", found["refused"]),
            ("update_seconds_count", "counter", "Updates since the owner's start.", found["updates"]),
            ("update_seconds_sum", "counter", "Seconds they took, in whole ticks.", found["seconds"]),
        ]
    text = "".join(
        "# HELP {0} {2}\n# TYPE {0} {1}\n{0} {3}\n".format(f"verifiable_dp_{name}", kind, words, value)
        for name, kind, words, value in rows
        if value is not None
    )
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


async def spending(request: Request) -> Response:
    """Epsilon spent by round, since the owner's start: as JSON, or drawn."""
    status, found = await ask("metrics")
    if status != 200:
        return shown(status, found)
    if request.url.path.endswith(".svg"):
        steps, rounds, claimed = found["spending"], found["rounds"], found["claimed"]
        assert isinstance(steps, list)
        assert isinstance(rounds, int)
        drawn = plot.spending(steps, rounds, claimed if isinstance(claimed, float) else 1.0)
        return Response(drawn.svg, media_type="image/svg+xml")
    return shown(200, {name: found[name] for name in ("rounds", "claimed", "spending")})


app = Starlette(
    routes=[
        Route("/select", select, methods=["POST"]),
        Route("/update", update, methods=["POST"]),
        Route("/state", state),
    ]
)
monitor = Starlette(
    routes=[
        Route("/metrics", metrics),
        Route("/spending", spending),
        Route("/spending.svg", spending),
    ]
)
