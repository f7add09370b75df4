#!/usr/bin/env python3
"""Checks the copy kernels by which the limit is measured (src/devices/gpu/utility_kernels.h) on an NVIDIA GPU: that they copy right, and
with --tool that compute-sanitizer finds nothing in them.

    scripts/check_copies.py
    scripts/check_copies.py --tool memcheck --tool racecheck --tool initcheck --tool synccheck
    scripts/check_copies.py --compile-only --arch sm_90      # without a GPU

Every kernel of every part and numbers of streams is launched over odd and even sizes, in several geometries, out of place and in place (those of
whole pieces over nothing else); each output is compared with the stream that it is a copy of, and what lies behind it with what lay
there. Exit code 1: a value is wrong, a launch failed, a kernel was never launched or a tool found something; 2: nothing could be checked.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = ROOT / "src/devices/gpu/utility_kernels.h"
DEFINES = ["NT_PART", "NT_READS", "NT_WRITES", "NT_STAGES", "NT_BEGIN"]
GIVEN_PAIRS = "1:1,2:1,2:2,3:1"  # by signal_traffic: forward, backward, fused forward, fused backward
TIMEOUT_S = 300
CLEAN = re.compile("ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards")

# Words of inputs have bit 1, which neither the poison nor the value has by which kernels seem to use what they only read.
HOST = r"""
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>
#define CHECK(call) check(call, #call)
static char what[256] = "at the begin";
static void check(cudaError_t got, const char* call) {
    if (got == cudaSuccess) return;
    std::printf("%s: %s: %s\n", what, call, cudaGetErrorString(got));
    std::exit(1);
}
struct Kernel {
    const char* name;
    const void* function;
    int width, unroll;
    bool loops, staged, whole;
};
static const Kernel kernels[] = {
@KERNELS@};
constexpr unsigned poison = 0xa5a5a5a5u;
constexpr long long guard = 1024;  // words behind an output

int main(int argc, char** argv) {
    const bool is_small = argc > 1 && std::strcmp(argv[1], "small") == 0;
    std::vector<long long> sizes{1, 100, 4099, 24576};  // in vectors of 16 bytes; the last is whole pieces
    if (!is_small) sizes.push_back(70001);
    int device = 0, most_shared = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    std::mt19937 random(7);
    long long launches = 0;
    std::vector<long long> launches_of(sizeof kernels / sizeof *kernels);
    for (const long long size : sizes) {
        const long long words = 4 * size;
        std::vector<unsigned> in[NT_READS], got(words + guard);
        void* from[NT_READS];
        void* to[NT_WRITES];
        for (int r = 0; r < NT_READS; ++r) {
            for (long long i = 0; i < words; ++i) in[r].push_back((unsigned)random() | 2u);
            CHECK(cudaMalloc(&from[r], words * 4));
            CHECK(cudaMemcpy(from[r], in[r].data(), words * 4, cudaMemcpyHostToDevice));
        }
        for (void*& out : to) CHECK(cudaMalloc(&out, (words + guard) * 4));
        const auto run = [&](const Kernel& kernel, long long vectors, int block, long long programs, bool in_place) {
            std::snprintf(what, sizeof what, "%s, %d read, %d written, %lld vectors, %d threads, %lld programs%s", kernel.name, NT_READS,
                          NT_WRITES, vectors, block, programs, in_place ? ", in place" : "");
            nt_streams streams{};
            streams.vectors = vectors;
            for (int r = 0; r < NT_READS; ++r) streams.in[r] = in_place && r < NT_WRITES ? to[r] : from[r];
            for (int w = 0; w < NT_WRITES; ++w) {
                streams.out[w] = to[w];
                CHECK(cudaMemset(to[w], 0xa5, (words + guard) * 4));
                if (in_place && w < NT_READS) CHECK(cudaMemcpy(to[w], from[w], words * 4, cudaMemcpyDeviceToDevice));
            }
            CHECK(cudaDeviceSynchronize());
            const int shared = kernel.staged ? 16 * block * kernel.unroll * NT_STAGES * NT_READS : 0;
            if (shared > 48 << 10) CHECK(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
            void* arguments[] = {&streams};
            CHECK(cudaLaunchKernel(kernel.function, dim3((unsigned)programs), dim3(block), arguments, shared, nullptr));
            CHECK(cudaGetLastError());
            CHECK(cudaDeviceSynchronize());
            ++launches;
            ++launches_of[&kernel - kernels];
            for (int w = 0; w < NT_WRITES; ++w) {
                CHECK(cudaMemcpy(got.data(), to[w], (words + guard) * 4, cudaMemcpyDeviceToHost));
                const std::vector<unsigned>& stream = in[w < NT_READS ? w : 0];
                const long long held = in_place && w < NT_READS ? words : vectors * kernel.width / 4;
                for (long long i = 0; i < words + guard; ++i) {
                    const unsigned wanted = i < held ? stream[i] : poison;
                    if (got[i] == wanted) continue;
                    std::printf("%s: word %lld of output %d is 0x%08x, not 0x%08x\n", what, i, w, got[i], wanted);
                    std::exit(1);
                }
            }
        };
        for (const Kernel& kernel : kernels) {
            for (const int block : {64, 128, 512}) {
                const long long piece = (long long)block * kernel.unroll;
                const bool fits = !kernel.staged || 16 * piece * NT_STAGES * NT_READS <= most_shared;
                if (piece * NT_READS > 8192 || !fits) continue;
                // Narrow vectors once of all bytes, once of one vector less.
                for (int less = 0; less < (kernel.width < 16 ? 2 : 1); ++less) {
                    const long long vectors = words * 4 / kernel.width - less;
                    const long long pieces = (vectors + piece - 1) / piece;
                    if (kernel.whole && vectors % piece != 0) continue;
                    for (const bool in_place : {false, true}) {
                        run(kernel, vectors, block, pieces, in_place);
                        if (kernel.loops && pieces > 3) run(kernel, vectors, block, 3, in_place);
                    }
                }
            }
        }
        for (int r = 0; r < NT_READS; ++r) {
            CHECK(cudaMemcpy(got.data(), from[r], words * 4, cudaMemcpyDeviceToHost));
            if (std::memcmp(got.data(), in[r].data(), words * 4) != 0) {
                std::printf("%d read, %d written, %lld vectors: input %d has changed\n", NT_READS, NT_WRITES, size, r);
                return 1;
            }
            CHECK(cudaFree(from[r]));
        }
        for (void* out : to) CHECK(cudaFree(out));
    }
    for (const Kernel& kernel : kernels) {
        if (launches_of[&kernel - kernels] > 0 || kernel.staged) continue;  // a staged one may not fit
        std::printf("%s was never launched\n", kernel.name);
        return 1;
    }
    std::printf("launches: %lld\n", launches);
    return 0;
}
"""


def give_up(reason):
    print(f"check_copies.py: {reason}", file=sys.stderr)
    sys.exit(2)


def run(words):
    """Exit code, output of both streams."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return 124, (late.stdout or b"").decode(errors="replace") + f"\nnot done after {TIMEOUT_S} s"


def read_header():
    """Prologue and kernels, number of stages, the parts' names in their order."""
    text = HEADER.read_text()
    raw = dict(re.findall(r'constexpr const char\* (\w+) = R"gpu\((.*?)\)gpu"', text, re.S))
    stages = re.search(r"constexpr int copy_stages = (\d+);", text)
    parts = re.search(r"enum class CopyPart \{ ([\w, ]+) \};", text)
    made = re.search(r"std::string copy_source\(.*?\n\}", text, re.S)
    if not {"utility_prologue", "copy_kernels"} <= raw.keys() or not stages or not parts or not made:
        give_up(f"{HEADER}: no utility_prologue, copy_kernels, copy_stages, CopyPart or copy_source as this script knows them")
    if re.findall(r"#define (\w+) ", made[0]) != DEFINES:
        give_up(f"{HEADER}: copy_source defines other than {', '.join(DEFINES)}: change this script, too")
    return raw["utility_prologue"] + raw["copy_kernels"], stages[1], parts[1].split(", ")


def kernels_of(nvcc, source, arch, place):
    """Names as the preprocessor makes them for the architecture's device code."""
    digits = re.search(r"\d+", arch)
    place.write_text(source)
    code, text = run([nvcc, "-E", "-x", "c++", f"-D__CUDA_ARCH__={digits[0] if digits else 90}0", str(place)])
    names = re.findall(r'extern "C" __global__ void (\w+)\(nt_streams \w+\)', text)
    if code != 0:
        give_up(f"{place.name}: {text.strip()}")
    return names


def program_of(source, names):
    """The source with a main of its kernels. Those that only device code has need a stub in the host's."""
    rows, stubs = "", ""
    for name in names:
        staged, width, unroll, hint = re.fullmatch(r"nt_copy_(?:(staged)|(\d+))_(\d+)_(\w+)", name).groups()
        whole = hint.endswith("_whole")
        loops = not whole and not hint.startswith(("together", "late"))
        flags = ", ".join(str(flag).lower() for flag in (loops, bool(staged), whole))
        rows += f'    {{"{name}", (const void*){name}, {width or 16}, {unroll}, {flags}}},\n'
        stubs += f"NT_KERNEL {name}(nt_streams) {{}}\n" if staged else ""
    return source + "#ifndef __CUDA_ARCH__\n" + stubs + "#endif\n" + HOST.replace("@KERNELS@", rows)


def check(programs, ahead, behind, clean, title):
    """Runs all; whether all are clean."""
    launches, good = 0, True
    with concurrent.futures.ThreadPoolExecutor(max(4, 3 * (os.cpu_count() or 2) // 4)) as pool:
        for program, (code, log) in zip(programs, pool.map(lambda program: run([*ahead, str(program), *behind]), programs)):
            counted = re.search(r"^launches: (\d+)$", log, re.M)
            launches += int(counted[1]) if counted else 0
            if code != 0 or not counted or int(counted[1]) == 0 or not clean.search(log):
                good = False
                last = "\n".join(log.strip().splitlines()[-20:])
                print(f"{title}: {program.name}: NOT CLEAN, exit code {code}\n{last}", flush=True)
    print(f"{title}: {len(programs)} programs, {launches} launches: {'clean' if good else 'NOT CLEAN'}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", action="append", default=[], choices=["memcheck", "racecheck", "initcheck", "synccheck"],
                        help="of compute-sanitizer, over fewer sizes; may be repeated")
    parser.add_argument("--pairs", default=GIVEN_PAIRS, help="streams read:written, comma-separated (default: %(default)s)")
    parser.add_argument("--arch", default="native", help="sm_90, … (default: this machine's, which is taken for sm_80 or newer)")
    parser.add_argument("--compile-only", action="store_true", help="run nothing")
    arguments = parser.parse_args()
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer"])
    nvcc, sanitizer = shutil.which("nvcc", path=path), shutil.which("compute-sanitizer", path=path)
    if not nvcc or (arguments.tool and not arguments.compile_only and not sanitizer):
        give_up(f"no {'compute-sanitizer' if nvcc else 'nvcc'} in PATH or /usr/local/cuda")
    if not re.fullmatch(r"[123]:[12](,[123]:[12])*", arguments.pairs):
        give_up(f"--pairs {arguments.pairs}: not as 1:1,3:2, of at most 3 read and 2 written")
    kernels, stages, parts = read_header()
    with tempfile.TemporaryDirectory(prefix="normtune-copies-") as folder:
        work = pathlib.Path(folder)
        sources = []
        pairs = arguments.pairs.split(",")
        for pair, part, begin in [*((pair, part, "") for pair in pairs for part in parts), (pairs[0], parts[0], "nt_follow();")]:
            reads, writes = pair.split(":")
            values = [parts.index(part), reads, writes, stages, begin]
            source = "".join(f"#define {name} {value}\n" for name, value in zip(DEFINES, values)) + kernels
            place = work / f"{part}_{reads}_{writes}{'_dependent' if begin else ''}.cu"
            if names := kernels_of(nvcc, source, arguments.arch, place):  # older architectures have no staged ones
                place.write_text(program_of(source, names))
                sources.append(place)
        flags = ["-std=c++17", "-O2", "-lineinfo", f"-arch={arguments.arch}"]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
            done = list(pool.map(lambda s: run([nvcc, *flags, str(s), "-o", str(s.with_suffix(""))]), sources))
        for source, (code, log) in zip(sources, done):
            if code != 0:
                give_up(f"{source.name} does not compile:\n{log.strip()}")
        if arguments.compile_only:
            print(f"{len(sources)} programs compiled")
            return 0
        programs = [source.with_suffix("") for source in sources]
        good = check(programs, [], [], re.compile("launches"), "copies")
        for tool in arguments.tool:
            good = check(programs, [sanitizer, "--tool", tool, "--error-exitcode", "9"], ["small"], CLEAN, tool) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
