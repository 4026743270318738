"""The paper's figure of tuning: concordance and integrated Brier score over eta on MGUS, for three kernels.

Run `python examples/plot_kappa_path.py`; it writes docs/images/kappa_path_mgus.png and prints the correlation of the
two scores over eta next to the printed one. It is `dipolar reproduce fig-kappa` as a program. The paper does not state
its settings for real data; those of its simulations are used, with covariates as they are.
"""

from __future__ import annotations

from pathlib import Path

from dipolar.studies import get_study

OUTPUT = Path(__file__).parent.parent / "docs" / "images" / "kappa_path_mgus.png"


def main() -> None:
    study = get_study("fig-kappa")
    results = {unit: study.run(unit, seed=0) for unit in study.units()}
    print(study.tables(results)[0].markdown())
    study.figures(results)["kappa"]().savefig(OUTPUT, dpi=120, bbox_inches="tight")


if __name__ == "__main__":
    main()
