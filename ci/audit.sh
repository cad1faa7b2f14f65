#!/usr/bin/env bash
# Audits the targets in TARGETS (one a line), or the campaign file in CAMPAIGN, or with neither what
# [tool.verifiable-dp] in pyproject.toml lists, and keeps in the folder REPORTS
# one folder with the request, the record and its renderings for each, index.html over all, summary.md and sarif/.
# Targets that could not be audited have no record: summary.md names them, with the reason.
# CAGE is what code of a target is kept from (best): required, best or none.
# Arguments are options of `verifiable-dp audit`; with CHECK=regret of `verifiable-dp regret`, which is run instead.
# With `ask` before them requests are written and their digests printed, and no code of a target is run; with
# `audit` they are answered, or made if there are none, and nothing is judged; with `judge` nothing is audited, and
# no code of a target is run: arguments are options of `verifiable-dp judge` (with CHECK=regret it looks for records of
# regret), and REQUESTS may hold the digests that `ask` has printed. A campaign says itself what is asked, so it takes no arguments but for TARGETS beside it.
# Exit status: 0 not refuted, 1 refuted, 2 unusable, 3 inconclusive; of several targets the worst counts, in the order
# 2, 1, 3, 0. It is that of the records: what has none that answers its request and verifies is unusable, whatever its
# audit ended with.
set -uo pipefail

# What steers later steps of a job, and what may hold a secret, is nothing that a target needs to see. `unset` leaves
# it in /proc/PID/environ, which a target can read of its parent: this process begins again without it.
# It is told the names: what a target asks for and does not get counts.
kept=() dropped=
steers='^(GITHUB_(ENV|PATH|OUTPUT|STATE|STEP_SUMMARY)|BASH_ENV|ACTIONS_.*|SSH_AUTH_SOCK)$'
secret='TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|JWT|COOKIE|WEBHOOK|CONNECTION_STRING|(API|ACCESS|PRIVATE)_?KEY'
secret+='|(^|_)(PASS|PAT|AUTH|DSN|KEYS?|ASKPASS|(PG)?PASSFILE)(_|$)|_PWD$'
holds='://[^/[:space:]]+@|PRIVATE KEY-----'
shopt -s nocasematch
while IFS= read -r name; do
  if [[ $name =~ $steers || $name =~ $secret || ${!name} =~ $holds || ($name == ENV && ${!name} =~ [/\$\`]) ]]; then
    dropped+=" $name"
  elif [[ $name != VERIFIABLE_DP_WITHHELD ]]; then kept+=("$name=${!name}"); fi
done < <(compgen -e)
shopt -u nocasematch
if [[ -n $dropped ]]; then
  exec env -i "${kept[@]}" VERIFIABLE_DP_WITHHELD="${VERIFIABLE_DP_WITHHELD:-}$dropped" "$BASH" "$0" "$@"
fi

reports=${REPORTS:-audit-reports} steps='ask audit judge' check=${CHECK:-audit} cage=${CAGE:-best}
if [[ ${1:-} == ask || ${1:-} == audit || ${1:-} == judge ]]; then steps=$1 && shift; fi

case $check in
  audit | regret) ;;
  *) echo "audit.sh: CHECK must be audit or regret, got $check" >&2 && exit 2 ;;
esac

targets=()
while IFS= read -r target; do
  target=${target#"${target%%[![:space:]]*}"} # spaces at both ends are cut
  target=${target%"${target##*[![:space:]]}"}
  if [[ -n $target ]]; then targets+=("$target"); fi
done <<<"${TARGETS:-}"
if [[ -z ${CAMPAIGN:-} && ${#targets[@]} == 0 ]] && grep -qs '^ *\[\+ *tool\.verifiable-dp[].]' pyproject.toml; then
  CAMPAIGN=pyproject.toml
fi
if [[ -z ${CAMPAIGN:-} && ${#targets[@]} == 0 ]]; then # before a folder is made, which the next run would refuse
  echo "audit.sh: TARGETS or CAMPAIGN must name something that can be audited, both are empty, and pyproject.toml has no [tool.verifiable-dp]" >&2
  exit 2
fi

if [[ $steps != judge && ${#targets[@]} == 0 && $# != 0 ]]; then
  echo "audit.sh: arguments work only with TARGETS, got $*; write them into $CAMPAIGN" >&2
  exit 2
fi

run() { # NAME RECORD COMMAND...: its stderr is shown; what it says last is noted if it ends with no verdict or RECORD
  local errors status line
  errors=$(mktemp) || exit 2
  {
    "${@:3}" 2>&1 >&3 3>&- </dev/null | tee "$errors" >&2
    status=${PIPESTATUS[0]}
  } 3>&1
  if [[ $status == [013] && ! -e $2 ]]; then
    echo "verifiable-dp: exit status $status without a record" >>"$errors"
    status=2
  fi
  if [[ $status != [013] ]]; then
    if [[ -L $reports/not-audited.txt || ! -f $reports/not-audited.txt ]]; then rm -rf "$reports/not-audited.txt"; fi
    while IFS= read -r line; do
      printf '%s\t%s\n' "$1" "${line#verifiable-dp: }" >>"$reports/not-audited.txt"
    done < <(grep '^verifiable-dp: ' "$errors" || echo "exit status $status")
  fi
  rm -f "$errors"
}

records() { compgen -G "$reports/*/record.json"; }

place() { # NUMBER TARGET: how the folder of a target begins, of its regret another one; its request's digest follows
  local of=''
  if [[ $check == regret ]]; then of=-regret; fi
  printf '%s/%02d-%s%s' "$reports" "$1" "$(tr -cs 'A-Za-z0-9_.\n' '-' <<<"$2")" "$of"
}

new() { # REPORTS has to be a new or empty folder and not a link to one, or to hold what was asked for and no more
  local there
  there=$(ls -A "$reports" 2>/dev/null | grep -vx .gitignore)
  if [[ $steps == audit ]] && compgen -G "$reports/*/request.json" >/dev/null; then there=$(records); fi
  local part=$reports
  while [[ ! -L $part && $part == */* && $reports != /* ]]; do part=${part%/*}; done # a checkout may hold links
  if [[ -L $reports || -L $part || -n $there ]]; then
    echo "audit.sh: REPORTS must be a new or empty folder, with no link on the way to it, got $reports" >&2
    exit 2
  fi
  if [[ -d $reports ]]; then return; fi
  mkdir -p "$reports" || exit 2
  echo '*' >"$reports/.gitignore" # what is new in a repository is in no commit, so that a command's code would count as changed
}

ask() { # OPTIONS...: the digests of the requests, a line each
  local number=0 target folder said
  if [[ -n ${CAMPAIGN:-} ]]; then
    run "$CAMPAIGN" "$reports" verifiable-dp campaign "$CAMPAIGN" --out "$reports" --ask
  fi
  for target in ${targets[@]+"${targets[@]}"}; do # as older shells want it, for which an empty list is unset
    number=$((number + 1))
    folder=$(place "$number" "$target")
    mkdir "$folder" || exit 2
    said=$(run "$target" "$folder/request.json" verifiable-dp "$check" "$@" --ask "$folder/request.json" -- "$target")
    if [[ $said =~ ^sha256:([0-9a-f]{12}) ]]; then # no two answers share a place, also where jobs merge their folders
      mv "$folder" "$folder-${BASH_REMATCH[1]}" && echo "${said%% *}  $folder-${BASH_REMATCH[1]}/request.json"
    fi
    rmdir "$folder" 2>/dev/null # that of what could not be asked for
  done
  return 0
}

audit() { # OPTIONS...
  local number=0 target request
  if [[ $steps == audit ]]; then
    new
    if ! compgen -G "$reports/*/request.json" >/dev/null; then ask "$@" >/dev/null; fi
  fi
  if [[ -n ${CAMPAIGN:-} ]]; then
    run "$CAMPAIGN" "$reports/index.html" verifiable-dp campaign "$CAMPAIGN" --out "$reports" --cage "$cage"
  fi
  for target in ${targets[@]+"${targets[@]}"}; do
    number=$((number + 1))
    for request in "$(place "$number" "$target")"-????????????/request.json; do
      if [[ ! -f $request ]]; then continue; fi # why not was noted
      run "$target" "${request%/*}/record.json" verifiable-dp "$check" "$@" --cage "$cage" --request "$request" \
        --json "${request%/*}/record.json" --html "${request%/*}/record.html" -- "$target"
    done
  done
}

judge() { # OPTIONS...
  local given=(--check "$check" "$@") request worst record folder failed
  if [[ -n ${CAMPAIGN:-} ]]; then given+=(--campaign "$CAMPAIGN"); fi
  for request in $(grep -oE 'sha256:[0-9a-f]{64}' <<<"${REQUESTS:-}"); do given+=(--request "$request"); done
  # Set and without a digest: nothing could be asked for, so that nothing answers.
  if [[ -n ${REQUESTS+set} && ! $REQUESTS == *sha256:* ]]; then given+=(--request sha256:); fi
  failed=$(mktemp) || exit 2
  rm -rf "$reports/sarif" "$reports/summary.md" # which a target may have made links or pipes of
  mkdir "$reports/sarif" && : >"$reports/summary.md" || exit 2
  if [[ -f $reports/not-audited.txt && ! -L $reports/not-audited.txt ]]; then sed 's/\t/: /' "$reports/not-audited.txt" >"$failed"; fi
  {
    verifiable-dp judge ${given[@]+"${given[@]}"} -- "$reports" ${targets[@]+"${targets[@]}"} 2>&1 >&3 |
      awk '!sub(/^verifiable-dp: /, "") { print >"/dev/stderr"; next } { print }' >>"$failed"
    worst=${PIPESTATUS[0]}
  } 3>&1
  if [[ -s $failed ]]; then
    worst=2
    {
      printf '# Not audited\n\n'
      awk '!seen[$0]++' "$failed" | sed 's/`//g; s/.*/- `&`/'
      echo
    } | tee "$reports/summary.md" >&2
  fi
  rm -f "$failed"
  for record in "$reports"/*/record.json; do
    [[ -f $record ]] || continue
    folder=${record%/record.json}
    if verifiable-dp render "$record" --to markdown --out "$folder/record.md" --to junit --out "$folder/junit.xml" \
      --to sarif --out "$reports/sarif/${folder##*/}.sarif"; then
      cat "$folder/record.md" >>"$reports/summary.md"
    else
      worst=2 # what is there somebody else may have put in place of the page
    fi
    if [[ ${GITHUB_ACTIONS:-} == true ]]; then verifiable-dp render "$record" --to github || worst=2; fi
  done
  if [[ -z $(records) ]]; then
    echo "audit.sh: no record was made: TARGETS or CAMPAIGN must name something that can be audited" >&2
    exit 2
  fi
  verifiable-dp portfolio "$reports" || worst=2
  case $worst in 0 | 1 | 3) exit "$worst" ;; *) exit 2 ;; esac
}

case $steps in
  ask) new && ask "$@" ;;
  *ask*) new && REQUESTS=$(ask "$@") || exit 2 ;; # kept here, where no code of a target gets
esac
if [[ $steps == *audit* ]]; then audit "$@"; fi
if [[ $steps == judge ]]; then judge "$@"; elif [[ $steps == *judge* ]]; then judge; fi
