// launch.json as text: each member is described once, for writing and for reading.
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "problem/shapes_file.h"
#include "support/error.h"
#include "support/utf8.h"
#include "trial/launch_manifest.h"

namespace normtune {
namespace {

using Json = nlohmann::ordered_json;

constexpr int newest_schema_version = 2;
constexpr NameTable<Access, 3> access_names{{"in", "out", "in_out"}};
constexpr std::array<std::int64_t, 3> most_programs{(std::int64_t{1} << 31) - 1, 65535, 65535};
constexpr std::array<std::int64_t, 3> most_threads{1024, 1024, 1024};  // and together
constexpr std::array<std::int64_t, 3> most_of_a_cluster{16, 16, 16};   // and together
constexpr std::int64_t most_registers = 1 << 16;
constexpr std::int64_t most_shared_bytes = std::int64_t{1} << 30;
constexpr std::int64_t most_workspace_bytes = std::int64_t{1} << 48;

enum class Need { always, may_lack };

/// The members of one object, written or read: each call names a member, and takes its value or puts it there.
class Members {
public:
    Members() = default;  // writes
    explicit Members(const JsonReader& in) : in_(&in) {}

    void text(const char* name, std::string& value, Need need = Need::always) {
        if (in_ == nullptr) {
            if (need == Need::always || !value.empty()) {
                out[name] = to_utf8(value);
            }
        } else if (const auto member = find(name, need)) {
            value = member->text();
            if (value.empty()) {
                member->fail("is empty");
            }
        }
    }
    template <typename T>
    void whole(const char* name, T& value, std::int64_t most, Need need = Need::always) {
        plain(name, value, need, [&](const JsonReader& member) { return static_cast<T>(member.whole(0, most)); });
    }
    void number(const char* name, double& value, Need need = Need::always) {
        plain(name, value, need, [](const JsonReader& member) { return member.number(); });
    }
    void flag(const char* name, bool& value) {
        plain(name, value, Need::may_lack, [](const JsonReader& member) { return member.flag(); });
    }
    template <typename T>
    void extents(const char* name, std::array<T, 3>& value, const std::array<std::int64_t, 3>& most, Need need = Need::always) {
        plain(name, value, need, [&](const JsonReader& list) {
            std::array<T, 3> extent{};
            if (list.size() != extent.size()) {
                list.fail("has to be three whole numbers");
            }
            for (std::size_t i = 0; i < extent.size(); ++i) {
                extent[i] = static_cast<T>(list.element(i).whole(1, most[i]));
            }
            return extent;
        });
    }
    void texts(const char* name, std::vector<std::string>& value) {
        plain(name, value, Need::may_lack, [](const JsonReader& list) { return list.texts(); });
    }
    template <typename E, std::size_t N>
    void one_of(const NameTable<E, N>& names, const char* name, E& value) {
        if (in_ == nullptr) {
            out[name] = names.name(value);
        } else {
            value = find(name, Need::always)->name_of(names);
        }
    }
    template <typename T, typename Describe>
    void object(const char* name, T& value, const Describe& describe) {
        if (in_ == nullptr) {
            Members inner;
            describe(inner, value);
            out[name] = std::move(inner.out);
        } else if (const auto member = find(name, Need::may_lack)) {
            read(*member, value, describe);
        }
    }
    template <typename T, typename Describe>
    void list(const char* name, std::vector<T>& values, Need need, const Describe& describe) {
        if (in_ == nullptr) {
            Json& array = out[name] = Json::array();
            for (T& value : values) {
                Members inner;
                describe(inner, value);
                array.push_back(std::move(inner.out));
            }
        } else if (const auto member = find(name, need)) {
            for (std::size_t i = 0; i < member->size(); ++i) {
                read(member->element(i), values.emplace_back(), describe);
            }
        }
    }
    /// A word that is misspelt would otherwise be as good as absent.
    template <typename T, typename Describe>
    static void read(const JsonReader& in, T& value, const Describe& describe) {
        Members members(in);
        describe(members, value);
        in.only({members.known_.begin(), members.known_.end()});
    }

    const JsonReader* in() const { return in_; }  // null: writes
    std::optional<JsonReader> find(const char* name, Need need) {
        known_.insert(name);
        return need == Need::always ? std::optional(in_->at(name)) : in_->find(name);
    }
    Json out = Json::object();

private:
    template <typename T, typename Read>
    void plain(const char* name, T& value, Need need, const Read& read) {
        if (in_ == nullptr) {
            out[name] = value;
        } else if (const auto member = find(name, need)) {
            value = read(*member);
        }
    }

    const JsonReader* in_ = nullptr;
    std::set<std::string_view> known_;
};

void describe_tensor(Members& io, Tensor& tensor) {
    io.one_of(tensor_names, "name", tensor.role);
    io.one_of(dtype_names, "dtype", tensor.dtype);
    io.whole("rows", tensor.rows, largest_size);
    io.whole("cols", tensor.cols, largest_size);
    io.whole("row_stride", tensor.row_stride, largest_size);
    io.one_of(access_names, "access", tensor.access);
}

void write_source(Members& io, const gpu::Argument& argument) {
    switch (argument.source) {
        case gpu::Argument::Source::tensor:
            io.out["tensor"] = tensor_names.name(argument.tensor);
            break;
        case gpu::Argument::Source::workspace:
            io.out["workspace_offset"] = argument.integer;
            break;
        case gpu::Argument::Source::null:
            io.out["value"] = nullptr;
            break;
        case gpu::Argument::Source::value:
            io.out["value"] = argument.type == gpu::ArgumentType::fp32 ? Json(argument.real) : Json(argument.integer);
    }
}

void read_source(Members& io, gpu::Argument& argument) {
    const auto tensor = io.find("tensor", Need::may_lack);
    const auto offset = io.find("workspace_offset", Need::may_lack);
    const auto value = io.find("value", Need::may_lack);
    if ((tensor ? 1 : 0) + (offset ? 1 : 0) + (value ? 1 : 0) != 1) {
        io.in()->fail("an argument has one of \"tensor\", \"workspace_offset\" and \"value\"");
    }
    const bool pointer = argument.type == gpu::ArgumentType::pointer;
    if (pointer != (!value || value->json().is_null())) {
        io.in()->fail("a pointer is a tensor's, a place in the workspace, or null; the other types have a number");
    }
    if (tensor) {
        argument.source = gpu::Argument::Source::tensor;
        argument.tensor = tensor->name_of(tensor_names);
    } else if (offset) {
        argument.source = gpu::Argument::Source::workspace;
        argument.integer = offset->whole(0, most_workspace_bytes);
    } else if (!pointer) {
        argument.source = gpu::Argument::Source::value;
        constexpr std::int64_t most_int32 = std::numeric_limits<std::int32_t>::max();
        constexpr std::int64_t most_int64 = std::numeric_limits<std::int64_t>::max();
        const std::int64_t most = argument.type == gpu::ArgumentType::int32 ? most_int32 : most_int64;
        if (argument.type == gpu::ArgumentType::fp32) {
            argument.real = static_cast<float>(value->number());
            if (!std::isfinite(argument.real)) {
                value->fail("is no number of fp32");
            }
        } else {
            argument.integer = value->whole(-most - 1, most);
        }
    }
}

void describe_argument(Members& io, gpu::Argument& argument) {
    io.text("name", argument.name);
    io.one_of(gpu::argument_type_names, "type", argument.type);
    io.in() == nullptr ? write_source(io, argument) : read_source(io, argument);
}

void describe_launch(Members& io, gpu::Launch& launch) {
    io.text("kernel", launch.kernel);
    if (io.in() != nullptr && has_control(launch.kernel)) {
        io.in()->at("kernel").fail("has control characters");
    }
    io.extents("grid", launch.grid, most_programs);
    io.extents("block", launch.block, most_threads);
    io.whole("shared_bytes", launch.shared_bytes, most_shared_bytes);
    if (io.in() != nullptr || launch.in_clusters()) {
        io.extents("cluster", launch.cluster, most_of_a_cluster, Need::may_lack);
    }
    io.flag("cooperative", launch.cooperative);
    io.flag("programmatic_stream_serialization", launch.overlaps);
    io.list("arguments", launch.arguments, Need::always, describe_argument);
    if (io.in() != nullptr && launch.arguments.size() > gpu::most_arguments) {
        io.in()->at("arguments").fail(fmt::format("are {}, the most is {}", launch.arguments.size(), gpu::most_arguments));
    }
}

/// The points of one pass, by name.
Json points_json(const RoundingPoints& points) {
    Json out = Json::array();
    for (const RoundingPoint& point : rounding_points) {
        if (points.*point.member) {
            out.push_back(point.name);
        }
    }
    return out;
}

RoundingPoints read_points(const JsonReader& list, const char* name, bool RoundingPoint::*allowed) {
    RoundingPoints points;
    for (const std::string& word : list.texts()) {
        const auto is_it = [&](const RoundingPoint& point) { return point.name == word && point.*allowed; };
        const auto* found = std::find_if(rounding_points.begin(), rounding_points.end(), is_it);
        if (found == rounding_points.end()) {
            list.fail(fmt::format("{} is no rounding point of a {}", quoted_for_message(word), name));
        }
        points.*found->member = true;
    }
    return points;
}

void describe_points(Members& io, const char* name, bool RoundingPoint::*allowed, RoundingPoints& points) {
    if (io.in() == nullptr) {
        io.out[name] = points_json(points);
    } else if (const auto list = io.find(name, Need::may_lack)) {
        points = read_points(*list, name, allowed);
    }
}

void describe_rounding(Members& io, LaunchManifest& manifest) {
    if (io.in() != nullptr) {
        manifest.rounding.emplace();
    }
    describe_points(io, "forward", &RoundingPoint::forward, manifest.rounding->forward);
    describe_points(io, "backward", &RoundingPoint::backward, manifest.rounding->backward);
}

/// The problem by its key, with the eps that a key leaves out.
void describe_problem(Members& io, Problem& problem) {
    std::string key = io.in() == nullptr ? problem.key() : "";
    io.text("problem", key);
    if (io.in() != nullptr) {
        try {
            problem = parse_problem_key(key);
        } catch (const InputError& error) {
            io.in()->at("problem").fail(error.what());
        }
    }
    io.number("eps", problem.operation.eps);
    if (io.in() != nullptr && !(problem.operation.eps >= least_eps && problem.operation.eps <= most_eps)) {
        io.in()->at("eps").fail(fmt::format("is no number from {} to {}", least_eps, most_eps));
    }
}

/// What the first version could not say.
bool needs_version_2(const LaunchManifest& manifest) {
    const std::vector<gpu::Launch>& launches = manifest.plan.launches;
    return !manifest.options.empty() ||
           std::any_of(launches.begin(), launches.end(), [](const gpu::Launch& launch) { return launch.in_clusters(); });
}

void describe(Members& io, LaunchManifest& manifest) {
    int version = needs_version_2(manifest) ? 2 : 1;
    io.whole("schema_version", version, std::numeric_limits<int>::max());
    if (io.in() != nullptr) {
        check_schema_version(*io.in());
    }
    io.text("normtune_version", manifest.normtune_version, Need::may_lack);
    io.text("provider", manifest.provider, Need::may_lack);
    describe_problem(io, manifest.problem);
    if (io.in() != nullptr || manifest.rounding) {
        io.object("rounding", manifest, describe_rounding);
    }
    io.text("configuration", manifest.key, Need::may_lack);
    if (io.in() != nullptr && has_control(manifest.key)) {
        io.in()->at("configuration").fail("has control characters");
    }
    io.text("arch", manifest.arch);
    io.whole("compute_units", manifest.compute_units, std::numeric_limits<int>::max(), Need::may_lack);
    io.text("compiler", manifest.compiler, Need::may_lack);
    io.object("code", manifest, [](Members& code, LaunchManifest& of) {
        code.text("file", of.code_file, Need::may_lack);
        code.text("hash", of.code.hash, Need::may_lack);
        if (code.in() != nullptr || !of.options.empty()) {
            code.texts("options", of.options);
        }
        if (code.in() == nullptr && of.code.hash.empty()) {
            return;  // the figures are not known
        }
        code.whole("registers", of.code.registers, most_registers, Need::may_lack);
        code.whole("spill_bytes", of.code.spill_bytes, most_shared_bytes, Need::may_lack);
        code.whole("shared_bytes", of.code.shared_bytes, most_shared_bytes, Need::may_lack);
        code.number("occupancy", of.code.occupancy, Need::may_lack);
    });
    io.whole("workspace_bytes", manifest.plan.workspace_bytes, most_workspace_bytes);
    std::vector<Tensor> of_problem = tensors(manifest.problem);
    std::vector<Tensor> told = io.in() == nullptr ? of_problem : std::vector<Tensor>();
    io.list("tensors", told, Need::may_lack, describe_tensor);
    const auto same = [](const Tensor& a, const Tensor& b) {
        const auto all = [](const Tensor& t) { return std::tuple(t.role, t.dtype, t.rows, t.cols, t.row_stride, t.access); };
        return all(a) == all(b);
    };
    if (!told.empty() && !std::equal(told.begin(), told.end(), of_problem.begin(), of_problem.end(), same)) {
        io.in()->at("tensors").fail(fmt::format("are not those of {}", manifest.problem.key()));
    }
    io.list("launches", manifest.plan.launches, Need::always, describe_launch);
}

/// What a launch's arguments point to has to be there.
void check_pointers(const LaunchManifest& manifest, const JsonReader& in) {
    const std::vector<Tensor> all = tensors(manifest.problem);
    const JsonReader launches = in.at("launches");
    if (manifest.plan.launches.empty()) {
        launches.fail("are none");
    }
    for (std::size_t i = 0; i < manifest.plan.launches.size(); ++i) {
        const JsonReader launch = launches.element(i);
        if (manifest.plan.launches[i].threads() > most_threads[0]) {
            launch.at("block").fail("has too many threads");
        }
        const std::array<int, 3>& cluster = manifest.plan.launches[i].cluster;
        if (cluster[0] * cluster[1] * cluster[2] > most_of_a_cluster[0]) {
            launch.at("cluster").fail(fmt::format("has more than {} programs", most_of_a_cluster[0]));
        }
        for (std::size_t axis = 0; axis < cluster.size(); ++axis) {
            if (manifest.plan.launches[i].grid[axis] % cluster[axis] != 0) {
                launch.at("grid").fail("is no multiple of its cluster");
            }
        }
        const JsonReader arguments = launch.at("arguments");
        for (std::size_t k = 0; k < manifest.plan.launches[i].arguments.size(); ++k) {
            const gpu::Argument& argument = manifest.plan.launches[i].arguments[k];
            const auto is_its = [&](const Tensor& tensor) { return tensor.role == argument.tensor; };
            if (argument.source == gpu::Argument::Source::tensor && std::none_of(all.begin(), all.end(), is_its)) {
                arguments.element(k).fail(fmt::format("{} has no tensor {}", manifest.problem.key(), tensor_names.name(argument.tensor)));
            }
            if (argument.source == gpu::Argument::Source::workspace && argument.integer >= manifest.plan.workspace_bytes) {
                arguments.element(k).fail(fmt::format("lies beyond the workspace's {} bytes", manifest.plan.workspace_bytes));
            }
        }
    }
}

}  // namespace

Json to_json(LaunchManifest manifest) {
    Members out;
    describe(out, manifest);
    return std::move(out.out);
}

void check_schema_version(const JsonReader& in) {
    const std::int64_t version = in.at("schema_version").whole(1);
    if (version > newest_schema_version) {
        in.at("schema_version")
            .fail(fmt::format("{} is not what this normtune reads, which is up to {}; update it", version, newest_schema_version));
    }
}

LaunchManifest read_launch_manifest(const JsonReader& in) {
    LaunchManifest manifest;
    Members::read(in, manifest, describe);
    check_pointers(manifest, in);
    for (std::size_t i = 0; i < manifest.options.size(); ++i) {
        if (const std::string why = option_objection(manifest.options[i]); !why.empty()) {
            in.at("code").at("options").fail(why);
        }
    }
    return manifest;
}

nlohmann::ordered_json to_json(const RoundingContract& contract) {
    return {{"forward", points_json(contract.forward)}, {"backward", points_json(contract.backward)}};
}

RoundingContract read_rounding(const JsonReader& in) {
    in.only({"forward", "backward"});
    RoundingContract out;
    if (const auto list = in.find("forward")) {
        out.forward = read_points(*list, "forward", &RoundingPoint::forward);
    }
    if (const auto list = in.find("backward")) {
        out.backward = read_points(*list, "backward", &RoundingPoint::backward);
    }
    return out;
}

}  // namespace normtune
