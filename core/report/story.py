"""A story as one self-contained HTML file: its pictures in it, readable from a file server, printed a slide a page."""

from base64 import b64encode
from html import escape

from core.report.html import page
from core.stories.slide import Picture, Slide
from core.stories.story import Telling

STYLE = """
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
    """Write a story.

    Args:
        story: as it is now.
        about: what its slides are, in a sentence.

    Returns:
        One document with nothing from outside; every text in it is escaped.
    """
    many = f"{len(story.slides)} slide{'' if len(story.slides) == 1 else 's'}"
    head = (
        f"<header><h1>{escape(story.title)}</h1><p>{many}. {escape(about)} The arrow keys turn the slides.</p></header>"
    )
    slides = [_slide(each, number) for number, each in enumerate(story.slides, start=1)]
    return page(story.title, "\n".join([head, *slides]), style=STYLE, head=_KEYS)


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
    return f'<figure><img src="{data_uri(picture)}" alt="{escape(picture.alt)}"></figure>'


def data_uri(picture: Picture) -> str:
    """A picture as an address that holds it: an image there runs no script, whatever it is made of."""
    media = {"jpg": "image/jpeg", "png": "image/png", "svg": "image/svg+xml"}[picture.kind]
    return f"data:{media};base64,{b64encode(picture.data).decode()}"


def _table(slide: Slide) -> str:
    if not slide.rows:
        return ""
    head = "".join(f"<th>{escape(each)}</th>" for each in slide.columns)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in slide.rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
