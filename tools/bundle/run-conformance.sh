#!/usr/bin/env bash
# Runs the conformance cases, the samples and a precompiled program on this machine and writes everything that came of it to one JSON file.
#
#   ./run-conformance.sh [options] [TARGET ...]
#
# TARGET: cuda (the GPU of this machine; the default), cpu, interpreter, or a GPU as in sm_90a, which is then emulated.
#   --json FILE     where results go (default conformance.json)
#   --filter TEXT   only cases whose id contains TEXT
#   --jobs N        processes at a time (default: half the processors)
#   --timeout N     seconds that one case may take (default 60)
#   --no-samples    cases only: neither samples nor the precompiled program
#   --bin FOLDER    where tkc and tk-conformance are (default: bin beside this script)
#
# Needed: NVIDIA's driver for `cuda`; `ptxas` is used where PATH has one. The last line is `N passed, N failed`; exit status 1 when anything failed.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$here/bin
samples=$here/samples
[ -d "$samples" ] || samples=$here/../../samples
json=conformance.json
filter=()
jobs=$((($(nproc) + 1) / 2))
timeout=60
targets=()
withSamples=yes
while [ $# -gt 0 ]; do
  case $1 in
  --json | --filter | --jobs | --timeout | --bin)
    [ $# -gt 1 ] || { echo "$1 needs a value" >&2; exit 2; }
    case $1 in
    --json) json=$2 ;;
    --filter) filter+=(--filter "$2") ;;
    --jobs) jobs=$2 ;;
    --timeout) timeout=$2 ;;
    --bin) bin=$2 ;;
    esac
    shift 2
    ;;
  --no-samples) withSamples= && shift ;;
  -h | --help) sed -nE '2,/^set/{/^#/!d;s/^# ?//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
  -*) echo "unknown option $1 (--help lists them)" >&2 && exit 2 ;;
  *) targets+=("$1") && shift ;;
  esac
done
[ ${#targets[@]} -gt 0 ] || targets=(cuda)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
separator=

# Of a log whose last line is `N passed, N failed`.
addCounts() { # LOG
  local counts
  counts=$(sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$1")
  [ -n "$counts" ] || counts="0 1"
  passed=$((passed + ${counts% *})) failed=$((failed + ${counts#* }))
}

runSamples() { # TARGET
  local flags=(--target "$1") file status
  case $1 in
  sm_*) flags+=(--emulate) ;;
  interpreter) return ;;
  esac
  for file in "$samples"/*.tk; do
    "$bin/tkc" run "$file" "${flags[@]}" --json >"$work/sample" 2>"$work/errors"
    status=$?
    [ $status = 0 ] && passed=$((passed + 1)) || failed=$((failed + 1))
    [ $status = 0 ] || { printf 'FAIL %s on %s (status %d)\n' "${file##*/}" "$1" "$status"; tail -n 5 "$work/errors"; }
    {
      printf '%s{"sample": "%s", "status": %d, "result": ' "$sampleSeparator" "${file##*/}" "$status"
      if [ -s "$work/sample" ]; then cat "$work/sample"; else printf 'null'; fi
      printf '}'
    } >>"$work/samples"
    sampleSeparator=', '
  done
}

{
  printf '{"devices": '
  "$bin/tkc" devices --json || printf 'null'
  printf ', "runs": ['
} >"$work/all"
"$bin/tkc" devices
for target in "${targets[@]}"; do
  printf '== %s\n' "$target"
  if [ "$target" = cuda ] && "$bin/tkc" devices | grep -q '^cuda *none'; then
    printf 'FAIL: this machine has no GPU that NVIDIA'\''s driver knows\n'
    failed=$((failed + 1))
    continue
  fi
  rm -f "$work/cases"
  "$bin/tk-conformance" --target "$target" --jobs "$jobs" --timeout "$timeout" "${filter[@]}" --json "$work/cases" 2>&1 | tee "$work/log"
  addCounts "$work/log"
  : >"$work/samples"
  sampleSeparator=
  [ -z "$withSamples" ] || runSamples "$target"
  {
    printf '%s{"target": "%s", "cases": ' "$separator" "$target"
    if [ -s "$work/cases" ]; then cat "$work/cases"; else printf '[]'; fi
    printf ', "samples": ['
    cat "$work/samples"
    printf ']}'
  } >>"$work/all"
  separator=', '
done
# A program that holds a kernel compiled ahead of time, called with arrays of every device here: which code runs is its own choice.
printf '], "precompiled": ' >>"$work/all"
if [ -n "$withSamples" ] && [ -x "$bin/aot-devices" ]; then
  printf '== precompiled\n'
  "$bin/aot-devices" >"$work/devices" && passed=$((passed + 1)) || failed=$((failed + 1))
  cat "$work/devices"
  if [ -s "$work/devices" ]; then cat "$work/devices" >>"$work/all"; else printf 'null' >>"$work/all"; fi
else
  printf 'null' >>"$work/all"
fi
printf ', "passed": %d, "failed": %d}\n' "$passed" "$failed" >>"$work/all"
cp "$work/all" "$json"
printf 'results: %s\n%d passed, %d failed\n' "$json" "$passed" "$failed"
[ "$failed" = 0 ]
