"""GigaChat 3.5: DeepSeek's markup with a word of its own (the bars are full-width).

<|GCML|function_calls>
<|GCML|invoke name="seek">
<|GCML|parameter name="seconds" string="false">90</|GCML|parameter>
</|GCML|invoke>
</|GCML|function_calls>
"""

from andy_cli.compiler.dialects.elements.deepseek_dsml import make_dsml_dialect

DIALECT = make_dsml_dialect("gigachat35", "GCML")._replace(models=("gigachat-3.5*",))
