from andy_cli.compiler.library import CompiledReply as CompiledReply
from andy_cli.compiler.library import Hidden as Hidden
from andy_cli.compiler.library import Mapped as Mapped
from andy_cli.compiler.library import MappedCall as MappedCall
from andy_cli.compiler.library import Problem as Problem
from andy_cli.compiler.library import StreamCompiler as StreamCompiler
from andy_cli.compiler.library import ToolRequest as ToolRequest
from andy_cli.compiler.library import Visible as Visible
from andy_cli.compiler.library import compile_text as compile_text
from andy_cli.compiler.library import fit_arguments as fit_arguments
from andy_cli.compiler.library import list_dialects as list_dialects
from andy_cli.compiler.library import write_call as write_call
from andy_cli.compiler.library import write_history as write_history

__all__: list[str]
