"""What kind of thing a prompt is, by its words alone: an approval, a chore, a question of fact, or a task.

A note helps with a task or a decision. With "yes, go on", a mechanical edit that says all it needs, or a
question whose answer lies in the prompt or in any textbook, it seldom does. English alone: a prompt in
another language has no form. Standard library only and cheap to import: each hook pays for it.
"""

from __future__ import annotations

from ultan.wire.tokens import tokenize

# An approval is short; after this many words there is a task in it.
APPROVAL_WORDS = 14
_QUESTION_CHARACTERS = 400

_POLITE_WORDS = """
please pls kindly can could would will you now just next also and so hey hi well then
"""
# How an answer to the agent begins, and what else stands in one that only agrees.
_AGREEING_WORDS = """
yes yep yeah yup ya y ok okay k sure no nope nah thanks thank thx ty great good perfect nice cool fine
right correct exactly agreed approved done lgtm proceed continue awesome excellent wonderful alright fair
understood hello hi hey morning bye goodnight cheers sorry oops hmm
"""
_AGREEMENT_WORDS = """
go ahead on do it that this then please as is looks look sounds sound good great fine right ship works
work for me you so much very all well done now a lot the job and
"""
# What moves a conversation on.
_MOVING_ON = """
carry on, go on, go ahead, keep going, next item, next step, next task, next one, i've already, is running
now, is up now, is back now, works now, is done now, is finished, it finished, all done, as you suggested, as
you said, as discussed, as planned, never mind, nevermind, try again, again please, one more time, undo that,
revert that, that worked, it worked, sounds good, looks good, looks fine, good job, well done
"""
# What only tells how it stands, whatever follows.
_TELLING_ON = "i meant, not that one, the other one, the other file, already did, i already"
# What points at something that was talked about, stemmed as tokens are.
_POINTING_WORDS = """
one first second third last next other same step item part thing option version way number now too again
"""
# Verbs of edits and errands that say all they need.
_CHORE_VERBS = """
rename swap inline sort print list count translate uppercase lowercase capitalise capitalize indent dedent
reindent unindent invert simplify align unwrap reorder reverse concatenate duplicate shorten crop rotate
flip negate alphabetise alphabetize dedupe deduplicate trim truncate uncomment transpose underline
rephrase proofread echo decode encode calculate compute multiply sum solve pluralise pluralize renumber
"""
# What is done with a text that stands below: the text is the matter, not what it is about.
_OF_A_TEXT_WORDS = """
summarise summarize condense paraphrase reword explain tldr
"""
_SPELLING_WORDS = """
typo typos misspelled misspelt spelling spelt spelled capitalisation capitalization whitespace
"""
# Questions whose answer lies in the prompt, in a file or in any textbook.
_ASKING_FOR_FACTS = """
how many, how much is, which of these, which of those, which of them, which of the following, what's,
whats, is what, what is, what are, what was, what does, what do these, what did, who is, who was, when
was, when did, where is, where are, which line, which file, which folder, which function, which version,
which port, which flag, which option, which command, which commit, which package, which one is, in
which, what version, what port, what flag, what command, what package, what time, what day, show me,
difference between, stand for, stands for, abbreviation, meaning of, the syntax, syntax for, idiom,
formula, synonym, opposite of, capital of, is there a builtin, is there a built-in, have a builtin, have
a built-in, how old, how long is, how big is, how tall
"""

_POLITE = frozenset(_POLITE_WORDS.split())
_AGREES = frozenset(_AGREEING_WORDS.split())
_AGREEMENT = frozenset(_AGREEMENT_WORDS.split())
_CHORES = frozenset(_CHORE_VERBS.split())
_OF_A_TEXT = frozenset(_OF_A_TEXT_WORDS.split())
_SPELLING = frozenset(_SPELLING_WORDS.split())
_TELLS = tuple(" %s " % " ".join(phrase.split()) for phrase in _TELLING_ON.split(","))
_POINTING = frozenset(_POINTING_WORDS.split())
_GOES_ON = tuple(" %s " % " ".join(phrase.split()) for phrase in _MOVING_ON.split(","))
_FACTS = tuple(" %s " % " ".join(phrase.split()) for phrase in _ASKING_FOR_FACTS.split(","))
_COUNTING = (" how many ", " how much is ")
_LINE = frozenset(("line", "lines"))
# A question about what is agreed here is none of fact, however it begins.
_OURS = frozenset(
    "our we us my should rule rules convention conventions policy prefer preferred agreed".split()
)
# Moving, extracting and converting are errands within a file or between units, and work beyond that.
_WITHIN = {
    "move": frozenset("above below up down before after top bottom beside".split()),
    "extract": frozenset("function method variable constant helper".split()),
    "convert": frozenset(
        "decimal hex hexadecimal binary octal base64 celsius fahrenheit seconds minutes bytes csv rgb".split()
    ),
}


class Form:
    """approval, chore, fact: whether the prompt is one; empty: nothing but agreement and small talk."""

    __slots__ = ("approval", "chore", "empty", "fact")

    def __init__(self, approval: bool, chore: bool, fact: bool, empty: bool) -> None:
        self.approval = approval
        self.chore = chore
        self.fact = fact
        self.empty = empty


def form_of(prompt: str) -> Form:
    """The form of a prompt. Of a long one its first and its last line tell, where the request stands."""
    lines = [line.strip() for line in prompt.strip().splitlines() if line.strip()]
    if not lines:
        return Form(False, False, False, True)
    opening = _words(lines[0][:_QUESTION_CHARACTERS].casefold())
    request = _words(lines[-1][-_QUESTION_CHARACTERS:].casefold()) if len(lines) > 1 else opening
    approval = empty = False
    if len(lines) == 1 and 0 < len(opening) <= APPROVAL_WORDS:
        rest = _after_agreeing(opening)
        empty = not rest
        approval = not _says(rest) if len(rest) < len(opening) else False
        approval = approval or _holds(opening, _TELLS) or _goes_on(opening)
    # A question may stand before what it is about, or after it.
    fact = _is_fact(request) or (lines[0].endswith(("?", ":")) and _is_fact(opening))
    below = len(lines) > 1 and lines[0].endswith(":") and _verb(opening) in _OF_A_TEXT
    return Form(approval, below or _is_chore(opening) or _is_chore(request), fact, empty)


def _goes_on(words: list[str]) -> bool:
    """Whether a prompt only moves on: after the last phrase that does so nothing is asked."""
    spoken = " %s " % " ".join(words)
    ends = [spoken.rindex(phrase) + len(phrase) for phrase in _GOES_ON if phrase in spoken]
    return bool(ends) and not _says(spoken[max(ends) :].split())


def _says(words: list[str]) -> bool:
    """Whether anything is asked or told: "the second one" points, "apply it" asks."""
    return any(token not in _POINTING and token not in _AGREEMENT for token in tokenize(" ".join(words)))


def _words(line: str) -> list[str]:
    parts = line.replace("’", "'").split()
    return [word for word in (part.strip(".,;:!?\"'`()[]*_") for part in parts) if word]


def _holds(words: list[str], phrases: tuple[str, ...]) -> bool:
    spoken = " %s " % " ".join(words)
    return any(phrase in spoken for phrase in phrases)


def _is_fact(words: list[str]) -> bool:
    return _holds(words, _FACTS) and (_OURS.isdisjoint(words) or _holds(words, _COUNTING))


def _after_agreeing(words: list[str]) -> list[str]:
    """What is said after a yes, no or thanks; everything where it does not begin so."""
    if words[0] not in _AGREES:
        return words
    at = 0
    while at < len(words) and (words[at] in _AGREES or words[at] in _AGREEMENT):
        at += 1
    return words[at:]


def _verb(words: list[str]) -> str:
    """The word that a request begins with."""
    return next((word for word in words if word not in _POLITE), "")


def _is_chore(words: list[str]) -> bool:
    """Whether a request begins with the verb of an errand, or is about one line or a word's letters."""
    verb = _verb(words)
    if verb in _CHORES or not _SPELLING.isdisjoint(words):
        return True
    if verb in _WITHIN and not _WITHIN[verb].isdisjoint(words):
        return True
    pairs = zip(words, words[1:])  # noqa: B905, RUF007 (newer than Python 3.9)
    return any(word in _LINE and after[:1].isdigit() for word, after in pairs)
