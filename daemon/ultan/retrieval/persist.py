"""The two index files on the disk: arrays and JSON in an npz without objects, written whole or not at all.

A file that is missing, cut off, damaged, of another format, tokenizer or model gives nothing and a reason;
the index is then rebuilt from the library, which is the only truth.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ultan.wire.files import read_limited, write_atomic

FORMAT = 1
LIMIT = 2 << 30


class Unusable(Exception):
    """An index file cannot be used; the text says why."""


def write(path: str, stamp: Mapping[str, object], arrays: Mapping[str, Any], texts: object) -> None:
    """Write arrays, a JSON value and the stamp that a reader must find again. Raises OSError."""
    buffer = io.BytesIO()
    meta = {"format": FORMAT, "stamp": dict(stamp), "texts": texts}
    packed = np.frombuffer(json.dumps(meta).encode("ascii"), dtype=np.uint8)
    np.savez(buffer, allow_pickle=False, meta=packed, **arrays)
    write_atomic(path, buffer.getvalue())


def read(path: str, stamp: Mapping[str, object], names: tuple[str, ...]) -> tuple[dict[str, Any], Any]:
    """(arrays, the JSON value) of a file with this stamp. Raises Unusable."""
    try:
        raw = read_limited(path, LIMIT)
    except FileNotFoundError:
        raise Unusable("there is none yet") from None
    except OSError as error:
        raise Unusable(f"it cannot be read ({error.strerror})") from error
    try:
        with np.load(io.BytesIO(raw), allow_pickle=False) as stored:
            meta = json.loads(stored["meta"].tobytes())
            arrays = {name: stored[name] for name in names} if meta["format"] == FORMAT else {}
    except Exception as error:  # a damaged zip raises a dozen types
        raise Unusable(f"it is damaged ({type(error).__name__})") from error
    if meta["format"] != FORMAT:
        raise Unusable(f"it has format {meta['format']}")
    for name, wanted in stamp.items():
        found = meta["stamp"].get(name)
        if found != wanted:
            raise Unusable(f"its {name} is {found}, not {wanted}")
    return arrays, meta["texts"]
