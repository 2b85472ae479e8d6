"""The socket's side of the protocol: who may ask, how much, for how long. Others know the answers."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ultan.service.peer import is_own
from ultan.service.protocol import REQUEST_BYTES, Refusal, encode

# answer(line, when the connection was accepted, monotonic) -> the line to send back.
Answer = Callable[[bytes, float], Awaitable[bytes]]


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds are totals, however slowly a peer reads or writes."""

    request_bytes: int = REQUEST_BYTES
    read_seconds: float = 5.0
    write_seconds: float = 2.0
    connections: int = 64


class Server:
    """Answers one question a connection. No peer can hold up another: each has its own task, and a peer that
    does not ask makes room for one that does."""

    def __init__(self, answer: Answer, trouble: Callable[[str, Exception], object], limits: Limits) -> None:
        self.answer = answer
        self.trouble = trouble
        self.limits = limits
        self.refused = 0
        self._servers: list[asyncio.Server] = []
        self._asking: dict[asyncio.Task[object], asyncio.StreamWriter] = {}
        self._answering: set[asyncio.Task[object]] = set()

    async def open(self, listener: socket.socket) -> None:
        """Answer on this listening socket, too."""
        self._servers.append(
            await asyncio.start_unix_server(self._serve, sock=listener, limit=self.limits.request_bytes)
        )

    async def close(self, grace: float) -> None:
        """Take no more questions; those that are being answered get `grace` seconds."""
        for server in self._servers:
            server.close()
        for writer in list(self._asking.values()):
            writer.transport.abort()
        if self._answering:
            await asyncio.wait(self._answering, timeout=grace)
        for task in [*self._answering, *self._asking]:
            task.cancel()

    @property
    def connections(self) -> int:
        return len(self._asking) + len(self._answering)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted = time.monotonic()
        task = asyncio.current_task()
        assert task is not None
        writer.transport.set_write_buffer_limits(high=0)
        try:
            await self._converse(task, reader, writer, accepted)
        except (ConnectionError, TimeoutError, asyncio.CancelledError):
            writer.transport.abort()
        except Exception as error:
            self.trouble("socket", error)
            writer.transport.abort()
        finally:
            self._asking.pop(task, None)
            self._answering.discard(task)

    async def _converse(
        self,
        task: asyncio.Task[object],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        accepted: float,
    ) -> None:
        try:
            self._admit(task, writer)
            line = await self._question(reader)
            self._asking.pop(task, None)
            if not line.strip():
                writer.transport.abort()
                return
            self._answering.add(task)
            answer = await self.answer(line, accepted)
        except Refusal as refusal:
            self.refused += 1
            answer = encode(refusal.as_answer())
        writer.write(answer)
        async with asyncio.timeout(self.limits.write_seconds):
            await writer.drain()
            writer.close()
            await writer.wait_closed()

    def _admit(self, task: asyncio.Task[object], writer: asyncio.StreamWriter) -> None:
        """Raise Refusal for another user's process, and where there is no room to be made."""
        if not is_own(writer.get_extra_info("socket")):
            raise Refusal("forbidden", "this daemon answers its own user alone")
        if self.connections >= self.limits.connections:
            if not self._asking:
                raise Refusal("busy", "too many questions at once")
            oldest = next(iter(self._asking))
            self._asking.pop(oldest).transport.abort()
        self._asking[task] = writer

    async def _question(self, reader: asyncio.StreamReader) -> bytes:
        """One line, or what a peer that closed its side sent of it. Raises Refusal."""
        try:
            async with asyncio.timeout(self.limits.read_seconds):
                return await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            return error.partial
        except asyncio.LimitOverrunError:
            raise Refusal(
                "too-large", f"a question may have {self.limits.request_bytes} bytes at most"
            ) from None
        except TimeoutError:
            raise Refusal("slow", f"the question was not whole in {self.limits.read_seconds:g} s") from None
