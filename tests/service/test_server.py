"""No peer holds up another, whatever it does."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from support import BOUND_SECONDS
from ultan.service import peer, server, start
from ultan.service.protocol import encode
from ultan.service.server import Limits, Server
from ultan.wire.home import Home

SHORT = Limits(request_bytes=4096, read_seconds=0.3, write_seconds=0.3, connections=4)
QUESTION = b'{"v":1,"op":"status"}\n'


async def echo(raw: bytes, _accepted: float) -> bytes:
    """An answer that holds the question; "slow" and "huge" do what they say."""
    text = raw.decode("utf-8", "replace").strip()
    if "slow" in text:
        await asyncio.sleep(0.5)
    if "broken" in text:
        raise ValueError("a mistake")
    return encode({"echo": text, "more": "x" * (1_000_000 if "huge" in text else 0)})


class Stage:
    def __init__(self, home: Home, limits: Limits, answer: server.Answer) -> None:
        self.home = home
        self.troubles: list[str] = []
        self.server = Server(answer, lambda where, error: self.troubles.append(type(error).__name__), limits)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_unix_connection(self.home.socket, limit=1 << 22)

    async def ask(self, raw: bytes = QUESTION) -> dict[str, Any]:
        """Send bytes and read the answer; {} where the connection just ends."""
        reader, writer = await self.connect()
        try:
            writer.write(raw)
            with contextlib.suppress(ConnectionError):
                await writer.drain()
            return await self.read(reader)
        finally:
            writer.close()

    async def read(self, reader: asyncio.StreamReader) -> dict[str, Any]:
        try:
            line = await asyncio.wait_for(reader.readline(), BOUND_SECONDS)
        except ConnectionError:
            return {}
        return dict(json.loads(line)) if line else {}

    async def gone(self) -> None:
        """Wait until no connection is left."""
        end = time.monotonic() + BOUND_SECONDS
        while self.server.connections:
            assert time.monotonic() < end, "a connection stays"
            await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def stage(home: Home, limits: Limits = SHORT, answer: server.Answer = echo) -> AsyncIterator[Stage]:
    it = Stage(home, limits, answer)
    await it.server.open(start.listen(home))
    try:
        yield it
    finally:
        await it.server.close(0.1)


def run(home: Home, play: Callable[[Stage], Awaitable[None]], limits: Limits = SHORT) -> None:
    async def main() -> None:
        async with stage(home, limits) as it:
            await asyncio.wait_for(play(it), BOUND_SECONDS)

    asyncio.run(main())


def test_a_question_has_an_answer_and_then_the_connection_ends(home: Home) -> None:
    async def play(it: Stage) -> None:
        reader, writer = await it.connect()
        writer.write(QUESTION + b"more\n")
        assert json.loads(await reader.readline())["echo"] == QUESTION.decode().strip()
        assert await reader.read() == b""
        await it.gone()

    run(home, play)


def test_a_question_in_pieces_or_without_a_line_end_is_answered(home: Home) -> None:
    async def play(it: Stage) -> None:
        reader, writer = await it.connect()
        for byte in QUESTION.strip():
            writer.write(bytes([byte]))
            await writer.drain()
        writer.write_eof()
        assert (await it.read(reader))["ok"]

    run(home, play)


def test_a_peer_that_drips_is_told_so_when_its_time_is_up_all_in_all(home: Home) -> None:
    async def play(it: Stage) -> None:
        reader, writer = await it.connect()
        begun = time.monotonic()
        answer = asyncio.create_task(it.read(reader))
        while not answer.done():
            writer.write(b"x")
            await asyncio.sleep(0.05)
            assert time.monotonic() - begun < BOUND_SECONDS
        assert answer.result()["error"]["type"] == "slow"
        await it.gone()

    run(home, play)


def test_a_peer_that_says_nothing_or_closes_early_leaves_no_trace(home: Home) -> None:
    async def play(it: Stage) -> None:
        for raw in (b"", b"\n", b"{", b'{"slow":1}\n'):
            _, writer = await it.connect()
            writer.write(raw)
            writer.close()
        _, silent = await it.connect()
        assert (await it.ask())["ok"]
        await it.gone()
        silent.close()
        assert it.troubles == []

    run(home, play)


def test_a_flood_is_cut_at_the_limit(home: Home) -> None:
    async def play(it: Stage) -> None:
        answer = await it.ask(b"A" * 1_000_000)
        assert answer == {} or answer["error"]["type"] == "too-large"
        answer = await it.ask(b"A" * 5000)
        assert answer["error"]["type"] == "too-large"
        await it.gone()

    run(home, play)


def test_a_peer_that_never_reads_is_dropped(home: Home) -> None:
    async def play(it: Stage) -> None:
        deaf = socket.socket(socket.AF_UNIX)
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(it.home.socket)
        deaf.sendall(b'{"huge":1}\n')
        await asyncio.sleep(0.05)
        assert (await it.ask())["ok"]
        await it.gone()
        deaf.close()

    run(home, play)


def test_those_that_do_not_ask_make_room_for_one_that_does(home: Home) -> None:
    async def play(it: Stage) -> None:
        idle = [await it.connect() for _ in range(12)]
        assert (await it.ask())["ok"]
        assert it.server.connections <= SHORT.connections
        for _, writer in idle:
            writer.close()

    run(home, play, Limits(read_seconds=30.0, connections=4))


def test_more_questions_than_there_is_room_for_are_refused_at_once(home: Home) -> None:
    async def play(it: Stage) -> None:
        busy = [asyncio.create_task(it.ask(b'{"slow":1}\n')) for _ in range(4)]
        await asyncio.sleep(0.1)
        assert (await it.ask())["error"]["type"] == "busy"
        assert all(answer["ok"] for answer in await asyncio.gather(*busy))
        assert (await it.ask())["ok"]

    run(home, play)


def test_many_at_once_are_all_answered(home: Home) -> None:
    async def play(it: Stage) -> None:
        answers = await asyncio.gather(*(it.ask(b'{"n":%d}\n' % number) for number in range(50)))
        assert sorted(json.loads(answer["echo"])["n"] for answer in answers) == list(range(50))

    run(home, play, Limits())


def test_a_mistake_in_an_answer_is_reported_and_hurts_nobody_else(home: Home) -> None:
    async def play(it: Stage) -> None:
        assert await it.ask(b"broken\n") == {}
        assert (await it.ask())["ok"]
        assert it.troubles == ["ValueError"]

    run(home, play)


def test_another_users_process_is_refused(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "is_own", lambda connection: False)

    async def play(it: Stage) -> None:
        assert (await it.ask())["error"]["type"] == "forbidden"

    run(home, play)


def test_the_peer_is_known_by_its_user() -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    assert peer.user_of(one) == os.getuid()
    assert peer.is_own(other)
    one.close()
    other.close()


def test_closing_lets_an_answer_that_is_under_way_finish(home: Home) -> None:
    async def main() -> None:
        async with stage(home) as it:
            under_way = asyncio.create_task(it.ask(b'{"slow":1}\n'))
            await asyncio.sleep(0.1)
            await it.server.close(BOUND_SECONDS)
            assert (await under_way)["ok"]
            with pytest.raises(OSError):
                await it.connect()

    asyncio.run(main())
