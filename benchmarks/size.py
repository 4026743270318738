"""How large the code is: files, lines, and lines of code by folder.

`python benchmarks/size.py` counts this checkout, `python benchmarks/size.py FOLDER` another one. Lines of code are
those that are not blank, a comment or a docstring.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import defaultdict
from pathlib import Path

PARTS = ("src", "reproduction", "tests", "fuzz", "benchmarks", "examples")
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def code_lines(path: Path, text: str) -> int:
    """Return the number of lines that hold code."""
    if path.suffix != ".py":  # scripts and styles: comments stand on lines of their own
        lines = [line.strip() for line in text.splitlines()]
        return sum(bool(line) and not line.startswith(("//", "/*", "*")) for line in lines)
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


def count(root: Path) -> dict[str, tuple[int, int, int]]:
    """Return files, lines and lines of code of every folder that has any; what lies in a package is one folder."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for part in PARTS:
        for path in sorted((root / part).rglob("*")):
            if path.suffix not in (".py", ".js", ".mjs", ".css") or any(name.startswith(".") for name in path.parts):
                continue
            inside = path.relative_to(root).parts[:-1]
            depth = 3 if part == "src" else 1
            text = path.read_text(encoding="utf-8")
            size = found["/".join(inside[:depth])]
            for k, number in enumerate((1, len(text.splitlines()), code_lines(path, text))):
                size[k] += number
    return {folder: tuple(size) for folder, size in found.items()}


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    sizes = count(root)
    library = [size for folder, size in sizes.items() if folder.startswith("src")]
    sizes["src, all"] = tuple(map(sum, zip(*library)))
    print(f"{'':<28}{'files':>7}{'lines':>9}{'of code':>9}")
    for folder in sorted(sizes):
        files, lines, code = sizes[folder]
        print(f"{folder:<28}{files:>7,}{lines:>9,}{code:>9,}")


if __name__ == "__main__":
    main()
