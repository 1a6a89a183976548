"""The commands of `andy`: flags and settings in, one front end out.

Each front end is imported inside the command that starts it, because start-up is felt.
"""

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
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
tools_app = typer.Typer(help="List, test, add and switch off tools.", rich_markup_mode=None)
models_app = typer.Typer(help="List, choose, fetch and test models.", rich_markup_mode=None)
mcp_app = typer.Typer(
    help="Manage MCP servers, which bring tools of their own.", rich_markup_mode=None
)
config_app = typer.Typer(help="Show and change the settings.", rich_markup_mode=None)
docs_app = typer.Typer(help="Index documents, so that andy can search them.", rich_markup_mode=None)
sessions_app = typer.Typer(help="List, show and search earlier sessions.", rich_markup_mode=None)
app.add_typer(tools_app, name="tools")
app.add_typer(mcp_app, name="mcp")
app.add_typer(models_app, name="models")
app.add_typer(docs_app, name="docs")
app.add_typer(sessions_app, name="sessions")
app.add_typer(config_app, name="config")

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

    options = replace(
        make_options(given), max_turns=str(given["max_turns"]), max_tokens=str(given["max_tokens"])
    )
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
                options=options,
            )
        )
    )


@tools_app.command("list")
def tools_list(json: AsJson = False, set_: Set = None) -> None:
    """List what andy can do, and what each tool does to the world."""
    from andy_cli.frontends.management.tools_command import list_tools

    list_tools(json)


@tools_app.command("info")
def tools_info(name: ToolName, json: AsJson = False, set_: Set = None) -> None:
    """One tool: its parameters, its effect, how it is offered to a model."""
    from andy_cli.frontends.management.tools_command import show_tool

    show_tool(name, json)


@tools_app.command("test")
def tools_test(
    name: ToolName,
    values: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=VALUE...", help="or one JSON object")
    ] = None,
    json: AsJson = False,
    set_: Set = None,
) -> None:
    """Run one tool once and show what it returns; what you type here is done."""
    from andy_cli.frontends.management.tool_files import test_tool

    raise typer.Exit(test_tool(name, values or (), json))


@tools_app.command("add")
def tools_add(
    file: Annotated[Path, typer.Argument(help="a Python file with @tool functions")],
    replace: Annotated[bool, typer.Option("--replace", help="also if there is another")] = False,
    set_: Set = None,
) -> None:
    """Keep a file of your own tools where andy finds it; its code is run."""
    from andy_cli.frontends.management.tool_files import add_file

    add_file(file, replace)


@tools_app.command("disable")
def tools_disable(name: ToolName, set_: Set = None) -> None:
    """Take a tool away from models, by name or pattern."""
    from andy_cli.frontends.management.tool_files import disable_tool

    disable_tool(name)


@tools_app.command("enable")
def tools_enable(name: ToolName, set_: Set = None) -> None:
    """Switch a tool on that was switched off."""
    from andy_cli.frontends.management.tool_files import enable_tool

    enable_tool(name)


@app.command()
@takes(*MODEL_OPTIONS, COMMAND_SET)
def doctor(json: AsJson = False, **given: object) -> None:
    """Check settings, models, MCP servers, rules and disk, and show how to fix what is wrong;
    the exit code is 1 if a check fails."""
    from andy_cli.frontends.doctor.doctor_command import run_doctor

    raise typer.Exit(run_doctor(make_options(given), json))


@app.command()
def trust(
    folder: Annotated[str, typer.Argument(help="without it, the current folder")] = "",
    list_: Annotated[bool, typer.Option("--list", help="list the trusted folders")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="stop trusting it")] = False,
    json: AsJson = False,
    set_: Set = None,
) -> None:
    """Trust a folder: use the settings, tools and commands in its .andy, and its AGENTS.md."""
    from andy_cli.frontends.management.trust_command import trust_folder

    trust_folder(folder, list_, remove, json)


@config_app.command("show")
def config_show(json: AsJson = False, set_: Set = None) -> None:
    """Show every setting with its value, and the file, variable or flag it comes from."""
    from andy_cli.frontends.management.config_command import show_settings

    show_settings(set_ or (), json)


@config_app.command("get")
def config_get(key: Key, json: AsJson = False, set_: Set = None) -> None:
    """Print the value of one setting."""
    from andy_cli.frontends.management.config_command import get_setting

    get_setting(key, set_ or (), json)


@config_app.command("set")
def config_set(
    key: Key,
    value: Annotated[str, typer.Argument(help="several of a list stand with : between them")],
    set_: Set = None,
) -> None:
    """Save a setting; comments in the file stay."""
    from andy_cli.frontends.management.config_command import set_setting

    set_setting(key, value)


@config_app.command("edit")
def config_edit(set_: Set = None) -> None:
    """Open your settings in $VISUAL or $EDITOR, and check them afterwards."""
    from andy_cli.frontends.management.config_command import edit_settings

    raise typer.Exit(edit_settings())


@config_app.command("path")
def config_path(json: AsJson = False, set_: Set = None) -> None:
    """Print the path of your settings file."""
    from andy_cli.frontends.management.config_command import show_path

    show_path(json)


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


@models_app.command("pull")
def models_pull(
    name: Annotated[
        str,
        typer.Argument(
            help="smollm2, or hf:OWNER/REPO/FILE.gguf", autocompletion=complete_from("weights")
        ),
    ],
    set_: Set = None,
) -> None:
    """Fetch the weights of a local model."""
    from andy_cli.frontends.management.models_command import pull_weights

    pull_weights(name)


@models_app.command("default")
def models_default(
    name: Annotated[
        str,
        typer.Argument(
            help="NAME or PROVIDER:NAME; without it the default is shown",
            autocompletion=complete_from("models"),
        ),
    ] = "",
    set_: Set = None,
) -> None:
    """Show or set the model that is used when no other is named."""
    from andy_cli.frontends.management.models_command import show_or_set_default

    show_or_set_default(name)


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
    json: AsJson = False,
    **given: object,
) -> None:
    """Find out with a few harmless tasks how a model calls tools best, and remember it."""
    from andy_cli.frontends.probe.probe_command import probe_model

    raise typer.Exit(probe_model(replace(make_options(given), model=name), tries, json))


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


@app.command()
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
    set_: Set = None,
) -> None:
    """Run one part of andy by itself, for bug reports: JSON lines in, JSON lines out."""
    from andy_cli.frontends.debug.debug_part import ChunkCut
    from andy_cli.frontends.debug.json_lines import answer_lines

    raise typer.Exit(answer_lines(name, ChunkCut(chunk, chunk_seed)))


@mcp_app.command("add")
def mcp_add(
    name: Annotated[str, typer.Argument(help="what to call it; `all` with --from")],
    words: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND ARGS... | URL", help="after `--`")
    ] = None,
    env: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    header: Annotated[list[str] | None, typer.Option(metavar="NAME:VALUE")] = None,
    transport: Annotated[str, typer.Option(help="stdio or http; default: detected")] = "",
    scope: Annotated[str, typer.Option(help="user, or project: .mcp.json here")] = "user",
    source: Annotated[
        str, typer.Option("--from", metavar="FILE", help="take it from another program's file")
    ] = "",
    set_: Set = None,
) -> None:
    """Add a server: a program to start, or an address."""
    from andy_cli.frontends.management.mcp_command import NewServer, add_server

    add_server(NewServer(name, words or (), env or (), header or (), transport, scope, source))


@mcp_app.command("list")
def mcp_list(json: AsJson = False, set_: Set = None) -> None:
    """List the servers, and what is wrong with an entry; `andy mcp test` tries a server."""
    from andy_cli.frontends.management.mcp_command import list_servers

    list_servers(json)


@mcp_app.command("remove")
def mcp_remove(
    name: ServerName,
    scope: Annotated[str, typer.Option(help="user or project")] = "user",
    set_: Set = None,
) -> None:
    """Remove a server from its file."""
    from andy_cli.frontends.management.mcp_command import remove_server

    remove_server(name, scope)


@mcp_app.command("login")
def mcp_login(name: ServerName, set_: Set = None) -> None:
    """Log in to a server with the browser (OAuth)."""
    from andy_cli.frontends.management.mcp_command import log_in

    log_in(name)


@mcp_app.command("logout")
def mcp_logout(name: ServerName, set_: Set = None) -> None:
    """Forget a login."""
    from andy_cli.frontends.management.mcp_command import log_out

    log_out(name)


@mcp_app.command("test")
def mcp_test(name: ServerName, json: AsJson = False, set_: Set = None) -> None:
    """Connect to a server and list its tools."""
    from andy_cli.frontends.management.mcp_command import test_server

    raise typer.Exit(test_server(name, json))


@app.command()
def serve(
    upstream: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL|PROVIDER:MODEL|local:MODEL",
            help="NAME=URL where several; ollama+URL for an Ollama",
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            help="the model to ask for there",
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
    workers: Annotated[int, typer.Option(min=1, max=64, help="processes")] = 1,
    token: Annotated[
        str, typer.Option(help="what clients must send as their key (also $ANDY_SERVE_TOKEN)")
    ] = "",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="another name of this server, as the Host header may say"
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


google_app = typer.Typer(help="Connect a Google account.", rich_markup_mode=None)
app.add_typer(google_app, name="google")


@google_app.command("login")
def google_login(
    client: Annotated[
        str,
        typer.Option(metavar="FILE", help="the client's JSON file; the last login's if left out"),
    ] = "",
    scopes: Annotated[
        str, typer.Option(metavar="PARTS", help="such as mail:read,calendar; all if left out")
    ] = "",
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="for a browser on another machine")
    ] = False,
    set_: Set = None,
) -> None:
    """Let andy use your mail, drive, calendar, documents, sheets and tasks at Google."""
    from andy_cli.frontends.management import google_command
    from andy_cli.settings import load

    google_command.log_in(load(set_ or ()), client, scopes, not no_browser)


@google_app.command("logout")
def google_logout(set_: Set = None) -> None:
    """End the login, at Google and here."""
    from andy_cli.frontends.management import google_command
    from andy_cli.settings import load

    google_command.log_out(load(set_ or ()))


@google_app.command("status")
def google_status(json: AsJson = False, set_: Set = None) -> None:
    """Show which account is connected, and for what, without asking Google."""
    from andy_cli.frontends.management import google_command

    google_command.show_status(json)


Paths = Annotated[list[str], typer.Argument(metavar="PATH...", help="folders or files")]


@docs_app.command("add")
def docs_add(paths: Paths, set_: Set = None) -> None:
    """Index the text in folders, for the tool `search`. Hidden files and links are left out."""
    from andy_cli.frontends.management.documents_command import add_folders

    raise typer.Exit(add_folders(paths, set_ or ()))


@docs_app.command("list")
def docs_list(json: AsJson = False, set_: Set = None) -> None:
    """List the folders that are indexed."""
    from andy_cli.frontends.management.documents_command import list_folders

    list_folders(json)


@docs_app.command("remove")
def docs_remove(paths: Paths, set_: Set = None) -> None:
    """Take folders out of the index; the files themselves stay."""
    from andy_cli.frontends.management.documents_command import remove_folders

    remove_folders(paths)


@docs_app.command("update")
def docs_update(set_: Set = None) -> None:
    """Read what is new or has changed, and forget what is gone."""
    from andy_cli.frontends.management.documents_command import update_folders

    raise typer.Exit(update_folders(set_ or ()))


SessionId = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="its id, or the beginning of it",
        autocompletion=complete_from("sessions"),
    ),
]
Everywhere = Annotated[bool, typer.Option("--all", help="of every folder, not of this one alone")]


@sessions_app.command("list")
def sessions_list(all_: Everywhere = False, json: AsJson = False, set_: Set = None) -> None:
    """List the sessions of this folder, newest first."""
    from andy_cli.frontends.management.sessions_command import list_all

    list_all(all_, json)


@sessions_app.command("show")
def sessions_show(id: SessionId, json: AsJson = False, set_: Set = None) -> None:
    """Print a session to read it; --json prints its messages and their calls."""
    from andy_cli.frontends.management.sessions_command import show_session

    show_session(id, json)


@sessions_app.command("search")
def sessions_search(
    text: Annotated[str, typer.Argument(help="in any case of its letters")],
    all_: Everywhere = False,
    json: AsJson = False,
    set_: Set = None,
) -> None:
    """Search the sessions of this folder; the exit code is 1 if nothing is found."""
    from andy_cli.frontends.management.sessions_command import search_sessions

    raise typer.Exit(search_sessions(text, all_, json))


@sessions_app.command("rename")
def sessions_rename(
    id: SessionId,
    name: Annotated[str, typer.Argument(help="what lists shall call it")],
    set_: Set = None,
) -> None:
    """Give a session a name."""
    from andy_cli.frontends.management.sessions_command import rename_one

    rename_one(id, name)


@sessions_app.command("export")
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
    set_: Set = None,
) -> None:
    """Write a session as Markdown, as one JSON object, or a message a line."""
    from andy_cli.frontends.management.sessions_command import export_session

    export_session(id, format, file)


@sessions_app.command("rm")
def sessions_rm(id: SessionId, set_: Set = None) -> None:
    """Delete a session."""
    from andy_cli.frontends.management.sessions_command import remove_one

    remove_one(id)


apply_help_page(app)
