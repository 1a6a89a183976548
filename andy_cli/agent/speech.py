"""How one model is spoken to and read: its dialect, its markers, its tools, its system prompt.

A switch of models, or of the way one is spoken to, makes a new one (C17, C18).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from andy_cli.agent.history import render_history
from andy_cli.agent.injection import escape_control_tokens
from andy_cli.agent.instructions import Instructions
from andy_cli.agent.shortlist import DESCRIBE, Shortlist, tell_others
from andy_cli.agent.system_prompt import system_prompt
from andy_cli.agent.trust import Trust, describe_limits, trusted_tools
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
class Speech:
    client: ModelClient
    dialect: Dialect
    why: str
    """Why this dialect, in words."""
    tools: Tools
    """What is offered to the model, under the registered names."""
    known: Tools
    """What it may ask for all the same: also what needs something first."""
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

    def compiler(
        self, thinks_first: bool, wants_code: bool, prose: ProseFilter | None = None
    ) -> Compiler:
        """`thinks_first`: its replies begin inside reasoning that the prompt opened."""
        return Compiler(
            self.markers,
            self.known,
            "likely" if thinks_first else "",
            wants_code=wants_code,
            keeps_objects=False,
            prose=prose,
        )

    def request(
        self,
        history: Sequence[Message],
        side: Sequence[Wire] = (),
        constraint: Constraint | None = None,
        max_tokens: int | None = None,
    ) -> Request:
        """The history as this model reads it, `side` messages behind it."""
        told = [Message("system", self.system), *history]
        return Request(
            messages=tuple(
                render_history(told, self.dialect, self.known, self.names, self.id_form, side)
            ),
            tools=self.schemas,
            constraint=constraint,
            stop=self.dialect.stop,
            max_tokens=max_tokens,
        )


def speech(
    client: ModelClient,
    found: Detected,
    registry: Registry,
    dialects: Dialects,
    folder: Path,
    instructions: Instructions,
    trusted: Trust | None = None,
    shortlist: Shortlist | None = None,
) -> Speech:
    """`folder` is where the user works; `trusted`: what the model is trusted with; `shortlist`:
    what of too many tools it is shown."""
    dialect = found.dialect
    native = dialect.name == "native"
    every = registry.known_functions(dialect.calls_only)
    # A model that is chosen for is offered all, and what is beyond it is answered for it.
    trusted = None if client.guided else trusted
    known = {
        name: without_markers(each) if foreign(registry, name) else each
        for name, each in trusted_tools(every, registry, trusted).items()
        if shortlist or name != DESCRIBE
    }
    ready = registry.ready_functions(known)
    if shortlist:
        ready = {name: each for name, each in ready.items() if name in shortlist.whole}
    names = provider_names(known)
    taught = {name: render_provider_schema(tool) for name, tool in ready.items()}
    told = instructions.without_files() if client.guided else instructions
    system = system_prompt(dialect, taught, folder, date.today(), told)
    limits = describe_limits(client.name.partition(":")[2], every, registry, trusted)
    others = tell_others(shortlist.named) if shortlist else ""
    system = "\n\n".join(filter(None, [system, others, limits]))
    schemas = tuple(as_taken(client, ready, names)) if native else ()
    schema_tokens = sum(tokens(str(each)) for each in schemas)
    return Speech(
        client=client,
        dialect=dialect,
        why=found.why,
        tools=ready,
        known=known,
        markers=Markers([*dialects.values()], tuple(ready), dialect.name),
        system=system,
        names=names,
        schemas=schemas,
        id_form=family_ids(client, dialects) if native else dialect.id_form,
        fixed=tokens(system) + schema_tokens,
        schema_tokens=schema_tokens,
    )


def foreign(registry: Registry, name: str) -> bool:
    """Whether a tool's words are somebody else's."""
    tool = registry.get(name)
    return tool is not None and bool(tool.fingerprint)


def without_markers(tool: Schema) -> Schema:
    """The same tool, with what its server says of it as data (P9)."""

    def broken(value: object) -> object:
        if isinstance(value, Mapping):
            return {
                key: escape_control_tokens(each)
                if key == "description" and isinstance(each, str)
                else broken(each)
                for key, each in value.items()
            }
        return [broken(each) for each in value] if isinstance(value, list) else value

    return {key: broken(each) for key, each in tool.items()}


def as_taken(client: ModelClient, tools: Tools, names: Mapping[str, str]) -> Iterator[Schema]:
    """The tools as the provider takes them; validated is against the originals."""
    provider = presets().get(client.name.partition(":")[0])
    plain = provider is not None and provider.plain_schemas
    for name, tool in tools.items():
        yield render_provider_schema(
            tool, names[name], references=not plain, alternatives=not plain
        )


def family_ids(client: ModelClient, dialects: Dialects) -> IdForm | None:
    """With native calls the ids are those of the model's family all the same."""
    family = by_name(client.name.partition(":")[2], dialects.values())
    if family is not None and family.id_form:
        return family.id_form
    # Its server wants them of all its models: Codestral and Pixtral have no dialect here.
    return nine_letters if "mistral" in client.name.lower() else None
