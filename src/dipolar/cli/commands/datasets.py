"""`dipolar datasets`: what is bundled."""

from __future__ import annotations

from dipolar.cli import options
from dipolar.cli.terminal import Terminal

__all__ = ["datasets"]


def datasets(as_json: options.AsJson = False) -> None:
    """List the bundled data sets; their names can stand for DATA."""
    terminal = Terminal(as_json=as_json)

    # Loaded here, so that --help is answered at once.
    from rich.table import Table as Grid

    from dipolar.datasets import list_datasets

    frame = list_datasets()
    terminal.answer({"command": "datasets", "datasets": frame.to_dict("records")})
    grid = Grid(title="Bundled data sets", title_justify="left", title_style="bold")
    for name in frame.columns:
        grid.add_column(name, justify="right" if name in ("n", "events") else "left", no_wrap=name == "name")
    for row in frame.itertuples(index=False):
        grid.add_row(*map(str, row))
    terminal.show(grid)
