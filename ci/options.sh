# Sets `options` from the inputs of the action, for audit.sh; sourced by its steps.
# shellcheck shell=bash
options=()
add() { if [[ -n $2 ]]; then options+=("$1" "$2"); fi; }
add --epsilon "$EPSILON"
add --delta "$DELTA"
add --arms "$ARMS"
add --horizon "$HORIZON"
add --budget "$BUDGET"
add --detect "$DETECT"
add --seed "$SEED"
read -ra more <<<"$OPTIONS"
options+=(${more[@]+"${more[@]}"})
