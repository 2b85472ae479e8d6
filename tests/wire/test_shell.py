"""A shell line taken apart: what is run is caught, what is only mentioned is not."""

from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ultan.wire.shell import Line, matches, parse
from wire.shell_lines import ROWS, Row

PUSH = re.compile(r"git push.*--force")
AWKWARD = [
    'node -e "console.log(`${process.pid}`)"',
    "echo ${VAR:-$(printf '}')}",
    "echo it's",
    "printf '%s' \"unfinished",
    "cat <<EOF\nno end",
    "echo \\",
]


def caught(line: str, pattern: re.Pattern[str] = PUSH) -> bool:
    return any(matches(pattern, command) for command in parse(line).commands)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.line} {row.pattern}")
def test_a_line_is_caught_for_what_it_does_and_not_for_what_it_mentions(row: Row) -> None:
    assert caught(row.line, re.compile(row.pattern)) == row.caught, row.why


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.line} {row.pattern}")
def test_a_line_that_a_shell_accepts_is_whole(row: Row) -> None:
    assert parse(row.line).whole


@pytest.mark.parametrize("line", AWKWARD)
def test_an_awkward_line_raises_nothing(line: str) -> None:
    assert isinstance(parse(line), Line)


@pytest.mark.parametrize(
    "line",
    [
        "echo it's",
        "printf '%s' \"unfinished",
        "cat <<EOF\nno end",
        "echo $(ls",
        "echo `ls",
        "echo ${x",
        "(ls",
        "ls)",
        "{ ls",
        "if ls; then rm x",
        "ls; done",
        "case x in a) ls",
        "a=(1 2",
        "bash -c 'echo \"'",
        "cat <(ls",
        "x=$((1 + 2)",
        "ls >",
    ],
)
def test_a_line_that_does_not_end_says_so(line: str) -> None:
    assert not parse(line).whole


@pytest.mark.parametrize(
    "line",
    [
        "$(" * 100_000,
        "(" * 100_000,
        "`" * 100_000,
        "'" * 100_000,
        '"' * 100_001,
        "${x:-" * 50_000,
        "$((" * 50_000,
        "{ " * 100_000,
        "if " * 50_000,
        "case x in " * 20_000,
        "cat <<A\n" * 20_000,
        "cat <<A; " * 20_000 + "\nA" * 20_000,
        "a | " * 50_000 + "b",
        "sudo " * 50_000 + "ls",
        "X=$X$X;" * 30_000,
        "eval " * 50_000,
        "\\" * 199_999,
        "ls;" * 70_000,
        "$'" * 100_000,
        "for x in 1 2 3 4 5 6 7 8; do " * 1000,
        "ls " + "x" * 500_000,
    ],
    ids=lambda line: line[:20],
)
def test_a_hostile_line_ends_and_says_that_it_is_not_whole(line: str) -> None:
    assert not parse(line).whole


def test_braces_for_more_words_than_anybody_writes_stay_one_word() -> None:
    (command,) = parse("ls " + "{a,b}" * 40_000).commands
    assert len(command.words) == 2


def test_what_was_found_before_a_breach_is_kept() -> None:
    assert caught("git push --force\necho it's")
    assert not parse("git push --force\necho it's").whole


@pytest.mark.parametrize("end", ["EOF", "'EOF'", '"EOF"', "\\EOF"])
def test_a_long_file_that_is_written_is_whole(end: str) -> None:
    text = "some line of a file, it's (not) `$(special\n".replace("`$(", "") * 4000
    found = parse(f"cat > notes.md <<{end}\n{text}EOF\ngit push --force")
    assert found.whole
    assert [command.words for command in found.commands] == [["cat"], ["git", "push", "--force"]]
    assert found.commands[0].writes == ["notes.md"]


def test_a_command_has_its_words_name_and_files() -> None:
    one, two = parse("/usr/bin/git -C 'a b' push > out 2>> err < in && \\rm $HOME/x").commands
    assert (one.name, one.words, one.writes) == (
        "git",
        ["/usr/bin/git", "-C", "a b", "push"],
        ["out", "err"],
    )
    assert (two.name, two.words, two.writes) == ("rm", ["rm", "$HOME/x"], [])


def test_a_command_is_seen_as_written_first_and_in_other_spellings() -> None:
    (command,) = parse("git -C 'a b' push -uf").commands
    assert command.texts[0] == "git -C a\ue000b push -uf"
    assert {"git push -uf", "git push -u -f", "git push -fu"} <= set(command.texts)


@pytest.mark.parametrize("line", ["", "  ", "\n", "# nothing", "> file", "X=1", "| |", "ls | x"])
def test_each_command_has_a_text(line: str) -> None:
    assert all(command.texts for command in parse(line).commands)


# Lines that run a command, made of a line that does: {} is the line, {q} the line as one quoted word, {n} a
# number that no other one has.
RUNNING = [
    "{}",
    "ls; {}",
    "ls && {{ {}\n}} || ls",
    "true\n{}\ntrue",
    "( {}\n)",
    "{{ {}\n}}",
    "if true; then {}\nfi",
    "if false; then ls; else {}\nfi",
    "for x in 1 2; do {}\ndone",
    "while true; do {}\nbreak; done",
    "case x in (y) ls;; (x) {}\n;; esac",
    "f() {{ {}\n}}; f",
    "echo $( {}\n)",
    'echo "a $( {}\n) b"',
    "x=$( {}\n)",
    "cat < <( {}\n)",
    "echo ${{y:-$( {}\n)}}",
    "cat <<EOF{n}\n$( {}\n)\nEOF{n}",
    "ls | {{ {}\n}}",
    "! ( {}\n)",
    "bash -c {q}",
    "sh -ec {q}",
    "eval {q}",
    "env X=1 bash -c {q}",
    "nohup bash -c {q} > log 2>&1",
    "timeout 5 bash -c {q}",
    "nice -n 5 sh -c {q}",
    "echo x | xargs -n 1 sh -c {q}",
    "find . -maxdepth 0 -exec sh -c {q} \\;",
    "printf '%s\\n' {q} | bash",
    "bash <<< {q}",
    "source <(echo {q})",
    "bash <<'THE END {n}'\n{}\nTHE END {n}",
    'X={q}; eval "$X"',
    "true && command env -u Y sh -c {q} # done",
    "trap {q} EXIT",
    "( true; ) && time {{ {}\n}}",
]
# Lines that do not run it.
SPEAKING = [
    "echo {q}",
    "printf '%s' {q}",
    "grep -r {q} .",
    "git commit -m {q}",
    "cat > notes <<'NOTHING RUN'\n{}\nNOTHING RUN",
    "python -c {q}",
    "x={q}",
    "touch {q}",
    "cat <<< {q}",
    "echo {q} | wc -l",
    "[ {q} = x ]",
    "gh pr create --title x --body {q}",
]
SPELLED = [
    "git push --force",
    "git push origin main --force",
    "'git' pu\\sh \"--force\"",
    "git -C . --no-pager push --force",
    "sudo /usr/bin/git push --force",
    "{git,push,--force}",
    "$'git' push --force",
    "git \\\n push --force",
    "G=push; git $G --force",
]


def nested(line: str, templates: list[str]) -> str:
    for number, template in enumerate(templates):
        line = template.format(line, q=shlex.quote(line), n=number)
    # Quotes in quotes in quotes grow without end.
    assume(len(line) < 10_000)
    return line


deep = st.lists(st.sampled_from(RUNNING), min_size=4, max_size=6)
some = st.lists(st.sampled_from(RUNNING), max_size=4)


@given(st.sampled_from(SPELLED), deep)
def test_a_command_is_caught_however_deep_it_stands(command: str, templates: list[str]) -> None:
    line = nested(command, templates)
    found = parse(line)
    assert any(matches(PUSH, one) for one in found.commands), line
    assert found.whole


@given(st.sampled_from(SPELLED), some, st.sampled_from(SPEAKING), deep)
def test_a_mention_is_not_caught_however_deep_it_stands(
    command: str, inner: list[str], speaking: str, outer: list[str]
) -> None:
    line = nested(command, [*inner, speaking, *outer])
    found = parse(line)
    assert not any(matches(PUSH, one) for one in found.commands), line
    assert found.whole


@given(st.lists(st.sampled_from(RUNNING), min_size=4, max_size=6))
def test_a_harmless_command_is_not_caught_however_deep_it_stands(templates: list[str]) -> None:
    assert not caught(nested("git push --tags", templates))


PIECES = r"""git push --force ' " ` $( ) ( { } ; ;; & && | || |& < > << <<EOF <<- <<< <( EOF $(( )) ${ ${x:-
    # \\ $' $" if then fi do done case in esac for [[ ]] = X= {a,b} $X ! * bash -c eval xargs"""
pieces = st.sampled_from([*PIECES.split(), "\n", " ", "\t", "\r\n", "\0", "\ue000", "é", "\ud800"])


@given(st.one_of(st.text(), st.lists(pieces).map("".join), st.lists(pieces).map(" ".join)))
def test_any_text_is_taken_apart_or_said_not_to_be(text: str) -> None:
    found = parse(text)
    assert isinstance(found.whole, bool)
    for command in found.commands:
        assert command.texts
        matches(PUSH, command)


@given(st.text(alphabet="ab \t'\"\\$x", max_size=12))
def test_a_quoted_text_is_one_word_of_the_same_text(text: str) -> None:
    (command,) = parse("touch " + shlex.quote(text)).commands
    assert command.words == ["touch", text]
    assert parse("touch " + shlex.quote(text)).whole
