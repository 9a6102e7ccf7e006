# Part of tests/cli/run: files, names and command lines that somebody made to get in, to hang the program or to have it take
# all memory. Here a message and an exit code is all that may come of them.

mkdir hostile && cd hostile || exit 1
cp ../pendulum.yaml .
timeout "$limit" "$program" run -q pendulum.yaml >"$work/said" 2>&1 || report 1 "hostile: a result to begin with"

# nothing_ran NAME: no command in a name or text was run; each of them would have made a file called pwned
nothing_ran() {
  [ -z "$(find "$work" -name 'pwned*')" ]
  report $? "$1: nothing is run"
}

# ---- Names and texts that are commands ----

command='|touch pwned; #'
cp pendulum.yaml "$command.yaml"
expect "converge: a model's name that is a command" 0 "picture: ${command}_orders.svg" converge "$command.yaml" --levels 2 --t-end 0.2
for ending in svg png pdf; do
  expect "plot: a picture's name that is a command, $ending" 0 "picture: $command.$ending" plot pendulum.h5 hinge.angle -o "$command.$ending"
  [ -s "$command.$ending" ]
  report $? "plot: $ending: the picture has that name"
done
expect "run: a model's name that is a command" 0 "$command.h5: " run "$command.yaml" --t-end 0.1
text='`touch pwned` $(touch pwned) '"'"'; system("touch pwned") #" ; !touch pwned'
expect "plot: a title that is a command" 0 "picture" plot pendulum.h5 hinge.angle -o title.svg --title "$text <b>{/:Bold x}"
grep -qF '&lt;b' title.svg && ! grep -qF '<b>' title.svg
report $? "plot: a title is no markup"
nothing_ran "names and titles"

# gnuplot's own settings of a user are not read, so that a picture does not depend on them.
mkdir home
echo "system('touch pwned')" >home/.gnuplot
cp home/.gnuplot .gnuplot
HOME=$PWD/home galpha plot pendulum.h5 hinge.angle -o home.svg
report $? "plot: with settings of gnuplot in HOME"
nothing_ran "settings of gnuplot"

# ---- Terminals ----

# no_control: nothing but line ends and tabs of all control characters was said, and no character that turns the direction
no_control() { ! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]' "$work/said"; }

printf 'galpha: 1\ntitle: "a\\e[2Jb"\n"bo\\e[31mdies\\nx": 1\n"\xe2\x80\xaex": 1\n"\\u009b31m": 2\n' >escapes.yaml
expect "check: escapes in keys" 2 "escapes.yaml:3:1: error" check escapes.yaml
no_control
report $? "check: escapes in keys are not printed"
sed 's/title: .*/title: "a\\e[2Jb\\r\\u202ec\\nd\\u009be"/' pendulum.yaml >title.yaml
for run in "check title.yaml" "run title.yaml --t-end 0.1" "info title.h5" "converge title.yaml --levels 2 --t-end 0.1" \
  "plot title.h5 hinge.angle -o title.svg"; do
  expect "galpha $run: escapes in a title" 0 "" $run
  no_control
  report $? "galpha $run: they are not printed"
done
expect "a file's name with an escape" 2 "control character" info $'a\e[31mb.h5'
expect "a file's name with two lines" 2 "control character" run $'pendulum.yaml\nok'
expect "a name that is no UTF-8" 2 'a\xffb' info $'a\xffb'
if command -v script >/dev/null; then
  timeout "$limit" script -qec "'$program' info title.h5 --model" /dev/null </dev/null >"$work/said" 2>&1
  tr -d '\r' <"$work/said" >plain && mv plain "$work/said"
  no_control && says 'title: "a\e[2Jb'
  report $? "a model shown on a terminal"
fi
expect "a model that is written again" 0 'title: "a\e[2Jb' write title.yaml

# ---- What is no file ----

mkfifo pipe.yaml pipe.h5 pipe.svg
for run in "check pipe.yaml" "run pipe.yaml" "write pipe.yaml" "check /dev/zero" "info pipe.h5" "info /dev/zero" \
  "plot pipe.h5 hinge.angle -o out.svg" "plot /dev/zero hinge.angle -o out.svg" "export /dev/stdin --csv out.csv" \
  "plot pendulum.h5 hinge.angle -o pipe.svg" "converge pendulum.yaml --levels 2 --t-end 0.1 -o pipe.svg" \
  "run pendulum.yaml -o pipe.h5" "run pendulum.yaml -o /dev/null" "run pendulum.yaml -o /dev/full" \
  "run pendulum.yaml --resume -o pipe.h5"; do
  expect "galpha $run: refused, and no waiting" 2 "" $run </dev/null
done
sed 's/^galpha: 1/&\ninclude: [pipe.yaml]/' pendulum.yaml >includes.yaml
expect "an include that is a pipe" 2 "pipe.yaml' is no file" check includes.yaml

# ---- Files that are in the way ----

ln -s pendulum.yaml link.svg
echo keep >kept.svg && ln -s kept.svg to_kept.svg && ln -s nowhere.svg broken.svg
expect "a picture through a link" 0 "picture" plot pendulum.h5 hinge.angle -o to_kept.svg
[ -L to_kept.svg ] && grep -q '</svg>' kept.svg
report $? "a picture through a link: the link stays, the picture is where it leads"
expect "a picture through a link to nowhere" 1 "cannot be written" plot pendulum.h5 hinge.angle -o broken.svg
expect "a table over the result" 2 "is the result file itself" export pendulum.h5 --csv ./pendulum.h5
expect "a table over a model" 2 "ends like a model or a result" export pendulum.h5 --csv pendulum.yaml
expect "a model over itself" 2 "the model is read from this file" write pendulum.yaml -o ./pendulum.yaml
expect "a model over a result" 2 "ends like a result or a picture" write pendulum.yaml -o pendulum.h5
echo 'old' >kept_too.svg
(ulimit -f 1 && timeout "$limit" "$program" plot pendulum.h5 hinge.angle -o kept_too.svg) >"$work/said" 2>&1
[ $? -eq 1 ] && [ "$(cat kept_too.svg)" = old ] && [ -z "$(ls ./*.part* 2>/dev/null)" ]
report $? "a picture that may not grow: an error, and the old one stays"

# A disk of 16 kB in a name space of its own, where that is allowed.
if unshare -rm true 2>/dev/null && mkdir disk && unshare -rm mount -t tmpfs none disk 2>/dev/null; then
  for ending in svg png pdf; do
    unshare -rm bash -c 'mount -t tmpfs -o size=16k none disk && cat /dev/zero >disk/fill 2>/dev/null; timeout "$1" "$2" plot \
      pendulum.h5 hinge.angle -o disk/full.$3; code=$?; ls disk; exit $code' - "$limit" "$program" $ending >"$work/said" 2>&1
    [ $? -eq 1 ] && says "disk/full.$ending cannot be written: No space left on device" && [ "$(tail -n 1 "$work/said")" = fill ]
    report $? "a picture on a full disk, $ending: an error, and nothing is left"
  done
fi

cd ..
