"""ES modules as one script: a page that is opened from a file cannot import other files, so it carries them.

Each module becomes a function that is called once and returns what the module exports:

    import { a } from "./x.mjs";            const { a } = $x;
    import * as all from "./x.mjs";         const all = $x;
    export const b = a + 1;                 const b = a + 1;
                                            return { b };

Modules come after what they import, keep their names to themselves, and see only what they import, as in a browser
that loads them. The rest of the syntax of modules is refused: renaming, default and re-exports, variables that change
after they are exported, and modules that import each other in a circle.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

__all__ = ["bundle"]

IMPORT = re.compile(r'^import (\{\s*\w+(?:,\s*\w+)*,?\s*\}|\* as \w+) from "(\.[^"\n]*)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async function|function|const|class) (\w+))", re.MULTILINE)
OTHER_SYNTAX = re.compile(r"^\s*(?:import|export)\b.*$", re.MULTILINE)

# What a script element would read as its end, or as the beginning of a comment in which its end does not count.
ENDS_OF_SCRIPT = re.compile(r"</script|<!--|<script", re.IGNORECASE)


def bundle(entry: str, modules: Mapping[str, str]) -> str:
    """Return one script that does what importing a module does.

    Parameters
    ----------
    entry : str
        Path of the module that imports, directly or not, all others.
    modules : mapping of str to str
        The text of every module by its path, such as "draw/page.mjs".
    """
    parts: dict[str, str] = {}
    _add(entry, modules, parts, ())
    script = "\n".join(parts.values())
    found = ENDS_OF_SCRIPT.search(script)
    if found:
        raise ValueError(f"A script inside a page cannot contain {found[0]!r}. Write it in two parts, or as '\\x3c'.")
    return script


def exported_names(text: str) -> list[str]:
    """Return the names that a module exports."""
    return EXPORT.findall(text)


def _add(path: str, modules: Mapping[str, str], parts: dict[str, str], importers: tuple[str, ...]) -> None:
    """Add a module to the parts of the script, behind the modules that it imports."""
    if path in importers:
        raise ValueError(f"Modules import each other in a circle: {' -> '.join([*importers, path])}.")
    if path in parts:
        return
    if path not in modules:
        raise ValueError(f"{importers[-1] if importers else 'The page'} imports {path!r}, and there is no such module.")
    for names, source in IMPORT.findall(modules[path]):
        other = _resolve(path, source)
        _add(other, modules, parts, (*importers, path))
        missing = set(re.findall(r"\w+", names.partition("{")[2])) - set(exported_names(modules[other]))
        if missing:
            raise ValueError(f"{path} imports {sorted(missing)} from {other}, which does not export them.")
    parts[path] = _wrapped(path, modules[path])


def _wrapped(path: str, text: str) -> str:
    def constants(found: re.Match[str]) -> str:
        return f"const {found[1].removeprefix('* as ')} = {_variable(_resolve(path, found[2]))};"

    body = EXPORT.sub("", IMPORT.sub(constants, text))
    refused = OTHER_SYNTAX.search(body)
    if refused:
        raise ValueError(
            f"{path}: {refused[0].strip()!r} is not understood. Import named things, or * as a name, from a path in "
            "double quotes; export functions, constants and classes where they are defined."
        )
    return f"const {_variable(path)} = (() => {{\n{body}return {{ {', '.join(exported_names(text))} }};\n}})();\n"


def _resolve(importer: str, source: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer), source))


def _variable(path: str) -> str:
    return "$" + re.sub(r"\W", "_", path.removesuffix(".mjs"))
