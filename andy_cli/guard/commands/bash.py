"""A line for sh, taken apart: every command in it, however deep, and what flows into it.

The tree is made by tree-sitter. What it cannot read, and whatever is not plain, is marked, so that
it is asked; the commands inside are still found, so that a bad one is seen.
"""

import codecs
import re
import shlex
import warnings
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from tree_sitter import Language, Node, Parser
from tree_sitter_bash import language

from andy_cli.guard.commands.lookup import UNKNOWN

MAX_CHARACTERS = 20_000
MAX_VALUES, MAX_COMMANDS = 500, 1000
"""Values of one word, and commands of one line: what has more is never taken at its word."""
UNFOLLOWED = {"&": "it goes on in the background", "((": "it is_arithmetic with variables"}
"""Why a line is asked about, by a sign in it."""


class TooMuch(Exception):
    """More than can be judged."""


PLAIN_NODES = frozenset(
    """program command command_name word number raw_string string string_content pipeline list
    redirected_statement file_redirect file_descriptor negated_command subshell comment
    compound_statement concatenation test_command unary_expression binary_expression test_operator
    simple_expansion variable_name special_variable_name if_statement elif_clause
    else_clause""".split()
)
"""Parts of a line that may run by itself."""

SHOWN_VARIABLES = frozenset("HOME USER PWD SHELL PATH LANG TERM LOGNAME HOSTNAME EDITOR ?".split())
"""Variables that may be printed: they hold no secrets."""


class Word(NamedTuple):
    """A word of a command. `values` are what it may be, `UNKNOWN` where nobody can say."""

    values: tuple[str, ...]
    plain: bool
    """Nothing in it is replaced by the shell, patterns of file names apart."""

    wild: bool = False
    literal: str = ""
    """Without its quotes, and with the names of variables as they stand."""

    bare: bool = False
    """Written without any quoting."""

    @property
    def text(self) -> str:
        return self.values[0]

    @property
    def is_exact(self) -> bool:
        """It is this text and no other: nothing is replaced in it, and it is no pattern."""
        return self.plain and not self.wild and len(self.values) == 1


class ShellCommand(NamedTuple):
    """One simple command; `words` are its name and arguments."""

    words: tuple[Word, ...]
    writes: tuple[Word, ...] = ()
    reads: tuple[Word, ...] = ()
    given: tuple[Word, ...] = ()
    """Text that is its input."""

    fed_by: tuple[int, ...] = ()
    """Earlier commands of the line that flow into it, by pipe or by substitution."""

    subshells: tuple[int, ...] = ()
    """The shells of their own in which it runs, the outermost first; `cd` counts for one alone."""

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.words)

    @property
    def read_texts(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.reads)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The words that the shell takes for patterns of names: none that is quoted."""
        return tuple(word.text for word in (*self.words, *self.reads) if word.wild)

    @property
    def has_input(self) -> bool:
        return bool(self.fed_by or self.given) or any(
            read != "/dev/null" for read in self.read_texts
        )

    @property
    def is_plain(self) -> bool:
        """It is its words and nothing more: no file is written, nothing in them is replaced."""
        writes = any(word.text != "/dev/null" for word in self.writes)
        return not writes and all(word.plain for word in self.words)


class ShellLine(NamedTuple):
    commands: tuple[ShellCommand, ...]
    doubt: str
    """The reason why the line cannot be taken at its word, or nothing."""


@cache
def _load_parser() -> Parser:
    return Parser(Language(language()))


def read_shell_line(line: str) -> ShellLine | None:
    """Read all commands of a line, in the order in which they are written; None for a line that is
    too long, too deep or too much to be judged."""
    if len(line) > MAX_CHARACTERS:
        return None
    try:
        return _take_apart(line)
    except (RecursionError, TooMuch):
        return None


def _take_apart(line: str) -> ShellLine:
    if line.partition("<<")[0].count("|") > MAX_COMMANDS:
        raise TooMuch  # the parser takes the square of their number
    root_node = _load_parser().parse(_replace_non_ascii(line).encode("ascii")).root_node
    reader = _ShellReader()
    reader.read(root_node, ())
    doubt = reader.doubt or ("it cannot be read" if root_node.has_error else "")
    if not doubt:
        leaf_words = [leaf for leaf in reader.leaves(root_node) if not _is_sign(leaf)]
        if leaf_words != _words_of(line):
            doubt = "it can be read in two ways"
    return ShellLine(tuple(reader.commands), doubt)


def _replace_non_ascii(line: str) -> str:
    """The line for the parser, which falls over characters that are not plain: `Zxe9Z` for them."""
    return re.sub(r"[^\n\t -Y\[-~]", lambda match: f"Zx{ord(match[0]):x}Z", line)


def _restore_non_ascii(text: str) -> str:
    """Restore what the parser gave back to what was written; every Z in it was put there by us."""
    return re.sub(r"Zx([0-9a-f]{1,6})Z", lambda match: chr(int(match[1], 16)), text)


def _words_of(line: str) -> list[str] | None:
    """The words of a line as a second, simple reader finds them."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return [token for token in lexer if not _is_sign(token)]
    except ValueError:
        return None


def _is_sign(text: str) -> bool:
    return text in SIGNS or (text != "" and set(text) <= set("();<>|&\n"))


RESERVED = frozenset("do done then else elif fi for in while until case esac select { } !".split())
BRACE = re.compile(r"\{([^{},]*,[^{}]*)\}")
SAFE_IN_TEST = re.compile(r"(?!-[vR]\Z)[\w ./=!<>+:,@%-]*")
ARITHMETIC_OPERATORS = frozenset("-eq -ne -lt -le -gt -ge".split())
"""Operators of `[[ ]]` whose operands the shell evaluates: `a[$(rm x)]` runs a command there."""
LOCALE = re.compile(r"(?:LC_[A-Z]+|LANG|TZ)=[\w.@+-]*")
SIGNS = frozenset(["{", "}", "!", "[", "]", "[[", "]]"])
WORD_NODES = frozenset(
    """word number string raw_string ansi_c_string concatenation test_operator simple_expansion
    expansion""".split()
)

APART = frozenset("subshell command_substitution process_substitution".split())
"""Parts of a line that run in a shell of their own, as each part of a pipeline does."""

BESIDE = ("variable_assignment", "file_redirect")
"""Parts of a command beside its words."""


class _ShellReader:
    """Walks the tree once; keeps what variables were given on the way."""

    def __init__(self) -> None:
        self.commands: list[ShellCommand] = []
        self.doubt = ""
        self._subshells: tuple[int, ...] = ()
        self._subshell_count = 0
        self._variables: dict[str, tuple[str, ...]] = {"HOME": ("~",)}
        self._sources: dict[str, tuple[int, ...]] = {}

    def leaves(self, node: Node) -> list[str]:
        """The words of the line, and all that stands between them."""
        if node.type in WORD_NODES:
            return [self._read_word(node).literal]
        if _only_sets_locale(node):
            return [_node_text(node)]
        if not node.children:
            return [] if node.type == "comment" else [_node_text(node)]
        return [leaf_text for child in node.children for leaf_text in self.leaves(child)]

    def read(self, node: Node, fed_by: tuple[int, ...]) -> list[int]:
        """Read a node; returns the numbers of the commands in it."""
        outer_subshells = self._subshells
        if node.type in APART or (node.parent and node.parent.type == "pipeline"):
            self._subshell_count += 1
            self._subshells = (*outer_subshells, self._subshell_count)
        command_numbers = self._read_here(node, fed_by)
        self._subshells = outer_subshells
        return command_numbers

    def _read_here(self, node: Node, fed_by: tuple[int, ...]) -> list[int]:
        if len(self.commands) > MAX_COMMANDS:
            raise TooMuch
        self._note_variables(node)
        match node.type:
            case "command" | "declaration_command":
                return self._read_command(node, fed_by)
            case "redirected_statement" | "file_redirect":
                return self._read_redirected(node, fed_by)
            case "variable_assignment":
                return self._read_assignment(node, fed_by)
            case "for_statement":
                self._read_loop(node)
            case "test_command":
                self._read_test(node)
            case "&" | "((":
                self._add_doubt(UNFOLLOWED[node.type])
        command_numbers: list[int] = []
        for child in node.children:
            feeding = (*fed_by, *command_numbers) if node.type == "pipeline" else fed_by
            command_numbers += self.read(child, feeding)
        return command_numbers

    def _add_doubt(self, reason: str) -> None:
        self.doubt = self.doubt or reason

    def _add_command(
        self, words: Sequence[Word], fed_by: tuple[int, ...], input_words: Sequence[Word] = ()
    ) -> int:
        command = ShellCommand(tuple(words), (), (), tuple(input_words), fed_by, self._subshells)
        self.commands.append(command)
        return len(self.commands) - 1

    def _read_test(self, node: Node) -> None:
        """A test; numbers and names in one may run commands of their own."""
        words = [leaf_text for leaf_text in self.leaves(node) if leaf_text not in SIGNS]
        is_arithmetic = _node_text(node)[:2] == "[[" and not ARITHMETIC_OPERATORS.isdisjoint(words)
        if is_arithmetic or not all(map(SAFE_IN_TEST.fullmatch, words)):
            self._add_doubt("a test may do more than look")
        self._add_command([_read_bare("test")], ())

    def _read_redirected(self, node: Node, fed_by: tuple[int, ...]) -> list[int]:
        """Read a statement with its redirections, which count for each command in it, or one of
        nothing, which empties a file."""
        children = [node] if node.type == "file_redirect" else node.children
        redirects = list(filter(_is_redirect, children))
        redirect_parts, pipelines = _split_redirects(redirects)
        inner: list[int] = []
        for redirect_part in redirect_parts:
            inner += self._read_nested(redirect_part, fed_by)
        sources = (*fed_by, *inner)
        command_numbers = [] if _is_redirect(children[0]) else self.read(children[0], sources)
        command_numbers = command_numbers or [self._add_command((), sources)]
        for redirect in redirects:
            self._add_redirect(redirect, command_numbers)
        for pipeline in pipelines:
            command_numbers += self.read(pipeline, (*sources, *command_numbers))
        return [*inner, *command_numbers]

    def _add_redirect(self, node: Node, command_numbers: Sequence[int]) -> None:
        """Note the files of a redirection for each of the commands; other nodes have none."""
        if node.type != "file_redirect":
            return
        operator = next((child.type for child in node.children if not child.is_named), "")
        for word in self._read_files(node, operator):
            for number in command_numbers:
                command = self.commands[number]
                if operator == "<":
                    self.commands[number] = command._replace(reads=(*command.reads, word))
                else:
                    self.commands[number] = command._replace(writes=(*command.writes, word))

    def _read_files(self, node: Node, operator: str) -> list[Word]:
        """Read the files of a redirection, without what closes or copies an open one."""
        named_nodes = [child for child in node.named_children if child.type != "file_descriptor"]
        words = list(map(self._read_word, named_nodes))
        if operator not in (">&", "<&"):
            return words
        return [word for word in words if not re.fullmatch(r"[0-9]+|-", word.text)]

    def _read_command(self, node: Node, fed_by: tuple[int, ...]) -> list[int]:
        inner: list[int] = []
        words: list[Word] = []
        input_words: list[Word] = []
        beside_types: Sequence[str] = BESIDE
        if node.type == "declaration_command":
            # The parser takes `export` and its kind for grammar. Here they are a program, and
            # what they assign is what it is given.
            keyword = _node_text(node.children[0])
            words, beside_types = [Word((keyword,), False, literal=keyword)], ()
        for child in node.children:
            inner += self._read_nested(child, fed_by)
            if child.type == "herestring_redirect":
                input_words += map(self._read_word, child.named_children)
            elif child.is_named and child.type not in beside_types:
                word_node = child.children[0] if child.type == "command_name" else child
                words.append(self._read_word(word_node))
                inner += self._sources_of(word_node)
        if words and words[0].text in RESERVED:
            self._add_doubt(f"{words[0].text} stands where a program is due")
        number = self._add_command(words, (*fed_by, *inner), input_words)
        for child in node.children:
            self._add_redirect(child, [number])
        return [*inner, number]

    def _sources_of(self, node: Node) -> list[int]:
        """The commands whose output the variables of a word hold."""
        names = [_node_text(child) for child in _list_nodes(node) if child.type == "variable_name"]
        return [number for name in names for number in self._sources.get(name, ())]

    def _read_nested(self, node: Node, fed_by: tuple[int, ...]) -> list[int]:
        """The commands that stand inside a word; their output flows into it."""
        if node.type in ("command_substitution", "process_substitution", "variable_assignment"):
            return self.read(node, fed_by)
        command_numbers: list[int] = []
        for child in node.children:
            command_numbers += self._read_nested(child, fed_by)
        self._note_variables(node)
        return command_numbers

    def _note_variables(self, node: Node) -> None:
        if node.is_named and node.type not in PLAIN_NODES and not _only_sets_locale(node):
            self._add_doubt(f"what its {_name_node(node)} does is not checked")

    def _read_loop(self, node: Node) -> None:
        named_nodes = node.named_children
        values = [value for node in named_nodes[1:-1] for value in self._read_word(node).values]
        self._variables[_node_text(named_nodes[0])] = _limit_values(values) or (UNKNOWN,)

    def _read_assignment(self, node: Node, fed_by: tuple[int, ...]) -> list[int]:
        if not _only_sets_locale(node):
            self._add_doubt("a variable is set")
        name, value = _node_text(node.children[0]), node.children[-1]
        inner = self._read_nested(value, fed_by) if value.is_named else []
        self._variables[name] = self._read_word(value).values if value.is_named else ("",)
        self._sources[name] = (*self._sources.get(name, ()), *inner, *self._sources_of(value))
        return inner

    def _read_word(self, node: Node) -> Word:
        text = _node_text(node)
        match node.type:
            case "word" | "number" | "test_operator" | "variable_name":
                return _read_bare(text)
            case "raw_string":
                return Word((text[1:-1],), True, literal=text[1:-1])
            case "ansi_c_string":
                return Word((_decode_escapes(text[2:-1]),), False, literal=text)
            case "string":
                expanded = EXPANDED & {child.type for child in node.children}
                part_nodes = node.named_children
                return self._join_parts(part_nodes, text) if expanded else _read_quoted(text[1:-1])
            case "concatenation":
                return self._join_parts(node.children, text)
            case "simple_expansion" | "expansion":
                return Word(self._expand_text(text), text[1:] in SHOWN_VARIABLES, literal=text)
            case "string_content":
                return _read_quoted(text)
        self._add_doubt(f"what its {_name_node(node)} does is not checked")
        return Word((UNKNOWN,), False, literal=text)

    def _expand_text(self, text: str) -> tuple[str, ...]:
        name = re.fullmatch(r"\$\{?(\w+)\}?", text)
        return self._variables.get(name[1], (UNKNOWN,)) if name else (UNKNOWN,)

    def _join_parts(self, nodes: Sequence[Node], text: str) -> Word:
        """Join several parts to one word, in every way in which they may be read."""
        word_parts = [self._read_word(node) for node in nodes]
        values = _combine_values(word_parts)
        if "{" in text and any(_node_text(node) == "{" for node in nodes):
            braces = [brace for value in values for brace in _expand_braces(value)]
            # A pair with nothing in it stands for itself, as `find` wants it.
            return Word(_limit_values(braces), text == "{}", literal=text)
        return Word(
            values,
            plain=all(word_part.plain for word_part in word_parts),
            wild=any(word_part.wild for word_part in word_parts),
            literal="".join(word_part.literal for word_part in word_parts),
        )


EXPANDED = frozenset(
    "simple_expansion expansion command_substitution arithmetic_expansion ERROR".split()
)


def _is_redirect(node: Node) -> bool:
    return node.type in ("file_redirect", "heredoc_redirect", "herestring_redirect")


def _split_redirects(redirects: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """Separate the parts of redirections from pipelines after the sign of a here-document."""
    part_nodes = [part_node for redirect in redirects for part_node in redirect.children]
    pipelines = [part_node for part_node in part_nodes if part_node.type == "pipeline"]
    return [part_node for part_node in part_nodes if part_node.type != "pipeline"], pipelines


def _only_sets_locale(node: Node) -> bool:
    """Tell whether a node sets a variable that no program runs anything by: `LC_ALL=C`."""
    is_setting = node.type == "variable_assignment"
    return is_setting and LOCALE.fullmatch(_node_text(node)) is not None


def _list_nodes(node: Node) -> list[Node]:
    return [node, *(inner for child in node.children for inner in _list_nodes(child))]


def _name_node(node: Node) -> str:
    """Name a kind of node in words; a here-document by its whole, and not by its start."""
    is_here_document = node.type.startswith("heredoc")
    return "here-document" if is_here_document else node.type.replace("_", " ")


def _node_text(node: Node) -> str:
    return _restore_non_ascii((node.text or b"").decode("ascii"))


def _read_bare(text: str) -> Word:
    """A word without quotes: a backslash keeps the next character, a wildcard is one."""
    value = re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
    braces = re.search(r"(?<!\\)[{}]", text)
    has_wildcard = re.search(r"(?<!\\)[*?\[]", text) is not None
    values = tuple(_expand_braces(value)) if braces else (value,)
    return Word(values, braces is None, has_wildcard, value, bare=value == text)


def _read_quoted(text: str) -> Word:
    """Read a text in double quotes."""
    value = re.sub(r'\\([$`"\\\n])', r"\1", text)
    return Word((value,), True, literal=value)


def _expand_braces(text: str) -> list[str]:
    """`a{b,c}` as the shell would write it out, as far as it is worth knowing."""
    match = BRACE.search(text)
    if not match:
        return [text]
    prefix, suffix = text[: match.start()], text[match.end() :]
    expansions: list[str] = []
    for alternative in match[1].split(","):
        expansions += _expand_braces(prefix + alternative + suffix)
    _limit_values(expansions)
    return expansions


def _combine_values(word_parts: Sequence[Word]) -> tuple[str, ...]:
    """Join the values of parts in every way."""
    values: tuple[str, ...] = ("",)
    for word_part in word_parts:
        endings = _limit_values(word_part.values)
        values = _limit_values([beginning + ending for beginning in values for ending in endings])
    return values


def _limit_values(values: Sequence[str]) -> tuple[str, ...]:
    if len(values) > MAX_VALUES:
        raise TooMuch
    return tuple(values)


def _decode_escapes(text: str) -> str:
    try:
        with warnings.catch_warnings():  # of escapes that Python does not know
            warnings.simplefilter("ignore")
            return codecs.decode(text.encode("ascii"), "unicode_escape")
    except (UnicodeError, ValueError):
        return UNKNOWN
