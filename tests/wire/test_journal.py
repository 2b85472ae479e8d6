"""The write path under crashes and failures at every step, in real child processes."""

from __future__ import annotations

import errno
import json
import os
import stat
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ultan.wire import files
from ultan.wire.batch import Action, Batch, BrokenRecord, is_record
from ultan.wire.failures import BadPath, BatchFailed, ChangedMeanwhile, ForeignHome, LibraryBusy, UltanError
from ultan.wire.home import Home
from ultan.wire.journal import IN_FLIGHT, Writer, save

NOW = 1796092800.0
# Every call through which a batch touches the disk.
STEPS = ("open", "write", "fsync", "fchmod", "replace", "rename", "unlink", "mkdir", "rmdir", "ftruncate")


def tree(home: Home) -> dict[str, bytes]:
    root = Path(home.knowledge)
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def records(home: Home) -> list[Batch]:
    names = sorted(name for name in os.listdir(home.journal) if is_record(name))
    return [Batch.decode((Path(home.journal) / name).read_bytes(), name) for name in names]


def put(home: Home, **contents: bytes) -> None:
    for name, content in contents.items():
        path = Path(home.knowledge, name.replace("__", "/") + ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def big_batch(home: Home) -> Batch:
    put(home, global__old=b"old", global__gone__away=b"bye", global__latin=b"\xe9")
    return Batch(
        [
            Action("global/old.md", b"old", b"new\r\n"),
            Action("global/gone/away.md", b"bye", None),
            Action("projects/shop/deep/a.md", None, b"A"),
            Action("global/latin.md", b"\xe9", b"\xff\x00"),
            Action("projects/shop/b.md", None, b"B"),
        ],
        "user",
        "five files\nat once",
    )


AFTER = {
    "global/old.md": b"new\r\n",
    "projects/shop/deep/a.md": b"A",
    "global/latin.md": b"\xff\x00",
    "projects/shop/b.md": b"B",
}


def test_a_batch_changes_creates_and_removes_files_and_is_kept(home: Home) -> None:
    batch = save(home, big_batch(home), NOW)
    assert tree(home) == AFTER
    assert not Path(home.knowledge, "global/gone").exists()
    (kept,) = records(home)
    assert (kept.id, kept.state, kept.by, kept.reason) == (batch.id, "applied", "user", "five files at once")
    assert kept.ts == "2026-12-01T02:40:00Z"
    assert [(a.path, a.before, a.after) for a in kept.actions] == [
        (a.path, a.before, a.after) for a in batch.actions
    ]


def test_everything_written_is_private_and_a_person_s_mode_is_kept(home: Home) -> None:
    batch = big_batch(home)
    os.chmod(Path(home.knowledge, "global/old.md"), 0o644)
    save(home, batch, NOW)

    def mode(path: str) -> int:
        return stat.S_IMODE(os.stat(path).st_mode)

    assert mode(os.path.join(home.knowledge, "global/old.md")) == 0o644
    assert mode(os.path.join(home.knowledge, "projects/shop/b.md")) == 0o600
    assert mode(os.path.join(home.knowledge, "projects/shop/deep")) == 0o700
    assert mode(home.journal) == 0o700
    assert {mode(os.path.join(home.journal, name)) for name in os.listdir(home.journal)} == {0o600}


def test_records_keep_their_order_even_when_the_clock_stands_still_or_goes_back(home: Home) -> None:
    for number, now in enumerate((NOW, NOW, NOW - 5000, NOW + 1)):
        save(home, Batch([Action(f"global/n{number}.md", None, b"x")], "user", str(number)), now)
    assert [batch.reason for batch in records(home)] == ["0", "1", "2", "3"]


def test_a_file_changed_since_it_was_read_refuses_the_whole_batch(home: Home) -> None:
    batch = big_batch(home)
    put(home, global__old=b"edited by hand", projects__shop__b=b"came first")
    before = tree(home)
    with pytest.raises(ChangedMeanwhile) as caught:
        save(home, batch, NOW)
    assert sorted(caught.value.paths) == ["global/old.md", "projects/shop/b.md"]
    assert tree(home) == before
    assert records(home) == []


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd.md",
        "../x.md",
        "global/../../x.md",
        "global//x.md",
        "global/./x.md",
        "global/x",
        "global/x.md/",
        ".obsidian/x.md",
        "global/.hidden.md",
        "global\\x.md",
        "global/x\0.md",
        "global/x\n.md",
        "global/\ud800.md",
        "global/a|b.md",
        "global/[[x]].md",
        "global/what?.md",
        "global/ x.md",
        "global/x. /y.md",
        "global/con.md",
        "global/" + "n" * 300 + ".md",
        "global/\u202ex.md",
    ],
)
def test_a_malformed_path_is_refused_and_nothing_written(home: Home, path: str) -> None:
    batch = Batch([Action("global/good.md", None, b"x"), Action(path, None, b"x")], "user", "")
    with pytest.raises(BadPath):
        save(home, batch, NOW)
    assert tree(home) == {}


@pytest.mark.parametrize("path", ["global/USE-uv.md", "Global/other.md", "global/caf\u00e9.md"])
def test_a_twin_in_another_case_or_unicode_form_is_refused(home: Home, path: str) -> None:
    put(home, **{"global__use-uv": b"x", "global__cafe\u0301": b"x"})
    with pytest.raises(BadPath, match="differs from it only"):
        save(home, Batch([Action(path, None, b"x")], "user", ""), NOW)


def test_twins_and_file_folder_clashes_inside_one_batch_are_refused(home: Home) -> None:
    for pair in (["global/a.md", "global/A.md"], ["global/a.md", "global/a.md/b.md"]):
        with pytest.raises(BadPath):
            save(home, Batch([Action(path, None, b"x") for path in pair], "user", ""), NOW)
    assert tree(home) == {}


def test_nothing_is_written_through_a_link(home: Home, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_bytes(b"theirs")
    put(home, global__x=b"x")
    Path(home.knowledge, "global/out").symlink_to(outside)
    Path(home.knowledge, "global/file.md").symlink_to(outside / "a.md")
    for action in (
        Action("global/out/new.md", None, b"ours"),
        Action("global/out/a.md", b"theirs", b"ours"),
        Action("global/file.md", b"theirs", b"ours"),
        Action("global/file.md", b"theirs", None),
    ):
        with pytest.raises(BadPath, match="link"):
            save(home, Batch([action], "user", ""), NOW)
    assert sorted(os.listdir(outside)) == ["a.md"]
    assert (outside / "a.md").read_bytes() == b"theirs"


def test_the_library_itself_may_lie_elsewhere(home: Home, tmp_path: Path) -> None:
    elsewhere = tmp_path / "synced"
    elsewhere.mkdir()
    Path(home.knowledge).symlink_to(elsewhere)
    save(home, Batch([Action("global/a.md", None, b"x")], "user", ""), NOW)
    assert (elsewhere / "global/a.md").read_bytes() == b"x"


def in_child(work: Callable[[], object]) -> int:
    """Run `work` in a forked child that ends without any clean-up; its exit code."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def interrupt(step_number: int, failure: Callable[[], object], lasting: bool = False) -> list[int]:
    """From now on, `failure` comes before this process's `step_number`th disk step (and all later ones).

    Returns the running count of steps.
    """
    count = [0]

    def wrap(real: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **named: object) -> object:
            count[0] += 1
            if count[0] == step_number or (lasting and count[0] > step_number):
                failure()
            return real(*arguments, **named)

        return call

    for name in STEPS:
        setattr(os, name, wrap(getattr(os, name)))
    return count


def test_a_crash_at_any_step_leaves_all_or_nothing(tmp_path: Path) -> None:
    outcomes = set()
    for step in range(1, 500):
        home = Home(str(tmp_path / f"crash-{step}"))
        home.ensure()
        batch = big_batch(home)
        before = tree(home)

        def crashing(home: Home = home, batch: Batch = batch, step: int = step) -> None:
            interrupt(step, lambda: os._exit(9))
            save(home, batch, NOW)

        code = in_child(crashing)
        with Writer(home) as writer:
            outcomes.add(writer.recovered)
            assert tree(home) in (before, AFTER), step
            assert bool(records(home)) == (tree(home) == AFTER), step
        assert not [name for name in os.listdir(home.journal) if files.is_temporary(name)]
        if code == 0:
            assert tree(home) == AFTER
            break
        assert code == 9
    else:
        pytest.fail("the batch never got to its end")
    assert outcomes == {None, "finished"}


def test_a_crash_during_recovery_is_recovered_from_too(tmp_path: Path) -> None:
    for step in range(1, 500):
        home = Home(str(tmp_path / f"again-{step}"))
        home.ensure()
        batch = big_batch(home)

        def crashing(home: Home = home, batch: Batch = batch) -> None:
            os.rename = lambda *_: os._exit(9)  # type: ignore[assignment]  # the last step never happens
            save(home, batch, NOW)

        assert in_child(crashing) == 9

        def recovering(home: Home = home, step: int = step) -> None:
            interrupt(step, lambda: os._exit(9))
            with Writer(home):
                pass

        code = in_child(recovering)
        with Writer(home):
            assert tree(home) == AFTER
            assert len(records(home)) == 1
        if code == 0:
            break


@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("failure", [errno.ENOSPC, errno.EACCES])
def test_a_disk_that_refuses_any_step_leaves_all_or_nothing(
    tmp_path: Path, failure: int, lasting: bool
) -> None:
    for step in range(1, 500):
        home = Home(str(tmp_path / f"full-{step}"))
        home.ensure()
        batch = big_batch(home)
        before = tree(home)

        def refuse() -> None:
            raise OSError(failure, os.strerror(failure))

        def failing(
            home: Home = home, batch: Batch = batch, before: dict[str, bytes] = before, step: int = step
        ) -> None:
            count = interrupt(step, refuse, lasting)
            try:
                save(home, batch, NOW)
            except UltanError as error:
                if not isinstance(error, BatchFailed) or error.undone:
                    assert tree(home) == before
            else:
                assert tree(home) == AFTER
            os._exit(0 if count[0] >= step else 5)

        code = in_child(failing)
        with Writer(home):
            assert tree(home) in (before, AFTER), step
            assert bool(records(home)) == (tree(home) == AFTER), step
        if code == 5:
            break
        assert code == 0, step
    else:
        pytest.fail("the batch never got to its end")


def test_an_edit_made_after_the_crash_is_kept_and_the_rest_taken_back(home: Home) -> None:
    batch = big_batch(home)
    before = tree(home)

    def crashing() -> None:
        os.rename = lambda *_: os._exit(9)  # type: ignore[assignment]  # crash when all files are written
        save(home, batch, NOW)

    in_child(crashing)
    put(home, global__old=b"edited by hand")
    with Writer(home) as writer:
        assert writer.recovered == "taken back"
    assert tree(home) == {**before, "global/old.md": b"edited by hand"}
    assert [b.state for b in records(home)] == ["failed"]


def test_a_broken_record_in_flight_is_set_aside(home: Home) -> None:
    put(home, global__old=b"old")
    os.makedirs(home.journal)
    for number, junk in enumerate((b"", b"{", b"[]", b'{"v": 9}', b"\xff" * 100, b"[" * 100000)):
        Path(home.journal, IN_FLIGHT).write_bytes(junk)
        with Writer(home) as writer:
            assert writer.recovered == "set aside"
        assert not Path(home.journal, IN_FLIGHT).exists()
        save(home, Batch([Action(f"global/n{number}.md", None, b"x")], "user", ""), NOW)


def test_a_busy_library_says_who_writes_it(home: Home) -> None:
    with Writer(home, holder="the daemon (process 7)"), pytest.raises(LibraryBusy) as caught:
        save(home, Batch([Action("global/a.md", None, b"x")], "user", ""), NOW, timeout=0)
    assert "the daemon (process 7)" in str(caught.value)
    assert tree(home) == {}


def test_many_writers_at_once_lose_nothing(home: Home) -> None:
    def writing(child: int) -> None:
        for number in range(10):
            action = Action(f"global/{child}/{number}.md", None, b"x")
            save(home, Batch([action], "user", f"{child}"), NOW, timeout=60)

    children = []
    for child in range(4):
        pid = os.fork()
        if pid == 0:
            try:
                writing(child)
            except BaseException:
                os._exit(1)
            os._exit(0)
        children.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0] * 4
    assert len(tree(home)) == len({batch.name for batch in records(home)}) == 40


def test_a_home_of_a_newer_version_is_never_written(home: Home) -> None:
    Path(home.home_json).write_text(json.dumps({"format": 99, "written_by": "7.5.0"}))
    put(home, global__a=b"x")
    with pytest.raises(ForeignHome) as caught:
        save(home, Batch([Action("global/a.md", b"x", b"y")], "user", ""), NOW)
    assert "7.5.0" in str(caught.value) and caught.value.format == 99
    assert sorted(os.listdir(home.root)) == ["home.json", "knowledge"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "1"}', '{"format": true}', '{"x": 1}'])
def test_a_home_whose_format_cannot_be_told_is_never_written(home: Home, text: str) -> None:
    Path(home.home_json).write_text(text)
    with pytest.raises(ForeignHome):
        save(home, Batch([Action("global/a.md", None, b"x")], "user", ""), NOW)
    assert os.listdir(home.root) == ["home.json"]


def test_a_fresh_home_is_stamped_with_its_format(home: Home) -> None:
    with Writer(home):
        pass
    assert json.loads(Path(home.home_json).read_text())["format"] == 1


NAMES = st.sampled_from(["a", "b", "global/a", "global/b", "projects/p/a", "projects/p/q/b"])
CONTENTS = st.one_of(st.none(), st.binary(max_size=12))


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(st.dictionaries(NAMES, CONTENTS, min_size=1), max_size=6), crash=st.integers(1, 120))
def test_any_sequence_of_batches_gives_what_a_plain_mapping_would(
    tmp_path_factory: pytest.TempPathFactory, steps: list[dict[str, bytes | None]], crash: int
) -> None:
    home = Home(str(tmp_path_factory.mktemp("random")))
    model: dict[str, bytes] = {}
    for number, changes in enumerate(steps):
        actions = [Action(name + ".md", model.get(name), content) for name, content in changes.items()]
        wanted = {k: v for k, v in {**model, **changes}.items() if v is not None}
        batch = Batch(actions, "user", str(number))
        if number == len(steps) - 1:

            def crashing(batch: Batch = batch) -> None:
                interrupt(crash, lambda: os._exit(9))
                save(home, batch, NOW)

            in_child(crashing)
            with Writer(home):
                found = {path[:-3]: content for path, content in tree(home).items()}
            assert found in (model, wanted)
        else:
            save(home, batch, NOW)
            model = wanted
            assert {path[:-3]: content for path, content in tree(home).items()} == model
    assert {batch.state for batch in records(home)} <= {"applied"} if steps else True


@given(
    before=st.one_of(st.none(), st.binary()),
    after=st.one_of(st.none(), st.binary()),
    reason=st.text(),
    state=st.sampled_from(["proposed", "applied"]),
)
def test_a_record_reads_back_as_it_was(
    before: bytes | None, after: bytes | None, reason: str, state: str
) -> None:
    batch = Batch([Action("global/a.md", before, after)], "user", reason, meta={"k": [1, "ü"]})
    batch.number("20261201T024000.000000Z", NOW)
    batch.state = state
    again = Batch.decode(batch.encode(), batch.name)
    assert again.encode() == batch.encode()
    assert (again.actions[0].before, again.actions[0].after) == (before, after)


@given(st.binary())
def test_junk_is_no_record(junk: bytes) -> None:
    with pytest.raises(BrokenRecord):
        Batch.decode(junk)


def test_a_record_whose_content_was_tampered_with_is_broken() -> None:
    batch = Batch([Action("global/a.md", None, b"good")], "user", "")
    batch.number("20261201T024000.000000Z", NOW)
    with pytest.raises(BrokenRecord, match="hash"):
        Batch.decode(batch.encode().replace(b'"good"', b'"evil"'))
