"""/permissions: what may be done without a question, and where that was said."""

from andy_cli.frontends.chat.chat_session import MODES, ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.settings import config_folder

KINDS = ("deny", "ask", "allow")


async def show_permissions(session: ChatSession, argument: str) -> str:
    gate = (await session.open_conversation()).chat.gate
    lines = [f"mode {gate.mode}: {MODES[gate.mode]} (/mode changes it)"]
    for kind in KINDS:
        rules = [rule_text.text for rule_text in getattr(gate.rules, kind)]
        lines += [
            f"{kind:5} {rule_text}  ({find_origin(session, kind, rule_text)})"
            for rule_text in rules
        ]
    if not any(getattr(gate.rules, kind) for kind in KINDS):
        lines.append("There are no rules.")
    lines += [f"allow {spell_out(grant)}  (for this session)" for grant in gate.list_grants()]
    return "\n".join([*lines, f"Rules are kept in {config_folder() / 'config.toml'}, under guard."])


def find_origin(session: ChatSession, kind: str, rule_text: str) -> str:
    """The file or flag that a rule comes from."""
    of_flags = {"deny": session.options.deny, "allow": session.options.allow}.get(kind, ())
    settings = session.options.settings()
    if rule_text in settings.texts(f"guard.{kind}"):
        return settings[f"guard.{kind}"].origin
    return f"--{kind}" if rule_text in of_flags else "said in this chat"


COMMAND = SlashCommand(
    "permissions",
    "/permissions",
    "what is allowed without asking, and where that was set",
    show_permissions,
)
