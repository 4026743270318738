"""`python -m dipolar_reproduction` is `dipolar-reproduce`."""

from dipolar.cli import run_program


def main() -> None:
    run_program("dipolar_reproduction.app")


if __name__ == "__main__":
    main()
