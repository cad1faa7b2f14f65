# Sets `options` from the inputs of the action, for audit.sh; sourced by its steps.
# shellcheck shell=bash
options=()
add() { if [[ -n $2 ]]; then options+=("$1" "$2"); fi; }
add --epsilon "$EPSILON"
add --delta "$DELTA"
add --arms "$ARMS"
add --horizon "$HORIZON"
if [[ -n $TARGETS ]]; then # else a campaign is audited, and says so itself; these two are never empty
  add --budget "$BUDGET"
  add --seed "$SEED"
fi
add --detect "$DETECT"
IFS=$' \t\r\n' read -d '' -ra more <<<"$OPTIONS" || true # of all lines
options+=(${more[@]+"${more[@]}"})
