"""Code agents: a short program in a fence, which calls tools as functions and keeps the results.

    ```py
    songs = list_mp3s(path="~/Music")
    print(songs)
    ```<end_code>

Also after `Code:` or in <code> tags. Read with Python's parser as literals, never run: what needs
the result of a call that comes before it is for the next reply. `final_answer(x)` is the answer.
A fence of nothing but calls is read as `pythonic`.
"""

import ast
from keyword import iskeyword

from andy_cli.compiler.bodies import builders
from andy_cli.compiler.bodies.end_detectors import MarkerEnd
from andy_cli.compiler.bodies.python_calls import NotLiteral, call_of, read_literal, rename_keywords
from andy_cli.compiler.bodies.wrappings import strip_fence
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.messages import ToolRequest

OPENERS = ("Code:\n```py\n", "Code:\n```python\n", "<code>\n")
CLOSERS = ("</code>", "\n```")
ENDS = ("<end_code>", "<end_action>")
ANSWER = "final_answer"


def parse(text: str, tools: Tools) -> Parsed | None:
    body = strip_fence(text.removeprefix("Code:\n"))
    marked = text.startswith(OPENERS)
    body = body.removeprefix("<code>").removesuffix("</code>").strip()
    valid = False
    for attempt in dict.fromkeys((body, rename_keywords(body))):
        try:
            statements = ast.parse(attempt).body
            valid = True
            if not marked and all(is_call(statement) for statement in statements):
                continue
            requests, answer = read_program(statements, tools)
        except (SyntaxError, ValueError, RecursionError, MemoryError, SystemError):
            continue  # NotLiteral is a ValueError
        return Parsed(tuple(requests), text=answer)
    cut_off = marked and not valid and not text.rstrip().endswith(CLOSERS)
    return Parsed(incomplete=True) if cut_off else None


def is_call(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Expr):
        return False
    return read_program_call(statement.value) not in ("", "print", ANSWER)


class NeedsResult(Exception):
    """A call cannot be read without the result of one before it."""


class CodeProgram(ast.NodeTransformer):
    """Takes the steps of a program; puts in the values of the names that have one."""

    def __init__(self, tools: Tools) -> None:
        self.requests: list[ToolRequest] = []
        self.answer = ""
        self._tools = tools
        self._values: dict[str, ast.expr] = {}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node)

    def visit_Await(self, node: ast.Await) -> ast.expr:  # whoever runs the calls waits anyway
        value: ast.expr = self.visit(node.value)
        return value

    def take(self, target: str, value: ast.expr) -> None:
        """Take a value, and the name it is given; raises NotLiteral and NeedsResult."""
        value = self.visit(value)
        called = read_program_call(value)
        inner = first_argument(value) if called in ("print", ANSWER) else value
        if isinstance(inner, ast.Call):
            self._take_call(inner)
        elif called == ANSWER and inner is not None and not self.requests:
            self.answer = str(read_literal(inner))
        elif target and inner is not None:
            read_literal(inner)
            self._values[target] = inner
        elif called not in ("print", ANSWER):
            raise NotLiteral

    def _take_call(self, call: ast.Call) -> None:
        try:
            self.requests.append(read_known_call(call, self._tools))
        except NotLiteral:
            if self.requests:
                raise NeedsResult from None
            raise


def read_program(statements: list[ast.stmt], tools: Tools) -> tuple[list[ToolRequest], str]:
    """The calls and the final answer; raises NotLiteral for any other program."""
    program = CodeProgram(tools)
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        try:
            program.take(*read_assignment(statement))
        except NeedsResult:
            break
    if not (program.requests or program.answer):
        raise NotLiteral
    return program.requests, program.answer


def read_assignment(statement: ast.stmt) -> tuple[str, ast.expr]:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return name, value
        case ast.Expr(value=value):
            return "", value
    raise NotLiteral


def read_program_call(value: ast.expr) -> str:
    """The name of the function that is called; dotted names count as one that is none of ours."""
    if not isinstance(value, ast.Call):
        return ""
    return value.func.id if isinstance(value.func, ast.Name) else "."


def first_argument(value: ast.expr) -> ast.expr | None:
    return value.args[0] if isinstance(value, ast.Call) and value.args else None


def read_known_call(call: ast.Call, tools: Tools) -> ToolRequest:
    request = call_of(call, tools)
    if request.name not in tools:
        raise NotLiteral
    return request


def write(request: ToolRequest) -> str:
    other = dict(request.arguments or {})
    plain = {key: other.pop(key) for key in list(other) if is_argument_name(key)}
    values = [f"{key}={value!r}" for key, value in plain.items()]
    if other:
        values.append(f"**{other!r}")
    return f"```py\nresult = {request.name}({', '.join(values)})\nprint(result)\n```"


def is_argument_name(key: str) -> bool:
    """Tell whether Python takes it as the name of an argument."""
    return key.isidentifier() and not iskeyword(key)


DIALECT = builders.make_taught_dialect(
    dialect_name="code",
    start_markers=(),
    make_end_detector=lambda opener, tools: MarkerEnd(*CLOSERS),
    parse_frame=parse,
    write_call=write,
    end_markers=ENDS,
    result_markers=("Observation:", ""),
)._replace(line_start_markers=OPENERS, fenced=True, models=("codeact*", "codeactagent*"))
