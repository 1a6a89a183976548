"""Muse: a channel header with the recipient, then <invoke> elements with a prefix.

     to=play<|message|><atem:function_calls><atem:invoke name="play">
    <atem:parameter name="track">Blue</atem:parameter></atem:invoke></atem:function_calls>

Words to itself, ` to=self<|message|>...<|eom|>`, are reasoning.
"""

from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.elements import INVOKE
from andy_cli.compiler.bodies.markup.sections import NothingEnd
from andy_cli.compiler.dialect import EndDetector, Parsed, Tools

SELF, USER = "to=self<|message|>", "to=user<|message|>"
OPEN, CLOSE = "<atem:function_calls>", "</atem:function_calls>"
NAMED = "to=NAME<|message|>"

ELEMENTS = tagged.make_tagged_dialect(
    name="muse",
    start_markers=(OPEN,),
    end_markers=(CLOSE, "</atem:invoke>"),
    tags=INVOKE,
    call_forms=(f'{OPEN}<atem:invoke name="NAME">', f"</atem:invoke>{CLOSE}"),
    value_forms=('<atem:parameter name="KEY">', "</atem:parameter>"),
    bare_start_markers=("<atem:invoke name=",),
)


def make_end_detector(opener: str, tools: Tools) -> EndDetector:
    return NothingEnd() if opener in (SELF, USER) else ELEMENTS.make_end_detector(opener, tools)


def parse(text: str, tools: Tools) -> Parsed | None:
    if text in (SELF, USER):
        return Parsed(thinks_until=("<|eom|>",) if text == SELF else ())
    head, _, inner = text.partition("<|message|>")
    return ELEMENTS.parse(inner if inner and "<" not in head else text, tools)


DIALECT = ELEMENTS._replace(
    start_markers=(*ELEMENTS.start_markers, SELF, USER),
    make_end_detector=make_end_detector,
    parse=parse,
    named_start_markers=(NAMED, f" {NAMED}"),
    end_markers=(*ELEMENTS.end_markers, "<|eom|>"),
    models=("muse*",),
)
