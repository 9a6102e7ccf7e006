# Part of tests/cli/run: files, names and command lines that somebody made to get in, to hang the program or to have it take
# all memory. Here a message and an exit code is all that may come of them.

mkdir hostile && cd hostile || exit 1
cp ../pendulum.yaml .
limited "$limit" "$program" run -q pendulum.yaml >"$work/said" 2>&1 || report 1 "hostile: a result to begin with"

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
  limited "$limit" script -qec "'$program' info title.h5 --model" /dev/null </dev/null >"$work/said" 2>&1
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
expect "an include that is a pipe" 2 "pipe.yaml: cannot be read: it is no file" check includes.yaml
sed 's/^galpha: 1/&\ninclude: ["part\\nerror.yaml"]/' pendulum.yaml >includes.yaml
expect "an include with two lines in its name" 2 "is not read: its name has control characters" check includes.yaml

# ---- Files that are in the way ----

ln -s pendulum.yaml link.svg
echo keep >kept.svg && ln -s kept.svg to_kept.svg && ln -s nowhere.svg broken.svg
expect "a picture through a link" 0 "picture" plot pendulum.h5 hinge.angle -o to_kept.svg
[ -L to_kept.svg ] && grep -q '</svg>' kept.svg
report $? "a picture through a link: the link stays, the picture is where it leads"
expect "a picture through a link to nowhere" 1 "cannot be written" plot pendulum.h5 hinge.angle -o broken.svg
expect "a table over the result" 2 "is the result file itself" export pendulum.h5 --csv ./pendulum.h5
expect "a table over a model" 2 "ends like a model or a result" export pendulum.h5 --csv pendulum.yaml
expect "a model over itself" 2 "a file that the model is read from" write pendulum.yaml -o ./pendulum.yaml
expect "a model over a result" 2 "ends like a result or a picture" write pendulum.yaml -o pendulum.h5
echo 'old' >kept_too.svg
(ulimit -f 1 && limited "$limit" "$program" plot pendulum.h5 hinge.angle -o kept_too.svg) >"$work/said" 2>&1
[ $? -eq 1 ] && [ "$(cat kept_too.svg)" = old ] && [ -z "$(ls ./*.part* 2>/dev/null)" ]
report $? "a picture that may not grow: an error, and the old one stays"

# A disk of 16 kB in a name space of its own, where that is allowed.
if unshare -rm true 2>/dev/null && mkdir disk && unshare -rm mount -t tmpfs none disk 2>/dev/null; then
  for ending in svg png pdf; do
    unshare -rm bash -c 'mount -t tmpfs -o size=16k none disk && cat /dev/zero >disk/fill 2>/dev/null; limited "$1" "$2" plot \
      pendulum.h5 hinge.angle -o disk/full.$3; code=$?; ls disk; exit $code' - "$limit" "$program" $ending >"$work/said" 2>&1
    [ $? -eq 1 ] && says "disk/full.$ending cannot be written: No space left on device" && [ "$(tail -n 1 "$work/said")" = fill ]
    report $? "a picture on a full disk, $ending: an error, and nothing is left"
  done
fi

# ---- Results that lie ----

# in_bounds COMMAND...: within 1.5 GB of address space (which sanitizers do not bear) and the time limit, and no end by a signal
address_space=1500000
(ulimit -v $address_space; "$program" --version) >/dev/null 2>&1 || address_space=unlimited
in_bounds() {
  (ulimit -v $address_space; limited "$limit" "$program" "$@") >"$work/said" 2>&1
  local code=$?
  [ $code -le 2 ] || echo "exit code $code" >>"$work/said"
  return $code
}

python=/usr/bin/python3
$python -c 'import h5py' 2>/dev/null || python=python3
if $python -c 'import h5py' 2>/dev/null; then
  mkdir lies && mkfifo lies/pipe.h5
  $python "$here/hostile.py" pendulum.h5 lies >lies.txt 2>"$work/said" && [ "$(wc -l <lies.txt)" -gt 40 ]
  report $? "results that lie can be made"
  while read -r lie expected; do
    in_bounds info "lies/$lie.h5" --signals
    code=$?
    case $expected in
      refused) [ $code -eq 2 ] && says "lies/$lie.h5: cannot be read" ;;
      damaged) [ $code -eq 1 ] && says "lies/$lie.h5: damaged" ;;
      shown) [ $code -eq 0 ] && says "records      21" ;;
    esac && no_control
    report $? "info: a result with $lie is $expected"
    odd=0
    for run in "plot lies/$lie.h5 hinge.angle -o lie.svg" "export lies/$lie.h5 --csv -" "info lies/$lie.h5 --model" \
      "info lies/$lie.h5 --names" "run -q pendulum.yaml --resume --t-end 2.1 -o lies/$lie.h5"; do
      in_bounds $run
      [ $? -le 2 ] || { odd=1 && break; }
    done
    report $odd "plot, export, resume: a result with $lie"
  done <lies.txt
  galpha export lies/formula_as_name.h5 --csv - && says "'=cmd|"
  report $? "export: a name that is a formula gets an apostrophe"
  bash -c 'source <("$1" --completion); COMP_WORDS=(galpha plot lies/command_as_name.h5 "") COMP_CWORD=3; _galpha "$1"' - "$program" \
    >"$work/said" 2>&1
  report $? "completion: a name that is a command"
  nothing_ran "results that lie"
else
  n=$((n + 1))
  echo "not ok $n # SKIP results that lie: no h5py"
fi

# ---- Damage and loss ----

# damage FILE OFFSET BYTES: other bytes in a file
damage() { printf '\125%.0s' $(seq "$3") | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }

limited "$limit" "$program" run -q pendulum.yaml --step 0.1ms --output 0 --t-end 0.5 --flush-every 0 -o whole.h5 >"$work/said" 2>&1
limited "$limit" "$program" export whole.h5 hinge.angle --csv whole.csv >"$work/said" 2>&1
bytes=$(size whole.h5) met=0
for at in 30000 $((bytes / 3)) $((bytes / 2)) $((bytes * 2 / 3)) $((bytes - 30000)); do
  cp whole.h5 hurt.h5
  damage hurt.h5 "$at" 64
  galpha info hurt.h5
  code=$?
  [ $code -eq 0 ] && continue # nothing that is used lies there
  met=$((met + 1))
  { [ $code -eq 1 ] && says "galpha info: hurt.h5: damaged: records " && grep -qE 'records [0-9]+ to [0-9]+ of ' "$work/said"; } ||
    { [ $code -eq 2 ] && says "hurt.h5"; }
  report $? "damage at byte $at: info names the records"
  galpha export hurt.h5 hinge.angle --csv hurt.csv
  code=$?
  awk -F, 'NR == FNR { line[FNR] = $0; n = FNR; next }
           { t = $1; if ($0 != line[FNR] && $0 !~ /nan/) bad = 1; if ($0 ~ /nan/) gone++ }
           END { exit bad || FNR != n || gone > 2048 }' whole.csv hurt.csv
  [ $? -eq 0 ] && { [ $code -eq 0 ] || says "damaged: records"; }
  report $? "damage at byte $at: export has the numbers of the other records, and no wrong one"
  galpha plot hurt.h5 '*' -o hurt.svg
  case $? in 1) says "damaged: records" ;; 2) says "more than 64 curves" ;; *) false ;; esac
  report $? "damage at byte $at: plot says so"
done
[ $met -ge 3 ]
report $? "damage was met $met times of 5"

# A run whose file is taken away: an error, whatever is done to it.
# taken_away NAME WORDS COMMAND: COMMAND gets the file's name
taken_away() {
  rm -f gone.h5
  "$program" run -q ../long.yaml --t-end 1e6 --flush-every 0.05 -o gone.h5 >"$work/said" 2>&1 &
  local pid=$! i
  for ((i = 0; i < 100; i++)); do [ "$(size gone.h5)" -gt 20000 ] && break; sleep 0.02; done
  eval "$3"
  for ((i = 0; i < 200; i++)); do kill -0 $pid 2>/dev/null || break; sleep 0.05; done
  kill -0 $pid 2>/dev/null && { echo "still running" >>"$work/said"; kill $pid; }
  wait $pid
  [ $? -eq 1 ] && says "the results cannot be written & $2"
  report $? "a result file that $1"
}
taken_away "is deleted" "gone.h5: was deleted or replaced by another program & gone.h5 no longer exists: & run it again" "rm gone.h5"
taken_away "is truncated" "gone.h5: was truncated by another program" ": >gone.h5"
taken_away "is cut in half" "gone.h5: was truncated by another program" "truncate -s 10000 gone.h5"
taken_away "is replaced" "gone.h5: was deleted or replaced by another program" "cp pendulum.h5 other.h5; mv other.h5 gone.h5"
taken_away "is moved" "gone.h5: was moved by another program" "mv gone.h5 away.h5"

# The same in a later round of a run with error bars: the round before stays.
# round_taken_away NAME WORDS COMMAND
round_taken_away() {
  rm -f gone.h5 gone.h5.part
  "$program" run -q ../long.yaml --accuracy 1e-4 --t-end 6 --output 0 --flush-every 0.02 -o gone.h5 >"$work/said" 2>&1 &
  local pid=$! i code
  for ((i = 0; i < 500; i++)); do [ "$(size gone.h5.part)" -gt 20000 ] && break; sleep 0.02; done
  eval "$3"
  wait $pid
  code=$?
  [ $code -eq 1 ] && says "the results cannot be written & $2 & the complete results of the previous round"
  report $? "a later round's file that $1"
  expect "a later round's file that $1: the round before can be read" 0 "each with its error bars" info gone.h5
}
round_taken_away "is deleted" "gone.h5.part: was deleted or replaced by another program" "rm -f gone.h5.part"
round_taken_away "is truncated" "gone.h5.part: was truncated by another program" ": >gone.h5.part"
# both files: nothing is left, and that is said
rm -f gone.h5 gone.h5.part
"$program" run -q ../long.yaml --accuracy 1e-4 --t-end 6 --output 0 --flush-every 0.02 -o gone.h5 >"$work/said" 2>&1 &
pid=$!
for ((i = 0; i < 500; i++)); do [ "$(size gone.h5.part)" -gt 20000 ] && break; sleep 0.02; done
rm -f gone.h5 gone.h5.part
wait $pid
[ $? -eq 1 ] && says "gone.h5.part: was deleted & gone.h5 and gone.h5.part no longer exist: & the results of this run are lost"
report $? "both files of a run that are deleted"
expect "a result file that was moved: what was flushed is there" 0 "records" info away.h5

# ---- Numbers that are too large ----

# overflows NAME WORDS CHANGE: an error that names something, and no record with an infinite value
overflows() {
  sed "$3" falls.yaml >over.yaml
  rm -f over.h5
  galpha run -q over.yaml
  [ $? -eq 1 ] && says "$2" && { [ ! -e over.h5 ] || ! "$program" export over.h5 --csv - | tail -n +2 | grep -qE 'nan|inf'; }
  report $? "overflow: $1"
}
printf 'galpha: 1\ngravity: [0, -9.81, 0]\nsimulation: {t_end: 1, step: 10 ms}\nbodies:\n  ball: {type: point, mass: 1, position: [1, 0, 0], velocity: [1, 0, 0]}\n' >falls.yaml
expect "a ball that falls" 0 "" run -q falls.yaml
overflows "gravity" "the signal 'energy.kinetic' is inf at t = & check their units" 's/-9.81/-1e300/'
overflows "velocity" "is inf at t =" 's/velocity: .1,/velocity: [1e200,/'
overflows "mass" "inf" 's/mass: 1,/mass: 1e308,/'
overflows "energies that are not recorded" "the energies of the machine are infinite" 's/velocity: .1,/velocity: [1e200,/; s/10 ms/10 ms, record: [ball.x]/'
sed 's/velocity: .1,/velocity: [1e200,/' falls.yaml >over.yaml
expect "converge: overflow" 1 "the error of" converge over.yaml --levels 2
sed 's/t_end: 1,/t_end: 1e300,/' falls.yaml >over.yaml
expect "a run without an end" 2 "t_end" run over.yaml
expect "a run of too many steps" 2 "steps" run falls.yaml --t-end 1e9 --step 1e-12
expect "a run of too many controlled steps" 2 "steps" run falls.yaml --tol 1e-3 --max-step 1e-300

# ---- Much of everything ----

# Twenty thousand mistakes: all are counted, the first hundred shown, the first of them with the name that was meant; and in
# a time that grows with their number only, since each of these would take minutes otherwise.
mistakes() { # NAME WORDS LINE-BEFORE LINE
  { echo 'galpha: 1'; seq 20000 | awk -v before="$3" -v line="$4" 'BEGIN { print before } { one = line; gsub(/#/, $1, one); print one }'
    [ $# -lt 5 ] || seq 20000 | awk -v line="$5" 'BEGIN { print "joints:" } { one = line; gsub(/#/, $1, one); print one }'; } >many.yaml
  expect "20000 mistakes: $1" 2 "$2" check many.yaml
}
mistakes "names of parts" "did you mean 'ball1'? & too many errors, 19900 more are not shown" "bodies:" \
  "  ball#: {type: point, mass: 1, position: [1, 0, 0]}" "  j#: {type: distance, a: ground, b: bal#}"
mistakes "names in expressions" "did you mean 'length10'? & too many errors, 19900 more are not shown" "parameters:" "  length#: 2*lenght#"
mistakes "keys" "did you mean 'mass'? & too many errors" "bodies:" "  ball#: {type: point, mas: 1}"
mistakes "units" "did you mean 'kg'? & too many errors" "bodies:" "  ball#: {type: point, mass: 1 kgg}"
mistakes "a name taken twice" "'ball' is there already & too many errors, 19899 more" "bodies:" "  ball: {type: point, mass: #}"
mistakes "sections" "is unknown & too many errors, 19900 more" "bodies: {a: {type: point, mass: 1}}" "bodis#: 1"

cd ..
