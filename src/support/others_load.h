// What other processes take of the processors while this one measures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace normtune {

/// Since the system began, in its clock ticks (sysconf(_SC_CLK_TCK) a second), all processors together.
struct ProcessorTicks {
    std::uint64_t busy = 0;  // all but idle and waiting for input or output; what a hypervisor took is in it
    std::uint64_t all = 0;
};

/// Of `processors`, by the lines "cpu0 user nice system idle iowait irq softirq steal …" of /proc/stat (proc(5)); nothing where one of them
/// has no such line.
std::optional<ProcessorTicks> ticks_of(std::string_view stat, const std::vector<int>& processors);

/// Processors that others kept busy from one time to another, while this process and its ended children took `own_s` seconds.
/// 0: none, or less than a second of ticks to tell it by.
double busy_with_others(const ProcessorTicks& from, const ProcessorTicks& to, double own_s, std::size_t processors, double ticks_a_second);

/// From its making on. A child's time is this process's own once it has been waited for.
class OthersLoad {
public:
    OthersLoad();
    /// "" where others left this process the processors that it keeps busy, or where the system does not tell.
    std::string warning() const;

private:
    std::vector<int> processors_;
    std::optional<ProcessorTicks> begin_;
    double own_s_ = 0;
};

}  // namespace normtune
