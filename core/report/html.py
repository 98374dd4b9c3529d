"""A report or a story as one HTML file: no outside resource, readable on a phone, printed a slide a page."""

from base64 import b64encode
from html import escape

from core.charts.still import element
from core.report.document import (
    CAUTIONS,
    CITE,
    DATA,
    FIGURE,
    LACKS,
    METHODS,
    TABLES,
    WORDS,
    Report,
    Table,
    cells,
    of_paper,
)
from core.report.opening_words import METHODS as HOW
from core.stories.story import Picture, Slide, Telling

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0 auto; max-width: 1100px;
  padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #bbb; }
h3 { margin: 2rem 0 .4rem; font-size: 1.05rem; }
code { display: block; overflow-wrap: anywhere; background: #f4f4f4; padding: .5rem .7rem; border-radius: 4px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dt { font-weight: 600; } dd { margin: 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #e4e4e4; }
thead th { border-bottom: 1.5px solid #333; border-top: 1.5px solid #333; vertical-align: bottom; }
.words { text-align: left; white-space: normal; min-width: 5rem; }
p.words, ul.words { max-width: 75ch; } p.note { font-size: .86rem; color: #444; max-width: 75ch; }
details { border-bottom: 1px solid #e4e4e4; padding: .35rem 0; } summary { cursor: pointer; }
figure { margin: 0; } figure svg { max-width: 100%; height: auto; }
@media (max-width: 600px) { dl { display: block; } dd { margin-bottom: .5rem; } }
@page { margin: 14mm; }
@media print { body { max-width: none; padding: 0; font-size: 10px; }
  .wide { overflow: visible; }
  table { font-size: 7.5px; } th, td { padding: 1px 4px; } thead { display: table-header-group; }
  tr, figure, h3 { break-inside: avoid; } h3 { break-after: avoid; } }
"""


def html(report: Report, *, drawn: bytes | None = None) -> str:
    """Write the document: the words and the figure are seen at once, each table and the methods unfold; ``drawn``: its
    figure as SVG, where that was drawn already."""
    parts = [f"<h1>{escape(report.title)}</h1>"]
    if (said := report.opening) is not None:
        parts += [f"<h2>{WORDS}</h2>", *map(_words, said.audited)]
        for name, sentences in said.evaluators.items():
            parts.append(f'<p class="words"><b>{escape(name)}.</b> {escape(" ".join(sentences))}</p>')
        items = "".join(f"<li>{escape(caution)}</li>" for caution in said.cautions)
        parts += [f"<h3>{CAUTIONS}</h3>", f'<ul class="words">{items}</ul>']
    if (each := report.plane) is not None:
        label = f'role="img" aria-label="{escape(f"{each.title}: {each.axis}")}"'
        figure = f'<figure {label}>{element(each, drawn=drawn)}</figure><p class="note">{escape(each.note)}</p>'
        parts += [f"<h2>{FIGURE}</h2>", f'<h3 id="{escape(each.id)}">{escape(each.title)}</h3>{figure}']
    if report.short:
        parts.append(f"<h2>{TABLES}</h2>")
        for table in report.short:
            named = f"{table.id} · {table.title}" + (f" ({of_paper(table.paper)})" if table.paper else "")
            parts.append(details(named, f'{_grid(table)}<p class="note">{escape(table.note)}</p>'))
    how = "".join(map(_words, (*HOW, *report.methods)))
    parts += [f"<h2>{METHODS}</h2>", details("How every number was made", how)]
    if report.lacks:
        items = "".join(f"<li>{escape(why)}</li>" for why in report.lacks)
        parts += [f"<h2>{LACKS}</h2>", details(f"{len(report.lacks)} reasons", f'<ul class="words">{items}</ul>')]
    about = "".join(f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in report.about.items())
    parts += [f"<h2>{CITE}</h2>", f"<code>{escape(report.signature)}</code>", f"<dl>{about}</dl>", _words(DATA)]
    return page(report.title, "\n".join(parts), style=STYLE)


def _words(text: str) -> str:
    return f'<p class="words">{escape(text)}</p>'


def details(summary: str, body: str) -> str:
    """Something that opens behind its summary."""
    return f"<details><summary>{escape(summary)}</summary>{body}</details>"


def page(title: str, body: str, *, style: str, head: str = "") -> str:
    """One HTML document with its own style and nothing from outside."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data: blob:\">"
        f"<title>{escape(title)}</title><style>{style}</style>{head}</head>\n<body>\n{body}\n</body></html>\n"
    )


def _grid(each: Table) -> str:
    kinds = [' class="words"' if column.kind == "text" else "" for column in each.columns]
    head = "".join(f"<th{kind}>{escape(column.header)}</th>" for kind, column in zip(kinds, each.columns, strict=True))
    rows = "\n".join(
        "<tr>" + "".join(f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>"
        for row in cells(each)
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


STORY_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 17px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #f4f5f6; margin: 0; }
header, section { max-width: 1100px; margin: 0 auto; padding: 1.5rem 1.25rem; }
header { padding-top: 2.5rem; } header p { color: #555; margin: .2rem 0; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; }
section { background: #fff; border: 1px solid #dfe2e5; border-radius: 8px; margin-bottom: 1.25rem;
  scroll-margin: 1rem; }
section:target, section:focus { outline: 2px solid #0079bd; }
.pictures { display: flex; flex-wrap: wrap; gap: 1rem; justify-content: center; }
figure { margin: 0; flex: 1 1 18rem; text-align: center; } figure img { max-width: 100%; max-height: 70vh; }
.lost { color: #555; border: 1px dashed #999; border-radius: 6px; padding: 2rem 1rem; }
.note { white-space: pre-line; border-left: 4px solid #0079bd; padding: .1rem 0 .1rem 1rem; max-width: 75ch; }
.said { max-width: 85ch; margin: .3rem 0; } small, .of { font-size: .82rem; color: #555; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; }
th, td { padding: .3rem .8rem; text-align: right; white-space: nowrap; font-size: .95rem;
  border-bottom: 1px solid #e4e4e4; }
th:first-child, td:first-child { text-align: left; white-space: normal; }
code { display: block; overflow-wrap: anywhere; font-size: .75rem; color: #555; margin-top: .6rem; }
@media print { body { background: #fff; font-size: 12px; }
  section { border: 0; break-before: page; break-inside: avoid; }
  figure img { max-height: 60vh; } }
"""

# Arrow keys turn the slides, as in a presentation; without scripts the file is a page to scroll.
_KEYS = """<script>
addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
  const all = [...document.querySelectorAll("section")];
  const at = all.findIndex((each) => each.getBoundingClientRect().top > -each.offsetHeight / 2);
  const to = all[Math.min(Math.max((document.activeElement.matches("section") ? all.indexOf(document.activeElement)
    : at - (step > 0 ? 1 : 0)) + step, 0), all.length - 1)];
  if (!to) return;
  event.preventDefault(); to.focus({ preventScroll: true }); to.scrollIntoView();
});
</script>"""

COLLECTED = "Each is as it was when it was collected; its signature says which scores its numbers are of."


def story_html(story: Telling, *, about: str = COLLECTED) -> str:
    """Write a story. Returns one document with nothing from outside; every text in it is escaped."""
    many = f"{len(story.slides)} slide{'' if len(story.slides) == 1 else 's'}"
    said = f"{many}. {escape(about)} The arrow keys turn the slides."
    head = f"<header><h1>{escape(story.title)}</h1><p>{said}</p></header>"
    slides = [_slide(each, number) for number, each in enumerate(story.slides, start=1)]
    return page(story.title, "\n".join([head, *slides]), style=STORY_STYLE, head=_KEYS)


def _slide(slide: Slide, number: int) -> str:
    pictures = "".join(map(_picture, slide.pictures))
    parts = [
        f"<h2>{number}. {escape(slide.title)}</h2>",
        f'<p class="note">{escape(slide.note)}</p>' if slide.note else "",
        f'<div class="pictures">{pictures}</div>' if pictures else "",
        *(f'<p class="said">{escape(each)}</p>' for each in slide.said),
        _table(slide),
        f'<p class="of">{escape(". ".join(filter(None, (slide.of, slide.when and f"Collected {slide.when}"))))}.</p>',
        f"<code>{escape(slide.signature)}</code>" if slide.signature else "",
    ]
    return f'<section id="{number}" tabindex="-1">{"".join(parts)}</section>'


def _picture(picture: Picture) -> str:
    if not picture.data:
        return f'<figure class="lost">The picture is lost: {escape(picture.alt)}</figure>'
    # an image in an address that holds it runs no script, whatever it is made of
    media = {"jpg": "image/jpeg", "png": "image/png", "svg": "image/svg+xml"}[picture.kind]
    held = f"data:{media};base64,{b64encode(picture.data).decode()}"
    return f'<figure><img src="{held}" alt="{escape(picture.alt)}"></figure>'


def _table(slide: Slide) -> str:
    if not slide.rows:
        return ""
    head = "".join(f"<th>{escape(each)}</th>" for each in slide.columns)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in slide.rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
