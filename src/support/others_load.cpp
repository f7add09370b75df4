#include "support/others_load.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "support/cores.h"

namespace normtune {
namespace {

constexpr double told_from = 0.25;  // processors: less is what an idle system does

std::optional<ProcessorTicks> ticks_now(const std::vector<int>& processors) {
    std::ifstream file("/proc/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return ticks_of(text, processors);
}

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double own_seconds() {
    double sum = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage usage{};
        if (getrusage(who, &usage) == 0) {
            sum += seconds(usage.ru_utime) + seconds(usage.ru_stime);
        }
    }
    return sum;
}

}  // namespace

std::optional<ProcessorTicks> ticks_of(std::string_view stat, const std::vector<int>& processors) {
    ProcessorTicks out;
    std::size_t found = 0;
    std::istringstream lines{std::string(stat)};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        if (!name.starts_with("cpu") || name == "cpu" ||
            std::ranges::none_of(processors, [&](int number) { return name.substr(3) == std::to_string(number); })) {
            continue;
        }
        std::array<std::uint64_t, 8> ticks{};  // user nice system idle iowait irq softirq steal; guests' are in user's
        if (!(words >> ticks[0] >> ticks[1] >> ticks[2] >> ticks[3])) {
            return std::nullopt;
        }
        for (std::size_t i = 4; i < ticks.size() && words >> ticks[i]; ++i) {
        }
        for (std::size_t i = 0; i < ticks.size(); ++i) {
            out.all += ticks[i];
            out.busy += i == 3 || i == 4 ? 0 : ticks[i];
        }
        ++found;
    }
    return found == processors.size() && found > 0 ? std::optional(out) : std::nullopt;
}

double busy_with_others(const ProcessorTicks& from, const ProcessorTicks& to, double own_s, std::size_t processors, double ticks_a_second) {
    if (to.all <= from.all || to.busy < from.busy || processors == 0) {
        return 0;
    }
    const double elapsed_s = static_cast<double>(to.all - from.all) / ticks_a_second / static_cast<double>(processors);
    const double others_s = static_cast<double>(to.busy - from.busy) / ticks_a_second - own_s;
    return elapsed_s < 1 ? 0 : std::max(0.0, others_s / elapsed_s);
}

OthersLoad::OthersLoad() : processors_(allowed_processors()), begin_(ticks_now(processors_)), own_s_(own_seconds()) {}

std::string OthersLoad::warning() const {
    const std::optional<ProcessorTicks> end = ticks_now(processors_);
    if (!begin_ || !end) {
        return "";
    }
    const auto ticks_a_second = static_cast<double>(sysconf(_SC_CLK_TCK));
    const double others = busy_with_others(*begin_, *end, own_seconds() - own_s_, processors_.size(), ticks_a_second);
    const double left_over = static_cast<double>(processors_.size()) - usable_cores();
    return others - std::max(0.0, left_over) < told_from
               ? ""
               : fmt::format("other processes kept {:.1f} of {} processors busy while this measured: times are those of a busy machine",
                             others, processors_.size());
}

}  // namespace normtune
