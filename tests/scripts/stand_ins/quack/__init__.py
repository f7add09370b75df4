"""What QuACK's package looks like from outside: its function hides the submodule of the same name."""

from quack.rmsnorm import rmsnorm  # noqa: F401
