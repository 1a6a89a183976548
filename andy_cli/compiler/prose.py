"""Words of prose about the code that stands behind it."""

import re

from andy_cli.compiler.expression import Expression

REACH = 160
"""Characters before the code that are looked at."""

EXAMPLE = Expression(
    r"""\b(?:
        (?:for|as)\ (?:an?\ )?(?:example|instance) | e\.\s?g\.
      | (?:an|another|the)\ example | examples      | (?:would|could|might|should)\ (?:then\ )?look
      | looks?\ (?:something\ |a\ bit\ )?like
      | something\ like | syntax | zum\ beispiel | z\.\s?b\. | par\ exemple | por\ ejemplo
    )[^.!?\n]{0,120}\s*\Z""",
    re.IGNORECASE | re.VERBOSE,
)


def introduces_example(text: str) -> bool:
    """Tell whether the end of a text says that what follows shows how something is written."""
    return EXAMPLE.search(text[-REACH:]) is not None
