// Any bytes as a results file (results.csv, results.json, Liger-Kernel's CSV and JSON): read, or refused with one line.
#include <cstdlib>
#include <string>
#include <string_view>

#include "judge/comparison.h"
#include "judge/summary.h"
#include "store/result_rows.h"
#include "support/error.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace normtune;
    try {
        const ResultRows rows = parse_result_rows({reinterpret_cast<const char*>(data), size}, "fuzzed");
        CompareSettings settings;
        settings.metric = size % 3 == 0 ? Metric::memory : Metric::latency;
        settings.by = size % 2 == 0 ? MatchBy::config : MatchBy::best;
        const Comparison comparison = compare(rows, rows, settings);
        // A file does not differ from itself.
        if (comparison.count(Verdict::slower) + comparison.count(Verdict::faster) > 0) {
            std::abort();
        }
        summarise(comparison);
    } catch (const InputError& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos) {
            std::abort();
        }
    }
    return 0;
}
