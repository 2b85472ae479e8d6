"""The question in a prompt: the person's own words and, of a long paste, no more than what it mentions.

Standard library only and cheap to import: each hook pays for it.
"""

from __future__ import annotations

from ultan.wire.tokens import tokenize

# A paste of a few lines is part of the question. A longer one drowns it: with sixty lines of trace, log or
# code around them, the prompts of tests/evals/priming have a prime score of .47 read whole, .64 read as
# here, .675 without the paste.
SHORT = 600
# With fewer different words of their own the person lets the paste speak.
FEW_WORDS = 4


class Heard:
    """text: what is looked up and read by models. own: what of the prompt the person said. names: what a long
    paste mentions besides, as words that count only where the library knows them.
    """

    __slots__ = ("names", "own", "text")

    def __init__(self, text: str, own: str, names: str = "") -> None:
        self.text = text
        self.own = own
        self.names = names


def heard(prompt: str) -> Heard:
    """The question in a prompt. Of a long paste: how it ended or, where the person says next to nothing, what
    happened in it, else its names.
    """
    if len(prompt) < SHORT or "\n" not in prompt:
        return Heard(prompt, prompt)
    from ultan.wire.pasted import names, pasted, said, saying, split

    parts = split(prompt)
    own, paste = said(parts), pasted(parts)
    if len(paste) < SHORT:
        return Heard(prompt, own or prompt)
    happened, mentioned = saying(paste), names(paste)
    if len(set(tokenize(own))) >= FEW_WORDS:
        happened = happened[happened.rfind("\n") + 1 :]
    elif not happened:
        happened = mentioned
    text = "\n".join(part for part in (own, happened) if part)
    return Heard(text or prompt, own or prompt, mentioned)


def words(question: Heard) -> tuple[list[str], list[str]]:
    """The different tokens of the question, and those of the names, each whole, that it has not."""
    asked = dict.fromkeys(tokenize(question.text))
    found: dict[str, None] = {}
    for name in question.names.split():
        whole = tokenize(name)[:1]
        if whole and whole[0] not in asked:
            found[whole[0]] = None
    return list(asked), list(found)
