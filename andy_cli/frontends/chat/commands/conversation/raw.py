"""/raw: what was truly said between andy and the model."""

import json

from andy_cli.agent.model.model_session import ModelExchange
from andy_cli.agent.model.reply import RAW_LIMIT
from andy_cli.compiler.compiler import CompiledReply
from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand
from andy_cli.guard.terminal_sanitizer import CONTROL


async def show_raw(session: ChatSession, argument: str) -> str:
    if argument and not (argument.isascii() and argument.isdigit() and int(argument)):
        raise UsageError(f"/raw takes how many exchanges to show, not {argument!r}.")
    if session.opened is None or not session.opened.chat.model.exchanges:
        return "Nothing has been said yet."
    conversation = session.opened.chat
    exchanges = list(conversation.model.exchanges)[-int(argument or 1) :]
    paragraphs = [escape_controls(render_exchange(exchange)) for exchange in exchanges]
    profile = conversation.model.profile
    paragraphs.append(f"Requests are read as {conversation.dialect.name}: {profile.why}.")
    return "\n\n".join(paragraphs)


def escape_controls(text: str) -> str:
    """Write control characters as code does, so that they are seen and do nothing."""
    return CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def render_exchange(exchange: ModelExchange) -> str:
    """One exchange, both sides as they were."""
    wire_message, reply = exchange
    content = wire_message.get("content")
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    cut_note = " (only its beginning is kept)" if len(reply.raw) == RAW_LIMIT else ""
    lines = [f"--- {wire_message.get('role')}", text, f"--- the model{cut_note}", reply.raw]
    return "\n".join([*lines, *render_compiled(reply.compiled)])


def render_compiled(compiled: CompiledReply) -> list[str]:
    """Render how a reply was read: reasoning, dialect, requests, repairs, faults."""
    lines = []
    if compiled.reasoning:
        lines.append(f"--- reasoning\n{compiled.reasoning}")
    heading = f"--- read as {compiled.dialect or 'plain text'}"
    if compiled.spans:
        spans = ", ".join(f"{start}-{end}" for start, end in compiled.spans)
        heading += f", characters {spans}"
    lines.append(heading)
    for request in compiled.requests:
        arguments = json.dumps(dict(request.arguments or {}), ensure_ascii=False, default=str)
        lines.append(f"{request.name} {arguments}")
    lines += [f"mended: {repair}" for repair in compiled.repairs]
    if compiled.fault:
        lines.append(f"could not be read: {compiled.fault}")
    if compiled.incomplete:
        lines.append("a call was cut off")
    return lines


COMMAND = SlashCommand(
    "raw", "/raw [N]", "show the last exchange (or N) with the model, unprocessed", show_raw
)
