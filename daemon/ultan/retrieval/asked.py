"""What a prompt asks: the whole of it, and its tasks one by one.

Each task is a question of its own beside the whole: a note about one of three errands shares too little with
all of them together. Only what clearly begins another errand parts them. Sentences do not: taken one by one
they find a little more, and speak where they should be silent.
"""

from __future__ import annotations

import re

from ultan.wire.heard import Heard, heard
from ultan.wire.tokens import tokenize

MOST_TASKS = 4
# A task says at least so many different words; "and push it" is none.
TASK_WORDS = 3

_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+", re.M)
_AND = r"(?:and|und|et|y|e)"
_NEXT = r"""(?:also|then|afterwards|after\ that|additionally|finally|plus|while\ you're\ at\ it
|außerdem|ausserdem|dann|danach|anschließend|zusätzlich|ensuite|puis|aussi|en\ plus
|además|luego|después|también|inoltre|poi|além\ disso|depois)\b[,:]?\s+"""
_BORDER = re.compile(
    rf"[.;!?]\s+(?:{_AND}\s+)?{_NEXT}|\s*,?\s+{_AND}\s+{_NEXT}|\s*,\s+{_NEXT}"
    "|[。！？；，、]?(?:然后|另外|还有|それから|そして|また、)",
    re.VERBOSE | re.IGNORECASE,
)


def asked(prompt: str) -> list[Heard]:
    """The whole question first, then its tasks where it has several."""
    whole = heard(prompt)
    return [whole, *(Heard(task, task) for task in tasks(whole.own))]


def tasks(text: str) -> list[str]:
    """The errands of a prompt, at most MOST_TASKS; none where it is only one."""
    starts = [match.start() for match in _ITEM.finditer(text)]
    if len(starts) > 1:
        parts = [_ITEM.sub("", text[a:b], count=1) for a, b in zip(starts, [*starts[1:], None], strict=True)]
    else:
        parts = _BORDER.split(text)
    found = [part.strip() for part in parts if len(set(tokenize(part))) >= TASK_WORDS]
    return found[:MOST_TASKS] if len(found) > 1 else []
