"""Programs that only read, and the options with which they do; anything else is asked.

A row is `names | letters | long options | what stands without a dash`. Letters and long options are
written as for getopt: what takes a value has `:` or `=` behind it.

    paths   files and folders
    first   one word that is none (a pattern), then paths
    one     one path at most: a second one is written
    text    words that are no paths
    none    nothing
    any     whatever
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from getopt import GetoptError, gnu_getopt
from typing import NamedTuple

from andy_cli.guard.commands.bash import SAFE_IN_TEST, Word
from andy_cli.guard.commands.places import UNKNOWN, WORKSPACE, is_inside, is_secret, resolve_place

ROWS = r"""
ls dir vdir|aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1I:T:w:|all almost-all human-readable recursive
    reverse sort= time= size directory classify group-directories-first full-time
    inode ignore=|paths
cat tac rev|AbeEnstTuv|number number-nonblank show-all squeeze-blank|paths
head tail|qvz0123456789n:c:|lines= bytes= quiet verbose|paths
wc|clmLw|bytes chars lines words max-line-length|paths
nl|pb:d:f:h:i:l:n:s:v:w:||paths
fold|bsw:|width=|paths
cut|nszb:c:d:f:|bytes= characters= delimiter= fields= complement only-delimited
    output-delimiter=|paths
paste|szd:|delimiters= serial|paths
sort|bdfgiMhnRrVcCmsuzk:t:|key= field-separator= reverse unique numeric-sort human-numeric-sort
    version-sort ignore-case stable|paths
uniq|cdDiuzf:s:w:|count repeated unique ignore-case skip-fields= skip-chars=|one
comm|123z|total|paths
column|texnRs:c:o:N:|table separator=|paths
tr|cCdst|complement delete squeeze-repeats truncate-set1|text
md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum|btzrqa:|binary
    text algorithm=|paths
base64 base32|dDw:|decode wrap=|one
od|abcdfhilosxvA:j:N:t:S:w:|address-radix= format= skip-bytes= read-bytes=|paths
hexdump|bcdoxvCn:s:|canonical|paths
xxd|abdeEipruc:g:l:s:|bits plain uppercase|one
strings|afon:t:s:e:|all bytes= radix= encoding=|paths
stat|LtxFc:f:|format= printf= dereference terse|paths
file|bihLNrp0k|brief mime mime-type mime-encoding dereference|paths
du|abchHklLmsSx0d:t:B:|all apparent-size bytes total human-readable max-depth= summarize si
    exclude= threshold=|paths
tree|adfilhspugDFrtUvCnxAQqNSL:P:I:|dirsfirst noreport prune du filesfirst gitignore|paths
diff|uqrsyiwbBaNtTpcednEZC:U:I:W:x:F:|brief side-by-side recursive ignore-case ignore-all-space
    ignore-space-change ignore-blank-lines report-identical-files new-file text minimal
    exclude=|paths
cmp|blsi:n:|print-bytes verbose quiet silent|paths
grep egrep fgrep|abcEFGhHilLnoPqrsvwxyzTUZI0123456789A:B:C:e:m:|extended-regexp fixed-strings
    perl-regexp ignore-case invert-match word-regexp line-regexp count files-with-matches
    files-without-match max-count= only-matching quiet no-messages with-filename no-filename
    line-number null after-context= before-context= context= text exclude= exclude-dir=
    include= recursive regexp=|first
rg|cilnNoqsSuvwxFPHI.p0UA:B:C:e:g:t:T:m:M:j:d:r:|ignore-case line-number no-line-number count
    files-with-matches files-without-match only-matching fixed-strings word-regexp invert-match
    hidden no-ignore glob= iglob= type= type-not= context= after-context= before-context=
    max-count= max-depth= smart-case no-heading json stats sort= files pcre2 unrestricted
    replace= max-columns= regexp= type-list count-matches with-filename no-filename text|first
basename dirname|azs:|multiple suffix= zero|text
realpath readlink|fenmqszLP|canonicalize canonicalize-existing canonicalize-missing|paths
pwd|LP||none
whoami arch nproc uptime||all pretty since|none
uname|asnrmpio|all kernel-name nodename kernel-release machine operating-system|none
free lscpu lsblk|bkmghtwlJafpo:|bytes human mega giga total json all|none
seq|ws:f:|equal-width format= separator=|text
true false :|||none
date|uRd:|utc date=|first
which type|afptP|all|text
locale getconf sw_vers|a|all-locales productVersion productName|text
jq|rcnesSajMC||first
sed|nErsuze:|expression= quiet silent regexp-extended|first
echo|||any
printf|||text
go version|||none
git status|sbvzu0123456789|short branch porcelain long ignored|paths
git log|pswbz0123456789n:|oneline stat graph all decorate name-only name-status reverse no-merges
    merges abbrev-commit shortstat numstat no-color follow since= until= after= before= author=
    grep= format= pretty=|paths
git diff|pwbzU:|stat cached staged name-only name-status no-color shortstat numstat word-diff
    check|paths
"""
MANY = ("git", "go")
"""Programs that are several: the first word says which."""

HARMLESS = frozenset(
    "ls dir vdir cat head tail wc nl tac md5sum sha1sum sha256sum sha512sum b2sum stat du file "
    "echo strings basename dirname realpath readlink grep egrep fgrep find".split()
)
"""Whatever option a file's name may turn out to be: it does nothing."""

FIND = frozenset(
    """-empty -print -print0 -not -a -and -o -or -ls -prune -readable -writable -executable -depth
    -xdev -mount -true -false -quit -name -iname -path -ipath -wholename -iwholename -regex -iregex
    -regextype -type -xtype -size -mtime -mmin -atime -amin -ctime -cmin -maxdepth -mindepth -user
    -group -perm -links -printf -newermt""".split()
)
SED = re.compile(
    r"(?:(?:\d+|\$|/(?:[^/\\\n]|\\.)*/)(?:[,~](?:\d+|\$|\+\d+|/(?:[^/\\\n]|\\.)*/))?!?\s*)?"
    r"(?:[pdqgGhHxnN=l]|s(?P<cut>[/|,#:@!])(?:(?!(?P=cut))[^\\\n]|\\.)*(?P=cut)"
    r"(?:(?!(?P=cut))[^\\\n]|\\.)*(?P=cut)[gpiI0-9]*)"
)
JQ = re.compile(
    r"\b(?:env|input_filename|import|include|debug|halt_error|getpath|\$__loc__)\b|\$ENV"
)
OUTSIDE = "it reads outside the workspace"


class ReadOnlyProgram(NamedTuple):
    letters: str
    long: list[str]
    kind: str


@cache
def read_only_programs() -> dict[str, ReadOnlyProgram]:
    """The table, read."""
    found = {}
    for row in ROWS.strip().replace("\n    ", " ").splitlines():
        names, letters, long, kind = row.split("|")
        named = [names] if names.split()[0] in MANY else names.split()
        found.update(dict.fromkeys(named, ReadOnlyProgram(letters, long.split(), kind)))
    return found


Inside = Callable[[str], bool]
"""Whether a path, as written from the workspace, really lies inside."""


def doubt_about(words: Sequence[Word], folder: str, inside: Inside) -> str:
    """Why a command is asked, or nothing for one that only reads inside the folder's workspace."""
    name, arguments = words[0].text, [word.text for word in words[1:]]
    if not re.fullmatch(r"[a-z:][a-z0-9_+-]*", name) or not words[0].bare:
        return "the name of the program is not plain"
    if not all(word.plain for word in words[1:]):
        return "it is not clear what it is given"
    if arguments == ["--version"]:
        return ""
    if any(word.wild for word in words[1:]) and name not in HARMLESS:
        return "a file's name may be an option"
    if name in SPECIAL:
        return SPECIAL[name](arguments, folder, inside)
    if name in MANY and arguments:
        name, arguments = f"{name} {arguments[0]}", arguments[1:]
    if name not in read_only_programs():
        return f"{name} may do anything"
    return _judge_reader(name, read_only_programs()[name], arguments, folder, inside)


def _judge_reader(
    name: str, reader: ReadOnlyProgram, arguments: Sequence[str], folder: str, inside: Inside
) -> str:
    """The same for a program of the table."""
    if reader.kind == "any":
        return ""
    given = [argument for argument in arguments if not re.fullmatch(r"--colou?r(=\w+)?", argument)]
    long = {re.sub("=.*", "=", item[2:], flags=re.DOTALL) for item in given if item[:2] == "--"}
    if unknown := long - {"", *reader.long}:  # getopt also takes what is cut short
        return f"{name} --{min(unknown)} is not known to read only"
    try:
        options, rest = gnu_getopt(given, reader.letters, reader.long)
    except GetoptError as error:
        return f"{name} is not known to read only: {error}"
    scripts = [value for option, value in options if option in ("-e", "--regexp", "--expression")]
    scripted = bool(scripts) and name != "jq"
    if reader.kind == "first" and not scripted and ("--files", "") not in options:
        scripts, rest = rest[:1], rest[1:]
    if name in SCRIPTS and not all(map(SCRIPTS[name], scripts)):
        return f"the script of {name} may do more than read"
    if reader.kind == "text":
        return ""
    if len(rest) > {"none": 0, "one": 1}.get(reader.kind, 999):
        return f"{name} is not known to read {rest[-1]!r} only"
    if name.startswith("git "):  # `HEAD:.env` names a file of an older day
        rest = [part for item in rest for part in item.split(":")]
    return judge_paths(rest, folder, inside)


def _only_prints(script: str) -> bool:
    return all(map(SED.fullmatch, re.split(r"\s*[;\n]\s*", script.strip())))


SCRIPTS: dict[str, Callable[[str], bool]] = {
    "date": lambda script: script.startswith("+"),
    "sed": _only_prints,
    "jq": lambda script: not JQ.search(script),
}


def judge_paths(paths: Sequence[str], folder: str, inside: Inside) -> str:
    """Why paths may not be read without a yes, or nothing."""
    for path in paths:
        where = resolve_place(path, folder)
        if path in ("-", "/dev/null"):
            continue
        if is_secret(where):
            return "it reads what may be a secret"
        if UNKNOWN in path or path.startswith("~"):
            return OUTSIDE
        if not (is_inside(where) or path.startswith("/")) or not inside(_from_workspace(where)):
            return OUTSIDE
    return ""


def _from_workspace(where: str) -> str:
    return where.removeprefix(WORKSPACE).removeprefix("/") or "." if is_inside(where) else where


def _judge_find(arguments: Sequence[str], folder: str, inside: Inside) -> str:
    first = next((at for at, each in enumerate(arguments) if each[:1] in ("-", "!", "(")), None)
    for argument in arguments[first:] if first is not None else []:
        if argument[:1] == "-" and argument not in FIND and not re.fullmatch(r"-\d+\w?", argument):
            return f"find {argument} is not known to read only"
    return judge_paths(arguments[:first], folder, inside)


def _judge_cd(arguments: Sequence[str], folder: str, inside: Inside) -> str:
    plain = len(arguments) == 1 and not arguments[0].startswith("-")
    return judge_paths(arguments, folder, inside) if plain else OUTSIDE


def _judge_lookup(arguments: Sequence[str], folder: str, inside: Inside) -> str:
    looks = arguments[:1] in (["-v"], ["-V"]) and len(arguments) == 2
    return "" if looks else "it runs another command"


def _judge_test(arguments: Sequence[str], folder: str, inside: Inside) -> str:
    return "" if all(map(SAFE_IN_TEST.fullmatch, arguments)) else "a test may do more than look"


SPECIAL: dict[str, Callable[[Sequence[str], str, Inside], str]] = {
    "find": _judge_find,
    "cd": _judge_cd,
    "command": _judge_lookup,
    "test": _judge_test,
}
