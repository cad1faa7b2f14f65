"""What a reader of a page sees before anything is unfolded: words outside of folds, also in pictures.

A word is what spaces or tags part, but for tags within a line (`_INLINE`). Of a closed fold its head counts;
what is drawn for phones, too, counts once; what is hidden, a style or a script does not count.
"""

from html.parser import HTMLParser

_VOID = {"br", "meta", "wbr", "input", "link", "hr", "img"}
_INLINE = {"a", "abbr", "b", "bdi", "code", "em", "i", "small", "span", "sup", "wbr"}  # may end within a word
_UNREAD = {"style", "script", "title", "head", "template", "metadata", "defs"}


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.text = [], ""

    def handle_starttag(self, tag, attributes):
        self.text += "" if tag in _INLINE else " "
        if tag in _VOID:
            return
        given = dict(attributes)
        unseen = tag in _UNREAD or "hidden" in given or given.get("class") == "phone"  # drawn twice
        self.open.append((tag, unseen, tag == "details" and "open" not in given))

    def handle_endtag(self, tag):
        self.text += "" if tag in _INLINE else " "
        while tag not in _VOID and self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        folded = [i for i, (_, _, closed) in enumerate(self.open) if closed]
        head = not folded or any(tag == "summary" for tag, _, _ in self.open[folded[-1] :])
        if head and len(folded) < 2 and not any(unseen for _, unseen, _ in self.open):
            self.text += data


def words(page):
    """All that is visible before folds."""
    reader = _Reader()
    reader.feed(page)
    return reader.text.split()


def first_screen(page):
    """The same up to the end of the summary, its heading included."""
    start, end = page.index("<body"), page.index("</section>")
    return words(page[start:end])
