"""The environment that a detached process gets: chosen, not inherited.

A hook runs with everything its session has, keys and switches included. The daemon needs to find its files,
reach the network through the person's proxy and trust their certificates; nothing else passes.
"""

from __future__ import annotations

import os

_NAMES = frozenset(
    """PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TERM AGENT_MEM_HOME
    HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS
    HF_HOME HF_HUB_CACHE HF_HUB_OFFLINE XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
    LD_LIBRARY_PATH OMP_NUM_THREADS OPENBLAS_CORETYPE OPENBLAS_L2_SIZE ULTAN_RUNTIME""".split()
)
_PREFIXES = ("LC_",)
# What only `auth = "env"` lets through: how the person's own model access is configured.
_AUTH_NAMES = frozenset(
    """ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL ANTHROPIC_MODEL
    CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX CLAUDE_CODE_OAUTH_TOKEN
    AWS_PROFILE AWS_REGION AWS_DEFAULT_REGION AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN
    GOOGLE_APPLICATION_CREDENTIALS CLOUD_ML_REGION ANTHROPIC_VERTEX_PROJECT_ID""".split()
)
# An installer also needs to know where the person gets packages from.
_INSTALL_PREFIXES = ("PIP_", "UV_")


def chosen(
    environ: os._Environ[str] | dict[str, str], auth: bool = False, install: bool = False
) -> dict[str, str]:
    """The part of `environ` for a detached process; with model access (auth), with pip and uv (install)."""
    return {
        name: value
        for name, value in environ.items()
        if name in _NAMES
        or name.startswith(_PREFIXES)
        or (auth and name in _AUTH_NAMES)
        or (install and name.startswith(_INSTALL_PREFIXES))
    }
