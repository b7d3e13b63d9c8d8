"""``python -m flows`` is the command line."""


def test_the_module_is_the_program(command):
    done = command("--help")
    assert done.returncode == 0
    assert "Usage: parquetry [OPTIONS] COMMAND" in done.stdout
