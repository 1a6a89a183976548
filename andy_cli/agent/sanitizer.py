"""The last look at an answer: no protocol marker of a request may stand in it.

The compiler has taken out exactly the spans it consumed. Taking something out can bring together
what was apart (`<|im_<|im_end|>end|>`), so what is left is read again until nothing is found.
Nothing but markers is ever removed: words about tools are words (R10).
"""

from andy_cli.compiler.compiler import Compiler
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.markers import Markers

ROUNDS = 5


def sanitize(text: str, markers: Markers, tools: Tools) -> str:
    """The text without any request or template marker; itself if there is none."""
    for _ in range(ROUNDS):
        compiler = Compiler(markers, tools)
        compiler.feed(text)
        _, reply = compiler.finish()
        if reply.text == text:
            break
        text = reply.text
    return text
