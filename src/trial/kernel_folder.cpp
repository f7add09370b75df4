#include "trial/kernel_folder.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "space/rules.h"
#include "support/error.h"
#include "support/expression.h"

namespace normtune {
namespace {

using nlohmann::json;

constexpr double most_exact = 9007199254740992.0;  // 2^53: whole numbers below are exact

json number_of(double value, bool whole) {
    return whole ? json(static_cast<std::int64_t>(value)) : json(value);
}

/// Does the tensor hold it: dx, in place, is in dy's memory.
bool has_role(const Tensor& tensor, TensorRole role) {
    return tensor.role == role || tensor.result == role;
}

}  // namespace

/// A folder's expressions over one problem and device.
class KernelFolder::Binding {
public:
    Binding(const KernelFolder& folder, const Problem& problem, const DeviceInfo& device)
        : folder_(folder), problem_(problem), arch_(device.arch), tensors_(tensors(problem)), values_(folder.names_.size()) {
        for (const auto& [name, value] : problem_facts(problem, device)) {
            facts_.emplace_back(name, value);
        }
        facts_.emplace_back("eps", problem.operation.eps);
        facts_.emplace_back("offset", problem.operation.offset);
        for (const auto& [name, value] : facts_) {
            if (std::find(folder.names_.begin(), folder.names_.end(), name) != folder.names_.end()) {
                throw InputError(fmt::format("{} is what the problem or the device says; a tunable needs another name", name));
            }
        }
        for (std::size_t i = 0; i < folder.names_.size(); ++i) {
            variables_.push_back({folder.names_[i], &values_[i]});
        }
        for (const Rule& rule : folder.rules_) {
            rules_.push_back(compile(rule.keep));
        }
        for (const Macro& macro : folder.macros_) {
            macros_.push_back(compile(macro.value));
        }
        for (const Text& text : folder.texts_) {
            texts_.push_back(compile(text));
        }
    }

    /// The first rule that takes the point; the number of rules: none does.
    std::size_t taken_by(const std::vector<double>& values) {
        values_ = values;
        std::size_t rule = 0;
        while (rule < rules_.size() && value_of(rules_[rule], folder_.rules_[rule].keep, false) != 0) {
            ++rule;
        }
        return rule;
    }

    /// The kernel at the point that taken_by was asked about. Throws InputError: a number is not what it has to be there.
    LaunchManifest manifest(const Code& code) {
        json launch = *folder_.base_;
        launch["configuration"] = folder_.key_of(values_);
        launch["problem"] = problem_.key();
        launch["eps"] = problem_.operation.eps;
        launch["arch"] = code.arch.empty() ? arch_ : code.arch;
        launch["code"] = {{"file", code.file}};
        if (is_source_name(code.file)) {
            launch["code"]["options"] = options();
        }
        for (std::size_t i = 0; i < texts_.size(); ++i) {
            const Text& text = folder_.texts_[i];
            launch[json::json_pointer("/" + text.place)] = number_of(value_of(texts_[i], text, text.whole), text.whole);
        }
        point_to_tensors(launch);
        LaunchManifest out = read_launch_manifest(JsonReader(launch, ""));
        out.problem = problem_;
        out.folder = folder_.path_;
        out.code_digest = code.digest;
        return out;
    }

private:
    Expression compile(const Text& text) {
        try {
            return Expression(text.text, variables_, facts_);
        } catch (const InputError& error) {
            throw InputError(fmt::format("{}: {}: {}", text.place, quoted_for_message(text.text), error.what()));
        }
    }

    double value_of(const Expression& expression, const Text& text, bool whole) const {
        const double value = expression.value();
        if (!std::isfinite(value) || (whole && (value != std::floor(value) || std::abs(value) > most_exact))) {
            throw InputError(fmt::format("{}: {} gives {}, which is no {} number", text.place, quoted_for_message(text.text), value,
                                         whole ? "whole" : "finite"));
        }
        return value;
    }

    std::vector<std::string> options() const {
        std::vector<std::string> out = folder_.options_;
        for (std::size_t i = 0; i < folder_.tunables_; ++i) {
            out.push_back(fmt::format("-D{}={}", folder_.names_[i], values_[i]));
        }
        for (std::size_t i = 0; i < macros_.size(); ++i) {
            out.push_back(fmt::format("-D{}={}", folder_.macros_[i].name, value_of(macros_[i], folder_.macros_[i].value, false)));
        }
        return out;
    }

    /// A tensor that is written over another one is that one's memory; one that the problem does not have is a null pointer.
    void point_to_tensors(json& launch) const {
        for (json& step : launch["launches"]) {
            for (json& argument : step["arguments"]) {
                if (!argument.contains("tensor") || !argument["tensor"].is_string()) {
                    continue;
                }
                const auto role = tensor_names.find(argument["tensor"].get_ref<const std::string&>());
                if (!role) {
                    continue;  // read_launch_manifest says so
                }
                const auto found = std::find_if(tensors_.begin(), tensors_.end(), [&](const Tensor& t) { return has_role(t, *role); });
                if (found == tensors_.end()) {
                    argument.erase("tensor");
                    argument["value"] = nullptr;
                } else {
                    argument["tensor"] = tensor_names.name(found->role);
                }
            }
        }
    }

    const KernelFolder& folder_;
    Problem problem_;
    std::string arch_;
    std::vector<Tensor> tensors_;
    std::vector<Expression::Constant> facts_;
    std::vector<double> values_;  // never resized: expressions have the addresses
    std::vector<Expression::Variable> variables_;
    std::vector<Expression> rules_;
    std::vector<Expression> macros_;
    std::vector<Expression> texts_;
};

std::uint64_t KernelFolder::product() const {
    std::uint64_t points = 1;
    for (const std::vector<double>& values : values_) {
        points *= values.size();
    }
    return points;
}

std::string KernelFolder::key_of(const std::vector<double>& values) const {
    std::string key = stem_;
    for (std::size_t i = 0; i < tunables_; ++i) {
        key += fmt::format(".{}={}", names_[i], values[i]);
    }
    return key;
}

bool KernelFolder::claims(const Problem& problem) const {
    return single_ != nullptr ? single_->problem.same_work(problem) && single_->problem.operation.eps == problem.operation.eps
                              : claims_.has(problem.operation);
}

/// Those that run on the device. A device that is no GPU runs none: it is told so of those of the first architecture.
std::vector<std::size_t> KernelFolder::codes_for(const DeviceInfo& device) const {
    std::vector<std::size_t> out;
    const bool gpu = device.backend == Backend::cuda || device.backend == Backend::hip;
    for (std::size_t i = 0; i < codes_.size(); ++i) {
        const bool its_source = codes_[i].file.ends_with(device.backend == Backend::hip ? ".hip" : ".cu");
        if (gpu ? (codes_[i].arch.empty() ? its_source : codes_[i].arch == device.arch) : codes_[i].arch == codes_.front().arch) {
            out.push_back(i);
        }
    }
    return out;
}

FolderPlan KernelFolder::plan(const Problem& problem, const DeviceInfo& device, bool list_pruned) const {
    FolderPlan out;
    out.provider = provider_;
    if (single_ != nullptr) {
        if (claims(problem)) {
            out.points = 1;
            out.kept.push_back(single_);
        }
        return out;
    }
    const std::vector<std::size_t> codes = codes_for(device);
    const bool of_codes = values_.empty();
    out.points = of_codes ? std::max<std::uint64_t>(1, codes.size()) : product();
    out.tallies.push_back({tally_name(provider_, claims_tally), claims_.text()});
    out.tallies.push_back({tally_name(provider_, code_tally), fmt::format("has no code for {}", device.arch)});
    for (const Rule& rule : rules_) {
        out.tallies.push_back({tally_name(provider_, rule.name), rule.keep.text});
    }
    out.tallies.push_back({tally_name(provider_, launch_tally), ""});
    constexpr std::size_t by_claims = 0;
    constexpr std::size_t by_code = 1;
    if (!claims(problem) || codes.empty()) {
        out.tallies[claims(problem) ? by_code : by_claims].pruned = out.points;
        return out;
    }
    Binding binding(*this, problem, device);
    const auto prune = [&](std::size_t tally, const std::vector<double>& values) {
        ++out.tallies[tally].pruned;
        if (list_pruned) {
            out.pruned_by.emplace_back(Candidate::named(provider_, key_of(values)), tally);
        }
    };
    std::vector<double> values(names_.size());
    for (std::uint64_t point = 0; point < out.points; ++point) {
        const Code& code = codes_[codes[of_codes ? point : 0]];
        if (of_codes && !names_.empty()) {
            values = code.values;
        }
        std::uint64_t rest = point;
        for (std::size_t i = values_.size(); i-- > 0; rest /= values_[i].size()) {  // the last one varies fastest
            values[i] = values_[i][rest % values_[i].size()];
        }
        std::size_t rule = 0;
        try {
            rule = binding.taken_by(values);
        } catch (const InputError& error) {
            throw InputError(fmt::format("{}/launch.json: {}", path_, error.what()));
        }
        if (rule < rules_.size()) {
            prune(by_code + 1 + rule, values);
            continue;
        }
        try {
            out.kept.push_back(std::make_shared<LaunchManifest>(binding.manifest(code)));
        } catch (const InputError& error) {
            RuleTally& launch = out.tallies.back();
            launch.reason = launch.reason.empty() ? error.what() : launch.reason;
            prune(out.tallies.size() - 1, values);
        }
    }
    return out;
}

/// What stands in it is known, and read as it will be for problems: on a sample of each operation that it claims.
void KernelFolder::check(const JsonReader& in) const {
    Problem sample;
    sample.shape = {1024, 4096, 4096};
    DeviceInfo device;
    device.shared_bytes_per_program = std::int64_t{1} << 16;
    for (const Operation& operation : claims_.operations()) {
        sample.operation = operation;
        try {
            Binding binding(*this, sample, device);
        } catch (const InputError& error) {
            in.fail(error.what());
        }
    }
    check_names(in);
}

std::vector<std::pair<std::string, std::string>> tunables_of(std::string_view key) {
    std::vector<std::pair<std::string, std::string>> out;
    while (!key.empty()) {
        const std::size_t dot = std::min(key.find('.'), key.size());
        const std::string_view part = key.substr(0, dot);
        if (const std::size_t equals = part.find('='); equals != std::string_view::npos && equals > 0) {
            out.emplace_back(part.substr(0, equals), part.substr(equals + 1));
        }
        key.remove_prefix(std::min(dot + 1, key.size()));
    }
    return out;
}

}  // namespace normtune
