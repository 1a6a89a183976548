"""Completion in a shell: `andy --install-completion`, and the questions the shell then asks.

The shell runs `andy` with two variables and reads an offer from each line, with what it means
after a tab stop:

    _ANDY_COMPLETE=offer _ANDY_COMPLETE_LINE='andy tools in' andy
    info<TAB>One tool: its parameters, its effect, how it is offered to a model.

The exit code 3 says that a file may stand there, which the shell itself knows best. Scripts that
Typer wrote ask otherwise (`_ANDY_COMPLETE=complete_bash`), and Typer answers them.
"""

import contextlib
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from andy_cli.errors import UsageError

ASKED = "offer"
COMPLETE_FILES = 3
"""The exit code for "complete files here"."""
INSTALL, SHOW = "--install-completion", "--show-completion"
Offer = tuple[str, str]
Parameter = TyperArgument | TyperOption

BASH = """\
_andy_completion() {
    local line=${COMP_LINE:0:COMP_POINT} offers offer status
    COMPREPLY=()
    offers=$(_ANDY_COMPLETE=offer _ANDY_COMPLETE_LINE="$line" \\
        _ANDY_COMPLETE_BREAKS="$COMP_WORDBREAKS" "$1" 2>/dev/null)
    status=$?
    if [ "$status" = 3 ]; then
        compopt -o default -o bashdefault 2>/dev/null
        return
    fi
    while IFS=$'\\t' read -r offer _; do
        [ -n "$offer" ] && COMPREPLY+=("$(printf %q "$offer")")
    done <<< "$offers"
    [[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} = *= ]] && compopt -o nospace 2>/dev/null
}
complete -F _andy_completion andy
"""
ZSH = """\
#compdef andy
_andy() {
    local -a offers values shown
    local offer output
    output=$(_ANDY_COMPLETE=offer _ANDY_COMPLETE_LINE="${(j: :)words[1,CURRENT-1]} $PREFIX" \\
        ${words[1]} 2>/dev/null)
    if (( $? == 3 )); then
        _files
        return
    fi
    for offer in ${(f)output}; do
        values+=("${offer%%$'\\t'*}")
        shown+=("${offer/$'\\t'/  -- }")
    done
    if [[ ${#values} == 1 && $values[1] == *= ]]; then
        compadd -S '' -- $values
    else
        compadd -l -d shown -- $values
    fi
}
if [ "$funcstack[1]" = "_andy" ]; then
    _andy "$@"
else
    compdef _andy andy
fi
"""
FISH = """\
function __andy_offers
    set -l offers (_ANDY_COMPLETE=offer _ANDY_COMPLETE_LINE=(commandline -cp | string collect) \\
        andy 2>/dev/null)
    if test $status = 3
        __fish_complete_path (commandline -ct | string trim -l -c \'"\\'\')
    else
        printf '%s\\n' $offers
    end
end
complete -c andy -f -a '(__andy_offers)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def answer_shell(
    arguments: Sequence[str], environment: Mapping[str, str], root_command: TyperGroup
) -> int:
    """Answer a shell's question, or show or install what makes it ask; returns the exit code.

    Raises NotImplementedError for questions that Typer has to answer, UsageError for a shell that
    is none.
    """
    if environment.get("_ANDY_COMPLETE") == ASKED:
        line = environment.get("_ANDY_COMPLETE_LINE", "")
        return print_offers(root_command, line, environment.get("_ANDY_COMPLETE_BREAKS", ""))
    if not arguments or arguments[0] not in (INSTALL, SHOW):
        raise NotImplementedError
    shell = arguments[1] if len(arguments) > 1 else detect_shell(environment)
    if shell in ("powershell", "pwsh"):
        raise NotImplementedError
    if shell not in SCRIPTS:
        raise UsageError(
            f"There is no completion for the shell {shell!r}.",
            f"Name one of them: andy {arguments[0]} {'|'.join(SCRIPTS)}",
        )
    if arguments[0] == SHOW:
        sys.stdout.write(SCRIPTS[shell])
    else:
        file = install_script(shell, Path.home(), environment)
        sys.stdout.write(f"{shell} completes `andy` from its next start on; see {file}.\n")
    return 0


def detect_shell(environment: Mapping[str, str]) -> str:
    """The shell andy was started from, else the user's own."""
    import shellingham  # it reads the table of processes

    try:
        return str(shellingham.detect_shell()[0])
    except (shellingham.ShellDetectionFailure, NotImplementedError):
        return Path(environment.get("SHELL", "")).name


class ScriptPlace(NamedTuple):
    """The file for the script, and the line that makes a shell read it that would not by itself."""

    file: Path
    start_file: Path | None = None
    """The file that the shell reads at its start."""
    start_line: str = ""


def find_script_place(shell: str, home_folder: Path, environment: Mapping[str, str]) -> ScriptPlace:
    """Find the file for the script, and the line with which the shell reads it at its start."""
    if shell == "bash":
        file = home_folder / ".bash_completions" / "andy.sh"
        return ScriptPlace(file, home_folder / ".bashrc", f". {shlex.quote(str(file))}")
    if shell == "zsh":
        file = home_folder / ".zfunc" / "_andy"
        start_file = Path(environment.get("ZDOTDIR") or home_folder) / ".zshrc"
        return ScriptPlace(file, start_file, "fpath+=~/.zfunc; autoload -Uz compinit; compinit")
    config = Path(environment.get("XDG_CONFIG_HOME") or home_folder / ".config")
    return ScriptPlace(config / "fish" / "completions" / "andy.fish")


def install_script(shell: str, home_folder: Path, environment: Mapping[str, str]) -> Path:
    """Write the script where the shell finds it, once; returns its file."""
    file, start_file, start_line = find_script_place(shell, home_folder, environment)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(SCRIPTS[shell], encoding="utf-8")
    if start_file is not None:
        add_line(start_file, start_line)
    return file


def add_line(file: Path, line: str) -> None:
    """Add a line to the end of a file that does not have it."""
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    if line in text.splitlines():
        return
    with file.open("a", encoding="utf-8") as start_file:
        if text and not text.endswith("\n"):
            start_file.write("\n")
        start_file.write(f"{line}\n")


def print_offers(root_command: TyperGroup, line: str, breaks: str) -> int:
    """Print what the last word of the line could become; returns the exit code.

    At `breaks` bash takes one word of ours for several and wants the end of the last alone.
    """
    words, last_word = split_line(line)
    offers_found = complete_word(root_command, words, last_word)
    if offers_found is None:
        return COMPLETE_FILES
    dropped = 0
    if not find_open_quote(line):
        signs = [character for character in ":=" if character in breaks]
        dropped = max((last_word.rfind(sign) + 1 for sign in signs), default=0)
    for value, about in offers_found:
        offer, meaning = value[dropped:], " ".join(about.split())
        sys.stdout.write(f"{offer}\t{meaning}\n" if meaning else f"{offer}\n")
    return 0


def split_line(line: str) -> tuple[list[str], str]:
    """The whole words after the program's name, and the last one, which may be begun or empty."""
    words = split_words(line)
    is_between_words = line[-1:].isspace() and not line.endswith("\\ ")
    if is_between_words or not words:
        return words[1:], ""
    return words[1:-1], words[-1]


def split_words(line: str) -> list[str]:
    """As a shell does; a quote that is open ends with the line: `andy run "look at ~/Mu`."""
    try:
        return shlex.split(line + find_open_quote(line))
    except ValueError:
        return line.split()


def find_open_quote(line: str) -> str:
    """The quote that has yet to end, or nothing."""
    for quote in ("", '"', "'"):
        with contextlib.suppress(ValueError):
            shlex.split(line + quote)
            return quote
    return ""


@dataclass(slots=True)
class WordPosition:
    """The position of the next word in a command line."""

    command: TyperCommand | TyperGroup
    option: TyperOption | None = None
    """The one whose value it is."""
    arguments: int = 0
    """The number of words before it."""
    ended: bool = False
    """After `--` nothing is an option."""

    def pass_word(self, word: str) -> None:
        if self.option is not None:
            self.option = None
        elif self.ended:
            self.arguments += 1
        elif word == "--":
            self.ended = True
        elif word.startswith("-"):
            name, equals, _ = word.partition("=")
            option = find_option(self.command, name)
            self.option = option if option and not option.is_flag and not equals else None
        elif isinstance(self.command, TyperGroup) and word in self.command.commands:
            self.command = check_command(self.command.commands[word])
        else:
            self.arguments += 1


def complete_word(
    root_command: TyperGroup, words: Sequence[str], last_word: str
) -> list[Offer] | None:
    """List what the last word could become after these; None where any file could stand."""
    position = WordPosition(root_command)
    for word in words:
        position.pass_word(word)
    command = position.command
    if position.option is not None:
        return complete_value(command, position.option, last_word)
    if last_word.startswith("-") and not position.ended:
        return complete_option(command, last_word)
    if isinstance(command, TyperGroup):
        names = begin_with(list_commands(command), last_word)
        if command is root_command and (position.arguments or not names):
            return None  # what is no command of andy itself is a prompt
        return names
    return complete_argument(command, position.arguments, last_word)


def begin_with(offers: Iterable[Offer], beginning: str) -> list[Offer]:
    """Select the offers that begin so."""
    return [offer for offer in offers if offer[0].startswith(beginning)]


def complete_argument(command: TyperCommand, count: int, last_word: str) -> list[Offer] | None:
    """Complete the argument that stands after so many others."""
    positional = [parameter for parameter in command.params if isinstance(parameter, TyperArgument)]
    if count < len(positional):
        return complete_value(command, positional[count], last_word)
    repeated = positional and positional[-1].nargs == -1
    return complete_value(command, positional[-1], last_word) if repeated else []


def complete_option(command: TyperCommand | TyperGroup, last_word: str) -> list[Offer] | None:
    """The options that begin so, or the values after `--option=`."""
    name, equals, beginning = last_word.partition("=")
    option = find_option(command, name) if equals else None
    if option is None:
        return begin_with(list_options(command), last_word)
    offers_found = complete_value(command, option, beginning)
    return offers_found and [(f"{name}={value}", about) for value, about in offers_found]


def check_command(command: object) -> TyperCommand | TyperGroup:
    assert isinstance(command, TyperCommand | TyperGroup)
    return command


def find_option(command: TyperCommand | TyperGroup, name: str) -> TyperOption | None:
    for parameter in command.params:
        if isinstance(parameter, TyperOption) and name in (
            *parameter.opts,
            *parameter.secondary_opts,
        ):
            return parameter
    return None


def list_options(command: TyperCommand | TyperGroup) -> Iterator[Offer]:
    for parameter in command.params:
        if isinstance(parameter, TyperOption) and not parameter.hidden:
            for flag_name in (*parameter.opts, *parameter.secondary_opts):
                yield flag_name, parameter.help or ""
    yield "--help", "Show this message and exit."


def list_commands(group: TyperGroup) -> Iterator[Offer]:
    for name, command in group.commands.items():
        if not command.hidden:
            yield name, (command.help or "").partition("\n\n")[0]


def complete_value(
    command: TyperCommand | TyperGroup, parameter: Parameter, beginning: str
) -> list[Offer] | None:
    """List the known values of a parameter; None if there are none and it may be a file."""
    context = typer.Context(command, info_name=command.name, resilient_parsing=True)

    def list_known(beginning: str) -> list[Offer]:
        items = parameter.shell_complete(context, beginning)
        return [(str(item.value), item.help or "") for item in items if item.type == "plain"]

    if offers_found := list_known(beginning):
        return offers_found
    return [] if isinstance(parameter.default, int) or list_known("") else None
