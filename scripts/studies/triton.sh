#!/usr/bin/env bash
# The Triton kernels of examples/triton, compiled and measured beside normtune's own: under five minutes on an H100.
#   scripts/studies/triton.sh OUT [NAME...]    a new folder; of the kernels below, those of these names alone (block_rows);
#                                              NORMTUNE names the executable, TRITON_PYTHON a Python that has triton and PyYAML
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?a new folder for what is measured}
shift
wanted=" $* "
known=" $(sed -n 's/^study [^ ]*:\([a-z_]*\) .*/\1/p' scripts/studies/triton.sh | xargs) "
for name in "$@"; do
    if [[ $known != *" $name "* ]]; then
        echo "scripts/studies/triton.sh: there is no '$name'; there are:$known" >&2
        exit 2
    fi
done
normtune=${NORMTUNE:-build/bin/normtune}
python=${TRITON_PYTHON:-python3}
mkdir -p "$out"
failed=0

# study KERNEL OP/MODE ROWSxCOLS...
study() {
    local kernel=$1 mode=$2 name=${1#*:} problem shapes
    shift 2
    if [[ $wanted != "  " && $wanted != *" $name "* ]]; then
        return
    fi
    shapes=$(IFS=,; echo "$*")
    "$python" scripts/triton_candidates "examples/triton/$kernel" --shapes "$shapes" --arch sm_90 --out "$out/candidates/$name" || failed=1
    for shape in "$@"; do
        problem=rms_norm/$mode/bf16/llama/$shape
        "$normtune" sweep --candidate "$out/candidates/$name" --space quick --strategy exhaustive --problem "$problem" --quiet \
            --out "$out/$name-$shape" >"$out/$name-$shape.txt" || failed=1
    done
    "$python" scripts/studies/triton_pairs.py "$out/$name"-*/results.csv >"$out/$name.md" || failed=1
    echo "$name after $SECONDS s"
}

export NORMTUNE_STORE=''
study where.py:row forward 4096x4096 4096x16384 173x409 71x3571
study where.py:tiled forward 4096x16384 29x17389
study block_rows.py:block_rows forward 2048x1024 2048x4096 2048x16384
study serial_rows.py:serial_forward forward 32768x128 8192x4096
study serial_rows.py:serial_backward backward 32768x128 8192x4096
study rows_binding.py:rows_constexpr backward 2048x1024 2048x4096
study rows_binding.py:rows_runtime backward 2048x1024 2048x4096
exit "$failed"
