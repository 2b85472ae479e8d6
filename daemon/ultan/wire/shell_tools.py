"""What is known of single tools: their options with values, where they hold texts, and which merely speak."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Options before the subcommand that take a value; every other word with a dash there is a flag. After `|`
# come those that may stand anywhere in the line. `+`: a word that begins so is an option too.
_KUBE = "-n --namespace --context --cluster --kubeconfig --as --as-group --user -s --server --token"
_AWS = "--profile --region --output --endpoint-url --query --cli-connect-timeout --cli-read-timeout --color"
_CONTAINERS = (
    "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey --url --connection"
)
_COMPOSE = "-f --file -p --project-name --profile --env-file --project-directory --ansi --parallel"
GLOBALS = {
    "git": "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --exec-path",
    "docker": _CONTAINERS,
    "podman": _CONTAINERS,
    "nerdctl": _CONTAINERS + " -n --namespace",
    "docker compose": _COMPOSE,
    "podman compose": _COMPOSE,
    "docker-compose": _COMPOSE,
    "kubectl": "|" + _KUBE,
    "oc": "|" + _KUBE,
    "helm": "|-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-token --registry-config",
    "terraform": "",
    "tofu": "",
    "terragrunt": "--terragrunt-working-dir --working-dir",
    "pulumi": "|-C --cwd -s --stack --color",
    "npm": "|--prefix -C -w --workspace --registry --loglevel --userconfig",
    "pnpm": "-C --dir --filter -F --filter-prod --reporter --loglevel",
    "yarn": "--cwd --use-yarnrc --registry",
    "bun": "--cwd --config -c --env-file",
    "cargo": "--color --config -C -Z +",
    "rustup": "--toolchain +",
    "go": "-C",
    "pip": "--python --log --proxy --retries --timeout --exists-action --trusted-host --cert --cache-dir",
    "uv": "--directory --project --cache-dir --config-file --color --python -p --allow-insecure-host",
    "poetry": "-C --directory -P --project",
    "conda": "",
    "aws": "|" + _AWS,
    "gcloud": "|--project --account --configuration --format --verbosity --impersonate-service-account",
    "gsutil": "-o -h -u",
    "az": "|--subscription --output -o --query",
    "gh": "|-R --repo --hostname",
    "glab": "|-R --repo",
    "systemctl": "-H --host -M --machine -t --type -p --property -n --lines -o --output --root",
    "launchctl": "",
    "brew": "",
    "apt": "-o --option -c --config-file -t --target-release",
    "apt-get": "-o --option -c --config-file -t --target-release",
    "dnf": "-c --config --enablerepo --disablerepo --releasever --installroot",
    "yum": "-c --config --enablerepo --disablerepo --releasever --installroot",
    "heroku": "|-a --app -r --remote",
    "fly": "|-a --app -c --config -t --access-token",
    "flyctl": "|-a --app -c --config -t --access-token",
    "vercel": "|-A --local-config -Q --global-config -t --token --cwd -S --scope",
    "netlify": "|--auth --filter",
    "firebase": "|-P --project --token -c --config",
    "wrangler": "|-c --config -e --env --cwd",
    "supabase": "|--workdir --profile --network-id",
    "make": "-C --directory -f --file --makefile -I --include-dir -o -W",
    "just": "-f --justfile -d --working-directory --set --dotenv-path",
    "mvn": "-f --file -pl --projects -P --activate-profiles -s --settings -T --threads",
    "gradle": "-p --project-dir -b --build-file -c --settings-file -I --init-script",
    "gradlew": "-p --project-dir -b --build-file -c --settings-file -I --init-script",
    "ansible": "",
    "alembic": "-c --config -n --name -x",
    "flask": "-e --env-file -A --app",
    "bundle": "",
    "rails": "",
    "hg": "-R --repository --cwd --config --encoding",
    "jj": "-R --repository --config --at-operation --color",
    "svn": "",
    "redis-cli": "-h -p -s -a -u -n -r -i -d --user --pass --cacert --cert --key",
    "mysqladmin": "-h -P -u -S --host --port --user --socket",
    "vault": "-address -namespace",
    "consul": "",
    "nomad": "-address -region -namespace -token",
    "ip": "-n -netns",
    "virsh": "-c --connect",
    "zfs": "",
    "zpool": "",
}

# Commands whose names are also subcommands of those above: `git rm` is not `rm`.
ALSO_COMMANDS = frozenset("rm mv cp pip kill top ps find df tar sh bash".split())

# Tools whose letters with one dash can be written together and apart.
BUNDLING = frozenset(
    """rm git docker podman cp mv chmod chown chgrp kill pkill killall ls ln mkdir rmdir apt apt-get dnf yum
    pacman curl wget tar rsync systemctl psql ssh scp pip crontab shred docker-compose wipefs userdel usermod
    umount mount""".split()
)

# They do nothing with their arguments but show or compare them.
SPEAKERS = frozenset(
    """echo printf print man which type whereis whatis help info apropos tldr say logger cowsay figlet
    notify-send wall : true false [ test expr history basename dirname git-log git-grep git-help git-shortlog
    npm-help docker-help kubectl-explain pip-help go-doc brew-search brew-info npm-search npm-view apt-search
    apt-show apt-cache yum-search dnf-search""".split()
)

# Options whose value is a message, a pattern to look for, or a program for texts.
MESSAGES = {
    "git commit": "-m --message -F --file --author --trailer",
    "git tag": "-m --message",
    "git merge": "-m --message",
    "git notes": "-m --message",
    "git stash": "-m --message",
    "git log": "--grep -S -G --author",
    "gh pr": "-t --title -b --body -l --label --subject",
    "gh issue": "-t --title -b --body -l --label -c --comment",
    "gh release": "-t --title -n --notes",
    "glab mr": "-t --title -d --description",
    "glab issue": "-t --title -d --description",
    "hg commit": "-m --message",
    "svn commit": "-m --message",
    "jj describe": "-m --message",
    "jj commit": "-m --message",
    "find": "-name -iname -path -ipath -wholename -regex -iregex",
    "grep": "-e --regexp",
    "rg": "-e --regexp -r --replace",
    "ag": "",
    "sed": "-e --expression",
    "awk": "",
}

# Their first operand is a pattern or a program for texts: (options with values, options that give it).
_GREP = ("-A -B -C -D -d -m -f --file --max-count --include --exclude --exclude-dir", "-e --regexp -f --file")
FIRST_IS_TEXT = {
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "zgrep": _GREP,
    "git grep": _GREP,
    "rg": ("-A -B -C -g -t -T -m -M -j -d -r --glob --type --iglob --max-depth", "-e --regexp -f --file"),
    "ag": ("-A -B -C -G -m", ""),
    "ack": ("-A -B -C -m --type", "--match"),
    "sed": ("-l -E", "-e --expression -f --file"),
    "gsed": ("-l", "-e --expression -f --file"),
    "awk": ("-F -v", "-f --file"),
    "gawk": ("-F -v", "-f --file"),
    "jq": ("--indent --arg", "-f --from-file"),
    "yq": ("-I", "--from-file"),
}

# What they are given, as argument or input, is a program: statements of a database, or of a language.
STATEMENTS = frozenset(
    """psql mysql mariadb sqlite3 sqlcmd clickhouse-client clickhouse duckdb cqlsh mongosh mongo redis-cli bq
    snowsql trino presto usql pgcli mycli litecli cockroach influx isql sqlplus""".split()
)
PROGRAMS = frozenset("python python3 node deno ruby perl php lua Rscript osascript irb psh".split())


_MOST_LETTERS = 12


def base_name(value: str) -> str:
    """The name of a command without its folder."""
    name = value.rstrip("/").rpartition("/")[2]
    return name or value


def without_globals(values: Sequence[str]) -> list[int]:
    """The places of the words that are left without the options of the tool: `git -C x push` is a push."""
    name = base_name(values[0])
    kept, at = [0], 1
    anywhere: frozenset[str] = frozenset()
    while name in GLOBALS and at < len(values):
        early, _, late = GLOBALS[name].partition("|")
        anywhere = frozenset(late.split())
        at = _past_globals(values, at, anywhere.union(early.split()))
        if at == len(values) or values[at].startswith("-"):
            break
        name += " " + values[at]
        kept.append(at)
        at += 1
    while at < len(values):
        value = values[at]
        if value == "--":
            anywhere = frozenset()
        option = value.partition("=")[0]
        if value in anywhere:
            at += 2
        elif option != value and option.startswith("--") and option in anywhere:
            at += 1
        else:
            kept.append(at)
            at += 1
    return kept


def _past_globals(values: Sequence[str], at: int, valued: frozenset[str]) -> int:
    while at < len(values):
        value = values[at]
        if value == "--" or len(value) < 2 or not (value[0] == "-" or (value[0] == "+" and "+" in valued)):
            break
        at += 1 + takes_next(value, valued)
        if at < len(values) and values[at].isdigit():  # a number has no other place there: `make -j 4 x`
            at += 1
    return min(at, len(values))


def past_options(values: Sequence[str], at: int, valued: Sequence[str] | frozenset[str]) -> int:
    """The place after the options that begin at one; valued: those whose value is a word of its own."""
    while at < len(values):
        value = values[at]
        if value == "--":
            return at + 1
        if len(value) < 2 or value[0] != "-":
            break
        at += 1 + takes_next(value, valued)
    return min(at, len(values))


def takes_next(option: str, valued: Sequence[str] | frozenset[str]) -> bool:
    """Whether the next word is the value of an option, or of the last letter of some written together."""
    if option in valued:
        return True
    if not 3 <= len(option) <= _MOST_LETTERS or option[0] != "-" or option[1] == "-":
        return False
    first = next((at for at, letter in enumerate(option[1:], 1) if "-" + letter in valued), 0)
    return first == len(option) - 1
