#include "cli/selection_options.h"

#include <fmt/format.h>

#include "run/planning.h"
#include "space/study.h"

namespace normtune::cli {
namespace {

constexpr std::string_view default_space = "default";

std::string shipped_list(std::string_view folder) {
    return fmt::format("{}", fmt::join(shipped_names(folder), ", "));
}

template <typename T>
void replace_where_given(std::vector<T>& target, const std::vector<T>& given) {
    if (!given.empty()) {
        target = given;
    }
}

}  // namespace

void declare_shard(OptionSet& options, std::optional<Shard>& target) {
    const Value value{"I/N", {}, Completion::none, [&target](const std::string& word) { target = parse_shard(word); }};
    options.one("--shard", value, "Only the I-th of N parts, each of whole problems; merge puts them together");
}

void SelectionOptions::declare(OptionSet& options) {
    declare_problems(options);
    declare_configurations(options);
}

void SelectionOptions::declare_problems(OptionSet& options) {
    options.group("Problems");
    options.many("--shapes", shipped_file("shapes", shapes_), "Shape files, or shipped names (normtune shapes)");
    options.list("--model", text("NAME", selection_.models), "Only these models; * and ? match as in a shell");
    options.list("--site", text("NAME", selection_.sites), "Only these sites: hidden, q_norm, k_norm, q_a, kv_a");
    options.list("--tokens", whole_number(1, most_tokens, selection_.tokens), "Instead of the file's numbers of tokens");
    options.list("--op", name_of(op_names, selection_.ops), "Instead of the file's ops");
    options.list("--mode", name_of(mode_names, selection_.modes), "Instead of the file's modes");
    options.list("--dtype", name_of(dtype_names, selection_.dtypes), "Instead of the file's types");
    options.list("--casting", name_of(casting_names, selection_.castings), "Where values are rounded to the type");
    options.one("--weight-dtype", name_of(weight_type_names, selection_.weight_type), "Type of gamma: that of x, or fp32");
    options.one("--residual", name_of(residual_names, selection_.residual), "Fused add: the sum is rounded before it is squared, or not");
    options.flag("--in-place", "Backward: write dx over dy; inference: y over x, s over residual", selection_.in_place);
    options.one("--problem", text("KEY", problem_), "One problem by its key, instead of --shapes");
    options.one("--eps", number(least_eps, most_eps, eps_), "Of --problem, whose key leaves it out (default: 1e-6)");
}

void SelectionOptions::declare_configurations(OptionSet& options) {
    options.group("Configurations");
    options.one("--space", shipped_file("spaces", space_),
                fmt::format("Space file, or shipped: {} (default: {})", shipped_list("spaces"), default_space));
    options.one("--config", text("KEY", configuration_), "One configuration by its key, instead of a space");
    options.one("--study", shipped_file("studies", study_),
                fmt::format("Shapes and space of a question; shipped: {}", shipped_list("studies")));
}

bool SelectionOptions::narrowed() const {
    return selection_ != Selection{};
}

bool SelectionOptions::given() const {
    return selects_problems() || !space_.empty() || !configuration_.empty();
}

Selection SelectionOptions::narrow(Selection selection) const {
    replace_where_given(selection.models, selection_.models);
    replace_where_given(selection.sites, selection_.sites);
    replace_where_given(selection.tokens, selection_.tokens);
    replace_where_given(selection.ops, selection_.ops);
    replace_where_given(selection.modes, selection_.modes);
    replace_where_given(selection.dtypes, selection_.dtypes);
    replace_where_given(selection.castings, selection_.castings);
    selection.weight_type = selection_.weight_type ? selection_.weight_type : selection.weight_type;
    selection.in_place = selection.in_place || selection_.in_place;
    selection.residual = selection_.residual ? selection_.residual : selection.residual;
    return selection;
}

Work SelectionOptions::work() const {
    return study_.empty() ? Work{problems(), space()} : of_study();
}

std::vector<Problem> SelectionOptions::problems() const {
    if (!problem_.empty()) {
        if (!shapes_.empty() || narrowed()) {
            throw InputError("--problem says everything of its problem; leave out --shapes and what selects from it");
        }
        Problem problem = parse_problem_key(problem_);
        problem.operation.eps = eps_.value_or(problem.operation.eps);
        return {problem};
    }
    if (eps_) {
        throw InputError("--eps goes with --problem; shape files say the eps of their models");
    }
    if (shapes_.empty()) {
        throw InputError(fmt::format("no shapes are selected; give --shapes FILE, or a shipped name: {}", shipped_list("shapes")));
    }
    std::vector<ShapesFile> files;
    for (const std::string& file : shapes_) {
        files.push_back(load_shapes(file));
    }
    return select_problems(files, selection_);
}

SearchSpace SelectionOptions::space() const {
    if (configuration_.empty() || (space_.empty() && !candidate().empty())) {
        return load_space(space_.empty() ? std::string(default_space) : space_);
    }
    if (!space_.empty()) {
        throw InputError("--config is one configuration and --space is many; give one of them");
    }
    return one_point_space(Configuration::parse(configuration_));
}

Work SelectionOptions::of_study() const {
    if (!shapes_.empty() || !problem_.empty() || eps_) {
        throw InputError("--study brings its own shapes; leave out --shapes, --problem and --eps");
    }
    const Study study = load_study(study_);
    std::vector<ShapesFile> files;
    for (const std::string& file : study.shapes) {
        files.push_back(load_shapes(file));
    }
    const bool own_space = space_.empty() && configuration_.empty();
    return {select_problems(files, narrow(study.select)), own_space ? study.space : space()};
}

}  // namespace normtune::cli
