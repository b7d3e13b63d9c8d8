"""Gives every Python process that starts with this folder on its path the generator kinds that are for tests only."""

from pathlib import Path

from models import generators

generators.__path__.append(str(Path(__file__).parent / "generators"))
