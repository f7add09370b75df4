#include "kernels/cpu/instruction_sets.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "kernels/cpu/pass_sets.h"
#include "support/error.h"

namespace normtune::cpu {

namespace {

template <class AddForward, class AddBackward>
PassSet filled(AddForward add_forward, AddBackward add_backward) {
    PassSet set{};
    add_forward(set);
    add_backward(set);
    return set;
}

}  // namespace

std::vector<const PassSet*> usable_pass_sets() {
    std::vector<const PassSet*> sets;
#if defined(NORMTUNE_AVX2) || defined(NORMTUNE_AVX512)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
#endif
#if defined(NORMTUNE_AVX512)
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq")) {
        static const PassSet set = filled(avx512::add_forward, avx512::add_backward);
        sets.push_back(&set);
    }
#endif
#if defined(NORMTUNE_AVX2)
    if (avx2) {
        static const PassSet set = filled(avx2::add_forward, avx2::add_backward);
        sets.push_back(&set);
    }
#endif
    static const PassSet set = filled(baseline::add_forward, baseline::add_backward);
    sets.push_back(&set);
    return sets;
}

const PassSet& chosen_pass_set() {
    const std::vector<const PassSet*> sets = usable_pass_sets();
    const char* wanted = std::getenv("NORMTUNE_CPU_ISA");
    if (wanted == nullptr || *wanted == '\0') {
        return *sets.front();
    }
    std::string names;
    for (const PassSet* set : sets) {
        if (std::string_view(wanted) == set->name) {
            return *set;
        }
        names += names.empty() ? "" : ", ";
        names += set->name;
    }
    throw InputError(
        fmt::format("NORMTUNE_CPU_ISA={}: not an instruction set that this build has and this processor runs; known: {}", wanted, names));
}

std::string arch_name(const PassSet& set) {
#if defined(__x86_64__)
    const std::string base = "x86-64";
#elif defined(__aarch64__)
    const std::string base = "aarch64";
#else
    const std::string base = "generic";
#endif
    return std::string_view(set.name) == "baseline" ? base : base + "-" + set.name;
}

}  // namespace normtune::cpu
