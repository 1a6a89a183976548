"""/permissions: what may be done without a question, and where that was said."""

from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk
from andy_cli.settings import config_folder

KINDS = ("deny", "ask", "allow")


async def permissions(desk: Desk, argument: str) -> str:
    gate = (await desk.opened()).chat.gate
    lines = [f"mode {gate.mode} (/mode changes it)"]
    for kind in KINDS:
        lines += [f"{kind:5} {rule.text}" for rule in getattr(gate.rules, kind)]
    return "\n".join([*lines, f"Rules are kept in {config_folder() / 'config.toml'}, under guard."])


COMMAND = Command("permissions", "/permissions", "what may be done without a question", permissions)
