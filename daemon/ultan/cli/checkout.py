"""`ultan test` and `ultan bench`: what only a checkout of the project has."""

from __future__ import annotations

import ast
import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import click

from ultan.cli.output import emit, example, json_option, table
from ultan.cli.place import NoCheckout, checkout
from ultan.wire.failures import UltanError

_PASSED_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}


@click.command(
    epilog=example("ultan test", "ultan test tests/wire -k redact"),
    short_help="Run the tests of the checkout.",
    context_settings=_PASSED_ON,
)
@json_option
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def test(arguments: tuple[str, ...], as_json: bool) -> int:
    """Run the tests of the checkout with pytest; ARGUMENTS are pytest's own, --json comes before them.

    The exit code is pytest's. Two processes work side by side unless -n says otherwise.
    """
    root = checkout()
    if root is None or not (root / "tests").is_dir():
        raise NoCheckout("The test suite")
    if importlib.util.find_spec("pytest") is None:
        raise UltanError(
            "pytest is not installed here.", "", "Install the checkout's `dev` extra, then repeat."
        )
    line = [sys.executable, "-m", "pytest", *spread(arguments), *arguments]
    if not as_json:
        return run(line, root)
    done = subprocess.run(line, cwd=root, capture_output=True, check=False, env=environment(root))
    output = done.stdout.decode("utf-8", "replace")
    emit(
        {
            "ok": done.returncode == 0,
            "exit_code": done.returncode,
            "summary": last_line(output),
            "output": output,
        }
    )
    return done.returncode


@click.command(
    epilog=example("ultan bench", "ultan bench priming --entries 1000 --prompts 50"),
    short_help="Run a benchmark of the checkout.",
    context_settings=_PASSED_ON,
)
@json_option
@click.argument("name", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def bench(name: str | None, arguments: tuple[str, ...], as_json: bool) -> int:
    """Run the benchmark NAME with its own ARGUMENTS; without a name, list what there is.

    The exit code is the benchmark's.
    """
    root = checkout()
    if root is None or not (root / "tools" / "bench").is_dir():
        raise NoCheckout("The benchmarks")
    known = benchmarks(root / "tools" / "bench")
    if name is None:
        if as_json:
            emit({"benchmarks": known})
        else:
            table(["name", "what"], list(known.items()))
        return 0
    if name not in known:
        raise click.UsageError(f"There is no benchmark {name!r}; there are: {', '.join(known)}.")
    more = ["--json"] if as_json and "--json" not in arguments else []
    return run([sys.executable, str(root / "tools" / "bench" / f"{name}.py"), *arguments, *more], root)


def spread(arguments: tuple[str, ...]) -> list[str]:
    """The option that lets two processes share the work, where that is possible and not decided already."""
    decided = any(argument.startswith(("-n", "--numprocesses", "--pdb")) for argument in arguments)
    return [] if decided or importlib.util.find_spec("xdist") is None else ["-n", "2"]


def benchmarks(folder: Path) -> dict[str, str]:
    """name -> first line of its docstring, of every script in a folder that can be run and prints figures."""
    found = {}
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "__main__" in text and '"--json"' in text:
            words = ast.get_docstring(ast.parse(text)) or ""
            found[path.stem] = words.partition("\n")[0]
    return found


def run(line: list[str], root: Path) -> int:
    """Run a program in the checkout with our own streams; its exit code, 128 + signal where one ended it.

    Ctrl-C reaches it too; it is waited for, so that it can clean up.
    """
    sys.stdout.flush()
    with subprocess.Popen(line, cwd=root, env=environment(root)) as child:
        while True:
            try:
                code = child.wait()
                break
            except KeyboardInterrupt:
                if child.poll() is None:
                    child.send_signal(signal.SIGINT)
    return code if code >= 0 else 128 - code


def environment(root: Path) -> dict[str, str]:
    """Our environment, with the checkout's package before an installed one."""
    path = [str(root / "daemon"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "ULTAN_ROOT": str(root), "PYTHONPATH": os.pathsep.join(path)}


def last_line(text: str) -> str:
    """The last line that says something: pytest's count of what passed."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
