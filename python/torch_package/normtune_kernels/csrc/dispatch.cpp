#include "dispatch.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace normtune_torch {
namespace {

constexpr std::int64_t line = 256;  // partial rows begin at one, behind the counters
constexpr int warp = 32;
constexpr int split_threads_per_unit = 1024;
constexpr int beyond_clusters = 12;  // units of a large GPU that clusters of more than two leave out

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// Programs of the main kernel, and the rows of each.
struct Programs {
    std::int64_t count;
    std::int64_t rows;
};

Programs programs_of(const Step& s, std::int64_t rows, int units) {
    const std::int64_t tiles = ceil_div(rows, s.rows_per_program);
    const int used = std::max(1, units - s.unit_margin);
    const int reached = s.cluster > 2 && used > 4 * beyond_clusters ? used - beyond_clusters : used;
    const std::int64_t most = std::int64_t{s.programs_per_sm} * std::max(1, reached / s.cluster);
    switch (s.grid) {
        case Grid::per_row:
            return {rows, 1};
        case Grid::packed:
            return {tiles, s.rows_per_program};
        case Grid::persistent_strided:
            return {std::min(tiles, most), s.rows_per_program};
        case Grid::persistent_balanced:
            return {ceil_div(tiles, ceil_div(tiles, std::min(tiles, most))), s.rows_per_program};
        case Grid::persistent_contiguous:
            break;
    }
    const std::int64_t share =
        s.compiled_rows > 0 ? s.compiled_rows : ceil_div(ceil_div(rows, std::min(tiles, most)), s.rows_per_program) * s.rows_per_program;
    return {ceil_div(rows, share), share};
}

/// Programs that sum dgamma up in the launch of the main kernel.
std::int64_t programs_beside(const Step& s, const Work& work) {
    return s.dgamma == Dgamma::beside ? ceil_div(ceil_div(work.cols, s.reduce_cols) * s.reduce_parts, s.cluster) * s.cluster : 0;
}

/// The launch's counter, or one of each tile of columns that programs beside sum in parts.
std::int64_t partials_at(const Step& s, const Work& work) {
    const std::int64_t counters = s.dgamma == Dgamma::beside ? ceil_div(work.cols, s.reduce_cols) : 1;
    return ceil_div(counters * 4, line) * line;
}

std::int64_t split_parts(const Step& s, const Work& work, std::int64_t rows, int units) {
    const std::int64_t tiles = ceil_div(work.cols, s.reduce_cols);
    const std::int64_t fill = units * std::max<std::int64_t>(1, split_threads_per_unit / (std::int64_t{s.reduce_warps} * warp));
    return std::max<std::int64_t>(1, std::min(ceil_div(fill, tiles), ceil_div(rows, s.reduce_rows)));
}

std::int64_t partial_rows(const Step& s, const Work& work, std::int64_t rows, int units) {
    if (s.dgamma == Dgamma::none) {
        return 0;
    }
    if (s.dgamma == Dgamma::beside) {
        return s.reduce_parts > s.reduce_cluster ? s.reduce_parts / s.reduce_cluster : 0;
    }
    if (s.dgamma == Dgamma::split) {
        const std::int64_t parts = split_parts(s, work, rows, units);
        return parts > 1 ? parts : 0;
    }
    const std::int64_t programs = programs_of(s, rows, units).count;
    if (s.groups_in_memory > 0) {
        return s.dgamma == Dgamma::atomic ? 1 : programs * s.groups_in_memory;
    }
    const bool may_publish = s.dgamma == Dgamma::published || s.dgamma == Dgamma::cooperative;
    if (programs == 1 && !may_publish) {
        return 0;
    }
    return s.dgamma == Dgamma::atomic ? 1 : programs;
}

Argument pointer(const void* value) {
    Argument out{};
    out.pointer = value;
    return out;
}
Argument whole(std::int64_t value) {
    Argument out{};
    out.int64 = value;
    return out;
}
Argument number(std::int64_t value) {
    Argument out{};
    out.int32 = static_cast<std::int32_t>(value);
    return out;
}
Argument real(float value) {
    Argument out{};
    out.fp32 = value;
    return out;
}

template <std::size_t Count>
void add(Plan& plan, Launch launch, const Argument (&arguments)[Count]) {
    launch.count = Count;
    std::copy_n(arguments, Count, launch.arguments.begin());
    plan.launches[static_cast<std::size_t>(plan.count++)] = launch;
}

Launch launch_of(Kernel kernel, std::int64_t grid_x, std::int64_t grid_y, int threads, int shared_bytes) {
    return {kernel,
            static_cast<unsigned>(grid_x),
            static_cast<unsigned>(grid_y),
            1,
            static_cast<unsigned>(threads),
            static_cast<unsigned>(shared_bytes),
            false,
            false,
            0,
            {}};
}

/// The main kernel's: each program is a cluster, or parts of dgamma's rows are, never both.
Launch row_launch(Kernel kernel, const Step& s, const Programs& programs, std::int64_t beside) {
    const std::int64_t cluster = std::max(s.cluster, beside > 0 ? s.reduce_cluster : 1);
    const std::int64_t wanted = programs.count * s.cluster + beside;
    Launch launch = launch_of(kernel, ceil_div(wanted, cluster) * cluster, 1, s.threads, s.shared_bytes);
    launch.cluster = static_cast<unsigned>(cluster);
    return launch;
}

/// The words of a line. No streams and nothing else that has a locale: libraries that bring a C++ run-time library of their own may be in
/// this process, PyTorch's among them, and locales of the two do not go together.
class Words {
public:
    explicit Words(std::string_view text) : left_(text) {}

    std::string_view word() {
        left_.remove_prefix(std::min(left_.find_first_not_of(' '), left_.size()));
        const std::string_view out = left_.substr(0, left_.find(' '));
        left_.remove_prefix(out.size());
        return out;
    }
    /// All that is left, without the blank before it.
    std::string rest() {
        left_.remove_prefix(std::min(left_.find_first_not_of(' '), left_.size()));
        return std::string(left_);
    }
    template <typename Number>
    void number(Number& out) {
        const std::string_view text = word();
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
        good_ = good_ && error == std::errc() && end == text.data() + text.size();
    }
    void number(bool& out) {
        const std::string_view text = word();
        good_ = good_ && (text == "0" || text == "1");
        out = text == "1";
    }
    template <typename... Numbers>
    void numbers(Numbers&... out) {
        (number(out), ...);
    }
    template <typename Enum, std::size_t Count>
    Enum named(const char* const (&names)[Count]) {
        const std::string_view text = word();
        for (std::size_t i = 0; i < Count; ++i) {
            if (text == names[i]) {
                return static_cast<Enum>(i);
            }
        }
        good_ = false;
        return {};
    }
    bool good() const { return good_; }

private:
    std::string_view left_;
    bool good_ = true;
};

constexpr const char* ops[]{"rms_norm", "fused_add_rms_norm"};
constexpr const char* modes[]{"forward", "backward"};
constexpr const char* dtypes[]{"fp32", "bf16", "fp16"};
constexpr const char* castings[]{"llama", "gemma", "none"};
constexpr const char* grids[]{"per_row", "packed", "persistent_strided", "persistent_contiguous", "persistent_balanced"};
constexpr const char* dgammas[]{"partials", "atomic", "split", "cooperative", "published", "beside", "-"};

Work read_work(Words& in) {
    Work w;
    w.op = in.named<Op>(ops);
    w.mode = in.named<Mode>(modes);
    w.dtype = in.named<Dtype>(dtypes);
    w.weight_dtype = in.named<Dtype>(dtypes);
    w.casting = in.named<Casting>(castings);
    in.numbers(w.affine, w.offset, w.cols, w.row_stride);
    return w;
}

Step read_step(Words& in) {
    Step s;
    in.numbers(s.rows_to, s.most_rows, s.most_programs, s.code, s.threads, s.shared_bytes);
    s.grid = in.named<Grid>(grids);
    in.numbers(s.rows_per_program, s.compiled_rows, s.programs_per_sm, s.unit_margin, s.cluster);
    s.dgamma = in.named<Dgamma>(dgammas);
    in.numbers(s.groups_in_memory, s.reduce_rows, s.reduce_cols, s.reduce_warps, s.reduce_parts, s.reduce_cluster, s.dependent_launch,
               s.rows);
    in.word();  // microseconds that it took, and an empty launch beside it: for people, and for bench.py
    in.word();
    s.key = in.rest();
    return s;
}

bool makes_sense(const Step& s, std::size_t codes) {
    return s.code >= 0 && static_cast<std::size_t>(s.code) < codes && s.threads > 0 && s.threads <= 1024 && s.shared_bytes >= 0 &&
           s.rows_per_program > 0 && s.compiled_rows >= 0 && s.programs_per_sm > 0 && s.cluster > 0 && s.cluster <= 16 &&
           s.reduce_rows > 0 && s.reduce_cols > 0 && s.reduce_warps > 0 && s.reduce_parts > 0 && s.reduce_cluster > 0 &&
           s.reduce_cluster <= 16 && !s.key.empty();
}

}  // namespace

bool Work::operator==(const Work& o) const {
    return cols == o.cols && row_stride == o.row_stride && op == o.op && mode == o.mode && dtype == o.dtype &&
           weight_dtype == o.weight_dtype && casting == o.casting && affine == o.affine && offset == o.offset;
}

std::size_t WorkHash::operator()(const Work& w) const {
    const auto kind = static_cast<std::uint64_t>(w.op) | static_cast<std::uint64_t>(w.mode) << 1 |
                      static_cast<std::uint64_t>(w.dtype) << 2 | static_cast<std::uint64_t>(w.weight_dtype) << 4 |
                      static_cast<std::uint64_t>(w.casting) << 6 | static_cast<std::uint64_t>(w.affine) << 8 |
                      static_cast<std::uint64_t>(w.offset) << 9;
    const auto shape = static_cast<std::uint64_t>(w.cols) * 0x9e3779b97f4a7c15ULL ^ static_cast<std::uint64_t>(w.row_stride);
    return static_cast<std::size_t>((shape ^ kind << 40) * 0xbf58476d1ce4e5b9ULL >> 7);
}

const Step* Device::choose(const Work& work, std::int64_t rows, int units, const Limits& limits) const {
    const auto found = entries.find(work);
    if (found == entries.end() || rows < 1) {
        return nullptr;
    }
    const std::vector<Step>& steps = found->second;
    const auto takes = [&](const Step& s) {
        const std::int64_t programs = programs_of(s, rows, units).count;
        if (limits.is_other_minor && (s.most_programs > 0 || (limits.shared_bytes > 0 && s.shared_bytes > limits.shared_bytes))) {
            return false;
        }
        return rows <= s.most_rows && programs * s.cluster + programs_beside(s, work) + s.reduce_cluster <= INT32_MAX &&
               (s.most_programs == 0 || programs <= std::max<std::int64_t>(1, s.most_programs * units / compute_units));
    };
    std::size_t nearest = 0;
    while (nearest + 1 < steps.size() && rows > steps[nearest].rows_to) {
        ++nearest;
    }
    for (std::size_t i = nearest; i < steps.size(); ++i) {
        if (takes(steps[i])) {
            return &steps[i];
        }
    }
    for (std::size_t i = nearest; i-- > 0;) {
        if (takes(steps[i])) {
            return &steps[i];
        }
    }
    return nullptr;
}

Table Table::read(std::string_view text) {
    Table out;
    std::vector<Step>* entry = nullptr;
    for (int number = 1; !text.empty(); ++number) {
        Words line(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(text.size(), std::min(text.find('\n'), text.size()) + 1));
        const std::string_view word = line.word();
        const char* wrong = nullptr;
        if (number == 1) {
            wrong = word != "normtune_kernels" ? "this is no table of kernels"
                    : line.word() != "2"       ? "a table of another version; make the package anew"
                                               : nullptr;
        } else if (word == "code") {
            out.codes.push_back(line.rest());
        } else if (word == "device") {
            Device device;
            device.arch = line.word();
            line.number(device.compute_units);
            device.name = line.rest();
            wrong = !line.good() || device.compute_units < 1 ? "a device has an architecture, compute units and a name" : nullptr;
            out.devices.push_back(std::move(device));
            entry = nullptr;
        } else if (word == "entry" && !out.devices.empty()) {
            const Work work = read_work(line);
            wrong = !line.good() || work.cols < 1 || work.row_stride < work.cols ? "an entry has an operation, columns and a row stride"
                                                                                 : nullptr;
            entry = &out.devices.back().entries[work];
        } else if (word == "step" && entry != nullptr) {
            entry->push_back(read_step(line));
            wrong = !line.good() || !makes_sense(entry->back(), out.codes.size()) ? "a step has 24 members" : nullptr;
        } else if (!word.empty() && word.front() != '#') {
            wrong = "neither a code, a device, an entry of a device nor a step of an entry";
        }
        if (wrong != nullptr) {
            throw std::runtime_error("kernels.txt:" + std::to_string(number) + ": " + wrong);
        }
    }
    return out;
}

const Device* Table::find(const std::string& name, int major, int minor) const {
    const Device* near = nullptr;
    for (const Device& device : devices) {
        const int number = std::atoi(device.arch.c_str() + std::min<std::size_t>(3, device.arch.size()));
        // Machine code runs on later minor versions of its major one.
        if (number / 10 != major || number % 10 > minor) {
            continue;
        }
        if (device.name == name) {
            return &device;
        }
        near = near == nullptr ? &device : near;
    }
    return near;
}

Workspace workspace(const Step& step, const Work& work, std::int64_t rows, int units) {
    const std::int64_t partial = partial_rows(step, work, rows, units);
    return {partial == 0 ? 0 : partials_at(step, work) + partial * work.cols * 4,
            step.dgamma != Dgamma::partials && step.dgamma != Dgamma::split};
}

Plan plan(const Step& s, const Work& work, const Tensors& t, int units) {
    Plan out;
    const Programs programs = programs_of(s, t.rows, units);
    if (work.mode == Mode::forward) {
        Launch launch = row_launch(Kernel::nt_forward, s, programs, 0);
        launch.overlaps = s.dependent_launch;
        add(out, launch,
            {pointer(t.x), pointer(t.residual), pointer(t.gamma), pointer(t.y), pointer(t.s), pointer(t.rstd), whole(t.rows),
             number(programs.count), number(programs.rows), real(t.eps)});
        return out;
    }
    const std::int64_t partial = partial_rows(s, work, t.rows, units);
    const char* partials = partial > 0 ? t.workspace + partials_at(s, work) : nullptr;
    const auto reduce = [&](bool overlaps) {
        Launch launch = launch_of(Kernel::nt_reduce, ceil_div(work.cols, s.reduce_cols), 1, s.reduce_warps * warp, 0);
        launch.overlaps = overlaps || s.dependent_launch;
        add(out, launch,
            {pointer(partials), pointer(t.dgamma), pointer(s.dgamma == Dgamma::published ? t.workspace : nullptr), number(partial)});
    };
    const bool split = s.dgamma == Dgamma::split;
    if (split) {
        const std::int64_t parts = split_parts(s, work, t.rows, units);
        Launch launch = launch_of(Kernel::nt_dgamma, ceil_div(work.cols, s.reduce_cols), parts, s.reduce_warps * warp, 0);
        launch.overlaps = s.dependent_launch;
        add(out, launch,
            {pointer(t.x), pointer(t.dy), pointer(t.rstd), pointer(t.dgamma), pointer(partials), whole(t.rows), number(parts)});
        if (parts > 1) {
            reduce(false);
        }
    }
    const std::int64_t beside = programs_beside(s, work);
    const bool sums = s.dgamma != Dgamma::none && !split && beside == 0;
    const bool gathers = (sums || beside > 0) && partial > 0;
    Launch launch = row_launch(Kernel::nt_backward, s, programs, beside);
    launch.overlaps = s.dependent_launch;
    launch.cooperative = gathers && s.dgamma == Dgamma::cooperative;
    add(out, launch,
        {pointer(t.x), pointer(t.gamma), pointer(t.dy), pointer(t.ds), pointer(t.rstd), pointer(t.dx),
         pointer(sums || beside > 0 ? t.dgamma : nullptr), pointer(gathers ? partials : nullptr), pointer(gathers ? t.workspace : nullptr),
         whole(t.rows), number(programs.count), number(programs.rows)});
    if (gathers && (s.dgamma == Dgamma::partials || s.dgamma == Dgamma::published)) {
        reduce(true);
    }
    return out;
}

}  // namespace normtune_torch
