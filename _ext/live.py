"""The ``{live}`` directive: a widget of the course on a page that is no notebook.

    ```{live} ScalingWidget
    d_k: 64
    ```

The content gives the widget's values. Its picture and state come from `mhalib.widgets` at build
time, as they do in the lessons.
"""

from __future__ import annotations

from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from mhalib import widgets


class Live(SphinxDirective):
    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        values = yaml.safe_load("\n".join(self.content)) or {}
        try:
            html = getattr(widgets, self.arguments[0])(**values).html()
        except (AttributeError, TypeError, ValueError) as mistake:
            raise self.error(str(mistake)) from mistake
        return [nodes.raw("", html, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("live", Live)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
