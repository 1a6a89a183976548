"""The commands of `andy`: flags and settings in, one front end out.

Each front end is imported inside the command that starts it, because start-up is felt.
"""

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from typing import Annotated, TypeVar

import typer
import typer.main
from typer.core import TyperGroup
from typer.models import CommandInfo

from andy_cli import __version__
from andy_cli.frontends.command_line.help_page import apply_help_page
from andy_cli.frontends.command_line.options import (
    COMMAND_SET,
    MODEL_OPTIONS,
    ROOT_OPTIONS,
    RUN_OPTIONS,
    SHARED_OPTIONS,
    Option,
    fill_values,
    make_options,
)

ABOUT = """The terminal agent that makes any chat model use tools reliably.

`andy` opens a chat, and `andy "PROMPT"` one that begins with the prompt. With -p, with an option of
`andy run`, or with text piped in, the prompt is one task: andy prints the answer and ends."""

EXIT_CODES = """Exit codes: 0 done; 1 the task failed; 2 usage or settings; 3 permission needed;
4 a limit was hit; 75 try again later (connection, time-out, 429, 5xx); 77 key missing or wrong;
130 stopped by Ctrl-C; 141 nobody reads the output; 143 terminated."""

app = typer.Typer(
    name="andy",
    help=ABOUT,
    epilog=EXIT_CODES,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=False,
    subcommand_metavar="[PROMPT | COMMAND [ARGS]...]",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def add_group(name: str, about: str) -> typer.Typer:
    group = typer.Typer(help=about, rich_markup_mode=None)
    app.add_typer(group, name=name)
    return group


tools_app = add_group("tools", "List, test, add and switch off tools.")
mcp_app = add_group("mcp", "Manage MCP servers, which bring tools of their own.")
models_app = add_group("models", "List, choose, fetch and test models.")
docs_app = add_group("docs", "Index documents, so that andy can search them.")
sessions_app = add_group("sessions", "List, show and search earlier sessions.")
config_app = add_group("config", "Show and change the settings.")
google_app = add_group("google", "Connect a Google account.")

Function = TypeVar("Function", bound=Callable[..., None])


def takes(*options: Option) -> Callable[[Function], Function]:
    """Give a command with `**given` these options, as if they stood in its signature."""

    def add(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [
            parameter for parameter in signature.parameters.values() if parameter.name != "given"
        ]
        made = [parameter_of(option) for option in options]
        # Typer reads both.
        function.__dict__["__signature__"] = signature.replace(parameters=[*own, *made])
        function.__annotations__.update(
            {parameter.name: parameter.annotation for parameter in made}
        )
        return function

    return add


def parameter_of(option: Option) -> inspect.Parameter:
    """The option as Typer wants it."""
    information = typer.Option(
        *option.flags,
        metavar=option.metavar or None,
        help=option.about,
        autocompletion=complete_from(option.values) if option.values else None,
        show_default=bool(option.default),
    )
    types: dict[type, tuple[object, object]] = {
        str: (str, option.default),
        bool: (bool, False),
        list: (list[str] | None, None),
    }
    kind, default = types[option.kind]
    return inspect.Parameter(
        option.field,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, information],
    )


def command(group: typer.Typer, name: str, target: str) -> Callable[[Function], Function]:
    """Make a command of a function without a body, whose signature and docstring describe it.

    `target`, as `module.function` in `frontends`, carries it out: imported when the command runs,
    it takes the values by their names, and returns the exit code if that can be another than 0.
    """

    def add(function: Function) -> Function:
        @wraps(function)
        def start(**given: object) -> None:
            module, _, function_name = target.rpartition(".")
            carry_out = getattr(import_module(f"andy_cli.frontends.{module}"), function_name)
            given.pop(COMMAND_SET.field, None)
            values = {name: () if value is None else value for name, value in given.items()}
            raise typer.Exit(carry_out(**values) or 0)

        # Every command takes --set; to most it makes no difference.
        options = () if "overrides" in function.__annotations__ else (COMMAND_SET,)
        group.command(name)(takes(*options)(start))
        return function

    return add


def complete_from(kind: str) -> Callable[[str], list[tuple[str, str]]]:
    """Return a function that finds what the shell offers for a value, once Tab is pressed."""

    def complete(incomplete: str) -> list[tuple[str, str]]:
        from andy_cli.frontends.command_line.completion_values import VALUES

        return [offer for offer in VALUES[kind]() if offer[0].startswith(incomplete)]

    return complete


Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="a setting for this command",
        autocompletion=complete_from("settings"),
    ),
]
ModelName = Annotated[
    str,
    typer.Argument(
        help="NAME or PROVIDER:NAME; without it, the model in use",
        autocompletion=complete_from("models"),
    ),
]
ToolName = Annotated[str, typer.Argument(autocompletion=complete_from("tools"))]
ServerName = Annotated[str, typer.Argument(autocompletion=complete_from("servers"))]
Key = Annotated[str, typer.Argument(metavar="KEY", autocompletion=complete_from("keys"))]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON")]


def main(arguments: Sequence[str], typed: bool) -> int:
    """Run the command line; returns the exit code. Raises AndyError.

    `typed` says whether somebody sits at a keyboard.
    """
    from andy_cli.frontends.command_line.command_routing import route_command

    return run_typer(route_command(fill_values(arguments), commands(), typed))


def complete(arguments: Sequence[str]) -> int:
    """Do what a shell asks for at Tab, or install it; returns the exit code. Raises AndyError."""
    from andy_cli.frontends.command_line.shell_completion import answer_shell

    try:
        return answer_shell(arguments, os.environ, build_group())
    except NotImplementedError:
        return run_typer(arguments[:1])


def run_typer(arguments: Sequence[str]) -> int:
    try:
        build_group()(list(arguments), prog_name="andy")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


@cache
def build_group() -> TyperGroup:
    """Build the commands from their signatures, once a process; tests build them before a fork."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    return group


def commands() -> dict[str, frozenset[str]]:
    """The names of the commands, each with those of its own."""
    found = {name_of(command): frozenset[str]() for command in app.registered_commands}
    for group in app.registered_groups:
        assert group.typer_instance is not None
        names = map(name_of, group.typer_instance.registered_commands)
        found[str(group.name)] = frozenset(names)
    return found


def name_of(command: CommandInfo) -> str:
    return command.name or str(getattr(command.callback, "__name__", ""))


@app.callback(invoke_without_command=True)
@takes(*SHARED_OPTIONS, *ROOT_OPTIONS)
def andy(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", "-V", help="print the version")] = False,
    **given: object,
) -> None:
    if version:
        sys.stdout.write(f"andy {__version__}\n")
    elif context.invoked_subcommand is None:
        chat("", **given)


@app.command()
@takes(*SHARED_OPTIONS)
def chat(
    prompt: Annotated[str, typer.Argument(help="the first message")] = "", **given: object
) -> None:
    """Chat with a model that can use tools (also plain `andy`)."""
    from andy_cli.frontends.chat.repl import start_chat

    raise typer.Exit(start_chat(make_options(given).in_their_folder(), prompt))


@app.command()
@takes(*RUN_OPTIONS, *SHARED_OPTIONS)
def run(
    task: Annotated[
        list[str] | None, typer.Argument(help="what to do; - or nothing reads it from stdin")
    ] = None,
    **given: object,
) -> None:
    """Carry out one task: the answer on stdout, everything else on stderr."""
    from andy_cli.errors import UsageError
    from andy_cli.frontends import run_command as front

    written = "json" if given["json"] else str(given["output_format"])
    try:
        format = front.OutputFormat(written)
    except ValueError:
        raise UsageError(
            f"There is no output format {written!r}.", "Give text, json or stream-json."
        ) from None
    raise typer.Exit(
        front.run_task(
            front.RunTask(
                str(given["prompt"]) or " ".join(task or ()),
                format,
                quiet=bool(given["quiet"]),
                strict=bool(given["strict"]),
                wait=not given["no_wait"],
                stdin=not given["no_stdin"],
                verbose=bool(given["verbose"]),
                timeout=str(given["timeout"]),
                options=make_options(given),
            )
        )
    )


@command(tools_app, "list", "management.tools_command.list_tools")
def tools_list(as_json: AsJson = False) -> None:
    """List what andy can do, and what each tool does to the world."""


@command(tools_app, "info", "management.tools_command.show_tool")
def tools_info(name: ToolName, as_json: AsJson = False) -> None:
    """One tool: its parameters, its effect, how it is offered to a model."""


@command(tools_app, "test", "management.tools_command.test_tool")
def tools_test(
    name: ToolName,
    values: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=VALUE...", help="or one JSON object")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run one tool once and show what it returns; what you type here is done."""


@command(tools_app, "add", "management.tools_command.add_file")
def tools_add(
    file: Annotated[Path, typer.Argument(help="a Python file with @tool functions")],
    instead: Annotated[bool, typer.Option("--replace", help="also if there is another")] = False,
) -> None:
    """Keep a file of your own tools where andy finds it; its code is run."""


@command(tools_app, "disable", "management.tools_command.disable_tool")
def tools_disable(name: ToolName) -> None:
    """Take a tool away from models, by name or pattern."""


@command(tools_app, "enable", "management.tools_command.enable_tool")
def tools_enable(name: ToolName) -> None:
    """Switch a tool on that was switched off."""


@app.command()
@takes(*MODEL_OPTIONS, COMMAND_SET)
def doctor(json: AsJson = False, **given: object) -> None:
    """Check settings, models, MCP servers, rules and disk, and show how to fix what is wrong;
    the exit code is 1 if a check fails."""
    from andy_cli.frontends.doctor.doctor_command import run_doctor

    raise typer.Exit(run_doctor(make_options(given), json))


@command(app, "trust", "management.trust_command.trust_folder")
def trust(
    folder: Annotated[str, typer.Argument(help="without it, the current folder")] = "",
    listed: Annotated[bool, typer.Option("--list", help="list the trusted folders")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="stop trusting it")] = False,
    as_json: AsJson = False,
) -> None:
    """Trust a folder: use the settings, tools and commands in its .andy, and its AGENTS.md."""


@command(config_app, "show", "management.config_command.show_settings")
def config_show(as_json: AsJson = False, overrides: Set = None) -> None:
    """Show every setting with its value, and the file, variable or flag it comes from."""


@command(config_app, "get", "management.config_command.get_setting")
def config_get(key: Key, as_json: AsJson = False, overrides: Set = None) -> None:
    """Print the value of one setting."""


@command(config_app, "set", "management.config_command.set_setting")
def config_set(
    key: Key,
    value: Annotated[str, typer.Argument(help="several of a list stand with : between them")],
) -> None:
    """Save a setting; comments in the file stay."""


@command(config_app, "unset", "management.config_command.unset_setting")
def config_unset(key: Key) -> None:
    """Remove a setting from your file, so that its default holds again; comments stay."""


@command(config_app, "edit", "management.config_command.edit_settings")
def config_edit() -> None:
    """Open your settings in $VISUAL or $EDITOR, and check them afterwards."""


@command(config_app, "path", "management.config_command.show_path")
def config_path(as_json: AsJson = False) -> None:
    """Print the path of your settings file."""


@models_app.callback(invoke_without_command=True)
def models(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        models_list()


@models_app.command("list")
@takes(*MODEL_OPTIONS[:2], COMMAND_SET)
def models_list(json: AsJson = False, **given: object) -> None:
    """List the models that can be used now, which one is used, and why."""
    from andy_cli.frontends.management.models_command import list_models

    list_models(make_options(given), json)


@command(models_app, "pull", "management.models_command.pull_weights")
def models_pull(
    name: Annotated[
        str,
        typer.Argument(
            help="smollm2, or hf:OWNER/REPO/FILE.gguf", autocompletion=complete_from("weights")
        ),
    ],
) -> None:
    """Fetch the weights of a local model."""


@command(models_app, "default", "management.models_command.show_or_set_default")
def models_default(
    name: Annotated[
        str,
        typer.Argument(
            help="NAME or PROVIDER:NAME; without it the default is shown",
            autocompletion=complete_from("models"),
        ),
    ] = "",
) -> None:
    """Show or set the model that is used when no other is named."""


@models_app.command("info")
@takes(*MODEL_OPTIONS[1:], COMMAND_SET)
def models_info(name: ModelName = "", json: AsJson = False, **given: object) -> None:
    """Describe a model: where it runs, why it is used, how it calls tools, its context window."""
    from andy_cli.frontends.management.model_info import show_model

    show_model(replace(make_options(given), model=name), json)


@models_app.command("probe")
@takes(*MODEL_OPTIONS[1:], COMMAND_SET)
def models_probe(
    name: ModelName = "",
    tries: Annotated[int, typer.Option(min=1, max=50, help="how often each task is tried")] = 1,
    minutes: Annotated[
        float, typer.Option(min=0.1, help="after which it reports what it knows by then")
    ] = 3,
    json: AsJson = False,
    **given: object,
) -> None:
    """Find out with a few harmless tasks how a model calls tools best, and remember it."""
    from andy_cli.frontends.probe.probe_command import probe_model

    raise typer.Exit(probe_model(replace(make_options(given), model=name), tries, json, minutes))


@app.command()
def replay(
    capture: Annotated[str, typer.Argument(help="a file of ANDY_DEBUG_RAW, or their folder")],
    dialect: Annotated[
        str,
        typer.Option(
            help="read the replies with this one alone", autocompletion=complete_from("dialects")
        ),
    ] = "",
    model_as: Annotated[
        str,
        typer.Option("--model-as", metavar="NAME", help="read them with the dialect of this model"),
    ] = "",
    diff: Annotated[
        bool,
        typer.Option("--diff", help="compare with the recorded result; exit code 1 if it differs"),
    ] = False,
    to_test: Annotated[
        str, typer.Option("--to-test", metavar="FILE", help="append the replies as test cases")
    ] = "",
    turns: Annotated[bool, typer.Option("--turns", help="the whole turns, as they went")] = False,
    json: AsJson = False,
    set_: Set = None,
) -> None:
    """Read recorded replies of a model again, without a network and without running tools."""
    from andy_cli.frontends.replaying.replay_command import ReplayFlags, replay_capture

    flags = ReplayFlags(dialect, model_as, diff, to_test, turns, json)
    raise typer.Exit(replay_capture(capture, flags))


@command(app, "debug", "debug.debug_part.answer_lines")
def debug(
    name: Annotated[
        str,
        typer.Argument(
            help="compile, map, sanitize, ground, path, command, url, neutralize or redact",
            autocompletion=complete_from("parts"),
        ),
    ],
    chunk: Annotated[int, typer.Option(help="feed so many characters at a time; 0: all")] = 0,
    chunk_seed: Annotated[int, typer.Option(help="cut at random, by this seed")] = -1,
) -> None:
    """Run one part of andy by itself, for bug reports: JSON lines in, JSON lines out."""


@command(mcp_app, "add", "management.mcp_command.add_server")
def mcp_add(
    name: Annotated[str, typer.Argument(help="what to call it; `all` with --from")],
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND ARGS... | URL", help="the program, after `--`, or the address"
        ),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="an environment variable of the program"),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME:VALUE", help="an HTTP header for the address"),
    ] = None,
    transport: Annotated[str, typer.Option(help="stdio or http; default: detected")] = "",
    scope: Annotated[str, typer.Option(help="user, or project: .mcp.json here")] = "user",
    source: Annotated[
        str, typer.Option("--from", metavar="FILE", help="take it from another program's file")
    ] = "",
    instead: Annotated[bool, typer.Option("--replace", help="also if there is another")] = False,
) -> None:
    """Add a server: a program to start, or an address."""


@command(mcp_app, "list", "management.mcp_command.list_servers")
def mcp_list(as_json: AsJson = False) -> None:
    """List the servers, and what is wrong with an entry; `andy mcp test` tries a server."""


@command(mcp_app, "remove", "management.mcp_command.remove_server")
def mcp_remove(
    name: ServerName,
    scope: Annotated[str, typer.Option(help="user or project")] = "user",
) -> None:
    """Remove a server from its file."""


@command(mcp_app, "login", "management.mcp_command.log_in")
def mcp_login(name: ServerName) -> None:
    """Log in to a server with the browser (OAuth)."""


@command(mcp_app, "logout", "management.mcp_command.log_out")
def mcp_logout(name: ServerName) -> None:
    """Forget a login."""


@command(mcp_app, "test", "management.mcp_command.test_server")
def mcp_test(name: ServerName, as_json: AsJson = False) -> None:
    """Connect to a server and list its tools."""


@app.command()
def serve(
    upstream: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL|PROVIDER:MODEL|local:MODEL",
            help="where the model is; NAME=URL for each of several, ollama+URL for an Ollama",
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            help="the model to ask the upstream for",
            autocompletion=complete_from("models"),
        ),
    ] = "",
    dialect: Annotated[
        str,
        typer.Option(
            help="how the model is taught to call: native, hermes, andybot, ...",
            autocompletion=complete_from("dialects"),
        ),
    ] = "auto",
    host: Annotated[str, typer.Option(help="where to listen")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free one")] = 8787,
    workers: Annotated[int, typer.Option(min=1, max=64, help="how many processes answer")] = 1,
    token: Annotated[
        str, typer.Option(help="what clients must send as their key (also $ANDY_SERVE_TOKEN)")
    ] = "",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="another host name under which clients may ask this server"
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="origin of a web page that may send requests (CORS)"),
    ] = None,
    drain: Annotated[
        int,
        typer.Option(
            min=0, max=86400, metavar="SECONDS", help="how long open answers may take after SIGTERM"
        ),
    ] = 7,
    set_: Set = None,
) -> None:
    """Serve the APIs of OpenAI, Anthropic and Ollama, with real tool calls from any model."""
    from andy_cli.frontends.serve.command import ServeOptions, start_server

    serving = ServeOptions(
        upstream or (),
        model,
        dialect,
        host,
        port,
        workers,
        token,
        allow_host or (),
        allow_origin or (),
        drain,
        set_ or (),
    )
    raise typer.Exit(start_server(serving))


@command(google_app, "login", "management.google_command.log_in")
def google_login(
    client_file: Annotated[
        str,
        typer.Option(
            "--client", metavar="FILE", help="the client's JSON file; the last login's if left out"
        ),
    ] = "",
    part_names: Annotated[
        str,
        typer.Option(
            "--scopes", metavar="PARTS", help="such as mail:read,calendar; all if left out"
        ),
    ] = "",
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="for a browser on another machine")
    ] = False,
    overrides: Set = None,
) -> None:
    """Let andy use your mail, drive, calendar, documents, sheets and tasks at Google."""


@command(google_app, "logout", "management.google_command.log_out")
def google_logout(overrides: Set = None) -> None:
    """End the login, at Google and here."""


@command(google_app, "status", "management.google_command.show_status")
def google_status(as_json: AsJson = False) -> None:
    """Show which account is connected, and for what, without asking Google."""


Paths = Annotated[list[str], typer.Argument(metavar="PATH...", help="folders or files")]


@command(docs_app, "add", "management.documents_command.add_folders")
def docs_add(paths: Paths, overrides: Set = None) -> None:
    """Index the text in folders, for the tool `search`. Hidden files and links are left out."""


@command(docs_app, "list", "management.documents_command.list_folders")
def docs_list(as_json: AsJson = False) -> None:
    """List the folders that are indexed."""


@command(docs_app, "remove", "management.documents_command.remove_folders")
def docs_remove(paths: Paths) -> None:
    """Take folders out of the index; the files themselves stay."""


@command(docs_app, "update", "management.documents_command.update_folders")
def docs_update(overrides: Set = None) -> None:
    """Read what is new or has changed, and forget what is gone."""


SessionId = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="its id, or the beginning of it",
        autocompletion=complete_from("sessions"),
    ),
]
Everywhere = Annotated[bool, typer.Option("--all", help="of every folder, not of this one alone")]


@command(sessions_app, "list", "management.sessions_command.list_all")
def sessions_list(everywhere: Everywhere = False, as_json: AsJson = False) -> None:
    """List the sessions of this folder, newest first."""


@command(sessions_app, "show", "management.sessions_command.show_session")
def sessions_show(id: SessionId, as_json: AsJson = False) -> None:
    """Print a session to read it; --json prints its messages and their calls."""


@command(sessions_app, "search", "management.sessions_command.search_sessions")
def sessions_search(
    text: Annotated[str, typer.Argument(help="in any case of its letters")],
    everywhere: Everywhere = False,
    as_json: AsJson = False,
) -> None:
    """Search the sessions of this folder; the exit code is 1 if nothing is found."""


@command(sessions_app, "rename", "management.sessions_command.rename_one")
def sessions_rename(
    id: SessionId,
    name: Annotated[str, typer.Argument(help="what lists shall call it")],
) -> None:
    """Give a session a name."""


@command(sessions_app, "export", "management.sessions_command.export_session")
def sessions_export(
    id: SessionId,
    format: Annotated[
        str,
        typer.Argument(
            metavar="md|json|jsonl",
            help="Markdown, one JSON object, or a message a line",
            autocompletion=complete_from("exports"),
        ),
    ],
    file: Annotated[str, typer.Argument(help="a new file; default: stdout")] = "",
) -> None:
    """Write a session as Markdown, as one JSON object, or a message a line."""


@command(sessions_app, "rm", "management.sessions_command.remove_one")
def sessions_rm(id: SessionId) -> None:
    """Delete a session."""


apply_help_page(app)
