"""The wheel of this checkout's `mhalib`, the part that runs in a browser; always the same bytes."""

from __future__ import annotations

import base64
import hashlib
import io
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
WHOLE_DAY = (2000, 1, 1, 0, 0, 0)  # no time of building in the file
# PyTorch is not there; the bundles and their models are the page's own.
LEFT_OUT = ("mhalib/torch/", "mhalib/widgets/js/", "mhalib/widgets/static/")
MAIN = "mhalib/weights/main.safetensors"  # the other models come when a cell needs one


def project(root: Path = ROOT) -> tuple[str, str]:
    """Return name and version of the library."""
    found = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    return found["name"], found["version"]


def contents(root: Path = ROOT) -> dict[str, bytes]:
    """Return the wheel's files by their path in it."""
    files = {}
    for path in sorted((root / "mhalib").rglob("*")):
        name = path.relative_to(root).as_posix()
        data = path.suffix == ".py" or (path.parent.name == "weights" and path.suffix != ".md")
        other = path.suffix == ".safetensors" and name != MAIN
        if path.is_file() and data and not other and not name.startswith(LEFT_OUT):
            files[name] = path.read_bytes()
    name, version = project(root)
    about = f"{name}-{version}.dist-info"
    files[f"{about}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    )
    files[f"{about}/WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    files[f"{about}/RECORD"] = "".join([*lines, f"{about}/RECORD,,\n"]).encode()
    return files


def models(root: Path = ROOT) -> dict[str, bytes]:
    """Return the files of the other models by their path beside the wheel's."""
    found = sorted((root / "mhalib" / "weights").glob("*.safetensors"))
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in found}
    return {name: data for name, data in files.items() if name != MAIN}


def packed(files: dict[str, bytes]) -> bytes:
    """Return a zip file of `files`."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, WHOLE_DAY)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return file.getvalue()
