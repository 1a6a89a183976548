"""/raw: what was truly said between andy and the model."""

import json

from andy_cli.agent.model.model_session import ModelExchange
from andy_cli.agent.model.reply import RAW_LIMIT
from andy_cli.errors import UsageError
from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk
from andy_cli.guard.terminal_sanitizer import CONTROL


async def raw(desk: Desk, argument: str) -> str:
    if argument and not (argument.isascii() and argument.isdigit() and int(argument)):
        raise UsageError(f"/raw takes how many exchanges to show, not {argument!r}.")
    if desk.open is None or not desk.open.chat.model.exchanges:
        return "Nothing has been said yet."
    chat = desk.open.chat
    exchanges = list(chat.model.exchanges)[-int(argument or 1) :]
    shown = [visible(told(each)) for each in exchanges]
    return "\n\n".join([*shown, f"{chat.dialect.name} was taught: {chat.model.profile.why}."])


def told(exchange: ModelExchange) -> str:
    """One exchange, both sides as they were."""
    wire, reply = exchange
    content = wire.get("content")
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    cut = " (only its beginning is kept)" if len(reply.raw) == RAW_LIMIT else ""
    compiled = reply.compiled
    lines = [f"--- {wire.get('role')}", text, f"--- the model{cut}", reply.raw]
    lines += [f"--- reasoning\n{compiled.reasoning}"] if compiled.reasoning else []
    read_as = compiled.dialect or "plain text"
    spans = ", ".join(f"{start}-{end}" for start, end in compiled.spans)
    lines.append(f"--- read as {read_as}" + (f", characters {spans}" if spans else ""))
    for request in compiled.requests:
        arguments = json.dumps(dict(request.arguments or {}), ensure_ascii=False, default=str)
        lines.append(f"{request.name} {arguments}")
    lines += [f"mended: {each}" for each in compiled.repairs]
    lines += [f"could not be read: {compiled.fault}"] if compiled.fault else []
    lines += ["a call was cut off"] if compiled.incomplete else []
    return "\n".join(lines)


def visible(text: str) -> str:
    """Control characters as they are written in code, so that they are seen and do nothing."""
    return CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


COMMAND = Command("raw", "/raw [N]", "the last exchange (or N) with the model, as it was", raw)
