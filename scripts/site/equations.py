"""Blocks of formulas, as the pages have them in plain text, as MathML, which browsers draw without scripts.   convert(text) -> text

Only what is unambiguous is set: sub- and superscripts, dots, tildes, bars and primes; words stay words, columns stay columns, and a fraction
stays a/b, since the text does not say how far its denominator goes."""
import html
import re
import unicodedata

SUBSCRIPT = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ₐₑₓₙᵢⱼₖₘₚₛₜ", "0123456789+−aexnijkmpst"))
SUPERSCRIPT = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀⁿ", "0123456789+−Tn"))
ABOVE = {"\u0307": "\u0307", "\u0308": "\u0308", "\u0304": "\u0304", "~": "\u0303"}
LETTER_LAST = re.compile(r"^<mi[^>]*>(.)</mi>$")
LETTER = "A-Za-zΑ-Ωα-ωϑϕℓ∂"
TOKEN = re.compile(r"(?P<number>\d+(?:\.\d+)?(?:e-?\d+)?)|(?P<name>[%s]+)|(?P<space> +)|(?P<other>.)" % LETTER)
FORMULA = re.compile(r"[=≈≤≥∘√±·∂]|[₀-₉⁰-⁹ᵀ²³]|[Α-Ωα-ω]")
CODE = re.compile(r"[{}\"#`\\$&]|;\s*$|->|^\s*(galpha|make|cc|\./)|^\s*[a-z_]+: [^=\n]*$|\w\(.*\)\.|//|/\*|\bga_|\bprint\b|==|\[\d|^\s*[a-z_]+ = [a-z_]+\.", re.M)


def tag(name, inside, **more):
    return "<%s%s>%s</%s>" % (name, "".join(' %s="%s"' % (k, v) for k, v in more.items()), inside, name)


def name_of(word):
    """One letter is a variable, more are a word; vdot is v with a dot."""
    for ending, mark in (("ddot", "\u0308"), ("dot", "\u0307")):
        if word.endswith(ending) and 0 < len(word) - len(ending) <= 2:
            return above(letter(word[: -len(ending)]), mark)
    return letter(word)


def letter(word):
    """Italic by the style sheet, since browsers take italic letters of formulas from fonts that may lack some, such as h."""
    return tag("mi", html.escape(word), **({"mathvariant": "normal", "class": "variable"} if len(word) == 1 else {}))


def letters_of(word):
    """Of a product such as δvdot, in which Greek letters stand before names: δ, vdot."""
    m = re.fullmatch(r"(.?)(.d?dot)", word)
    return [c for c in m.groups() if c] if m else list(word)


def above(base, mark):
    """A mark above a letter is part of it; above anything else it is an accent."""
    if LETTER_LAST.match(base):
        return base.replace("</mi>", mark + "</mi>")
    return tag("mover", base + tag("mo", mark), accent="true")


def script(text):
    return "".join(tag("mn", c) if c.isdigit() else tag("mo", c) if c in "+−" else letter(c) for c in text)


def is_words(text):
    """A remark beside a formula."""
    return not re.search(r"[=_^~₀-₉⁰-⁹ᵀ²³√·]", text) and bool(re.match(r"[(]?[A-Za-z][a-z]{2,}\b.*|(or|of|in|by|on|left|see) .*", text))


def formula(text):
    out, i = [], 0  # finished pieces of MathML; scripts are put around the last one
    while i < len(text):
        m = TOKEN.match(text, i)
        i = m.end()
        piece = m.group(0)
        if m.lastgroup == "space":
            out.append('<mspace width="0.3em"/>')
        elif m.lastgroup == "number":
            out.append(tag("mn", piece))
        elif m.lastgroup == "name":
            out += [name_of(piece)] if piece.isascii() else [name_of(c) for c in letters_of(piece)]
        elif piece in ABOVE and out:
            out[-1] = above(out[-1], ABOVE[piece])
        elif piece in SUBSCRIPT or piece in SUPERSCRIPT:
            table, kind = (SUBSCRIPT, "msub") if piece in SUBSCRIPT else (SUPERSCRIPT, "msup")
            raised = table[piece]
            while i < len(text) and text[i] in table:
                raised += table[text[i]]
                i += 1
            base = out.pop() if out else "<mi></mi>"
            out.append(tag(kind, base + tag("mrow", script(raised))))
        elif piece in "_^" and out:
            m = re.compile(r"[%s0-9]+" % LETTER).match(text, i)
            if not m:
                out.append(tag("mo", piece))
                continue
            i = m.end()
            kind = "msub" if piece == "_" else "msup"
            out[-1] = tag(kind, out[-1] + tag("mrow", name_of(m.group(0))))
        elif piece == "'" and out:
            while i < len(text) and text[i] == "'":
                piece += "'"
                i += 1
            out[-1] = tag("msup", out[-1] + tag("mo", "′" * len(piece)))
        else:
            out.append(tag("mo", html.escape(piece), stretchy="false"))
    return re.sub(r'(<mspace width="0.3em"/>)+', '<mspace width="0.3em"/>', "".join(out))


def cell(text):
    return tag("mtext", html.escape(text).replace(" ", "\u00a0")) if is_words(text) else tag("mrow", formula(text))


def table(lines):
    """Lines with their columns, which two spaces or more divide."""
    rows = [[cell(part) for part in re.split(r" {2,}(?![ =≈≤≥])", line.strip())] for line in lines]
    width = max(len(row) for row in rows)
    body = "".join(tag("mtr", "".join(tag("mtd", c) for c in row) + "<mtd></mtd>" * (width - len(row))) for row in rows)
    return '<div class="equation"><math display="block">%s</math></div>' % tag("mtable", body, columnalign="left")


def is_formula(lines):
    text = "\n".join(lines)
    return not CODE.search(text) and all(FORMULA.search(line) or line.lstrip().startswith("[") for line in lines) and "=" in text


def convert(text):
    """All indented blocks of formulas outside of fences."""
    parts = re.split(r"(^```.*?^```[^\n]*$)", text, flags=re.M | re.S)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"(?<=\n\n)(?: {4}[^\n]+\n)+(?=\n|\Z)", lambda m: block(m.group(0)), parts[k])
    return "".join(parts)


def block(text):
    lines = text.rstrip("\n").split("\n")
    return table(lines) + "\n" if is_formula(lines) else text


def letters(text):
    """What must be the same before and after: letters and digits in their order, without marks."""
    text = re.sub(r"(?<![%s])([%s]{1,2}?)d?dot(?![%s])" % (LETTER, LETTER, LETTER), r"\1", text)
    return "".join(c for c in unicodedata.normalize("NFKD", text) if c.isalnum())
