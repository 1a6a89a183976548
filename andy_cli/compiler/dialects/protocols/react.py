"""ReAct: thought, action and its input on lines of their own.

    Thought: play it
    Action: play
    Action Input: {"track": "Blue"}
    Observation: (models go on and invent the result: nothing after it is believed)

    Thought: I know now.
    Final Answer: It is playing.

ToolLLaMA's `Finish` is an end, not a tool. Of a tool that exists `Tool: play` is read too, the
input under other labels (`Input:`, `Arguments:`), and `Action: play[Blue]` of the first papers. The
structured chat of LangChain has its models write one object in a fence after `Action:`.
"""

import re
from collections.abc import Sequence

from andy_cli.compiler.bodies import builders, calls, json_text, python_calls, typed
from andy_cli.compiler.bodies.contents import read_arguments
from andy_cli.compiler.bodies.end_detectors import HeadDecision, HeldEnd, ReplyEnd
from andy_cli.compiler.dialect import EndDetector, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import ToolRequest

ACTION = Expression(
    r"^[ \t*]*Action[ \t*]*:[ \t*]*(?P<name>[^\n]+?)[ \t*]*\n+"
    r"[ \t*]*Action[ _]Input[ \t*]*:[ \t*]*(?P<input>.*)",
    re.M | re.S | re.I,
)
LABELLED = Expression(
    r"^[ \t*]*(?:Action|Tool(?:[ _]Name)?)[ \t*]*:[ \t*]*(?P<name>[^\n]+?)[ \t*]*\n+"
    r"[ \t*]*(?:(?:Action|Tool)[ _])?(?:Input|Arg(?:ument)?s?|Param(?:eter)?s?)[ \t*]*:[ \t*]*"
    r"(?P<input>.*)",
    re.M | re.S | re.I,
)
"""An action under other labels: it counts for tools that exist."""
BRACKETED = Expression(
    r"^[ \t*]*Action[ \t*]*:[ \t*]*(?P<name>[\w.\-]+)\[(?P<input>[^\n]*)\][ \t*]*$", re.M
)
CALLED = Expression(
    r"^[ \t*]*Action[ \t*]*:[ \t*]*(?P<name>[\w.\-]+)\s*\((?P<input>.*)\)\s*$", re.M
)
ALONE = Expression(r"^[ \t*]*Action[ \t*]*:[ \t*]*(?P<name>[\w.\-]+)[ \t*]*$", re.M | re.I)
STRUCTURED = Expression(
    r"^[ \t*]*Action[ \t*]*:\s{0,9}```(?:json)?\s{0,9}(?P<input>\{.*)", re.M | re.S | re.I
)
INVENTED = Expression(r"^[ \t*]*Observation[ \t*]*:", re.M | re.I)
FINAL = Expression(r"^[ \t*]*Final Answer[ \t*]*:[ \t*]*", re.M | re.I)
SPEAKER = Expression(r"^[ \t*]*AI[ \t*]*:[ \t*]*", re.M)
"""Below a thought; LangChain's conversational agents have their models answer so."""
NEXT_QUESTION = Expression(r"^[ \t*]*Question[ \t*]*:[^\n]*\n+[ \t*]*Thought[ \t*]*:", re.M | re.I)
"""The next example of the form, which models go on to invent."""
NAME = Expression(r"[\w.\-]+")
KEYED = Expression(r"[\"']?\w+[\"']?\s*[=:]")
THOUGHT = Expression(r"^\s*Thought[ \t]*:[ \t]*", re.I)


def parse(text: str, tools: Tools) -> Parsed | None:
    told_back = INVENTED.match(text.lstrip())
    own_text, *invented = [text] if told_back else INVENTED.split(text, maxsplit=1)
    if (parsed := read_structured(own_text, invented, tools)) is not None:
        return parsed
    action = find_action(own_text, tools)
    if action and is_end(action, tools):
        thought = find_thought(own_text[: action.start()])
        return Parsed(text=find_answer(find_input(action)), reasoning=thought)
    if action is None or calls_nothing(action, tools):
        return read_final(text if action else own_text, action)
    final = FINAL.search(own_text)
    if final and final.start() < action.start():
        return read_final(own_text, None)
    return read_action(own_text, action, invented, tools)


def read_structured(text: str, invented: Sequence[str], tools: Tools) -> Parsed | None:
    """Read an action, or the final answer, that is one object in a fence."""
    action = STRUCTURED.search(text)
    json_values, following_text = json_text.values_and_rest(action["input"]) if action else ([], "")
    if action is None or not json_values:
        return None
    thought, value = find_thought(text[: action.start()]), json_values[0]
    if (answer := calls.read_final_answer(value, tools)) is not None:
        return Parsed(text=answer, reasoning=thought)
    requests = calls.read_requests(value, tools)
    if not requests:
        return None
    behind = following_text.lstrip().lstrip("`").strip()
    return Parsed(tuple(requests), reasoning=thought, settled=bool(invented), text_behind=behind)


def find_action(text: str, tools: Tools) -> re.Match[str] | None:
    if action := ACTION.search(text) or CALLED.search(text):
        return action
    for pattern in (LABELLED, BRACKETED):
        action = pattern.search(text)
        if action and calls.clean_tool_name(action["name"], tools) in tools:
            return action
    return ALONE.search(text)


ENDS = ("finish", "final_answer", "final answer")


def is_end(action: re.Match[str], tools: Tools) -> bool:
    """Tell whether it is the end, written as an action."""
    name = calls.clean_tool_name(action["name"], tools)
    return name not in tools and name.lower() in ENDS


def read_final(text: str, action: re.Match[str] | None) -> Parsed | None:
    """Read the final answer; below `Action: None`, or a thought that is a paragraph of its own, it
    may stand without its label."""
    final = FINAL.search(text)
    if final is None and THOUGHT.match(text):
        final = SPEAKER.search(text)
    if final:
        answer, *_ = NEXT_QUESTION.split(text[final.end() :], maxsplit=1)
        return Parsed(text=answer.strip(), reasoning=find_thought(text[: final.start()]))
    if action:
        return Parsed(text=words_behind(find_input(action)))
    thought, _, answer = text.strip().partition("\n\n")
    if not (THOUGHT.match(thought) and answer):
        return None
    return Parsed(text=answer.strip(), reasoning=find_thought(thought))


def read_action(
    own_text: str, action: re.Match[str], invented: Sequence[str], tools: Tools
) -> Parsed | None:
    """Read an action, or an end that is written as one; `invented` is what stands after it."""
    thought = find_thought(own_text[: action.start()])
    name = calls.clean_tool_name(action["name"], tools)
    if name not in tools:
        return read_unknown_action(action, name, thought)
    arguments = read_action_input(action, name, tools)
    if arguments is None:
        return Parsed(incomplete=True)
    following_text = invented[0] if invented else find_input(action) or own_text[action.end() :]
    return Parsed(
        (ToolRequest(name=name, arguments=arguments),),
        reasoning=thought,
        settled=bool(invented),
        text_behind=words_behind(following_text),
    )


def calls_nothing(action: re.Match[str], tools: Tools) -> bool:
    """Tell whether the action is `None`, or words, for models fill in every line of the form."""
    name = calls.clean_tool_name(action["name"], tools)
    return name not in tools and (calls.says_no_call(name, tools) or " " in name)


def read_unknown_action(action: re.Match[str], name: str, thought: str) -> Parsed | None:
    """Read an action that names no tool: with an input as JSON it can be nothing else."""
    value = json_text.read_value(find_input(action).strip())
    if not isinstance(value, dict) or NAME.fullmatch(name) is None:
        return None
    return Parsed((ToolRequest(name, value),), reasoning=thought)


def find_input(action: re.Match[str]) -> str:
    """The input of an action as written; empty where there is none."""
    return action.groupdict().get("input") or ""


def read_action_input(action: re.Match[str], name: str, tools: Tools) -> dict[str, object] | None:
    """The arguments of an action; None where they are cut off, or cannot be read."""
    if action.re.groups > 1 and action.string[action.end("name")] == "(":
        return called_with(action[0], tools)
    written = find_input(action)
    if not written and calls.parameters_schema(tools[name]).get("required"):
        return None
    return read_inputs(written.strip(), name, tools)


def words_behind(text: str) -> str:
    """Find what follows the value, or the line, that begins the text."""
    json_values, following_text = json_text.values_and_rest(text)
    return (following_text if json_values else text.partition("\n")[2]).strip()


def called_with(line: str, tools: Tools) -> dict[str, object] | None:
    """`Action: play(track="Blue")`: called on the spot."""
    requests = python_calls.read_python_calls(line.partition(":")[2].strip(" \t*"), tools)
    return dict(requests[0].arguments or {}) if requests else None


def find_thought(text: str) -> str:
    return THOUGHT.sub("", text).strip()


def read_inputs(text: str, name: str, tools: Tools) -> dict[str, object] | None:
    """The input as an object; a plain text is the value of the only (or first) parameter."""
    text = re.sub(r"^```\w*\s*|\s*```\s*$", "", text).strip()
    if text.startswith("{"):
        values, _ = json_text.values_and_rest(text)
        value = next(iter(values), None) or json_text.read_value(text)
        return calls.read_argument_object(value, tools[name]) if value is not None else None
    if text in ("", "None", "null", "none", "N/A"):
        return {}
    names = calls.declared_properties(tools[name])
    if not names:
        return {}
    first = next(iter(calls.parameters_schema(tools[name]).get("required") or names))
    if KEYED.match(text) and (arguments := read_arguments(text, tools[name])) is not None:
        return arguments
    line = text.partition("\n")[0].strip()
    return {first: typed.parse_typed(typed.unquote_text(line), names.get(first))}


def find_answer(text: str) -> str:
    value = json_text.read_value(text)
    answer = value.get("final_answer", "") if isinstance(value, dict) else text
    return str(answer)


MAX_NAME_LENGTH = 200


def make_end_detector(opener: str, tools: Tools) -> EndDetector:
    def find_end(held: str) -> HeadDecision:
        """To the end of the reply if the line names a tool."""
        name, line_break, _ = held.partition("\n")
        if not line_break:
            return None if len(held) < MAX_NAME_LENGTH else -1
        is_tool = calls.clean_tool_name(name.strip(" \t*"), tools) in tools
        return (ReplyEnd(), 0) if is_tool else -1

    return HeldEnd(find_end) if "Tool" in opener else ReplyEnd()


def write(request: ToolRequest) -> str:
    return f"Action: {request.name}\nAction Input: {builders.dump_arguments(request)}"


DIALECT = builders.make_taught_dialect(
    dialect_name="react",
    start_markers=(),
    make_end_detector=make_end_detector,
    parse_frame=parse,
    write_call=write,
)._replace(
    line_start_markers=(
        "Action:",
        "**Action:",
        "Final Answer:",
        "**Final Answer:",
        "Tool:",
        "Tool Name:",
    ),
    reply_start_markers=("Thought:", "Observation:", "Question:"),
    render=builders.make_renderer(write, lambda message: f"Observation: {message.content}"),
    stop=("Observation:",),
    models=("toolllama*",),
)
