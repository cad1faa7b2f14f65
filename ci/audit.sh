#!/usr/bin/env bash
# Audits the targets in TARGETS (one a line), or the campaign file in CAMPAIGN, and keeps in the folder REPORTS
# one folder with the record and its renderings for each, index.html over all, summary.md and sarif/. Targets that
# could not be audited have no folder: summary.md names them, with the reason.
# Arguments are options of `verifiable-dp audit`. Exit status: 0 not refuted, 1 refuted, 2 unusable, 3 inconclusive;
# of several targets the worst counts, in the order 2, 1, 3, 0. Unusable is also what ends in any other way: 70, an
# error of verifiable-dp, a status that is not known, or status 1 without a record, which no refutation has.
set -uo pipefail
reports=${REPORTS:-audit-reports} worst=0 failed=()

keep_worst() { # STATUS
  case $1 in 0 | 1 | 3) ;; *) set -- 2 ;; esac
  case $worst$1 in 2? | 1[013] | 3[03]) ;; *) worst=$1 ;; esac
}

run() { # NAME RECORD COMMAND...: its stderr is shown, and what it says last is kept if it fails or makes no RECORD
  local errors status line
  errors=$(mktemp) || exit 2
  {
    "${@:3}" 2>&1 >&3 | tee "$errors" >&2
    status=${PIPESTATUS[0]}
  } 3>&1
  if [[ $status == [013] && ! -f $2 ]]; then
    echo "verifiable-dp: exit status $status without a record" >>"$errors"
    status=2
  fi
  if [[ $status != [013] ]]; then
    while IFS= read -r line; do
      failed+=("$(tr -d '`' <<<"$1: ${line#verifiable-dp: }")")
    done < <(grep '^verifiable-dp: ' "$errors" || echo "exit status $status")
  fi
  rm -f "$errors"
  return "$status"
}

if [[ -n $(ls -A "$reports" 2>/dev/null) ]]; then
  echo "audit.sh: REPORTS must be a new or empty folder, got $reports" >&2
  exit 2
fi
targets=${TARGETS:-}
if [[ -z ${CAMPAIGN:-} && -z ${targets//[[:space:]]/} ]]; then # before a folder is made, which the next run would refuse
  echo "audit.sh: TARGETS or CAMPAIGN must name something that can be audited, both are empty" >&2
  exit 2
fi
mkdir -p "$reports" || exit 2
if [[ -n ${CAMPAIGN:-} ]]; then
  run "$CAMPAIGN" "$reports/index.html" verifiable-dp campaign "$CAMPAIGN" --out "$reports"
  keep_worst $?
fi
number=0
while IFS= read -r target; do
  [[ -z ${target//[[:space:]]/} ]] && continue
  number=$((number + 1))
  folder=$(printf '%s/%02d-%s' "$reports" "$number" "$(tr -cs 'A-Za-z0-9_.\n' '-' <<<"$target")")
  mkdir -p "$folder" || exit 2
  run "$target" "$folder/record.json" verifiable-dp audit "$@" --json "$folder/record.json" --html "$folder/record.html" -- "$target" </dev/null
  keep_worst $?
  rmdir "$folder" 2>/dev/null # that of what could not be audited
done <<<"$targets"

mkdir -p "$reports/sarif" && : >"$reports/summary.md" || exit 2
if [[ ${#failed[@]} != 0 ]]; then
  printf '# Not audited\n\n' >"$reports/summary.md"
  printf -- '- `%s`\n' "${failed[@]}" >>"$reports/summary.md"
  echo >>"$reports/summary.md"
fi
kept=0
for record in "$reports"/*/record.json; do
  [[ -f $record ]] || continue
  kept=$((kept + 1)) folder=${record%/record.json}
  verifiable-dp render "$record" --to markdown --out "$folder/record.md" &&
    verifiable-dp render "$record" --to junit --out "$folder/junit.xml" &&
    verifiable-dp render "$record" --to sarif --out "$reports/sarif/${folder##*/}.sarif" || worst=2
  cat "$folder/record.md" >>"$reports/summary.md"
done
if [[ $kept == 0 ]]; then
  echo "audit.sh: no record was made: TARGETS or CAMPAIGN must name something that can be audited" >&2
  exit 2
fi
verifiable-dp portfolio "$reports" || worst=2
exit "$worst"
