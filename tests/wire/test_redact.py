from __future__ import annotations

import json
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import CASES
from ultan.wire import events, redact

# In pieces, so that no scanner takes this file for a leak.
PIECES = {
    **json.loads((CASES / "security-secret-everywhere" / "tokens.json").read_text()),
    "GITHUB_PAT": ["github", "_pat_", "11ABCDEFG0abcdefghij_KLMNOPqrstuv"],
    "GITLAB": ["glp", "at-", "AbCdEfGhIjKlMnOpQr12"],
    "STRIPE": ["sk", "_live_", "4eC39HqLyjWDarjtT1zdp7dc"],
    "GOOGLE": ["AI", "za", "SyA1234567890abcdefghijklmnopqrstuv"],
    "NPM": ["npm", "_", "abcdefghijklmnopqrstuvwxyz0123456789"],
    "HUB": ["hf", "_", "abcdefghijklmnopqrstuvwxyz012345"],
    "SENDGRID": ["SG", ".", "abcdefghijklmnop0123", ".", "abcdefghijklmnopqrstuvwxyz0123456789"],
    "BOT": ["812345", "6789:", "AAF0abcdefghijklmnopqrstuvwxyzABCDE"],
}
SECRETS = {name: "".join(pieces) for name, pieces in PIECES.items()}
# Of a connection string only the password is secret.
SHOWN = {**SECRETS, "PGURL": PIECES["PGURL"][1], "PEM": PIECES["PEM"][1].split("\n")[1]}

ASSIGNED = [
    ("password: hunter2", "hunter2"),
    ("PASSWORD=hunter2", "hunter2"),
    ('"password":"hunter22"', "hunter22"),
    ('curl -d "{\\"password\\":\\"hunter22\\"}" https://x', "hunter22"),
    ('DB_PASSWORD="correct horse battery"', "horse"),
    ("DB_PASSWORD=abc;def$ghi", "def$ghi"),
    ("export STRIPE_SECRET=abcdefghij", "abcdefghij"),
    ("HOME=/home\\nGITHUB_TOKEN=abcdefgh\\nLANG=C", "abcdefgh"),
    ('SECRET_KEY = "django-insecure-abc"', "django-insecure"),
    ('password: str = "hunter22"', "hunter22"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE", "wJalrXUtnFEMI"),
    ("api-key: abc123def", "abc123def"),
    ("--db-password S3cret77", "S3cret77"),
    ("the password is hunter2!", "hunter2"),
    ("postgres://u:p@ss@host/db", "ss@"),
    ("postgres://u:p/w@host/db", "p/w"),
    ("redis://:s3cret@host:6379", "s3cret"),
    ("https://0123456789abcdef01234@example.com/x", "0123456789abcdef"),
    ("https://example.com/x?access_token=abc123def&y=1", "abc123def"),
    ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    ('"Authorization": "Bearer abcdefghij0123456789"', "abcdefghij"),
    ("X-Api-Key: abcdefgh1234", "abcdefgh"),
    ("Set-Cookie: sid=abcdefgh12345; Path=/", "abcdefgh"),
    ("curl -u admin:s3cr3t https://x", "s3cr3t"),
    ("mysql -uroot -pS3cretPw shop", "S3cretPw"),
    ("sshpass -p hunter2 ssh host", "hunter2"),
    ("machine x login y password zzz12", "zzz12"),
    ("<password>hunter2</password>", "hunter2"),
    ("Server=x;User Id=sa;Password=hunter;", "hunter"),
    ("AccountName=x;AccountKey=abcd/ef+gh==;", "abcd/ef"),
]

ORDINARY = """
token = get_token()
password=os.environ["X"]
password = os.environ["DB_PASSWORD"]
max_tokens=100000
MAX_TOKENS=100_000
MAX_TOKENS=1_000_000
TOKEN_TTL=3600s
password: at least 8 characters
def login(user: str, password: str) -> Token:
tokenizer="bert-base-uncased"
"token_type": "bearer"
"password": "required"
SECRET_FILE=/run/secrets/db
PWD=/home/dev/shop
e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
commit 9fceb02d0ae598e95dc970b74767f19372d61af8
id 550e8400-e29b-41d4-a716-446655440000
index 83db48f..bf269f4 100644
http://localhost:4873/@scope/package
https://registry.example.com:443/@scope/package@1.2.3
git@github.com:acme/shop.git
basic internationalization
the bearer of this letter
Authorization: Bearer <token>
Authorization: Bearer ${TOKEN}
authorization: required
postgres://app:${DB_PASSWORD}@db/prod
API_KEY=$API_KEY
export TOKEN="$(cat file)"
TOKEN=$(gh auth token)
PASSWORD=get_password()
if token == "string":
<input type="password" name="password" placeholder="Password">
passwordResetUrl: "https://example.com/reset"
secretKeyRef: {name: db, key: password}
api_key = settings.API_KEY_2
docker run -u 1000:1000 image
mysql -u root -p shop
curl -u $USER:$PASS https://x
keyboard: de-latin1
token = parser.next_token
cookie: session
ASIAPACIFICHEADQUARTERSREGION
sk-learn and scikit-learn
task-0123456789abcdef0123456789
The token is base64-encoded
secrets.token_urlsafe(32)
hash = hashlib.sha256(secret.encode())
const [password, setPassword] = useState('')
"integrity": "sha512-9NZXFgJVbPvV+5Z6v2Z7v3P4Q5R6S7T8U9V0W1X2Y3Z4a5b6c7d8e9f0g1h2i3j4k5l6m7n8o9p0q=="
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
we always use the staging key for deploys, never the production one
""".strip().splitlines()


def test_one_secret_does_not_hide_the_next() -> None:
    text = "PASSWORD=hunter2/" + SECRETS["SLACK"] + ",DB_PASSWORD=abc;def$ghi"
    clean = redact.redact(text)
    assert "hunter2" not in clean and SECRETS["SLACK"] not in clean and "def$ghi" not in clean


@pytest.mark.parametrize("name", sorted(SECRETS))
def test_each_known_secret_becomes_a_mark_and_the_rest_survives(name: str) -> None:
    clean = redact.redact(f"before {SECRETS[name]} after")
    assert SHOWN[name] not in clean
    assert redact.MARK in clean
    assert clean.startswith("before ") and clean.endswith(" after")


@pytest.mark.parametrize(("text", "secret"), ASSIGNED)
def test_what_is_assigned_to_a_telling_name_is_a_secret(text: str, secret: str) -> None:
    clean = redact.redact(text)
    assert secret not in clean
    assert redact.MARK in clean


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact.redact(text) == text


def test_the_user_and_the_host_of_a_connection_string_stay_readable() -> None:
    clean = redact.redact(SECRETS["PGURL"])
    assert clean == "postgres://app:[redacted:password]@db.example.invalid:5432/prod"


def test_random_base64_is_no_secret() -> None:
    rng = random.Random(7)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for _ in range(20):
        text = "".join(rng.choice(letters) for _ in range(4000))
        assert redact.redact(text) == text


@given(
    st.sampled_from(sorted(SECRETS)),
    st.text(max_size=300),
    st.text(max_size=300),
    st.sampled_from(
        ["", " ", "\n", '"', "'", "=", ":", ",", "(", "[", "`", "\t", "<", ">", ";", "|", "/", "\\n"]
    ),
)
def test_a_secret_planted_anywhere_never_survives(name: str, before: str, after: str, mark: str) -> None:
    if mark == "" and name in ("SK", "AWS", "NPM", "HUB", "SENDGRID", "BOT", "PGURL"):
        mark = " "  # these begin like ordinary words, so they count only at the start of one
    if name == "PGURL" and "@" in after:
        after = ""
    clean = redact.redact(before + mark + SECRETS[name] + (mark or " ") + after)
    assert SHOWN[name] not in clean


@given(
    st.text(max_size=400)
    | st.lists(
        st.sampled_from(
            [text for text, _ in ASSIGNED]
            + list(SECRETS.values())
            + ORDINARY
            + [" ", "\n", '"', "=", ":", "[redacted:x]"]
        ),
        max_size=6,
    ).map("".join)
)
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact.redact(text)
    assert redact.redact(once) == once


@given(
    st.recursive(
        st.text(max_size=30) | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
        max_leaves=12,
    ),
    st.sampled_from(sorted(set(SECRETS) - {"PEM"})),
)
def test_a_secret_in_any_value_or_key_never_survives(value: object, name: str) -> None:
    secret = SECRETS[name]
    clean = redact.redact_value({"a": value, "b": [value, secret, {"c " + secret: [secret, value]}]})
    assert SHOWN[name] not in json.dumps(clean, ensure_ascii=False)


def test_a_value_under_a_telling_key_goes_whole() -> None:
    given_value = {
        "password": "two words",
        "api_key": "abc",
        "env": {"GITHUB_TOKEN": "abcdefghijklmnop", "DB_PASSWORD": 12345678, "secret": ""},
        "token": "next",
        "max_tokens": 100000,
        "use_password": True,
    }
    mark = "[redacted:secret]"
    assert redact.redact_value(given_value) == {
        "password": mark,
        "api_key": mark,
        "env": {"GITHUB_TOKEN": mark, "DB_PASSWORD": mark, "secret": ""},
        "token": "next",
        "max_tokens": 100000,
        "use_password": True,
    }


def test_a_secret_that_reaches_over_several_lines_of_a_diff_or_words_of_a_command_goes_whole() -> None:
    key = SECRETS["PEM"].split("\n")
    assert redact.redact_value([" a", *("+" + line for line in key), " b"]) == [
        " a",
        "+[redacted:private-key]",
        " b",
    ]
    assert redact.redact_value(["login", "--password", "hunter22"]) == [
        "login",
        "--password",
        "[redacted:secret]",
    ]
    assert redact.redact_value(["a", "b"]) == ["a", "b"]


def test_the_rest_of_a_private_key_goes_when_its_beginning_is_not_in_the_text() -> None:
    begin, middle, _ = SECRETS["PEM"].split("\n")[0], "MIIBnotreal0123456789", ""
    end = begin.replace("BEGIN", "END")
    assert redact.redact(f"x\n{middle}\n{middle}\n{end}\ny") == "x\n[redacted:private-key]\ny"
    assert redact.redact(f"x\n{begin}\n{middle}") == "x\n[redacted:private-key]"


UNITS = """-eyJ- eyJ -sk- password A_TOKEN token_ A curl_
x-a- a:// aaa://a: cookie:a= - bearer_ token=" token:
-----BEGIN_PRIVATE_KEY----- login_a_password_ authorization: mysql_ token\\\\\\"
""".split()


@pytest.mark.parametrize("unit", [unit.replace("_", " ") if unit != "A_TOKEN" else unit for unit in UNITS])
def test_no_text_makes_redacting_hang(unit: str) -> None:
    hints = " password is token authorization cookie x- :// -END PRIVATE KEY curl mysql bearer"
    size = events.PROMPT_CHARS + events.MARGIN_CHARS
    begun = time.monotonic()
    redact.redact((unit * size)[:size] + hints)
    assert time.monotonic() - begun < 10
