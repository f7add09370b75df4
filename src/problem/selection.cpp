#include "problem/selection.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "support/error.h"
#include "support/names.h"
#include "support/pattern.h"

namespace normtune {
namespace {

constexpr std::size_t most_problems = 100'000;

bool selected(const std::vector<std::string>& patterns, std::string_view name) {
    return patterns.empty() ||
           std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) { return matches_pattern(pattern, name); });
}

/// Each pattern must match something: a misspelt one must not shrink the selection silently.
void require_matches(const std::vector<std::string>& patterns, const std::vector<std::string_view>& known, std::string_view kind) {
    for (const std::string& pattern : patterns) {
        if (std::none_of(known.begin(), known.end(), [&](std::string_view name) { return matches_pattern(pattern, name); })) {
            throw InputError(fmt::format("--{0}: no {0} matches {1}{2}", kind, quoted_for_message(pattern),
                                         suggestion(pattern, known.data(), known.data() + known.size())));
        }
    }
}

void check_names(const std::vector<ShapesFile>& files, const Selection& selection) {
    std::vector<std::string_view> models;
    std::vector<std::string_view> sites;
    std::set<std::string_view> seen;
    for (const ShapesFile& file : files) {
        for (const Model& model : file.models) {
            models.push_back(model.name);
            for (const Site& site : model.sites) {
                if (selected(selection.models, model.name) && seen.insert(site.site).second) {
                    sites.push_back(site.site);
                }
            }
        }
    }
    require_matches(selection.models, models, "model");
    require_matches(selection.sites, sites, "site");
}

void check_tokens(const std::vector<std::int64_t>& tokens) {
    for (const std::int64_t value : tokens) {
        if (value < 1 || value > most_tokens) {
            throw InputError(fmt::format("--tokens: {} is not a whole number from 1 to {}", value, most_tokens));
        }
    }
}

template <typename T>
const std::vector<T>& first_given(const std::vector<T>& a, const std::vector<T>& b) {
    return a.empty() ? b : a;
}

Shape shape_of(const Model& model, const Site& site, std::int64_t tokens) {
    Shape shape;
    shape.cols = site.cols;
    shape.row_stride = site.row_stride == 0 ? site.cols : site.row_stride;
    if (tokens > largest_elements / site.rows_per_token / shape.row_stride) {
        throw InputError(fmt::format("{} {} at {} tokens has more than {} elements (2^46); ask for fewer tokens", model.name, site.site,
                                     tokens, largest_elements));
    }
    shape.rows = tokens * site.rows_per_token;
    return shape;
}

using Reasons = std::set<std::string>;

/// Every operation that the site is to run, in file order: types outermost, castings innermost. What an op does not have goes into
/// `missing`.
std::vector<Operation> operations_at(const ShapesFile& file, const Model& model, const Site& site, const Selection& selection,
                                     Reasons& missing) {
    std::vector<Operation> operations;
    Operation operation;
    operation.affine = site.affine;
    operation.offset = site.affine ? site.offset : 0;
    operation.eps = model.eps;
    const bool is_contiguous = site.row_stride == 0 || site.row_stride == site.cols;
    const bool fp32_weight = site.affine && selection.weight_type.value_or(site.weight_type) == WeightType::fp32;
    for (const Dtype dtype : first_given(selection.dtypes, file.dtypes)) {
        operation.dtype = dtype;
        operation.weight_dtype = fp32_weight ? Dtype::fp32 : dtype;
        for (const Op op : first_given(selection.ops, file.ops)) {
            const OpDescriptor& descriptor = descriptor_of(op);
            if (!occurs_at(op, site.site)) {
                missing.insert(fmt::format("{} {} at the sites {}", descriptor.name, descriptor.missing.why,
                                           fmt::join(descriptor.missing.sites, ", ")));
                continue;
            }
            operation.op = op;
            operation.residual =
                operation.adds_residual() ? selection.residual.value_or(ResidualPrecision::rounded) : ResidualPrecision::rounded;
            for (const Mode mode : first_given(selection.modes, file.modes)) {
                if (!has_mode(descriptor, mode)) {
                    missing.insert(fmt::format("{} has no mode {}", descriptor.name, mode_names.name(mode)));
                    continue;
                }
                operation.mode = mode;
                operation.in_place = selection.in_place && operation.can_be_in_place();
                operation.in_place = operation.in_place && (is_contiguous || operation.can_have_stride());
                for (const Casting casting : first_given(selection.castings, file.castings)) {
                    operation.casting = casting;
                    operations.push_back(operation);
                }
            }
        }
    }
    return operations;
}

/// Problems in order of first appearance, each piece of work once.
class Problems {
public:
    void add(const Shape& shape, const Operation& operation, const Use& use) {
        Problem problem{shape, operation, {}};
        const auto [place, is_new] = places_.emplace(problem.key(), list_.size());
        if (is_new) {
            if (list_.size() == most_problems) {
                throw InputError(
                    fmt::format("more than {} problems are selected; narrow the selection with --model, "
                                "--site or --tokens",
                                most_problems));
            }
            list_.push_back(std::move(problem));
        }
        std::vector<Use>& uses = list_[place->second].uses;
        if (std::find(uses.begin(), uses.end(), use) == uses.end()) {
            uses.push_back(use);
        }
    }
    std::vector<Problem> take() { return std::move(list_); }

private:
    std::vector<Problem> list_;
    std::unordered_map<std::string, std::size_t> places_;
};

/// "fused_add_rms_norm", or the names of several: "a or b".
std::string ops_with(TensorRole role) {
    std::vector<std::string_view> names;
    for (const OpDescriptor& op : op_registry) {
        if (op.has(role)) {
            names.push_back(op.name);
        }
    }
    return fmt::format("{}", fmt::join(names, " or "));
}

void check_options(const std::vector<Problem>& problems, const Selection& selection, const Reasons& missing) {
    if (problems.empty()) {
        // Every model has a site, every site tokens, and every pattern matched: only the op can have left nothing.
        throw InputError(fmt::format("nothing is selected: {}", fmt::join(missing, "; ")));
    }
    const auto any = [&](auto has) { return std::any_of(problems.begin(), problems.end(), has); };
    if (selection.in_place && !any([](const Problem& p) { return p.operation.in_place; })) {
        throw InputError(
            "--in-place: for the modes backward and full (dx over dy) and inference (y over x, in contiguous rows), and none of them is "
            "selected");
    }
    if (selection.weight_type == WeightType::fp32 && !any([](const Problem& p) {
            return p.operation.affine && p.operation.dtype != Dtype::fp32;  // all of them have it
        })) {
        throw InputError("--weight-dtype fp32: for a gamma beside bf16 or fp16, and nothing that is selected has one");
    }
    if (selection.residual == ResidualPrecision::fp32 && !any([](const Problem& p) { return p.operation.adds_residual(); })) {
        throw InputError(fmt::format("--residual fp32: for the op {}, which is not selected", ops_with(TensorRole::residual)));
    }
}

}  // namespace

bool occurs_at(Op op, std::string_view site) {
    const std::span<const std::string_view> missing = descriptor_of(op).missing.sites;
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    };
    return std::ranges::none_of(missing, [&](std::string_view name) { return std::ranges::equal(name, site, same); });
}

bool has_mode(const OpDescriptor& op, Mode mode) {
    const Operation of{.mode = mode};
    return (!of.has_forward() || op.forward_roles != 0) && (!of.has_backward() || op.backward_roles != 0);
}

std::vector<Problem> select_problems(const std::vector<ShapesFile>& files, const Selection& selection) {
    if (files.empty()) {
        throw InputError("no shapes are given; --shapes takes a file or a shipped name, e.g. qwen3");
    }
    check_names(files, selection);
    check_tokens(selection.tokens);
    Problems problems;
    Reasons missing;
    for (const ShapesFile& file : files) {
        for (const Model& model : file.models) {
            if (!selected(selection.models, model.name)) {
                continue;
            }
            for (const Site& site : model.sites) {
                if (!selected(selection.sites, site.site)) {
                    continue;
                }
                const std::vector<Operation> operations = operations_at(file, model, site, selection, missing);
                for (const std::int64_t tokens : first_given(selection.tokens, first_given(model.tokens, file.tokens))) {
                    const Shape shape = shape_of(model, site, tokens);
                    for (const Operation& operation : operations) {
                        problems.add(shape, operation, {model.name, site.site, tokens});
                    }
                }
            }
        }
    }
    std::vector<Problem> list = problems.take();
    check_options(list, selection, missing);
    return list;
}

}  // namespace normtune
