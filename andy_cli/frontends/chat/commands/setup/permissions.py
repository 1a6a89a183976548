"""/permissions: what may be done without a question, and where that was said."""

from andy_cli.frontends.chat.chat_session import Desk
from andy_cli.frontends.chat.slash_command import Command
from andy_cli.settings import config_folder

KINDS = ("deny", "ask", "allow")


async def permissions(desk: Desk, argument: str) -> str:
    gate = (await desk.opened()).chat.gate
    lines = [f"mode {gate.mode} (/mode changes it)"]
    for kind in KINDS:
        rules = [rule.text for rule in getattr(gate.rules, kind)]
        lines += [f"{kind:5} {rule}  ({find_origin(desk, kind, rule)})" for rule in rules]
    return "\n".join([*lines, f"Rules are kept in {config_folder() / 'config.toml'}, under guard."])


def find_origin(desk: Desk, kind: str, rule: str) -> str:
    """The file or flag that a rule comes from."""
    of_flags = {"deny": desk.options.deny, "allow": desk.options.allow}.get(kind, ())
    settings = desk.options.settings()
    if rule in settings.texts(f"guard.{kind}"):
        return settings[f"guard.{kind}"].origin
    return f"--{kind}" if rule in of_flags else "said in this chat"


COMMAND = Command(
    "permissions",
    "/permissions",
    "what may be done without a question, and who said so",
    permissions,
)
