"""From the models' actions to the library's bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from curator.desk import NOW, Desk, act, create, packet
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ultan.library.entry import body_hash
from ultan.library.lint import lint
from ultan.wire.failures import ChangedMeanwhile
from ultan.wire.home import Home

SAID = "No, we use respx here, not responses, to mock HTTP calls."
RESPX = "Mock HTTP calls with respx. Do not use responses."


@pytest.fixture
def desk(home: Home) -> Desk:
    return Desk(home)


def test_a_correction_becomes_an_entry_with_where_it_came_from(desk: Desk) -> None:
    plan = desk.do(packet(SAID), create("projects/shop/testing/use-respx", RESPX, "we use respx here"))
    assert [outcome.verb for outcome in plan.outcomes] == ["apply"]
    entry = desk.store.scan().entries["projects/shop/testing/use-respx"]
    assert entry.body.strip() == RESPX
    assert dict(entry.source) == {
        "by": "user",
        "session": "s-1",
        "project": "shop",
        "quote": "we use respx here",
    }
    assert not entry.hand_edited and entry.scope == "project:shop" and entry.type == "convention"
    assert "identities: [name:shop]" in desk.files()["projects/shop/README.md"].decode()
    assert desk.journal.log()[0].reason == "learned projects/shop/testing/use-respx"


def test_what_was_said_in_a_project_is_kept_there(desk: Desk) -> None:
    desk.do(packet(SAID), create("global/testing/use-respx", RESPX, "we use respx here"))
    assert "projects/shop/testing/use-respx" in desk.store.scan().entries


@pytest.mark.parametrize(
    "heard", [packet("Use respx in all my projects to mock HTTP calls."), packet(SAID, project="")]
)
def test_what_was_said_of_everything_or_nowhere_is_global(desk: Desk, heard: object) -> None:
    quote = "Use respx" if "all my" in heard.turns[0].said_by("user") else "we use respx"  # type: ignore[attr-defined]
    desk.do(heard, create("global/testing/use-respx", RESPX, quote))  # type: ignore[arg-type]
    assert "global/testing/use-respx" in desk.store.scan().entries


def test_the_same_packet_twice_writes_once(desk: Desk) -> None:
    action = create("projects/shop/testing/use-respx", RESPX, "we use respx here")
    desk.do(packet(SAID), action)
    before = desk.files()
    assert desk.executor.carry_out(packet(SAID), [action], None, NOW + 60) is None
    assert desk.files() == before


def test_what_is_said_again_is_counted_and_not_written_twice(desk: Desk) -> None:
    desk.do(packet(SAID), create("projects/shop/testing/use-respx", RESPX, "we use respx here"))
    desk.do(packet(SAID, id="p2"), create("projects/shop/http/respx-again", RESPX, "we use respx here"))
    entries = desk.store.scan().entries
    assert list(entries) == ["projects/shop/testing/use-respx"]
    assert entries["projects/shop/testing/use-respx"].reinforced == 1


def test_a_contradiction_of_the_curators_own_entry_deprecates_it_and_links_both_ways(desk: Desk) -> None:
    old = desk.write("projects/shop/testing/use-responses", "Mock HTTP calls with responses.")
    new = "projects/shop/testing/use-respx"
    assert desk.verbs(packet(SAID), create(new, RESPX, "we use respx here", contradicts=[old])) == [
        "apply",
        "apply",
    ]
    entries = desk.store.scan().entries
    assert entries[old].status == "deprecated" and entries[old].superseded_by == (new,)
    assert entries[new].supersedes == (old,)


def test_a_contradicted_hand_written_entry_is_hidden_at_once_and_the_person_decides(desk: Desk) -> None:
    old = desk.write("projects/shop/testing/use-responses", "Mock HTTP calls with responses.", curated=False)
    before = desk.files()[old + ".md"]
    new = "projects/shop/testing/use-respx"
    verbs = desk.verbs(packet(SAID), create(new, RESPX, "we use respx here", contradicts=[old]))
    assert verbs == ["apply", "propose"]
    assert desk.files()[old + ".md"] == before
    assert desk.store.scan().entries[new].supersedes == (old,)  # which hides it
    (waiting,) = desk.journal.pending()
    desk.accept(waiting.id)
    assert desk.store.scan().entries[old].status == "deprecated"


def test_a_projects_rule_against_a_global_one_only_stands_before_it(desk: Desk) -> None:
    old = desk.write("global/testing/use-responses", "Mock HTTP calls with responses.")
    new = "projects/shop/testing/use-respx"
    assert desk.verbs(packet(SAID), create(new, RESPX, "we use respx here", contradicts=[old])) == ["apply"]
    assert desk.store.scan().entries[old].status == "active"
    assert desk.store.scan().entries[new].supersedes == (old,)


def test_a_wrong_contradiction_does_not_cost_the_persons_word(desk: Desk) -> None:
    action = create(
        "projects/shop/testing/respx", RESPX, "we use respx here", contradicts=["global/nothing/here"]
    )
    assert desk.verbs(packet(SAID), action) == ["apply"]


def test_hand_edited_text_is_never_overwritten(desk: Desk) -> None:
    id = desk.write("projects/shop/testing/mocking", "Hand-written text.", curated=False)
    before = desk.files()
    assert desk.verbs(packet(SAID), act("update_entry", "we use respx here", id=id, body=RESPX)) == [
        "propose"
    ]
    assert {path: raw for path, raw in desk.files().items() if path in before} == before


def test_what_changed_since_it_was_read_waits_for_the_person(desk: Desk) -> None:
    id = desk.write("projects/shop/testing/mocking", "Mock HTTP calls with responses.")
    action = act("update_entry", "we use respx here", id=id, body=RESPX)
    assert desk.verbs(packet(SAID), action, baselines={id: body_hash("Another text.")}) == ["propose"]
    same = {id: body_hash("Mock HTTP calls with responses.")}
    assert desk.verbs(
        packet(SAID, id="p2"), act("update_entry", "we use respx", id=id, body=RESPX), baselines=same
    )[0] in ("apply", "skip")


def test_an_update_keeps_what_the_header_says_and_follows_the_hash(desk: Desk) -> None:
    id = desk.write(
        "projects/shop/testing/mocking", "Mock HTTP calls with responses.", reinforced=3, mood="odd"
    )
    assert desk.verbs(packet(SAID), act("update_entry", "we use respx here", id=id, body=RESPX)) == ["apply"]
    entry = desk.store.scan().entries[id]
    assert entry.body.strip() == RESPX and entry.reinforced == 3 and not entry.hand_edited
    assert "mood: odd" in desk.files()[id + ".md"].decode()


def test_a_full_folder_grows_a_subfolder(desk: Desk) -> None:
    for number in range(5):
        desk.write(f"projects/shop/testing/rule-{number}", f"Rule number {number} about something.")
    desk.do(
        packet(SAID),
        create("projects/shop/testing/use-respx", RESPX, "we use respx here", tags=["testing", "http"]),
    )
    assert "projects/shop/testing/http/use-respx" in desk.store.scan().entries


def test_a_taken_name_gets_a_number(desk: Desk) -> None:
    desk.write("projects/shop/testing/use-respx", "Something else entirely, about factories.")
    desk.do(packet(SAID), create("projects/shop/testing/use-respx", RESPX, "we use respx here"))
    assert "projects/shop/testing/use-respx-2" in desk.store.scan().entries


def test_a_secret_is_kept_nowhere(desk: Desk) -> None:
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5"
    heard = packet(f"we use respx here with the token {secret} to mock HTTP calls")
    desk.do(heard, create("projects/shop/testing/respx", f"{RESPX} Token {secret}.", "we use respx here"))
    kept = b"".join(path.read_bytes() for path in Path(desk.home.root).rglob("*") if path.is_file())
    assert secret.encode() not in kept and b"[redacted:" in kept


def test_a_merge_that_leaves_out_what_one_said_does_not_happen(desk: Desk) -> None:
    one = desk.write("projects/shop/testing/respx", "Mock HTTP calls with respx in every unit test.")
    two = desk.write(
        "projects/shop/testing/fixtures", "Fixtures live in conftest and never hit the database."
    )
    merge = {
        "ids": [one, two],
        "into": one,
        "title": "Testing",
        "body": "Mock HTTP calls with respx in every unit test.",
    }
    assert desk.verbs(packet(SAID), act("merge_entries", **merge)) == ["refuse"]
    merge["body"] += " Fixtures live in conftest and never hit the database."
    assert desk.verbs(packet(SAID, id="p2"), act("merge_entries", **merge)) == ["propose"]


def test_moving_archiving_and_splitting_wait_for_the_person_and_can_be_accepted(desk: Desk) -> None:
    one = desk.write("projects/shop/testing/respx", "Mock HTTP calls with respx.")
    two = desk.write("projects/shop/testing/fixtures", "See [[projects/shop/testing/respx]] for mocks.")
    actions = [
        act("move_entry", id=one, to="projects/shop/http/respx"),
        act("archive_entry", id=two, reason="not needed"),
    ]
    assert desk.verbs(packet(SAID), *actions) == ["propose", "propose"]
    moved, archived = desk.journal.pending()
    desk.accept(moved.id)
    assert "[[projects/shop/http/respx]]" in desk.store.scan().entries[two].body
    assert desk.store.scan().entries["projects/shop/http/respx"].scope == "project:shop"
    assert archived.meta["why"] == "it rearranges the library"


def test_an_archived_entry_comes_back(desk: Desk) -> None:
    id = desk.write("projects/shop/testing/respx", "Mock HTTP calls with respx.")
    desk.verbs(packet(SAID), act("archive_entry", id=id, reason="old"))
    desk.accept(desk.journal.pending()[0].id)
    assert id not in desk.store.scan().entries
    assert desk.verbs(packet(SAID, id="p2"), act("resurrect_entry", "we use respx here", id=id)) == ["apply"]
    assert desk.store.scan().entries[id].status == "active"


def test_an_abstraction_and_its_children_name_each_other(desk: Desk) -> None:
    one = desk.write("projects/shop/testing/respx", "Mock HTTP calls with respx.")
    two = desk.write("projects/shop/testing/smtp", "Mock mail with a fake SMTP server.")
    action = act(
        "abstract_entries",
        children=[one, two],
        id="projects/shop/testing/no-network",
        title="No network in tests",
        body="Tests never reach the network.",
    )
    assert desk.verbs(packet(SAID), action) == ["propose"]
    desk.accept(desk.journal.pending()[0].id)
    entries = desk.store.scan().entries
    assert "[[projects/shop/testing/no-network]]" in entries[one].body
    assert f"[[{two}]]" in entries["projects/shop/testing/no-network"].body


def test_a_rejected_text_is_not_kept_again(desk: Desk) -> None:
    from ultan.curator.grounding import plain

    desk.rejected.add(plain(RESPX))
    assert desk.verbs(packet(SAID), create("projects/shop/testing/respx", RESPX, "we use respx here")) == [
        "skip"
    ]
    assert desk.files() == {}


def test_the_same_proposal_does_not_wait_twice(desk: Desk) -> None:
    heard = packet(
        [("user", "run the tests"), ("tool", "Tests take 40 minutes on macOS because of the sandbox.")]
    )
    action = create(
        "projects/shop/ci/slow",
        "Tests take 40 minutes on macOS.",
        "Tests take 40 minutes on macOS",
        type="finding",
    )
    assert desk.verbs(heard, action) == ["propose"]
    assert desk.verbs(heard.model_copy(update={"id": "p2"}), action) == ["skip"]
    assert len(desk.journal.pending()) == 1


def test_a_trigger_must_speak_of_what_the_entry_or_the_person_says(desk: Desk) -> None:
    id = desk.write("projects/shop/deploy/no-force", "Never git push --force to main.", type="warning")
    heard = packet("Never git push --force again, I mean it.")
    good = [{"pattern": r"\bgit push .*--force\b"}]
    assert desk.verbs(heard, act("set_trigger", "Never git push --force", id=id, patterns=good)) == ["apply"]
    odd = [{"pattern": r"\bnpm install\b"}]
    again = heard.model_copy(update={"id": "p2"})
    assert desk.verbs(again, act("set_trigger", "Never git push --force", id=id, patterns=odd)) == ["propose"]
    everything = [{"pattern": ".*"}]
    third = heard.model_copy(update={"id": "p3"})
    assert desk.verbs(third, act("set_trigger", "Never git push --force", id=id, patterns=everything)) == [
        "refuse"
    ]


def test_what_is_undone_leaves_the_same_bytes(desk: Desk) -> None:
    desk.write("projects/shop/testing/use-responses", "Mock HTTP calls with responses.")
    before = desk.files()
    desk.do(
        packet(SAID),
        create(
            "projects/shop/testing/respx",
            RESPX,
            "we use respx here",
            contradicts=["projects/shop/testing/use-responses"],
        ),
    )
    assert desk.files() != before
    desk.journal.undo()
    assert desk.files() == before


IDS = ["projects/shop/a/one", "projects/shop/a/two", "projects/shop/b/three", "global/c/four"]
some_id = st.sampled_from([*IDS, "projects/shop/b/none"])
quotes = st.sampled_from(["we use respx here", "never said", SAID])
some_action = st.one_of(
    st.builds(
        lambda id, q, c, links: create(id, RESPX + " " + id, q, contradicts=c, links=links),
        some_id,
        quotes,
        st.lists(some_id, max_size=2),
        st.lists(some_id, max_size=2),
    ),
    st.builds(lambda id, q: act("update_entry", q, id=id, body=f"{RESPX} In {id}."), some_id, quotes),
    st.builds(lambda id, q: act("reinforce", q, id=id), some_id, quotes),
    st.builds(
        lambda id, to, q: act("deprecate_entry", q, id=id, successor=to, reason="old"),
        some_id,
        st.none() | some_id,
        quotes,
    ),
    st.builds(lambda id, to: act("add_wikilink", id=id, to=to), some_id, some_id),
    st.builds(lambda id, to: act("move_entry", id=id, to=to + "-new"), some_id, some_id),
    st.builds(lambda id: act("archive_entry", id=id, reason="old"), some_id),
    st.builds(
        lambda a, b: act(
            "merge_entries", ids=[a, b], into=a, title="Both", body="Rule one two three four about things."
        ),
        some_id,
        some_id,
    ),
    st.builds(
        lambda a, b: act(
            "abstract_entries",
            children=[a, b],
            id="projects/shop/a/above",
            title="Above",
            body="More general.",
        ),
        some_id,
        some_id,
    ),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(some_action, min_size=1, max_size=6), st.sets(st.sampled_from(IDS)))
def test_any_actions_leave_a_clean_library_and_hand_written_text(
    tmp_path_factory: pytest.TempPathFactory, actions: list[object], by_hand: set[str]
) -> None:
    home = Home(str(tmp_path_factory.mktemp("home") / "h"))
    home.ensure()
    desk = Desk(home)
    for number, id in enumerate(IDS):
        desk.write(id, f"Rule {number} about things.", curated=id not in by_hand)
    texts = {id: desk.store.scan().entries[id].body for id in by_hand}
    desk.do(packet(SAID), *actions)  # type: ignore[arg-type]
    while pending := desk.journal.pending():
        try:
            desk.accept(pending[0].id)
        except ChangedMeanwhile:
            desk.journal.reject(pending[0].id)
        else:
            texts.clear()  # the person agreed to it
    snapshot = desk.store.scan()
    codes = {problem.code for problem in lint(snapshot, NOW)} - {"full-folder", "archived-link"}
    assert codes == set(), lint(snapshot, NOW)
    for id, body in texts.items():
        assert snapshot.entries[id].body == body
