"""What of a prompt is pasted, a trace, a log, a diff, code or a quotation, and what a paste mentions.

Standard library only: the hook's fallback reads it too, for long prompts.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Of a longer prompt the first and the last lines are looked at; what lies between them is pasted.
MOST_LINES = 2000
# So many lines of prose between two pasted ones, without an empty line, belong to them.
BRIDGE = 2
MOST_SAYING, MOST_NAMES, SAYING_CHARACTERS = 5, 40, 200
# What a line is shows within so many characters, and a long one shall cost no more.
LINE_CHARACTERS = 300
MOST_NAMED = 50_000

_FENCE = re.compile(r" {0,3}(?:> ?)*(`{3,}|~{3,})")
# Nobody types such a line: one is enough.
_SURE = re.compile(
    r"""(?:\ {0,3}>(?![=>])|Traceback\ \(most\ recent\ call\ last\)|\s+File\ ".+",\ line\ \d
    |\s+at\ \S.*(?:\(.*\)|:\d+)\s*$|\s*Caused\ by:\s|[\w.$]*[a-z](?:Error|Exception|Warning)(?::\s|\s*$)
    |error\[\w+\]:|panic:\s|goroutine\ \d|\s*-->\ \S+:\d|npm\ ERR!|E\ {3,}\S|={4,}\ .*={4,}\s*$
    |(?:FAILED|PASSED|ERROR)\ \S+::\S|diff\ --git\ |index\ [0-9a-f]{6,}\.\.|@@\ -\d|(?:---|\+\+\+)\ [ab]/
    |\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d[\]., ]|[A-Z][a-z]{2}\ [ \d]\d\ \d\d:\d\d:\d\d\s
    |[\w.-]+@[\w.-]+:\S*[$\#]\ \S|[╷│╵┌└├╭╰▲✓✗✖✔⨯×]|(?:The\ above\ exception|During\ handling\ of\ the\ above)
    |\[SQL:|[VDIWEF](?:/|\ )[A-Z]\w+\s*(?:\(\s*\d+\))?:\ |commit\ [0-9a-f]{7,40}\b|Author:\ .*@
    |(?=[a-f]*\d)[0-9a-f]{7,12}\ \S)""",
    re.VERBOSE,
)
# Looks like code, output or settings; two of these in a row are pasted, and one beside a sure line.
_LIKELY = re.compile(
    r"""(?:.*(?:[{};]|\)[,:]|\]:|=>|->|\\)\s*$
    |\s*[\w.\[\]"'-]+(?:\s*:\s*[\w.\[\]]+)?\s*(?::=|[+*/|&-]?=(?!=)|=>)\s*\S|\s*(?:await\ )?[\w.]+\(.*\)\s*$
    |\s*(?:async\ )?(?:def|class|function|func|fn|struct|enum|interface|impl|package)\ [\w.]+\s*[(:<{]
    |\s*(?:import|from|using|use)\ [\w.:*]+(?:\ import\ .*|\ as\ \w+|;)?\s*$|\s*\#(?:include|!|define)
    |\s*(?:(?:const|let|var|val|public|private|static|export|return|if|for|while)\ .*[=(){}<>])
    |\s*</?\w[^>]*>|\s*"[^"]+"\s*:|\s*[}\])]+[;,]?\s*$|\s*(?://|/\*|\*/|<!--)
    |(?:SELECT|INSERT\ INTO|UPDATE|DELETE\ FROM|CREATE|ALTER|DROP|WITH|FROM|WHERE|JOIN)\ \S
    |\[?(?:DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|TRACE)\b(?:\]|\s*[:|]|\s{2,}|\s\[)
    |(?:error|warning|fatal|note|info|hint):\s|\$\ \S|\s*\d*\s+\|\s|\ {4,}(?![-*+]\ |\d+[.)]\ )\S|\t\S)""",
    re.VERBOSE,
)
_DIFF = re.compile(r"(?:diff --git |@@ -\d|\+\+\+ )")
_WRONG = re.compile(
    r"(?:Error|Exception|Warning)\b|\b(?:error|fatal|panic|failed|failure|denied|refused|cannot|can't"
    r"|timed out|timeout|not found|no such|undefined|unknown|invalid|missing)\b",
    re.I,
)
_COMMAND = re.compile(r"(?:[\w.-]+@[\w.-]+:\S*)?[$#] (\S.*)")
_NAME = re.compile(r"(?<![\w./-])-{0,2}(?:[\w.-]+/)*[A-Za-z_][\w.-]*(?:::\w+)*")


def split(text: str) -> list[tuple[str, bool]]:
    """The prompt in parts that alternate, each with whether it is pasted. Together they are the prompt."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return []
    marks = [False] * len(lines)
    if len(lines) > MOST_LINES:
        marks = [True] * len(lines)
        half = MOST_LINES // 2
        marks[:half] = _marks(lines[:half])
        marks[-half:] = _marks(lines[-half:])
    elif len(lines) > 1:
        marks = _marks(lines)
    parts: list[tuple[str, bool]] = []
    start = 0
    for at in range(1, len(lines) + 1):
        if at == len(lines) or marks[at] != marks[start]:
            parts.append(("".join(lines[start:at]), marks[start]))
            start = at
    return parts


def said(parts: list[tuple[str, bool]]) -> str:
    """What the person says themselves."""
    return "\n".join(text.strip() for text, pasted in parts if not pasted and text.strip())


def pasted(parts: list[tuple[str, bool]]) -> str:
    """What is pasted, without the fences around it."""
    lines = "".join(text for text, is_pasted in parts if is_pasted).splitlines()
    return "\n".join(line for line in lines if not _FENCE.match(line))


def saying(text: str) -> str:
    """The lines of a pasted text that say what happened: commands and what went wrong; "" for plain code."""
    found = []
    for line in (line[:LINE_CHARACTERS] for line in text.splitlines()):
        command = _COMMAND.match(line)
        if command:
            found.append(command.group(1))
        elif _WRONG.search(line) and not _LIKELY_CODE.match(line):
            found.append(line.strip())
    found = list(dict.fromkeys(found))
    if len(found) > MOST_SAYING:  # the first is the cause or the command, the last ones are the end of it
        found = found[:2] + found[2 - MOST_SAYING :]
    return "\n".join(line[:SAYING_CHARACTERS] for line in found)


def names(text: str) -> str:
    """The identifiers, files and options that a pasted text mentions, those mentioned most often first."""
    counted: dict[str, int] = {}
    for name in _NAME.findall(text[:MOST_NAMED]):
        name = name.strip(".-") if not name.startswith("-") else name.rstrip(".-")
        if len(name) > 2 and _is_identifier(name):
            counted[name] = counted.get(name, 0) + 1
    often = sorted(counted, key=lambda name: -counted[name])
    return " ".join(often[:MOST_NAMES])


_LIKELY_CODE = re.compile(
    r"\s*(?:def|class|import|from|raise|except|catch|throw|return|if|//|#)\b|.*[{};]\s*$"
)


def _is_identifier(name: str) -> bool:
    """Whether a word is written as no word of a sentence is."""
    return bool(re.search(r"[_/:]|\w\.\w|^--?\w|[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]\d", name))


def _marks(lines: list[str]) -> list[bool]:
    """For each line whether it is pasted."""
    lines = [line[:LINE_CHARACTERS] for line in lines]
    fenced = list(_fenced(lines))
    sure = [inside or bool(_SURE.match(line)) for inside, line in zip(fenced, lines)]  # noqa: B905 (3.9)
    likely = [bool(line.strip()) and bool(_LIKELY.match(line)) for line in lines]
    in_diff = False
    for at, line in enumerate(lines):
        in_diff = bool(_DIFF.match(line)) or (in_diff and line[:1] in ("+", "-", " ", "\n", "\\"))
        sure[at] = sure[at] or (in_diff and bool(line.strip()))
    machine = [one or other for one, other in zip(sure, likely)]  # noqa: B905
    marks = [False] * len(lines)
    for first, last in _runs(machine, lines):
        places = [at for at in range(first, last) if machine[at]]
        if len(places) > 1 or any(sure[at] for at in places):
            marks[first:last] = [True] * (last - first)
    return marks


def _runs(machine: list[bool], lines: list[str]) -> Iterator[tuple[int, int]]:
    """(first, after last) of lines that go together: empty ones and a few of prose lie between."""
    start = last = None
    for at, is_machine in enumerate(machine):
        if not is_machine:
            continue
        if start is None or last is None:
            start = at
        else:
            between = lines[last + 1 : at]
            prose = [line for line in between if line.strip()]
            if prose and (len(between) > BRIDGE or len(prose) < len(between)):
                yield start, last + 1
                start = at
        last = at
    if start is not None and last is not None:
        yield start, last + 1


def _fenced(lines: list[str]) -> Iterator[bool]:
    """For each line whether it is inside a fence or is one; an open one lasts to the end."""
    fence = ""
    for line in lines:
        match = _FENCE.match(line)
        if fence:
            yield True
            if match and match.group(1).startswith(fence) and not line[match.end() :].strip("`~ \r\n"):
                fence = ""
        else:
            fence = match.group(1) if match else ""
            yield bool(match)
