"""`python -m dipolar` is the command line."""

from dipolar.cli import main

if __name__ == "__main__":
    main()
