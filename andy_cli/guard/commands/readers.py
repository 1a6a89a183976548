"""Programs that only read, and with which options they do.

What is not listed is asked: an unknown program, an unknown option, a path outside, a secret file.
A row is `names | letters | letters with a value | long options | what stands without a dash`:

    paths   files and folders; `paths N` at most N of them
    text    words that are no paths
    first   one word that is none (a pattern), then paths
    none    nothing
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from andy_cli.guard.commands.bash import SAFE_IN_TEST, Word
from andy_cli.guard.commands.places import UNKNOWN, WORKSPACE, is_inside, is_secret, place

ROWS = r"""
ls dir vdir|aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1|ITw|all almost-all human-readable recursive
    reverse sort= time= size directory classify group-directories-first color= color full-time
    inode si numeric-uid-gid time-style= ignore= width= block-size= dereference no-group
    escape quote-name indicator-style= file-type zero format=|paths
cat|AbeEnstTuv||number number-nonblank show-all show-ends show-tabs squeeze-blank
    show-nonprinting|paths
head|qvz|nc|lines= bytes= quiet silent verbose zero-terminated|paths
tail|qvz|nc|lines= bytes= quiet silent verbose zero-terminated|paths
wc|clmLw||bytes chars lines words max-line-length total=|paths
nl|p|bdfhilnsvw||paths
tac|b|s|before separator=|paths
rev||||paths
fold|bs|w|bytes spaces width=|paths
expand|i|t|initial tabs=|paths
unexpand|a|t|all first-only tabs=|paths
fmt|cstu|pw|width=|paths
cut|nsz|bcdf|bytes= characters= delimiter= fields= complement only-delimited
    output-delimiter=|paths
paste|sz|d|delimiters= serial|paths
sort|bdfgiMhnRrVcCmsuz|kt|key= field-separator= reverse unique numeric-sort human-numeric-sort
    general-numeric-sort version-sort ignore-case check stable month-sort
    ignore-leading-blanks dictionary-order|paths
uniq|cdDiuz|fsw|count repeated unique ignore-case skip-fields= skip-chars= check-chars=
    all-repeated|paths 1
comm|123z||total check-order nocheck-order output-delimiter=|paths
join|i|12atoevj|ignore-case header|paths
column|texnR|scoN|table separator=|paths
tr|cCdst||complement delete squeeze-repeats truncate-set1|text
md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5
    shasum|btzrq|a|binary text zero tag algorithm=|paths
base64 base32|dD|w|decode wrap= ignore-garbage|paths 1
od|abcdfhilosxv|AjNtS|address-radix= format= width= skip-bytes= read-bytes=|paths
hexdump|bcdoxvC|ns|canonical|paths
xxd|abcdeEipru|cgls|bits plain uppercase|paths 1
strings|afo|ntse|all bytes= radix= encoding=|paths
stat|LtxF|cf|format= printf= dereference terse file-system|paths
file|bihLNrp0k||brief mime mime-type mime-encoding dereference no-pad raw extension
    keep-going|paths
du|abchHklLmsSx0|dtB|all apparent-size bytes total human-readable max-depth= summarize si
    exclude= time threshold= block-size= one-file-system|paths
tree|adfilhspugDFrtUvCnxAQqNS|LPI|dirsfirst noreport prune du si filesfirst gitignore
    matchdirs ignore-case inodes device sort= timefmt= charset=|paths
diff|uqrsyiwbBaNtTpcednEZ|CUIWxF|brief unified= unified context= context color= color
    side-by-side recursive ignore-case ignore-all-space ignore-space-change ignore-blank-lines
    report-identical-files suppress-common-lines new-file text minimal width= exclude=
    strip-trailing-cr normal label= stat|paths
cmp|bls|in|print-bytes verbose quiet silent bytes= ignore-initial=|paths
grep egrep fgrep|abcEFGhHilLnoPqrsvwxyzTUZI0123456789|ABCem|extended-regexp fixed-strings
    basic-regexp perl-regexp ignore-case no-ignore-case invert-match word-regexp line-regexp
    count color= color colour= files-with-matches files-without-match max-count= only-matching
    quiet silent no-messages byte-offset with-filename no-filename line-number null
    after-context= before-context= context= text binary-files= exclude= exclude-dir= include=
    recursive line-buffered initial-tab regexp=|first
rg|cilnNoqsSuvwxFPHI.p0U|ABCegtTmMjdr|ignore-case line-number no-line-number count
    files-with-matches files-without-match only-matching fixed-strings word-regexp
    invert-match hidden no-ignore glob= iglob= type= type-not= context= after-context=
    before-context= max-count= max-depth= smart-case case-sensitive color= heading no-heading
    json stats sort= files vimgrep column trim multiline pcre2 unrestricted no-config null
    replace= max-columns= regexp= type-list count-matches with-filename no-filename text|first
basename dirname|az|s|multiple suffix= zero|text
realpath readlink|fenmqszeLP||canonicalize canonicalize-existing canonicalize-missing
    no-newline quiet zero no-symlinks logical physical strip relative-to= relative-base=|paths
pwd|LP||logical physical|none
whoami arch nproc uptime|||all pretty since|none
uname|asnrmpiovo||all kernel-name nodename kernel-release kernel-version machine processor
    hardware-platform operating-system|none
free lscpu lsblk lsmem|bkmghtwlJafp|o|human bytes kibi mebi gibi giga mega total json output=
    all|none
cal ncal|13jmywhS|AB|monday sunday year three months=|text
seq|w|fs|equal-width format= separator=|text
factor expr test [ true false :|abcdefghknoprstuvwxzGLNOS|||paths
which type|afptP||all|text
jq|rcnesSajMCR|||first
cksum|||untagged|paths
nm size readelf objdump ldd|||version|none
getconf locale sw_vers|a||all-locales productVersion productName|text
echo|neE|||text
printf||||text
"""
HARMLESS = frozenset(
    "ls dir vdir cat head tail wc nl tac md5sum sha1sum sha256sum sha512sum b2sum stat du file "
    "echo strings basename dirname realpath readlink grep egrep fgrep".split()
)
"""Whatever option a file's name may turn out to be: it does nothing."""

VERSIONED = frozenset(
    "python python3 node ruby perl gcc g++ cc clang clang++ rustc cargo go java bash zsh "
    "make cmake "
    "php lua ghc ocaml swift dotnet julia R sqlite3 ffmpeg rg jq grep sed tar curl wget git".split()
)
PREDICATES = {
    **dict.fromkeys(
        """-empty -print -print0 -not ! -a -and -o -or ( ) , -ls -prune -readable -writable
        -executable -depth -xdev -mount -true -false -quit -nouser -nogroup -daystart -noleaf
        -P -H -nowarn -warn""".split(),
        0,
    ),
    **dict.fromkeys(
        """-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype
        -size -mtime -mmin -atime -amin -ctime -cmin -maxdepth -mindepth -user -group -perm -links
        -uid -gid -inum -printf -fstype -lname -ilname -used -newermt""".split(),
        1,
    ),
}
"""Of find: how many words each takes."""

SED = re.compile(
    r"(?:(?:\d+|\$|/(?:[^/\\\n]|\\.)*/)(?:[,~](?:\d+|\$|\+\d+|/(?:[^/\\\n]|\\.)*/))?!?\s*)?"
    r"(?:[pdqDPGHhgxNn=l]|s(?P<cut>[/|,#:@!])(?:(?!(?P=cut))[^\\\n]|\\.)*(?P=cut)"
    r"(?:(?!(?P=cut))[^\\\n]|\\.)*(?P=cut)[gpiI0-9]*|y/[^/\\\n]*/[^/\\\n]*/)"
)
DATE = re.compile(r"\+.*|-u|-R|--utc|--universal|-I\w*|--iso-8601(=\w+)?|--rfc-3339=\w+", re.DOTALL)
JQ = re.compile(
    r"\b(?:env|input_filename|import|include|debug|halt_error|\$__loc__|getpath)\b|\$ENV"
)
OUTSIDE = "it reads outside the workspace"


class Reader(NamedTuple):
    letters: str
    valued: str
    long: frozenset[str]
    kind: str
    most: int


@cache
def readers() -> dict[str, Reader]:
    """The table, read."""
    found = {}
    for row in ROWS.strip().replace("\n    ", " ").splitlines():
        names, letters, valued, long, rest = row.split("|")
        kind, _, most = rest.partition(" ")
        reader = Reader(letters, valued, frozenset(long.split()), kind, int(most or 999))
        found.update(dict.fromkeys(names.split(), reader))
    return found


Inside = Callable[[str], bool]
"""Whether a path, as written from the workspace, really lies inside."""


def doubt_about(words: Sequence[Word], folder: str, inside: Inside) -> str:
    """Why a command is asked, or nothing for one that only reads inside the folder's workspace."""
    name, arguments = words[0].text, [each.text for each in words[1:]]
    if not re.fullmatch(r"[a-z:][a-z0-9_+-]*", name) or not words[0].bare:
        return "the name of the program is not plain"
    if [each for each in words[1:] if not each.plain]:
        return "it is not clear what it is given"
    if name in VERSIONED and arguments in (["--version"], ["version"]):
        return ""
    if any(each.wild for each in words) and name not in HARMLESS and name != "find":
        return "a file's name may be an option"
    special = SPECIAL.get(name)
    if special:
        return special(arguments, folder, inside)
    reader = readers().get(name)
    if reader is None:
        return f"{name} may do anything"
    return _read(name, reader, arguments, folder, inside)


def _read(name: str, reader: Reader, arguments: Sequence[str], folder: str, inside: Inside) -> str:
    """The same for a program of the table."""
    rest, pattern, refused = _options(name, reader, arguments)
    if refused:
        return f"{name} {refused} is not known to read only"
    if reader.kind == "none" and rest:
        return f"{name} is not known to read {rest[0]!r} only"
    if name == "jq" and rest and JQ.search(rest[0]):
        return "the filter sees more than its input"
    paths = rest[1:] if reader.kind == "first" and not pattern else rest
    if len(paths) > reader.most:
        return f"{name} writes to the file named last"
    return "" if reader.kind == "text" else outside(paths, folder, inside)


def _options(name: str, reader: Reader, arguments: Sequence[str]) -> tuple[list[str], bool, str]:
    """What stands without a dash, whether a pattern was an option, and an option not known."""
    rest: list[str] = []
    pattern, at = False, 0
    while at < len(arguments):
        each = arguments[at]
        at += 1
        if each == "--":
            return [*rest, *arguments[at:]], pattern, ""
        if each.startswith("--"):
            option, equals, _ = each[2:].partition("=")
            if option + equals not in reader.long or (
                not equals and f"{option}=" in reader.long and option not in reader.long
            ):
                return rest, pattern, each
            pattern = pattern or option in ("regexp", "files", "type-list")
        elif each[0:1] == "-" and len(each) > 1 and not (name in NUMBERED and each[1:].isdigit()):
            refused, takes, pattern = _letters(each[1:], reader, pattern)
            if refused:
                return rest, pattern, each
            at += takes
        else:
            rest.append(each)
    return rest, pattern, ""


NUMBERED = frozenset(["head", "tail", "fold", "nl", "seq", "expr"])


def _letters(letters: str, reader: Reader, pattern: bool) -> tuple[bool, int, bool]:
    """Whether a letter is not known, how many words they take, whether one is a pattern."""
    for at, letter in enumerate(letters):
        if letter in reader.valued:
            pattern = pattern or (letter == "e" and reader.kind == "first")
            return False, 0 if letters[at + 1 :] else 1, pattern
        if letter not in reader.letters:
            return True, 0, pattern
    return False, 0, pattern


def outside(paths: Sequence[str], folder: str, inside: Inside) -> str:
    """Why paths may not be read without a yes, or nothing."""
    for each in paths:
        where = place(each, folder)
        if each in ("-", "/dev/null"):
            continue
        if is_secret(where):
            return "it reads what may be a secret"
        if UNKNOWN in each or re.match(r"~", each):
            return OUTSIDE
        if not (is_inside(where) or each.startswith("/")) or not inside(_from_workspace(where)):
            return OUTSIDE
    return ""


def _from_workspace(where: str) -> str:
    return where.removeprefix(WORKSPACE).removeprefix("/") or "." if is_inside(where) else where


def _find(arguments: Sequence[str], folder: str, inside: Inside) -> str:
    at = 0
    while at < len(arguments) and not arguments[at].startswith(("-", "!", "(")):
        at += 1
    refused = outside(arguments[:at], folder, inside)
    while at < len(arguments) and not refused:
        if arguments[at] not in PREDICATES:
            return f"find {arguments[at]} is not known to read only"
        at += 1 + PREDICATES[arguments[at]]
    return refused


def _sed(arguments: Sequence[str], folder: str, inside: Inside) -> str:
    scripts: list[str] = []
    paths: list[str] = []
    given = iter(arguments)
    for each in given:
        if each in ("-e", "--expression"):
            scripts.append(next(given, "?"))
        elif re.fullmatch(r"-[nErsuz]+|--quiet|--silent|--regexp-extended", each):
            continue
        elif each.startswith("-") and each != "-":
            return f"sed {each} is not known to read only"
        else:
            paths.append(each)
    if not scripts:
        scripts, paths = paths[:1], paths[1:]
    parts = [part for script in scripts for part in re.split(r"\s*[;\n]\s*", script.strip())]
    if not parts or not all(map(SED.fullmatch, parts)):
        return "the script of sed may write or run"
    return outside(paths, folder, inside)


def _date(arguments: Sequence[str], folder: str, inside: Inside) -> str:
    rest = list(arguments)
    if rest[:1] and rest[0] in ("-d", "--date"):
        rest = rest[2:]
    rest = [each for each in rest if not each.startswith("--date=")]
    return "" if all(map(DATE.fullmatch, rest)) else "date can set the clock"


def _cd(arguments: Sequence[str], folder: str, inside: Inside) -> str:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        return OUTSIDE
    return outside(arguments, folder, inside)


def _command(arguments: Sequence[str], folder: str, inside: Inside) -> str:
    looks = arguments[:1] in (["-v"], ["-V"]) and len(arguments) == 2
    return "" if looks else "it runs another command"


def _printf(arguments: Sequence[str], folder: str, inside: Inside) -> str:
    return "printf -v sets a variable" if arguments[:1] and arguments[0][:1] == "-" else ""


def _test(arguments: Sequence[str], folder: str, inside: Inside) -> str:
    return "" if all(map(SAFE_IN_TEST.fullmatch, arguments)) else "a test may do more than look"


def _echo(arguments: Sequence[str], folder: str, inside: Inside) -> str:
    return ""


GIT = {
    "status": "-s -b -v -z --short --branch --porcelain --long -uno -uall -unormal --ignored",
    "log": "-p --oneline --stat --graph --all --decorate --name-only --name-status --reverse -s "
    "--no-merges --merges --abbrev-commit --shortstat --numstat -z --no-color --follow",
    "diff": "--stat --cached --staged --name-only --name-status -w -b --no-color --shortstat "
    "--numstat --word-diff -U0 -U1 -U3 --check -z",
}
"""Of git: what only reads, and with which options; configuration, hooks and pagers are off."""
GIT_VALUE = re.compile(r"-\d+|-n\d*|--(?:since|until|after|before|author|grep|format|pretty)=.*")


def _git(arguments: Sequence[str], folder: str, inside: Inside) -> str:
    name = arguments[0] if arguments else ""
    if name not in GIT:
        return f"git {name} is not known to read only".replace("  ", " ")
    known, rest = GIT[name].split(), []
    for each in arguments[1:]:
        if each.startswith("-") and each != "--" and each not in known:
            if not GIT_VALUE.fullmatch(each):
                return f"git {name} {each} is not known to read only"
        elif not each.startswith("-"):
            rest.append(each)
    # `HEAD:.env` names a file of an older day.
    return outside([part for each in rest for part in each.split(":")], folder, inside)


SPECIAL: dict[str, Callable[[Sequence[str], str, Inside], str]] = {
    "find": _find,
    "git": _git,
    "sed": _sed,
    "date": _date,
    "cd": _cd,
    "command": _command,
    "printf": _printf,
    "echo": _echo,
    "test": _test,
}
