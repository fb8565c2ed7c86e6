"""`python -m horai.cli`."""

from horai.cli import main

if __name__ == "__main__":
    main()
