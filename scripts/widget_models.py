"""Write the course's models as the scripts that the widgets of a page load: static/models/*.js."""

from mhalib.widgets.models import FOLDER, SHIPPED, script

FOLDER.mkdir(exist_ok=True)
for name in SHIPPED:
    (FOLDER / f"{name}.js").write_text(script(name), "utf-8")
