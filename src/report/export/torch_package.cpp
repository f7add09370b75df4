#include "report/export/torch_package.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "devices/registry.h"
#include "judge/side_by_side.h"
#include "kernels/gpu/layout.h"
#include "kernels/gpu/limits.h"
#include "kernels/gpu/macros.h"
#include "report/export/best_export.h"
#include "space/common_limits.h"
#include "space/heuristics.h"
#include "support/error.h"

namespace normtune {
namespace {

constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();

/// Those that the package has a function for.
constexpr std::array called_ops{Op::rms_norm, Op::fused_add_rms_norm};

/// Can a call say all of it? A backward that reads s has it from the package's forward, which writes its rows side by side.
bool is_callable(const Problem& problem) {
    const Operation& o = problem.operation;
    const bool reads_s = o.mode == Mode::backward && o.descriptor().saved_input == TensorRole::s;
    return std::ranges::count(called_ops, o.op) > 0 && (o.mode == Mode::forward || o.mode == Mode::backward) && !o.in_place &&
           o.residual == ResidualPrecision::rounded && !(reads_s && is_strided(problem.shape));
}

/// All that an entry's kernels have in common: the line of the table.
std::string entry_line(const Problem& problem) {
    const Operation& o = problem.operation;
    return fmt::format("entry {} {} {} {} {} {:d} {} {} {}", o.descriptor().name, mode_names.name(o.mode), dtype_names.name(o.dtype),
                       dtype_names.name(o.affine ? o.weight_dtype : o.dtype), casting_names.name(o.casting), o.affine, o.offset,
                       problem.shape.cols, problem.shape.row_stride);
}

/// The most rows that the code's offsets reach.
std::int64_t rows_reached(const Configuration& c, const Problem& problem) {
    const auto wide = [&](std::int64_t rows) { return needs_64_bit_offsets(rows, problem.shape.cols, problem.shape.row_stride); };
    if (c.offset_bits == OffsetBits::_64 || wide(problem.shape.rows)) {
        return no_end;
    }
    std::int64_t reached = problem.shape.rows;
    std::int64_t beyond = largest_size;
    while (beyond - reached > 1) {
        const std::int64_t between = reached + (beyond - reached) / 2;
        (wide(between) ? beyond : reached) = between;
    }
    return reached;
}

class PackageWriter {
public:
    explicit PackageWriter(TorchPackage& out) : out_(out) {}

    void device(const DeviceInfo& device, const std::vector<const Record*>& winners) {
        device_ = device;
        out_.devices.push_back(device);
        out_.winners += winners.size();
        entries_ += fmt::format("device {} {} {}\n", device.arch, device.compute_units, printable(device.name));
        std::map<std::string, std::vector<const Record*>> entries;
        for (const Record* winner : winners) {
            entries[entry_line(winner->problem)].push_back(winner);
        }
        for (auto& [line, records] : entries) {
            std::sort(records.begin(), records.end(),
                      [](const Record* a, const Record* b) { return a->problem.shape.rows < b->problem.shape.rows; });
            entries_ += line + "\n";
            entry(records);
        }
    }

    std::string table(std::span<const std::string> remarks) const {
        std::string out = "normtune_kernels 2\n";
        for (const std::string& remark : remarks) {
            out += fmt::format("# {}\n", printable(remark));
        }
        for (const TorchCode& code : out_.codes) {
            out += fmt::format("code {}\n", code.file);
        }
        return out + entries_;
    }

private:
    /// A name from a file, within a line.
    static std::string printable(std::string text) {
        std::replace_if(
            text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; }, '?');
        return text;
    }

    void entry(const std::vector<const Record*>& records) {
        for (std::size_t i = 0; i < records.size(); ++i) {
            const bool last = i + 1 == records.size();
            // Nearest by ratio, and the smaller of two as near.
            const double next = last ? 0 : static_cast<double>(records[i + 1]->problem.shape.rows);
            const double to = std::sqrt(static_cast<double>(records[i]->problem.shape.rows) * next);
            step(records[i]->problem, *records[i]->candidate.configuration(), last ? no_end : static_cast<std::int64_t>(to), *records[i]);
        }
        Problem wide = records.back()->problem;
        const Configuration& c = *records.back()->candidate.configuration();
        const std::int64_t reached = rows_reached(c, wide);
        if (reached < no_end && c.offset_bits != OffsetBits::_32) {
            wide.shape.rows = reached + 1;
            if (gpu::objection(c, wide, device_).empty()) {
                step(wide, c, no_end, *records.back());
            }
        }
    }

    /// `measured`: the record whose configuration it is, perhaps of fewer rows.
    void step(const Problem& problem, const Configuration& c, std::int64_t rows_to, const Record& measured) {
        const bool backward = problem.operation.has_backward();
        const bool sums = backward && has_dgamma(problem);
        const bool compiled = c.grid == Grid::persistent_contiguous && c.rows_binding == RowsBinding::constexpr_;
        const gpu::GridShape grid = gpu::grid_shape(c, problem, device_);
        const bool cooperative = sums && c.dgamma == DgammaMethod::cooperative;
        entries_ += fmt::format("step {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {:d} {} {:.4f} {:.4f} {}\n", rows_to,
                                rows_reached(c, problem), cooperative ? grid.programs : 0, code(problem, c, measured),
                                c.num_warps * device_.warp_size, gpu::shared_bytes(c, problem, device_, backward), grid_names.name(c.grid),
                                c.rows_per_program, compiled ? grid.rows_per_program : 0, c.programs_per_sm, c.unit_margin, c.cluster,
                                sums ? dgamma_names.name(c.dgamma) : "-",
                                gpu::sums_in_memory(c, problem, device_) ? gpu::row_layout(c, problem, device_).groups : 0, c.reduce_rows,
                                c.reduce_cols, c.reduce_warps, c.reduce_parts, c.reduce_cluster, c.dependent_launch == DependentLaunch::on,
                                measured.problem.shape.rows, time_of(measured), floor_of(measured), c.key());
    }

    /// Problems whose macros are equal share their code.
    std::size_t code(const Problem& problem, const Configuration& c, const Record& measured) {
        std::string id = device_.arch;
        for (const gpu::Macro& macro : gpu::macros(c, problem, device_)) {
            id += fmt::format(" {}={}", macro.name, macro.value);
        }
        const auto [found, is_new] = known_.try_emplace(id, out_.codes.size());
        if (is_new) {
            const Operation& o = problem.operation;
            const std::string name = fmt::format("{}/{}-{}-{}-{}", device_.arch, o.descriptor().name, mode_names.name(o.mode),
                                                 dtype_names.name(o.dtype), problem.shape.cols);
            out_.codes.push_back({fmt::format("{}-{}.cubin", name, named_[name]++), out_.devices.size() - 1, problem, c,
                                  measured.compile && problem.key() == measured.problem.key() ? measured.compile->code_hash : ""});
        }
        return found->second;
    }

    TorchPackage& out_;
    DeviceInfo device_;
    std::map<std::string, std::size_t> known_;
    std::map<std::string, int> named_;
    std::string entries_;
};

}  // namespace

TorchPackage torch_package(std::span<const Results> runs, std::span<const std::string> remarks) {
    std::map<std::tuple<std::string, std::string>, std::vector<Results>> devices;
    for (const Results& run : runs) {
        const DeviceInfo& device = run.environment.device;
        if (device.backend != Backend::cuda) {
            throw InputError(fmt::format("a package for PyTorch has cubins, and these results are of {} ({})",
                                         quoted_for_message(device.name), backend_names.name(device.backend)));
        }
        devices[{device.arch, device.name}].push_back(run);
    }
    TorchPackage out;
    PackageWriter writer(out);
    for (const auto& [name, of_device] : devices) {
        const ExportedWinners exported = exported_winners(of_device, false, is_callable);
        DeviceInfo device = exported.device;
        if (device.shared_bytes_per_program == 0) {  // results.csv has its names alone
            device = describe_architecture(device.arch);
            device.name = exported.device.name;
        }
        out.left_out.add(exported.left_out);
        writer.device(device, exported.winners);
    }
    out.table = writer.table(remarks);
    return out;
}

}  // namespace normtune
