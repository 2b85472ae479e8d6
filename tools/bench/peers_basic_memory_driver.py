"""basic-memory's own search, as a client of its MCP tool calls it; runs in its environment, not in Ultan's.

Reads one JSON object a line, writes one for each: {"index": folder, "mode"} makes a project of a folder of
notes for search by "text", or adds the vectors for "hybrid"; answered by {"version"}. {"query", "mode",
"limit"} is answered by {"results": [[file, score], ...]}, best first, a higher score being better. Whatever
fails is answered by {"error"}.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, TextIO

PROJECT = "bench"


def index(folder: str, mode: str) -> dict[str, Any]:
    """By the commands that a person would type."""
    if mode == "text":
        command("project", "add", PROJECT, folder, "--default", "--no-wait")
        command("reindex", "--search", "--full", "--project", PROJECT)
    else:
        command("reindex", "--embeddings", "--full", "--project", PROJECT)
    return {"version": importlib.metadata.version("basic-memory")}


def command(*arguments: str) -> None:
    """Runs basic-memory's command line. Raises RuntimeError with its last words."""
    program = Path(sys.executable).with_name("basic-memory")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        words = (done.stdout + done.stderr).split()
        raise RuntimeError(f"basic-memory {' '.join(arguments[:2])}: {' '.join(words[-40:])}")


async def answer(query: str, mode: str, limit: int) -> dict[str, Any]:
    """One call of search_notes for whole notes.

    Not with its filter on frontmatter, which would do for the scope: with one its search by text loses its
    ranking (the scores are all 0).
    """
    from basic_memory.mcp.tools import search_notes

    found = await search_notes(
        query=query,
        project=PROJECT,
        search_type=mode,
        entity_types=["entity"],
        page_size=limit,
        compact=True,
        output_format="json",
    )
    if not isinstance(found, dict):
        return {"error": " ".join(str(found).split())[:300]}
    # bm25() of SQLite is the lower the better, similarities are not.
    sign = -1 if mode == "text" else 1
    return {"results": [[row["file_path"], sign * row["score"]] for row in found["results"]]}


def quiet() -> None:
    """Without its log of every call, which a person's own does not have either."""
    from loguru import logger

    logger.remove()


async def serve(lines: TextIO, answers: TextIO) -> None:
    for line in lines:
        asked = json.loads(line)
        try:
            if "index" in asked:
                said = index(asked["index"], asked["mode"])
            else:
                said = await answer(asked["query"], asked["mode"], asked["limit"])
        except Exception as error:  # the other side decides what a failure means
            said = {"error": f"{type(error).__name__}: {error}"[:300]}
        answers.write(json.dumps(said) + "\n")
        answers.flush()


if __name__ == "__main__":
    # Whatever basic-memory prints must not come between the answers.
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    quiet()
    asyncio.run(serve(sys.stdin, told))
