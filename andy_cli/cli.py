"""The commands of `andy`: flags and settings in, one front end out.

Each front end is imported inside the command that starts it, because start-up is felt.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from andy_cli import __version__

EXIT_CODES = """Exit codes: 0 done; 1 the task failed; 2 usage or settings; 3 permission needed;
4 a limit was hit; 75 try again later (connection, time-out, 429, 5xx); 77 key missing or wrong;
130 stopped by Ctrl-C; 141 whoever read the output has gone; 143 terminated."""

app = typer.Typer(
    name="andy",
    help="The terminal agent that makes any chat model use tools reliably.",
    epilog=EXIT_CODES,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
tools_app = typer.Typer(help="The tools there are.", rich_markup_mode=None)
models_app = typer.Typer(help="The models there are.", rich_markup_mode=None)
mcp_app = typer.Typer(help="Servers that bring tools of their own.", rich_markup_mode=None)
docs_app = typer.Typer(help="Documents that can be searched.", rich_markup_mode=None)
app.add_typer(tools_app, name="tools")
app.add_typer(mcp_app, name="mcp")
app.add_typer(models_app, name="models")
app.add_typer(docs_app, name="docs")

Model = Annotated[str, typer.Option("--model", "-m", help="NAME or PROVIDER:NAME")]
BaseUrl = Annotated[str, typer.Option(help="address of an OpenAI-compatible server")]
KeyName = Annotated[str, typer.Option("--api-key-env", help="variable that holds the key")]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="any setting")]
NoSession = Annotated[bool, typer.Option("--no-session", help="keep nothing on disk")]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        "--allowed-tools",
        metavar="RULE",
        help="run this without asking: a tool, an effect, or a rule such as 'Bash(git log *)'",
    ),
]
Deny = Annotated[
    list[str] | None,
    typer.Option("--deny", "--disallowed-tools", metavar="RULE", help="never run this"),
]
ModeName = Annotated[
    str, typer.Option("--permission-mode", metavar="MODE", help="ask, plan, edits or auto")
]
Yes = Annotated[bool, typer.Option("-y", help="mode auto: run everything but destruction")]
McpConfig = Annotated[
    list[str] | None,
    typer.Option("--mcp-config", metavar="FILE", help="servers from another file too"),
]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON")]


def main() -> int:
    """Run the command line; returns the exit code."""
    try:
        app()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


@app.callback(invoke_without_command=True)
def andy(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", "-V", help="print the version")] = False,
) -> None:
    if version:
        sys.stdout.write(f"andy {__version__}\n")
    elif context.invoked_subcommand is None:
        chat()


@app.command()
def chat(
    prompt: Annotated[str, typer.Argument(help="the first thing to say")] = "",
    model: Model = "",
    base_url: BaseUrl = "",
    api_key_env: KeyName = "",
    set_: Set = None,
    no_session: NoSession = False,
    plain: Annotated[bool, typer.Option("--plain", help="no colour, no redrawing")] = False,
    allow: Allow = None,
    deny: Deny = None,
    mode: ModeName = "",
    yes: Yes = False,
    mcp_config: McpConfig = None,
) -> None:
    """Talk with a model that can do things (also plain `andy`)."""
    from andy_cli.frontends.chat.repl import start
    from andy_cli.frontends.options import Options

    options = Options(
        model,
        base_url,
        api_key_env,
        set_ or (),
        no_session,
        plain,
        allow or (),
        deny or (),
        "auto" if yes else mode,
        mcp_config or (),
    )
    raise typer.Exit(start(options, prompt))


@app.command()
def run(
    task: Annotated[str, typer.Argument(help="what to do; - or nothing reads it from stdin")] = "",
    prompt: Annotated[str, typer.Option("--prompt", "-p", help="the same as TASK")] = "",
    model: Model = "",
    base_url: BaseUrl = "",
    api_key_env: KeyName = "",
    output_format: Annotated[
        str, typer.Option("--output-format", "-o", help="text, json or stream-json")
    ] = "text",
    json: Annotated[bool, typer.Option("--json", help="the same as -o json")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress on stderr")] = False,
    strict: Annotated[
        bool,
        typer.Option(help="fail on what nothing supports, figures too, and on what was not done"),
    ] = False,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="return at once; music ends with it")
    ] = False,
    allow: Allow = None,
    deny: Deny = None,
    mode: ModeName = "",
    yes: Yes = False,
    mcp_config: McpConfig = None,
    set_: Set = None,
    no_session: NoSession = False,
    no_stdin: Annotated[bool, typer.Option("--no-stdin", help="do not read stdin")] = False,
) -> None:
    """Carry out one task: the answer on stdout, everything else on stderr."""
    from andy_cli.errors import UsageError
    from andy_cli.frontends import run as front
    from andy_cli.frontends.options import Options

    try:
        format = front.Format("json" if json else output_format)
    except ValueError:
        raise UsageError(
            f"There is no output format {output_format!r}.", "Give text, json or stream-json."
        ) from None
    options = Options(
        model,
        base_url,
        api_key_env,
        set_ or (),
        no_session,
        False,
        allow or (),
        deny or (),
        "auto" if yes else mode,
        mcp_config or (),
    )
    text = prompt or task
    raise typer.Exit(
        front.run(front.Task(text, format, quiet, strict, not no_wait, not no_stdin, options))
    )


@tools_app.command("list")
def tools_list(json: AsJson = False, set_: Set = None) -> None:
    """What andy can do, and what each tool does to the world."""
    from andy_cli.frontends.lists import list_tools

    list_tools(json)


@tools_app.command("info")
def tools_info(name: str, json: AsJson = False, set_: Set = None) -> None:
    """One tool: its parameters, its effect, how it is offered to a model."""
    from andy_cli.frontends.lists import show_tool

    show_tool(name, json)


@tools_app.command("test")
def tools_test(
    name: str,
    values: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=VALUE...", help="or one JSON object")
    ] = None,
    json: AsJson = False,
    set_: Set = None,
) -> None:
    """Run one tool once and show what it returns; what you type here is done."""
    from andy_cli.frontends.tool_files import test

    raise typer.Exit(test(name, values or (), json))


@tools_app.command("add")
def tools_add(
    file: Annotated[Path, typer.Argument(help="a Python file with @tool functions")],
    replace: Annotated[bool, typer.Option("--replace", help="also if there is another")] = False,
    set_: Set = None,
) -> None:
    """Keep a file of your own tools where andy finds it; its code is run."""
    from andy_cli.frontends.tool_files import add

    add(file, replace)


@tools_app.command("disable")
def tools_disable(name: str, set_: Set = None) -> None:
    """Take a tool away from models, by name or pattern."""
    from andy_cli.frontends.tool_files import disable

    disable(name)


@tools_app.command("enable")
def tools_enable(name: str, set_: Set = None) -> None:
    """Give a tool back that was disabled."""
    from andy_cli.frontends.tool_files import enable

    enable(name)


@app.command()
def trust(
    folder: Annotated[str, typer.Argument(help="nothing: the current one")] = "",
    list_: Annotated[bool, typer.Option("--list", help="show what is trusted")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="trust it no longer")] = False,
    json: AsJson = False,
    set_: Set = None,
) -> None:
    """Let a folder's .andy tighten the settings and bring tools of its own."""
    from andy_cli.frontends.trust import trust as trust_folder

    trust_folder(folder, list_, remove, json)


@models_app.command("list")
def models_list(
    json: AsJson = False, model: Model = "", base_url: BaseUrl = "", set_: Set = None
) -> None:
    """The models that can be used now, which one is used, and why."""
    from andy_cli.frontends.models import list_models
    from andy_cli.frontends.options import Options

    list_models(Options(model=model, base_url=base_url, set=set_ or ()), json)


@models_app.command("pull")
def models_pull(
    name: Annotated[str, typer.Argument(help="smollm2, or hf:OWNER/REPO/FILE.gguf")],
    set_: Set = None,
) -> None:
    """Fetch the weights of a local model."""
    from andy_cli.frontends.models import pull

    pull(name)


@models_app.command("default")
def models_default(
    name: Annotated[str, typer.Argument(help="NAME or PROVIDER:NAME; nothing shows it")] = "",
    set_: Set = None,
) -> None:
    """Show or set the model that is used when nothing else is said."""
    from andy_cli.frontends.models import default

    default(name)


@models_app.command("info")
def models_info(
    name: Annotated[str, typer.Argument(help="NAME or PROVIDER:NAME; nothing: the one used")] = "",
    json: AsJson = False,
    base_url: BaseUrl = "",
    api_key_env: KeyName = "",
    set_: Set = None,
) -> None:
    """One model: where it is, why it is used, how it writes tool requests, how much it reads."""
    from andy_cli.frontends.model_info import show_model
    from andy_cli.frontends.options import Options

    options = Options(model=name, base_url=base_url, api_key_env=api_key_env, set=set_ or ())
    show_model(options, json)


@models_app.command("probe")
def models_probe(
    name: Annotated[str, typer.Argument(help="NAME or PROVIDER:NAME; nothing: the one used")] = "",
    tries: Annotated[int, typer.Option(min=1, max=50, help="how often each task is tried")] = 1,
    json: AsJson = False,
    base_url: BaseUrl = "",
    api_key_env: KeyName = "",
    set_: Set = None,
) -> None:
    """Find out by a few harmless tasks how a model uses tools best, and keep to it."""
    from andy_cli.frontends.options import Options
    from andy_cli.frontends.probe.command import probe

    options = Options(model=name, base_url=base_url, api_key_env=api_key_env, set=set_ or ())
    raise typer.Exit(probe(options, tries, json))


@app.command()
def replay(
    capture: Annotated[str, typer.Argument(help="a file of ANDY_DEBUG_RAW, or their folder")],
    dialect: Annotated[str, typer.Option(help="read the replies with this one alone")] = "",
    model_as: Annotated[
        str, typer.Option("--model-as", metavar="NAME", help="with that of a model")
    ] = "",
    diff: Annotated[
        bool, typer.Option("--diff", help="compare with what was made of it; 1 if it differs")
    ] = False,
    to_test: Annotated[
        str, typer.Option("--to-test", metavar="FILE", help="append the replies as test cases")
    ] = "",
    turns: Annotated[bool, typer.Option("--turns", help="the whole turns, as they went")] = False,
    json: AsJson = False,
    set_: Set = None,
) -> None:
    """Compile captured replies again: no network, no tool runs."""
    from andy_cli.frontends.replay import Wanted
    from andy_cli.frontends.replay import replay as again

    raise typer.Exit(again(capture, Wanted(dialect, model_as, diff, to_test, turns, json)))


@app.command()
def debug(
    name: Annotated[
        str,
        typer.Argument(
            help="compile, map, sanitize, ground, path, command, url, neutralize or redact"
        ),
    ],
    chunk: Annotated[int, typer.Option(help="feed so many characters at a time; 0: all")] = 0,
    chunk_seed: Annotated[int, typer.Option(help="cut at random, by this seed")] = -1,
    set_: Set = None,
) -> None:
    """The pure parts, reachable from a shell: JSON lines in, JSON lines out."""
    from andy_cli.frontends.debug.lines import debug as answer_lines
    from andy_cli.frontends.debug.part import Cut

    raise typer.Exit(answer_lines(name, Cut(chunk, chunk_seed)))


@mcp_app.command("add")
def mcp_add(
    name: Annotated[str, typer.Argument(help="what to call it; `all` with --from")],
    words: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND ARGS... | URL", help="behind `--`")
    ] = None,
    env: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    header: Annotated[list[str] | None, typer.Option(metavar="NAME:VALUE")] = None,
    transport: Annotated[str, typer.Option(help="stdio or http; nothing: as it looks")] = "",
    scope: Annotated[str, typer.Option(help="user, or project: .mcp.json here")] = "user",
    source: Annotated[
        str, typer.Option("--from", metavar="FILE", help="take it from another program's file")
    ] = "",
    set_: Set = None,
) -> None:
    """Add a server: a program to start, or an address."""
    from andy_cli.frontends.mcp import New, add

    add(New(name, words or (), env or (), header or (), transport, scope, source))


@mcp_app.command("list")
def mcp_list(json: AsJson = False, set_: Set = None) -> None:
    """The servers there are, and what is wrong with any."""
    from andy_cli.frontends.mcp import list_servers

    list_servers(json)


@mcp_app.command("remove")
def mcp_remove(
    name: str,
    scope: Annotated[str, typer.Option(help="user or project")] = "user",
    set_: Set = None,
) -> None:
    """Take a server out of its file."""
    from andy_cli.frontends.mcp import remove

    remove(name, scope)


@mcp_app.command("login")
def mcp_login(name: str, set_: Set = None) -> None:
    """Log in to a server with the browser (OAuth)."""
    from andy_cli.frontends.mcp import login

    login(name)


@mcp_app.command("logout")
def mcp_logout(name: str, set_: Set = None) -> None:
    """Forget a login."""
    from andy_cli.frontends.mcp import logout

    logout(name)


@mcp_app.command("test")
def mcp_test(name: str, json: AsJson = False, set_: Set = None) -> None:
    """Start or reach a server and show its tools."""
    from andy_cli.frontends.mcp import test

    raise typer.Exit(test(name, json))


@app.command()
def serve(
    upstream: Annotated[
        list[str] | None,
        typer.Option(metavar="URL|PROVIDER:MODEL|local:MODEL", help="NAME=URL where several"),
    ] = None,
    model: Annotated[str, typer.Option("--model", "-m", help="the model to ask for there")] = "",
    dialect: Annotated[
        str, typer.Option(help="how the model is taught to call: native, hermes, andybot, ...")
    ] = "auto",
    host: Annotated[str, typer.Option(help="where to listen")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free one")] = 8787,
    workers: Annotated[int, typer.Option(min=1, max=64, help="processes")] = 1,
    token: Annotated[
        str, typer.Option(help="what clients must send as their key (also $ANDY_SERVE_TOKEN)")
    ] = "",
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="another name of this server")
    ] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(metavar="ORIGIN", help="a web page that may ask")
    ] = None,
    set_: Set = None,
) -> None:
    """Serve the wires of OpenAI, Anthropic and Ollama: real tool calls, from any model."""
    from andy_cli.frontends.serve.command import Serving
    from andy_cli.frontends.serve.command import serve as start

    serving = Serving(
        upstream or (),
        model,
        dialect,
        host,
        port,
        workers,
        token,
        allow_host or (),
        allow_origin or (),
        set_ or (),
    )
    raise typer.Exit(start(serving))


google_app = typer.Typer(help="The Google account andy may use.", rich_markup_mode=None)
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
    from andy_cli.frontends import google
    from andy_cli.settings import load

    google.login(load(set_ or ()), client, scopes, not no_browser)


@google_app.command("logout")
def google_logout(set_: Set = None) -> None:
    """End the login, at Google and here."""
    from andy_cli.frontends import google
    from andy_cli.settings import load

    google.logout(load(set_ or ()))


@google_app.command("status")
def google_status(json: AsJson = False, set_: Set = None) -> None:
    """Which account is connected, and for what; asks nobody."""
    from andy_cli.frontends import google

    google.status(json)


Paths = Annotated[list[str], typer.Argument(metavar="PATH...", help="folders or files")]


@docs_app.command("add")
def docs_add(paths: Paths, set_: Set = None) -> None:
    """Index the text in folders, for the tool `search`. Hidden files and links are left out."""
    from andy_cli.frontends.documents import add

    raise typer.Exit(add(paths, set_ or ()))


@docs_app.command("list")
def docs_list(json: AsJson = False, set_: Set = None) -> None:
    """The folders that are indexed."""
    from andy_cli.frontends.documents import list_folders

    list_folders(json)


@docs_app.command("remove")
def docs_remove(paths: Paths, set_: Set = None) -> None:
    """Take folders out of the index; the files themselves stay."""
    from andy_cli.frontends.documents import remove

    remove(paths)


@docs_app.command("update")
def docs_update(set_: Set = None) -> None:
    """Read what is new or has changed, and forget what is gone."""
    from andy_cli.frontends.documents import update

    raise typer.Exit(update(set_ or ()))
