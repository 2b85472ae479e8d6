"""Which commands are run to install, and what is said where none can be."""

from __future__ import annotations

import pytest
from ultan.service import installing
from ultan.service.installing import CPU_INDEX, Tools
from ultan.service.interpreters import Interpreter
from ultan.service.requirements import BASE, Requirements

PYTHON = Interpreter("/usr/bin/python3.12", (3, 12, 4), True)
BARE = Interpreter("/usr/bin/python3.12", (3, 12, 4), False)
NEEDS = Requirements(
    {
        BASE: ["click>=8", "numpy>=2"],
        "hub": ["einops>=0.8", "torch==2.13.0; sys_platform == 'linux'"],
        "curator": ["claude-agent-sdk==0.2.189"],
        "dev": ["pytest>=8", "click>=8"],
    },
    "/checkout/requirements.lock",
    "click==8.5.1\n",
)


def tools(uv: str | None = None, client: str | None = None, gpu: bool = False, macos: bool = False) -> Tools:
    return Tools(uv, PYTHON, client, gpu, macos)


def ways(tools: Tools, *extras: str, installer: str = "pip", again: bool = False) -> list[list[list[str]]]:
    return [step.ways for step in installing.install(installer, tools, "/v", NEEDS, list(extras), again)]


@pytest.mark.parametrize(
    ("uv", "python", "expected"),
    [
        ("/uv", PYTHON, ["uv", "pip"]),
        ("/uv", BARE, ["uv"]),
        ("/uv", None, ["uv"]),
        (None, PYTHON, ["pip"]),
        (None, BARE, []),
        (None, None, []),
    ],
)
def test_uv_comes_before_pip_and_pip_needs_a_python_with_venv(
    uv: str | None, python: Interpreter | None, expected: list[str]
) -> None:
    assert installing.installers(Tools(uv, python)) == expected


def test_a_machine_without_an_installer_is_told_each_way_out() -> None:
    bare = installing.no_installer(Tools(None, BARE), linux=True)
    assert "has no venv module" in bare and "apt install python3.12-venv" in bare and "uv" in bare
    none = installing.no_installer(Tools(None, None), linux=True)
    assert "no Python 3.11 or later" in none and "apt install python3 python3-venv" in none
    mac = installing.no_installer(Tools(None, None), linux=False)
    assert "brew install" in mac and "apt" not in mac


def test_models_from_a_hub_are_refused_where_there_is_no_torch() -> None:
    assert "Intel" in str(installing.unavailable(["dev", "hub"], True, "x86_64"))
    assert installing.unavailable(["hub"], True, "arm64") is None
    assert installing.unavailable(["hub"], False, "x86_64") is None
    assert installing.unavailable(["dev"], True, "x86_64") is None


def test_uv_makes_the_environment_with_the_python_that_is_there_or_brings_one() -> None:
    [argv] = installing.make_environment("uv", tools("/uv"), "/v").ways
    assert argv[:2] == ["/uv", "venv"] and argv[-3:] == ["--python", PYTHON.path, "/v"] and "--seed" in argv
    [argv] = installing.make_environment("uv", Tools("/uv", None), "/v").ways
    assert argv[-3:] == ["--python", "3.12", "/v"]


def test_pip_makes_the_environment_with_venv() -> None:
    assert installing.make_environment("pip", tools(), "/v").ways == [[PYTHON.path, "-I", "-m", "venv", "/v"]]


def test_packages_are_installed_as_the_lock_says() -> None:
    [[argv]] = ways(tools(), BASE)
    assert argv[:5] == ["/v/bin/python", "-I", "-m", "pip", "install"]
    assert argv[-4:] == ["--constraint", NEEDS.lock, "click>=8", "numpy>=2"]
    [[argv]] = ways(tools("/uv"), BASE, installer="uv")
    assert argv[:3] == ["/uv", "pip", "install"]
    assert argv[-4:] == ["--constraint", NEEDS.lock, "click>=8", "numpy>=2"]


def test_an_extra_that_is_added_later_does_not_ask_for_the_base_again() -> None:
    [[argv]] = ways(tools(), "dev")
    assert argv[-1] == "pytest>=8" and "click>=8" not in argv


def test_what_an_interrupted_try_left_is_installed_over() -> None:
    [[argv]] = ways(tools(), BASE, again=True)
    assert "--ignore-installed" in argv
    [[argv]] = ways(tools("/uv"), BASE, installer="uv", again=True)
    assert "--reinstall" in argv


def test_no_command_names_an_index_but_the_one_of_cpu_builds_for_torch_alone() -> None:
    for extras in ([BASE], [BASE, "hub", "curator", "dev"]):
        for installer in ("uv", "pip"):
            for step in ways(tools("/uv"), *extras, installer=installer):
                for argv in step:
                    if "--index-url" in argv:
                        assert argv[argv.index("--index-url") + 1] == CPU_INDEX
                        assert "--no-deps" in argv and argv[-1].startswith("torch==2.13.0+cpu")
                    assert "--extra-index-url" not in argv


def test_without_a_gpu_torch_is_a_cpu_build_from_the_own_index_first() -> None:
    torch, _rest = installing.install("pip", tools(), "/v", NEEDS, ["hub"])
    assert [argv[-1] for argv in torch.ways] == [
        "torch==2.13.0+cpu; sys_platform == 'linux'",
        "torch==2.13.0+cpu; sys_platform == 'linux'",
        "torch==2.13.0; sys_platform == 'linux'",
    ]
    assert [CPU_INDEX in argv for argv in torch.ways] == [False, True, False]
    assert "large" in torch.notes[2] and 0 not in torch.notes


@pytest.mark.parametrize("there", [tools(gpu=True), tools(macos=True)])
def test_with_a_gpu_or_on_macos_torch_is_the_build_of_the_own_index(there: Tools) -> None:
    torch, _rest = ways(there, "hub")
    assert [argv[-1] for argv in torch] == ["torch==2.13.0; sys_platform == 'linux'"]


def test_torch_is_installed_by_pip_before_what_needs_it() -> None:
    torch, rest = ways(tools("/uv"), "hub", installer="uv")
    assert torch[0][:4] == ["/v/bin/python", "-I", "-m", "pip"]
    assert rest[0][0] == "/uv" and rest[0][-1] == "einops>=0.8"


def test_the_sdk_comes_without_its_client_where_the_person_has_one() -> None:
    [source_first] = ways(tools(client="/bin/claude"), "curator")
    assert ["--no-binary" in argv for argv in source_first] == [True, False]
    [wheel] = ways(tools(), "curator")
    assert ["--no-binary" in argv for argv in wheel] == [False]


def test_the_persons_index_configuration_is_left_alone_and_what_misleads_is_dropped() -> None:
    environ = {
        "PIP_INDEX_URL": "https://packages.example/simple",
        "UV_DEFAULT_INDEX": "https://packages.example/simple",
        "PIP_CONSTRAINT": "/c",
        "HTTPS_PROXY": "http://proxy.example",
        "PIP_TARGET": "/elsewhere",
        "PYTHONPATH": "/project",
        "VIRTUAL_ENV": "/project/.venv",
        "PIP_USER": "1",
    }
    env = installing.environment(environ)
    for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "PIP_CONSTRAINT", "HTTPS_PROXY"):
        assert env[name] == environ[name]
    assert not {"PIP_TARGET", "PYTHONPATH", "VIRTUAL_ENV"} & set(env)
    assert env["PIP_USER"] == "0"


def test_the_check_loads_what_is_compiled_and_looks_for_the_rest() -> None:
    argv = installing.verification("/v", [BASE, "hub"])
    assert argv[:3] == ["/v/bin/python", "-I", "-c"]
    for name in ("onnxruntime", "torch", "sentence_transformers", "vectrixdb"):
        assert f"'{name}'" in argv[3]
    assert "'torch'" not in installing.verification("/v", [BASE])[3].split("print")[0]
