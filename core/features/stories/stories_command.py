"""``stories``: what was collected in the dashboard: list it, write one as a file."""

from pathlib import Path
from typing import Annotated

import typer

from core.commands import _outputs
from core.commands._shared import Code, exit_codes, note

EPILOG = exit_codes(ok="done")
app = typer.Typer(no_args_is_help=True)


@app.command("list", epilog=EPILOG)
def list_stories() -> None:
    """List the stories: id, slides, title."""
    from core.stories.story import stories

    found = stories()
    if not found:
        typer.echo("no story yet; Collect, on the pages, puts what you see into one")
    for story in found:
        told = story.outline()
        typer.echo(f"{story.id}\t{len(told.slides)}\t{told.title}")


@app.command("html", epilog=exit_codes(ok="written", failures="the same, without damaged rows of the log"))
def html(
    story: Annotated[str, typer.Argument(help="Id of 'stories list'.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write; its name ends in .html.", callback=_outputs.file)
    ],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
) -> None:
    """Write a story as one HTML file, its pictures in it."""
    from core.errors import InvalidInput
    from core.report.html import story_html
    from core.store.text_files import write_text
    from core.stories.story import open_story

    if output.suffix != ".html":
        raise InvalidInput(f"--output is a file that ends in .html, got {output}")
    if output.exists() and not overwrite:
        raise InvalidInput(f"{output} exists; choose another name, or say --overwrite")
    found = open_story(story)
    whole, told = found.check(), found.read()
    for problem in told.problems:
        note(problem)
    write_text(output, story_html(told))
    typer.echo(f"{len(told.slides)} slides in {output}, {output.stat().st_size / 1e6:.1f} MB")
    if not whole:
        raise typer.Exit(Code.FAILURES)
