"""``python -m flows`` is the same as ``parquetry``."""

from flows.cli import main

if __name__ == "__main__":
    main()
