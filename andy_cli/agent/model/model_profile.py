"""The profile of one model: its dialect, its markers, its tools, its system prompt.

A switch of models, or of the way one is spoken to, makes a new one (C17, C18).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from andy_cli.agent.calls.injection import escape_control_tokens
from andy_cli.agent.history.rendering import render_history
from andy_cli.agent.prompt.instructions import Instructions
from andy_cli.agent.prompt.shortlist import DESCRIBE, Shortlist, tell_others
from andy_cli.agent.prompt.system_prompt import render_system_prompt
from andy_cli.agent.prompt.trust import Trust, describe_limits, select_trusted_tools
from andy_cli.compiler.compiler import Compiler, ProseFilter
from andy_cli.compiler.detect import Detected, by_name
from andy_cli.compiler.dialect import Dialect, IdForm, Tools
from andy_cli.compiler.ids import nine_letters
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.compiler.mapper.provider_schema import provider_names, render_provider_schema
from andy_cli.messages import Constraint, Message, Request, Schema, Wire
from andy_cli.models.client import ModelClient
from andy_cli.models.presets import presets
from andy_cli.models.token_count import tokens
from andy_cli.toolbox.registry import Registry

Dialects = Mapping[str, Dialect]


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """All that is needed to speak to one model and to read what it writes."""

    client: ModelClient
    dialect: Dialect
    why: str
    """The reason for this dialect, in words."""
    tools: Tools
    """Tools that are offered to the model, under the registered names."""
    known: Tools
    """Tools that it may ask for all the same: also those that need something first."""
    markers: Markers
    system: str
    names: Mapping[str, str]
    """Registered name -> the one that is offered (R17)."""
    schemas: tuple[Schema, ...]
    """The tools as the provider takes them; empty if they are taught in the prompt."""
    id_form: IdForm | None
    fixed: int
    """Estimated tokens of what goes with every request: the system prompt and the schemas."""
    schema_tokens: int
    """Those of the schemas alone."""

    @property
    def is_one_object(self) -> bool:
        """A reply is one object of a protocol and nothing else."""
        return self.dialect.calls_only or self.dialect.format_violation is not None

    def make_compiler(
        self, thinks_first: bool, wants_code: bool, prose: ProseFilter | None = None
    ) -> Compiler:
        """Make what reads one reply.

        `thinks_first`: its replies begin inside reasoning that the prompt opened.
        """
        return Compiler(
            self.markers,
            self.known,
            "likely" if thinks_first else "",
            wants_code=wants_code,
            keeps_objects=False,
            prose=prose,
        )

    def render_request(
        self,
        history: Sequence[Message],
        side_messages: Sequence[Wire] = (),
        constraint: Constraint | None = None,
        max_tokens: int | None = None,
    ) -> Request:
        """Render the history as this model reads it, `side_messages` messages behind it."""
        messages = [Message("system", self.system), *history]
        return Request(
            messages=tuple(
                render_history(
                    messages, self.dialect, self.known, self.names, self.id_form, side_messages
                )
            ),
            tools=self.schemas,
            constraint=constraint,
            stop=self.dialect.stop,
            max_tokens=max_tokens,
        )


def build_profile(
    client: ModelClient,
    detected: Detected,
    registry: Registry,
    dialects: Dialects,
    folder: Path,
    instructions: Instructions,
    trusted: Trust | None = None,
    shortlist: Shortlist | None = None,
) -> ModelProfile:
    """Build the profile of a model.

    `folder` is where the user works; `trusted`: what the model is trusted with; `shortlist`: what
    of too many tools it is shown.
    """
    dialect = detected.dialect
    all_tools = registry.known_functions(dialect.calls_only)
    # A model that is chosen for is shown all, and what is beyond it is marked and answered for it.
    trusted = None if client.guided else trusted
    known_tools = escape_foreign_tools(select_trusted_tools(all_tools, registry, trusted), registry)
    if not shortlist:
        known_tools.pop(DESCRIBE, None)
    ready = registry.ready_functions(known_tools)
    others = ""
    if shortlist:
        ready = {name: tool for name, tool in ready.items() if name in shortlist.whole}
        others = tell_others(shortlist.named)
    names = provider_names(known_tools)
    taught = {name: render_provider_schema(tool) for name, tool in ready.items()}
    instructions = instructions.without_files() if client.guided else instructions
    prompt = render_system_prompt(dialect, taught, folder, date.today(), instructions)
    limits = describe_limits(client.name.partition(":")[2], all_tools, registry, trusted)
    system = "\n\n".join(filter(None, [prompt, others, limits]))
    schemas: tuple[Schema, ...] = ()
    id_form = dialect.id_form
    if dialect.name == "native":
        schemas = tuple(render_schemas(client, ready, names))
        id_form = find_family_ids(client, dialects)
    schema_tokens = sum(tokens(str(schema)) for schema in schemas)
    return ModelProfile(
        client=client,
        dialect=dialect,
        why=detected.why,
        tools=ready,
        known=known_tools,
        markers=Markers([*dialects.values()], tuple(ready), dialect.name),
        system=system,
        names=names,
        schemas=schemas,
        id_form=id_form,
        fixed=tokens(system) + schema_tokens,
        schema_tokens=schema_tokens,
    )


def escape_foreign_tools(tools: Tools, registry: Registry) -> dict[str, Schema]:
    """Escape what is said of tools by somebody else than andy."""
    return {
        name: escape_descriptions(tool) if is_foreign_tool(registry, name) else tool
        for name, tool in tools.items()
    }


def is_foreign_tool(registry: Registry, name: str) -> bool:
    """Tell whether a tool's words are somebody else's."""
    tool = registry.get(name)
    return tool is not None and bool(tool.fingerprint)


def escape_descriptions(tool: Schema) -> Schema:
    """Escape what the server of a tool says of it: that is data (P9)."""
    return {key: _escape_nested(value) for key, value in tool.items()}


def _escape_nested(value: object) -> object:
    if isinstance(value, list):
        return [_escape_nested(element) for element in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: escape_control_tokens(inner)
        if key == "description" and isinstance(inner, str)
        else _escape_nested(inner)
        for key, inner in value.items()
    }


def render_schemas(client: ModelClient, tools: Tools, names: Mapping[str, str]) -> Iterator[Schema]:
    """Render the tools as the provider takes them; validated is against the originals."""
    provider = presets().get(client.name.partition(":")[0])
    plain = provider is not None and provider.plain_schemas
    for name, tool in tools.items():
        yield render_provider_schema(
            tool, names[name], references=not plain, alternatives=not plain
        )


def find_family_ids(client: ModelClient, dialects: Dialects) -> IdForm | None:
    """Find the form of ids of the model's family, which native calls have all the same."""
    family = by_name(client.name.partition(":")[2], dialects.values())
    if family is not None and family.id_form:
        return family.id_form
    # Its server wants them of all its models: Codestral and Pixtral have no dialect here.
    return nine_letters if "mistral" in client.name.lower() else None
