"""The ``{drawing}`` directive: a drawing of the course on a page that is no notebook.

    ```{drawing} here
    lesson: 3
    ```

The content gives the arguments of the function of `mhalib.drawings`.
"""

from __future__ import annotations

from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from mhalib import drawings


class Draw(SphinxDirective):
    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        values = yaml.safe_load("\n".join(self.content)) or {}
        try:
            html = getattr(drawings, self.arguments[0])(**values)._repr_html_()
        except (AttributeError, TypeError, ValueError) as mistake:
            raise self.error(str(mistake)) from mistake
        return [nodes.raw("", html, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("drawing", Draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
