"""What kind of thing a prompt is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.wire.form import form_of


@pytest.mark.parametrize(
    "prompt",
    [
        "yes",
        "yes do it",
        "ok, go ahead",
        "sure, sounds good",
        "no thanks",
        "LGTM!",
        "thanks a lot",
        "",
        " \n",
    ],
)
def test_agreement_alone_is_empty(prompt: str) -> None:
    assert form_of(prompt).empty


@pytest.mark.parametrize(
    "prompt",
    [
        "yes, the second one",
        "no, I meant the test file",
        "the server is up now, carry on",
        "the plan looks good, go on with part 3",
        "I already merged it",
    ],
)
def test_an_answer_that_moves_on_is_an_approval(prompt: str) -> None:
    form = form_of(prompt)
    assert form.approval
    assert not form.empty


@pytest.mark.parametrize(
    "prompt",
    [
        "plan looks good, apply it",
        "looks good, commit it",
        "perfect, now commit and push",
        "yes, merge it",
        "carry on with the tests for the reminder service",
        "that worked, now write the migration that drops customers.fax",
        "yes, and write the tests for the parser with respx while you are at it",
        "ok now add a retry to the payment client",
        "fix the tests, thanks",
        "wait for the deploy before running the migration",
        "set up a new repository for the crawler",
        "should we squash or rebase this branch?",
        "what is our rule for commit messages?",
        "which library should I use for http mocks?",
        "move the sessions table to redis",
        "convert the class components to hooks",
        "Schreib mir bitte eine README",
        "デプロイの前に承認はいる？",
    ],
)
def test_a_task_or_a_decision_has_no_form(prompt: str) -> None:
    form = form_of(prompt)
    assert not (form.approval or form.chore or form.fact or form.empty)


@pytest.mark.parametrize(
    "prompt",
    [
        "rename foo to bar in utils.py",
        "please sort these alphabetically:\nb\na\nc",
        "there is a typo in the second heading",
        "swap the arguments on line 40",
        "move this helper above main",
        "b, a, c\nnow sort them",
    ],
)
def test_an_edit_that_says_all_it_needs_is_a_chore(prompt: str) -> None:
    assert form_of(prompt).chore


@pytest.mark.parametrize("verb", ["summarise", "please condense", "can you explain"])
def test_what_is_done_with_a_text_below_is_a_chore_and_not_a_task_about_its_matter(verb: str) -> None:
    assert form_of(f"{verb} this for my newsletter:\n\nConventional commits are a convention.").chore
    assert not form_of(f"{verb} how we commit").chore
    assert not form_of("we need a rule for this:\n\ncommits that fix nothing").chore


@pytest.mark.parametrize(
    "prompt",
    [
        "what's the default port of redis",
        "how many of these are open?\n1,open\n2,closed",
        "ERROR a\nERROR b\nwhich line is the first error?",
        "difference between a mutex and a semaphore",
        "what does ACID stand for",
    ],
)
def test_a_question_of_fact_is_one(prompt: str) -> None:
    assert form_of(prompt).fact


@given(st.text(max_size=300))
def test_every_text_has_a_form(prompt: str) -> None:
    form = form_of(prompt)
    assert all(isinstance(value, bool) for value in (form.approval, form.chore, form.fact, form.empty))
