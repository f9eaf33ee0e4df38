"""The help of every command fits a terminal, and names every option."""

from collections.abc import Iterator

import click

from agent.cli.main import intramural


def test_every_first_sentence_of_help_is_whole_in_a_terminal_of_80_columns():
    """And every option says what it is for."""

    def walk(command: click.Command, context: click.Context) -> Iterator[str]:
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                assert inner is not None
                # Click leaves two columns of the terminal free, and puts six around the names.
                room = 80 - 2 - 6 - max(map(len, command.list_commands(context)))
                if inner.get_short_help_str(room).endswith("..."):
                    yield f"{context.command_path} {name}: its first sentence is too long"
                yield from walk(inner, click.Context(inner, parent=context, info_name=name))
        for option in command.params:
            if isinstance(option, click.Option) and not option.help:
                yield f"{context.command_path}: {option.name} has no help"

    assert list(walk(intramural, click.Context(intramural, info_name="intramural"))) == []
