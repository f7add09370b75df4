#include "run/python_providers.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/atomic_file.h"
#include "support/child_process.h"
#include "support/content_hash.h"
#include "support/error.h"
#include "support/programs.h"
#include "support/scratch_folder.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Imports of a large library from a cold disk; no kernel is compiled there.
constexpr std::chrono::seconds answer_limit{180};

std::string option_of(const std::string& side) {
    return side.empty() ? "--python" : fmt::format("--{}-python", side);
}

/// In front of what is wrong with a provider.
std::string said_of(const std::string& side) {
    return side.empty() ? "--provider" : side;
}

/// The first of these that is there, beside the executable's folder. Throws InputError.
std::string beside_executable(std::initializer_list<const char*> places, const char* what) {
    const fs::path folder = fs::path(own_executable()).parent_path();
    for (const char* place : places) {
        std::error_code none;
        if (const fs::path at = folder / place; fs::exists(at, none)) {
            return at.lexically_normal().string();
        }
    }
    throw InputError(fmt::format("--provider: {} is not where {} looks for it: {}", what, own_executable(),
                                 (folder / *places.begin()).lexically_normal().string()));
}

/// A build folder, a wheel, an installed tree.
std::string package_folder() {
    return beside_executable({"../python/normtune_provider", "../../normtune_provider", "../share/normtune/python/normtune_provider"},
                             "the Python package normtune_provider");
}

std::string library() {
    return beside_executable({"libnormtune_worker.so", NORMTUNE_LIBRARY_PLACE}, "libnormtune_worker.so");
}

/// The interpreter of a virtual environment.
std::string inside(const std::string& environment) {
    return (fs::path(environment) / "bin/python3").string();
}

/// Of a word that a user gave.
std::optional<std::string> interpreter_at(const std::string& asked) {
    if (is_program(inside(asked))) {
        return inside(asked);
    }
    return asked.find('/') == std::string::npos ? program_on_path(asked) : is_program(asked) ? std::optional(asked) : std::nullopt;
}

/// Of what a process printed.
std::string last_line(std::string text) {
    text.erase(text.find_last_not_of(" \r\n\t") + 1);
    return text.substr(text.rfind('\n') + 1);
}

json question(const PythonWish& wish, Backend backend, const std::vector<Problem>& problems) {
    json list = json::array();
    for (const Problem& problem : problems) {
        list.push_back(to_json(problem));
    }
    return {{"providers", wish.names}, {"backend", backend_names.name(backend)}, {"problems", std::move(list)}};
}

}  // namespace

std::vector<std::string> shipped_python_providers() {
    return {"numpy", "pytorch", "torch_compile", "liger", "quack", "quack_tuned", "flashinfer"};
}

bool names_python_provider(const std::string& word) {
    return word.find(':') != std::string::npos || std::ranges::count(shipped_python_providers(), word) > 0;
}

std::string python_provider_forms() {
    return fmt::format("the shipped providers ({}), nor MODULE:FACTORY or FILE.py:FACTORY", fmt::join(shipped_python_providers(), ", "));
}

std::string python_interpreter(const PythonWish& wish) {
    const char* const variable = std::getenv("NORMTUNE_PYTHON");
    const std::string asked = !wish.python.empty() ? wish.python : variable != nullptr ? variable : "";
    if (!asked.empty()) {
        const std::optional<std::string> found = interpreter_at(asked);
        if (!found) {
            throw InputError(fmt::format("{}: {} is no interpreter that can be run, nor a virtual environment",
                                         wish.python.empty() ? "NORMTUNE_PYTHON" : option_of(wish.side), quoted_for_message(asked)));
        }
        return *found;
    }
    if (const char* const environment = std::getenv("VIRTUAL_ENV"); environment != nullptr && is_program(inside(environment))) {
        return inside(environment);
    }
    const auto found = program_on_path("python3");
    if (!found) {
        throw InputError(
            fmt::format("{}: there is no python3 in PATH; name an interpreter with {}", said_of(wish.side), option_of(wish.side)));
    }
    return *found;
}

std::vector<std::string> python_worker(const PythonProvider& provider) {
    const std::string python = python_interpreter({{}, provider.python(), provider.side()});
    return {python, "-u", package_folder(), "worker", library(), own_executable()};
}

std::vector<std::shared_ptr<const PythonProvider>> PythonProvider::ask(const PythonWish& wish, Backend backend,
                                                                       const std::vector<Problem>& problems) {
    const std::string python = python_interpreter(wish);
    const ScratchFolder folder;
    write_file_atomically(folder.path("question"), question(wish, backend, problems).dump());
    const ChildEnd end = run_child({python, "-u", package_folder(), "list", folder.path("question"), folder.path("answer")},
                                   folder.path("log"), answer_limit);
    if (end.timed_out) {
        throw InputError(fmt::format("{} {}: no answer from {} within {} minutes; the import, the factory or claims() hangs",
                                     said_of(wish.side), fmt::join(wish.names, ", "), python,
                                     std::chrono::duration_cast<std::chrono::minutes>(answer_limit).count()));
    }
    std::error_code none;
    const bool ended_well = end.status == 0 && end.signal == 0;
    if (!ended_well || !fs::exists(folder.path("answer"), none)) {
        const std::string said = fs::file_size(folder.path("log"), none) > 0 && !none ? last_line(read_file(folder.path("log"))) : "";
        throw InputError(fmt::format("{} {}: {} {}{}", said_of(wish.side), fmt::join(wish.names, ", "), python,
                                     ended_well ? "ended without an answer" : "ends with " + end.description(),
                                     said.empty() ? "" : ": " + said));
    }
    const json answer = parse_json(read_file(folder.path("answer")), "the providers' answer");
    const JsonReader root(answer, "the providers' answer: ");
    const JsonReader list = root.at("providers");
    std::vector<std::shared_ptr<const PythonProvider>> out;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const JsonReader in = list.element(i);
        if (const auto missing = in.find("missing")) {
            throw InputError(
                fmt::format("{} {}: {}{}", said_of(wish.side), in.at("asked_as").text(), missing->text(),
                            in.at("not_installed").flag() ? fmt::format("; {} names another interpreter", option_of(wish.side)) : ""));
        }
        auto provider = std::make_shared<PythonProvider>();
        provider->python_ = wish.python;
        provider->side_ = wish.side;
        provider->read(in, problems, list.size() == 1);
        out.push_back(std::move(provider));
    }
    return out;
}

std::string PythonProvider::named() const {
    return fmt::format("{}: {}", said_of(side_), asked_as_);
}

/// `alone`: no other provider has its side.
void PythonProvider::read(const JsonReader& in, const std::vector<Problem>& problems, bool alone) {
    asked_as_ = in.at("asked_as").text();
    own_name_ = in.at("name").text();
    version_ = in.at("version").text();
    if (!is_provider(own_name_) || own_name_ == own_provider) {
        throw InputError(fmt::format("{} {}: calls itself {}; letters, digits and . _ + - make a name, and {} is normtune's own",
                                     said_of(side_), asked_as_, quoted_for_message(own_name_), own_provider));
    }
    name_ = side_.empty() ? own_name_ : alone ? side_ : fmt::format("{}.{}", side_, own_name_);
    digest_ = content_hash(in.json().dump());
    const JsonReader list = in.at("kernels");
    for (std::size_t i = 0; i < list.size(); ++i) {
        const JsonReader one = list.element(i);
        Kernel& kernel = kernels_.emplace_back();
        kernel.manifest = std::make_shared<LaunchManifest>();
        kernel.manifest->python_provider = asked_as_;
        kernel.manifest->python_name = own_name_;
        kernel.manifest->python = python_;
        kernel.manifest->provider = name_;
        kernel.manifest->key = one.at("key").text();
        if (kernel.manifest->key.empty()) {
            throw InputError(fmt::format("{} {}: a kernel of it has an empty key", said_of(side_), asked_as_));
        }
        if (const auto rounding = one.find("rounding")) {
            try {
                kernel.manifest->rounding = read_rounding(*rounding);
            } catch (const InputError& error) {
                throw InputError(fmt::format("{}: {}: {}", named(), kernel.manifest->key, error.what()));
            }
        }
        if (const auto dependent = one.find("dependent_launch")) {
            kernel.manifest->python_dependent = dependent->flag();
        }
        const std::vector<std::string> refusals = one.at("refusals").texts();
        for (std::size_t p = 0; p < std::min(problems.size(), refusals.size()); ++p) {
            if (!refusals[p].empty()) {
                kernel.refused.emplace(problems[p].key(), refusals[p]);
            }
        }
    }
}

FolderPlan PythonProvider::plan(const Problem& problem, bool list_pruned) const {
    FolderPlan out;
    out.provider = name_;
    out.points = kernels_.size();
    out.tallies.push_back({tally_name(name_, claims_tally), "", 0});
    RuleTally& tally = out.tallies.front();
    for (const Kernel& kernel : kernels_) {
        const auto refused = kernel.refused.find(problem.key());
        if (refused == kernel.refused.end()) {
            out.kept.push_back(kernel.manifest);
            continue;
        }
        ++tally.pruned;
        tally.reason = tally.reason.empty() ? refused->second : tally.reason;
        if (list_pruned) {
            out.pruned_by.emplace_back(Candidate(kernel.manifest), 0);
        }
    }
    return out;
}

}  // namespace normtune
