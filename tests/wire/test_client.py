from __future__ import annotations

import os
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import Peer, answering, question
from ultan.wire import client
from ultan.wire import home as homes
from ultan.wire.home import Home
from ultan.wire.version import PROTOCOL, VERSION

DEADLINE = 0.2
HANGS_SECONDS = 5.0


def test_a_question_carries_the_protocol_and_gets_its_answer(home: Home) -> None:
    with Peer(home, answering({"ok": True, "text": "größe"})) as peer:
        assert client.request(home, {"op": "status", "x": "\ud800"}, 5) == {"ok": True, "text": "größe"}
    asked = peer.asked[0]
    assert (asked["v"], asked["client_version"], asked["op"]) == (PROTOCOL, VERSION, "status")


def test_an_answer_in_pieces_is_put_together(home: Home) -> None:
    def serve(peer: Peer, connection: socket.socket) -> None:
        question(connection)
        for part in (b'{"ok"', b": true,", b' "n": 1}', b"\n", b"more"):
            connection.sendall(part)

    with Peer(home, serve):
        assert client.request(home, {"op": "x"}, 5) == {"ok": True, "n": 1}


@pytest.mark.parametrize("kind", ["absent", "no home", "stale", "file"])
def test_where_nobody_listens_that_is_said_at_once(home: Home, kind: str) -> None:
    if kind == "no home":
        os.rmdir(home.root)
    elif kind == "stale":
        left = socket.socket(socket.AF_UNIX)
        left.bind(home.socket)
        left.close()
    elif kind == "file":
        Path(home.socket).touch()
    with pytest.raises(client.Unreachable):
        client.request(home, {"op": "x"}, 5)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\n",
        b"HTTP/1.1 500 no\r\n\r\n",
        b"[]\n",
        b"7\n",
        b"{}\n",
        b'{"ok": tr',
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
    ],
)
def test_an_answer_that_is_none_is_no_answer(home: Home, answer: bytes) -> None:
    def serve(peer: Peer, connection: socket.socket) -> None:
        question(connection)
        connection.sendall(answer)

    with Peer(home, serve), pytest.raises(client.Unresponsive):
        client.request(home, {"op": "x"}, 5)


def test_the_deadline_is_total_and_not_one_a_read(home: Home) -> None:
    def drip(peer: Peer, connection: socket.socket) -> None:
        while not peer.over.wait(0.02):
            connection.sendall(b"x")

    with Peer(home, drip):
        begun = time.monotonic()
        with pytest.raises(client.Unresponsive):
            client.request(home, {"op": "x"}, DEADLINE)
        assert time.monotonic() - begun < HANGS_SECONDS


def test_a_peer_that_never_reads_is_not_waited_for(home: Home) -> None:
    with Peer(home, lambda peer, connection: (peer.over.wait(60) and None) or None):
        begun = time.monotonic()
        with pytest.raises(client.Unresponsive):
            client.request(home, {"op": "x", "text": "x" * 10_000_000}, DEADLINE)
        assert time.monotonic() - begun < HANGS_SECONDS


def test_a_flood_is_cut_at_a_size(home: Home) -> None:
    def flood(peer: Peer, connection: socket.socket) -> None:
        while not peer.over.is_set():
            connection.sendall(b"A" * 65536)

    with Peer(home, flood), pytest.raises(client.Unresponsive, match="too long"):
        client.request(home, {"op": "x"}, 30)


@pytest.fixture
def short_place() -> Iterator[Path]:
    """A folder whose path is short enough for a socket's, wherever the tests' own folders lie."""
    with tempfile.TemporaryDirectory(prefix="ultan-", dir="/tmp") as place:
        yield Path(place)


def test_a_socket_in_a_folder_of_others_is_never_spoken_to(
    home: Home, short_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_place.chmod(0o777)
    monkeypatch.setattr(homes, "short_folder", lambda: str(short_place))
    long_home = Home(home.root + "/" + "x" * 100)
    with Peer(long_home, answering({"ok": True})) as peer:
        with pytest.raises(client.Unreachable, match="not private"):
            client.request(long_home, {"op": "x"}, 5)
        assert peer.asked == []
