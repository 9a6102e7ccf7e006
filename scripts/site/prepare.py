"""Prepares the pages of docs/ for Sphinx: links to files that are no pages become plain text, the first page gets the table of contents, and
blocks of formulas become MathML (equations.py).   prepare.py FOLDER ROOT"""
import os
import re
import sys

sys.dont_write_bytecode = True
import equations

folder, root = sys.argv[1], sys.argv[2]
LINK = re.compile(r"(?<!\!)\[([^\]\[]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")


def pages():
    for where, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".md"):
                yield os.path.join(where, name)


def repair(path, text):
    """Links as they are in the tree, to what is a page here; others are shown as text."""
    here = os.path.dirname(path)

    def link(match):
        words, target, anchor = match.group(1), match.group(2), match.group(3) or ""
        if not target or "://" in target:
            return match.group(0)
        there = os.path.normpath(os.path.join(here, target))
        if os.path.relpath(there, folder) == "README.md":
            return "[%s](%s%s)" % (words, os.path.relpath(os.path.join(folder, "index.md"), here), anchor)
        if os.path.isfile(there) and there.endswith(".md"):
            return match.group(0)
        return words if words.startswith("`") else "`%s`" % words.replace("`", "")

    parts = re.split(r"(^```.*?^```|`[^`\n]*`\])", text, flags=re.M | re.S)
    out = []
    for part in parts:
        out.append(part if part.startswith("```") else LINK.sub(link, part))
    return "".join(out)


SCRIPT = """
<script>
// Machines move while they are seen; those that are closed, or elsewhere on the page, cost nothing.
function show(frame, on) {
  on = on && frame.closest("details").open;
  if (on !== Boolean(frame.shown)) frame.src = (frame.shown = on) ? frame.dataset.page : "about:blank";
}
var seen = new IntersectionObserver(function (list) {
  list.forEach(function (entry) { show(entry.target, entry.isIntersecting); });
}, { threshold: 0.1 });
document.querySelectorAll("details.machine").forEach(function (box) {
  var frame = box.querySelector("iframe");
  seen.observe(frame);
  box.addEventListener("toggle", function () { show(frame, box.open); });
});
</script>
"""


def tree(caption, names):
    return "\n```{toctree}\n:hidden:\n:caption: %s\n\n%s\n```\n" % (caption, "\n".join(names))


def contents():
    """From docs/README.md: its headings in bold, and the pages that each links to; then all other pages."""
    text = open(os.path.join(folder, "docs", "README.md"), encoding="utf-8").read()
    out, seen = tree("Models", ["gallery"]), {"index", "gallery"}
    for caption, body in re.findall(r"^\*\*(.+?)\*\*\n(.*?)(?=^\*\*|\Z)", text, flags=re.M | re.S):
        names = []
        for target in re.findall(r"\(([^)\s#]+\.md)", body):
            name = os.path.normpath(os.path.join("docs", target))[:-3]
            if name not in seen and os.path.isfile(os.path.join(folder, name + ".md")):
                names.append(name)
                seen.add(name)
        out += tree(caption, names)
    rest = sorted(os.path.relpath(p, folder)[:-3] for p in pages())
    return out + tree("More", [name for name in rest if name not in seen])


for page in list(pages()):
    text = equations.convert(repair(page, open(page, encoding="utf-8").read()))
    if os.path.basename(page) == "gallery.md":
        text += SCRIPT
    if page == os.path.join(folder, "index.md"):
        text += contents()
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)
