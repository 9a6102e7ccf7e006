# Tables of a page of Markdown that would not be drawn as such, a line each: one that begins without an empty line or a heading
# before it or has no row of dashes, a row with more or fewer columns than the first one.
function columns(line) {
  gsub(/\\[|]/, "", line)
  gsub(/^[ ]*[|]|[|][ ]*$/, "", line)
  return gsub(/[|]/, "", line) + 1
}
/^```/                  { code = !code }
code || !/^ ? ? ?[|]/   { rows = 0; before = $0; next }
{
  rows++
  if (rows == 1) {
    first = columns($0)
    if (before != "" && before !~ /^#/) print FNR ": no empty line before the table"
  }
  else if (columns($0) != first) print FNR ": " columns($0) " columns instead of " first
  if (rows == 2 && $0 !~ /^ *[|][-:| ]*-[-:| ]*[|] *$/) print FNR ": no row of dashes under the head of the table"
  before = $0
}
