#include "verify/device_oracle.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "verify/device_oracle_source.h"
#include "verify/fill.h"

namespace normtune {

namespace {

constexpr std::int64_t threads = 256;

/// nt_task of the source: the same members in the same order, eight bytes each.
struct OracleTask {
    std::uint64_t x = 0, residual = 0, gamma = 0, dy = 0, ds = 0;
    std::uint64_t y = 0, s = 0, rstd = 0, dx = 0, dgamma = 0;
    std::uint64_t row_rstd = 0, row_rstd_bound = 0, row_projection = 0, row_projection_bound = 0, column_sum = 0, column_rms = 0,
                  column_most = 0, partials = 0;
    std::uint64_t summaries = 0;
    std::int64_t rows = 0, cols = 0, x_stride = 0, type = 0, weight_type = 0, offset = 0, residual_fp32 = 0, has_forward = 0;
    std::int64_t given_rstd = 0, forward = 0, backward = 0, programs = 0, chunks = 0;
    double eps = 0;
    Bounds bounds;  // without padding: doubles
};

/// nt_summary of the source.
struct StoredSummary {
    std::int64_t unwritten, not_finite, first, beyond, place;
    double over, got, expected, allowed;
};

std::int64_t bits_of(const RoundingPoints& points) {
    std::int64_t bits = 0;
    for (std::size_t i = 0; i < rounding_points.size(); ++i) {
        bits |= points.*rounding_points[i].member ? std::int64_t{1} << i : 0;
    }
    return bits;
}

template <typename T>
std::vector<T> read(const DeviceMemory& memory, std::size_t count) {
    std::vector<T> values(count);
    memory.read(std::as_writable_bytes(std::span(values)));
    return values;
}

OutputSummary total(TensorRole role, std::span<const StoredSummary> parts, std::size_t first, std::size_t step) {
    OutputSummary summary{role};
    for (std::size_t i = first; i < parts.size(); i += step) {
        const StoredSummary& part = parts[i];
        summary.add(
            {role, part.unwritten, part.not_finite, part.first, part.beyond, part.place, part.over, part.got, part.expected, part.allowed});
    }
    return summary;
}

std::int64_t pieces_of(std::int64_t cols) {
    return (cols + threads - 1) / threads;
}

}  // namespace

DeviceOracle::DeviceOracle(Device& device, DeviceProgram& program, const Problem& problem, const RoundingContract& contract,
                           const Buffers& buffers, int set, bool pristine, bool given_rstd)
    : program_(program), problem_(problem), most_programs_(std::int64_t{device.info().compute_units} * 8) {
    const Operation& operation = problem_.operation;
    const std::int64_t rows = problem_.shape.rows;
    const std::int64_t cols = problem_.shape.cols;
    const std::int64_t pieces = pieces_of(cols);
    programs_ = std::min(rows, most_programs_);
    const std::int64_t chunks = std::clamp<std::int64_t>(most_programs_ / pieces, 1, std::max<std::int64_t>(rows / 16, 1));
    const auto doubles = [&](std::int64_t count) { return program_.allocate(count * static_cast<std::int64_t>(sizeof(double))); };
    sums_ = doubles(4 * rows + 3 * cols);
    partials_ = doubles(operation.has(TensorRole::dgamma) ? 3 * chunks * cols : 1);
    summaries_ = program_.allocate(std::max(3 * programs_, pieces) * static_cast<std::int64_t>(sizeof(StoredSummary)));
    for (const Tensor& tensor : tensors(problem_)) {
        if (tensor.access != Access::out) {
            inputs_.push_back({tensor, buffers.address(tensor.role, set)});
        }
    }
    for (Kept& input : inputs_) {
        if (input.tensor.access == Access::in_out && pristine) {
            input.copy = program_.allocate(input.tensor.span_bytes());
            const std::array<std::uint64_t, 4> copy{input.address, input.copy->address(),
                                                    static_cast<std::uint64_t>(input.tensor.span_bytes()) / 2,
                                                    static_cast<std::uint64_t>(most_programs_)};
            program_.launch("nt_oracle_copy", most_programs_, copy);
        }
    }
    const auto address = [&](TensorRole role) { return operation.has(role) ? buffers.address(operation.holder_of(role), set) : 0; };
    const auto input = [&](TensorRole role) {
        const auto kept = std::ranges::find_if(inputs_, [&](const Kept& one) { return one.tensor.role == role && one.copy; });
        return kept == inputs_.end() ? address(role) : kept->copy->address();
    };
    OracleTask task;
    task.x = input(TensorRole::x);
    task.residual = input(TensorRole::residual);
    task.gamma = address(TensorRole::gamma);
    task.dy = input(TensorRole::dy);
    task.ds = address(TensorRole::ds);
    task.y = address(TensorRole::y);
    task.s = address(TensorRole::s);
    task.rstd = address(TensorRole::rstd);
    task.dx = address(TensorRole::dx);
    task.dgamma = address(TensorRole::dgamma);
    std::uint64_t next = sums_->address();
    for (std::uint64_t* row : {&task.row_rstd, &task.row_rstd_bound, &task.row_projection, &task.row_projection_bound}) {
        *row = next;
        next += static_cast<std::uint64_t>(rows) * sizeof(double);
    }
    for (std::uint64_t* column : {&task.column_sum, &task.column_rms, &task.column_most}) {
        *column = next;
        next += static_cast<std::uint64_t>(cols) * sizeof(double);
    }
    task.partials = partials_->address();
    task.summaries = summaries_->address();
    task.rows = rows;
    task.cols = cols;
    task.x_stride = problem_.shape.row_stride;
    task.type = static_cast<std::int64_t>(operation.dtype);
    task.weight_type = static_cast<std::int64_t>(operation.weight_dtype);
    task.offset = operation.offset;
    task.residual_fp32 = operation.residual == ResidualPrecision::fp32 ? 1 : 0;
    task.has_forward = operation.has_forward() ? 1 : 0;
    task.given_rstd = given_rstd ? 1 : 0;
    task.forward = bits_of(contract.forward);
    task.backward = bits_of(contract.backward);
    task.programs = programs_;
    task.chunks = chunks;
    task.eps = operation.eps;
    task.bounds = bounds_of(problem_, contract);
    task_ = program_.allocate(sizeof task);
    task_->write(std::as_bytes(std::span(&task, 1)));
    launch("nt_oracle_rows", programs_);
    if (task.dgamma != 0) {
        launch("nt_oracle_columns", pieces * chunks);
        launch("nt_oracle_total", pieces);
    }
    for (Kept& kept : inputs_) {
        if (pristine && !kept.copy) {
            kept.digest = digest(kept);
        }
    }
}

void DeviceOracle::launch(const char* kernel, std::int64_t programs) {
    const std::uint64_t task = task_->address();
    program_.launch(kernel, programs, std::span(&task, 1));
}

OracleSums DeviceOracle::sums() const {
    const auto rows = static_cast<std::size_t>(problem_.shape.rows);
    const auto cols = static_cast<std::size_t>(problem_.shape.cols);
    const bool backward = problem_.operation.has_backward();
    const bool dgamma = problem_.operation.has(TensorRole::dgamma);
    const std::vector<double> all = read<double>(*sums_, dgamma ? 4 * rows + 3 * cols : backward ? 4 * rows : 2 * rows);
    auto part = [from = all.begin()](bool there, std::size_t count) mutable {
        const auto begin = from;
        from += there ? static_cast<std::ptrdiff_t>(count) : 0;
        return std::vector<double>(begin, from);
    };
    return {part(true, rows),   part(true, rows),   part(backward, rows), part(backward, rows),
            part(dgamma, cols), part(dgamma, cols), part(dgamma, cols)};
}

std::vector<OutputSummary> DeviceOracle::compare() {
    const Operation& operation = problem_.operation;
    std::vector<OutputSummary> found;
    if (operation.has_forward()) {
        launch("nt_oracle_forward", programs_);
        const auto parts = read<StoredSummary>(*summaries_, static_cast<std::size_t>(3 * programs_));
        found = {total(TensorRole::y, parts, 0, 3), total(TensorRole::s, parts, 1, 3), total(TensorRole::rstd, parts, 2, 3)};
    }
    if (operation.has_backward()) {
        launch("nt_oracle_backward", programs_);
        found.push_back(total(TensorRole::dx, read<StoredSummary>(*summaries_, static_cast<std::size_t>(programs_)), 0, 1));
    }
    if (operation.has(TensorRole::dgamma)) {
        const std::int64_t pieces = pieces_of(problem_.shape.cols);
        launch("nt_oracle_dgamma", pieces);
        found.push_back(total(TensorRole::dgamma, read<StoredSummary>(*summaries_, static_cast<std::size_t>(pieces)), 0, 1));
    }
    std::erase_if(found, [&](const OutputSummary& summary) { return !operation.has(summary.role); });
    return found;
}

void DeviceOracle::restore() {
    for (const Kept& input : inputs_) {
        if (input.copy) {
            const std::array<std::uint64_t, 4> copy{input.copy->address(), input.address,
                                                    static_cast<std::uint64_t>(input.tensor.span_bytes()) / 2,
                                                    static_cast<std::uint64_t>(most_programs_)};
            program_.launch("nt_oracle_copy", most_programs_, copy);
        }
    }
}

std::uint64_t DeviceOracle::digest(const Kept& kept) {
    const auto words = static_cast<std::uint64_t>(kept.tensor.span_bytes()) / 2;
    const auto programs = static_cast<std::size_t>(std::clamp<std::uint64_t>(words / 2048, 1, static_cast<std::uint64_t>(programs_)));
    const std::array<std::uint64_t, 4> arguments{kept.address, words, programs, summaries_->address()};
    program_.launch("nt_oracle_digest", static_cast<std::int64_t>(programs), arguments);
    std::uint64_t sum = 0;
    for (const std::uint64_t part : read<std::uint64_t>(*summaries_, programs)) {
        sum += part;
    }
    return sum;
}

std::vector<TensorRole> DeviceOracle::changed() {
    std::vector<TensorRole> roles;
    for (const Kept& input : inputs_) {
        if (!input.copy && digest(input) != input.digest) {
            roles.push_back(input.tensor.role);
        }
    }
    return roles;
}

namespace {

[[noreturn]] void differs(const std::string& what) {
    throw DeviceError(DeviceFault::launch_failed, "the oracle on the device is not the host's: " + what);
}

void expect_same(const char* what, const std::vector<double>& device, const std::vector<double>& host) {
    if (device.size() != host.size()) {
        differs(fmt::format("{} has {} values, not {}", what, device.size(), host.size()));
    }
    double largest = 0;
    for (const double value : host) {
        largest = std::max(largest, std::fabs(value));
    }
    for (std::size_t i = 0; i < host.size(); ++i) {
        if (!(std::fabs(device[i] - host[i]) <= 1e-11 * largest)) {
            differs(fmt::format("{}[{}] = {:.17g}, not {:.17g}", what, i, device[i], host[i]));
        }
    }
}

void expect_same(const std::vector<OutputSummary>& device, const std::vector<OutputSummary>& host) {
    if (device.size() != host.size()) {
        differs(fmt::format("{} outputs, not {}", device.size(), host.size()));
    }
    for (const OutputSummary& mine : host) {
        const auto same_role = [&](const OutputSummary& other) { return other.role == mine.role; };
        const auto found = std::find_if(device.begin(), device.end(), same_role);
        const auto near = [](double a, double b) { return a == b || std::fabs(a - b) <= 1e-6 * std::fabs(b); };
        if (found == device.end() || found->unwritten != mine.unwritten || found->not_finite != mine.not_finite ||
            found->first != mine.first || found->beyond != mine.beyond || (mine.over > 1 && found->place != mine.place) ||
            (mine.over > 1 && !(near(found->over, mine.over) && near(found->expected, mine.expected) && found->got == mine.got))) {
            differs(fmt::format("of {} it says otherwise", tensor_names.name(mine.role)));
        }
    }
}

/// What a wrong kernel might leave: a value in seven off, one never written.
void spoil(const Tensor& tensor, std::vector<std::byte>& bytes) {
    const auto element = static_cast<std::size_t>(bytes_of(tensor.dtype));
    for (std::size_t at = 0; at < bytes.size(); at += 7 * element) {
        bytes[at + 1] ^= std::byte{1};
    }
    poison(tensor.dtype, std::span(bytes).subspan(bytes.size() / element / 2 * element, element));
}

/// So that its bounds are those of fewer terms than columns.
void clear_half_a_row(const Tensor& tensor, std::vector<std::byte>& bytes) {
    const auto element = static_cast<std::ptrdiff_t>(bytes_of(tensor.dtype));
    constexpr std::ptrdiff_t row = 4;
    std::fill_n(bytes.begin() + row * tensor.row_stride * element, tensor.cols / 2 * element, std::byte{0});
}

const ProgramSource& source_of(const Operation& operation) {
    static const std::array sources{
        // in the order of Formula
        ProgramSource{device_oracle_common, {device_oracle_forward, device_oracle_backward, device_oracle_sums}}};
    return sources.at(static_cast<std::size_t>(operation.descriptor().formula));
}

}  // namespace

void load_device_oracle_ahead(Device& device, const Operation& operation) {
    device.load_ahead(source_of(operation));
}

std::unique_ptr<DeviceProgram> load_device_oracle(Device& device, const Operation& operation) {
    return device.load(source_of(operation));
}

void check_device_oracle(Device& device, DeviceProgram& program, const Operation& operation, const RoundingContract& contract) {
    const Problem problem{{37, 301, operation.can_have_stride() ? 311 : 301}, operation, {}};
    constexpr std::uint64_t seed = 11;
    const std::unique_ptr<Buffers> buffers = device.allocate(problem, BufferRequest{0, seed});
    HostTensors inputs;
    for (const Tensor& tensor : tensors(problem)) {
        if (tensor.access != Access::out && tensor.kind != TensorKind::statistic) {
            inputs[tensor.role] = draw_input(problem, contract, tensor, seed);
            if (tensor.kind != TensorKind::weight) {
                clear_half_a_row(tensor, inputs[tensor.role]);
            }
            buffers->upload(tensor.role, 0, inputs[tensor.role]);
        }
    }
    DeviceOracle oracle(device, program, problem, contract, *buffers, 0, true, false);
    const OracleSums device_sums = oracle.sums();
    const OracleSums host_sums = oracle_sums(problem, contract, inputs);
    expect_same("rstd", device_sums.rstd, host_sums.rstd);
    expect_same("rstd's bound", device_sums.rstd_bound, host_sums.rstd_bound);
    expect_same("the projection", device_sums.projection, host_sums.projection);
    expect_same("the projection's bound", device_sums.projection_bound, host_sums.projection_bound);
    expect_same("dgamma", device_sums.dgamma, host_sums.dgamma);
    expect_same("dgamma's terms", device_sums.dgamma_rms, host_sums.dgamma_rms);
    expect_same("dgamma's largest terms", device_sums.dgamma_most, host_sums.dgamma_most);
    HostTensors outputs = right_outputs(problem, contract, inputs, host_sums);
    for (const bool wrong : {false, true}) {
        for (const Tensor& tensor : tensors(problem)) {
            if (tensor.access != Access::in) {
                if (wrong) {
                    spoil(tensor, outputs[tensor.role]);
                }
                buffers->upload(tensor.role, 0, outputs[tensor.role]);
            }
        }
        const std::vector<OutputSummary> host = compare_outputs(problem, contract, inputs, host_sums, outputs);
        expect_same(oracle.compare(), host);
        for (const OutputSummary& summary : host) {
            if ((summary.over > 1) != wrong) {
                differs(fmt::format("{} {} the host's own", tensor_names.name(summary.role), wrong ? "passes" : "is beyond"));
            }
        }
    }
}

}  // namespace normtune
