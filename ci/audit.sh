#!/usr/bin/env bash
# Audits the targets in TARGETS (one a line), or the campaign file in CAMPAIGN, and keeps in the folder REPORTS
# one folder with the record and its renderings for each, index.html over all, summary.md and sarif/.
# Arguments are options of `verifiable-dp audit`. Exit status: 0 not refuted, 1 refuted, 2 unusable, 3 inconclusive;
# of several targets the worst counts, in the order 2, 1, 3, 0.
set -uo pipefail
reports=${REPORTS:-audit-reports} worst=0

keep_worst() { # STATUS
  case $1 in 0 | 1 | 3) ;; *) set -- 2 ;; esac
  case $worst$1 in 2? | 1[013] | 3[03]) ;; *) worst=$1 ;; esac
}

if [[ -n $(ls -A "$reports" 2>/dev/null) ]]; then
  echo "audit.sh: REPORTS must be a new or empty folder, got $reports" >&2
  exit 2
fi
mkdir -p "$reports" || exit 2
if [[ -n ${CAMPAIGN:-} ]]; then
  verifiable-dp campaign "$CAMPAIGN" --out "$reports"
  keep_worst $?
fi
number=0
while IFS= read -r target; do
  [[ -z ${target//[[:space:]]/} ]] && continue
  number=$((number + 1))
  folder=$(printf '%s/%02d-%s' "$reports" "$number" "$(tr -cs 'A-Za-z0-9_.\n' '-' <<<"$target")")
  mkdir -p "$folder" || exit 2
  verifiable-dp audit "$@" --json "$folder/record.json" --html "$folder/record.html" -- "$target" </dev/null
  keep_worst $?
done <<<"${TARGETS:-}"

mkdir -p "$reports/sarif" && : >"$reports/summary.md" || exit 2
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
