from __future__ import annotations

from ultan.wire.environment import chosen

SESSION = {
    "PATH": "/bin",
    "HOME": "/home/dev",
    "LC_ALL": "C.UTF-8",
    "HTTPS_PROXY": "http://proxy:3128",
    "SSL_CERT_FILE": "/etc/ca.pem",
    "NODE_EXTRA_CA_CERTS": "/etc/ca.pem",
    "AGENT_MEM_HOME": "/home/dev/mem",
    "CLAUDE_PLUGIN_ROOT": "/plugin",
    "CLAUDECODE": "1",
    "CLAUDE_CODE_ENTRYPOINT": "cli",
    "CLAUDE_CODE_USE_BEDROCK": "1",
    "ANTHROPIC_API_KEY": "k",
    "ANTHROPIC_BASE_URL": "http://x",
    "AWS_SECRET_ACCESS_KEY": "k",
    "PIP_INDEX_URL": "http://x",
    "UV_CACHE_DIR": "/c",
    "PYTHONPATH": "/evil",
    "PYTHONHOME": "/evil",
    "LD_PRELOAD": "/evil.so",
    "GITHUB_TOKEN": "k",
    "ULTAN_CURATOR": "1",
}
ALWAYS = {"PATH", "HOME", "LC_ALL", "HTTPS_PROXY", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "AGENT_MEM_HOME"}


def test_a_detached_process_gets_what_it_needs_and_nothing_of_the_session() -> None:
    assert set(chosen(SESSION)) == ALWAYS


def test_model_access_passes_only_where_it_is_asked_for() -> None:
    passed = set(chosen(SESSION, auth=True)) - ALWAYS
    assert passed == {
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "CLAUDE_CODE_USE_BEDROCK",
        "AWS_SECRET_ACCESS_KEY",
    }


def test_an_installer_also_knows_where_packages_come_from() -> None:
    assert set(chosen(SESSION, install=True)) - ALWAYS == {"PIP_INDEX_URL", "UV_CACHE_DIR"}
