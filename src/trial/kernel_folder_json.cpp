// launch.json of a kernel for many problems, as it stands.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/atomic_file.h"
#include "support/content_hash.h"
#include "support/error.h"
#include "support/expression.h"
#include "support/utf8.h"
#include "trial/kernel_folder.h"

namespace normtune {
namespace {

using nlohmann::json;

constexpr std::size_t most_json_bytes = std::size_t{1} << 24;
constexpr std::uint64_t most_points = std::uint64_t{1} << 20;
constexpr std::int64_t most_value = std::numeric_limits<std::int32_t>::max();

void require_variable_name(const JsonReader& in, const std::string& name) {
    if (!is_variable_name(name)) {
        in.fail(fmt::format("{} is no name of a number: letters, digits and _, a letter first, and no function's name",
                            quoted_for_message(name)));
    }
}

/// A number, or what gives one.
std::string expression_text(const JsonReader& in) {
    return in.is_text() ? in.text() : fmt::format("{}", in.number());
}

}  // namespace

std::shared_ptr<const KernelFolder> KernelFolder::load(const std::string& folder, std::string_view provider) {
    const std::string file = (std::filesystem::path(folder) / "launch.json").string();
    const json document = parse_json(read_file(file, most_json_bytes), file);
    const std::string root = file + ": ";
    const JsonReader in(document, root);
    const auto out = std::make_shared<KernelFolder>();
    out->path_ = std::filesystem::canonical(folder).string();
    if (!is_utf8(out->path_)) {
        in.fail("its path is not UTF-8, as the files of a run have to name it");
    }
    const auto named = in.find("provider");
    out->own_name_ = named ? named->text() : std::filesystem::path(out->path_).filename().string();
    if (named && out->own_name_.empty()) {
        named->fail("is empty");
    }
    out->provider_ = provider.empty() ? out->own_name_ : provider;
    if (!is_provider(out->own_name_) || out->own_name_ == own_provider) {
        in.fail(fmt::format("{} cannot be its provider; \"provider\" may name another, of letters, digits and . _ + -",
                            quoted_for_message(out->own_name_)));
    }
    if (in.find("claims")) {
        out->read(in);
        return out;
    }
    if (!in.find("problem")) {
        in.fail("has neither a \"problem\", the one that it is for, nor \"claims\", which say what it is for");
    }
    auto single = std::make_shared<LaunchManifest>(read_launch_manifest(in));
    single->provider = out->provider_;
    single->folder = out->path_;
    single->key = single->key.empty() ? single->plan.launches.front().kernel : single->key;
    if (const std::string why = folder_objection(out->path_, single->code_file); !why.empty()) {
        in.fail("code/file: " + why);
    }
    if (!is_code_name(single->code_file)) {
        in.fail(fmt::format("code/file: {} ends in none of .cubin, .hsaco, .cu and .hip", quoted_for_message(single->code_file)));
    }
    const std::string code = normtune::read_code(out->path_, single->code_file, single->options);
    single->code_digest = content_hash(code.data(), code.size());
    if (!single->code.hash.empty() && single->code.hash != single->code_digest) {
        in.fail(fmt::format("code/hash: is not that of {}, which is {}", single->code_file, single->code_digest));
    }
    out->digest_ = normtune::digest(*single);
    out->single_ = std::move(single);
    return out;
}

void KernelFolder::read(const JsonReader& in) {
    in.only({"schema_version", "normtune_version", "provider", "configuration", "rounding", "claims", "arch", "compiler", "code",
             "tunables", "rules", "workspace_bytes", "launches"});
    check_schema_version(in);
    claims_ = read_claims(in.at("claims"));
    auto base = std::make_shared<json>(in.json());
    for (const char* name : {"claims", "arch", "code", "tunables", "rules"}) {
        base->erase(name);
    }
    (*base)["provider"] = provider_;
    base_ = std::move(base);
    const JsonReader launches = in.at("launches");
    if (launches.size() == 0) {
        launches.fail("are none");
    }
    const auto stem = in.find("configuration");
    stem_ = stem ? stem->text() : launches.element(0).at("kernel").text();
    if (has_control(stem_)) {
        in.fail("configuration: has control characters");
    }
    if (stem_.empty() || stem_.find('=') != std::string::npos) {
        in.fail("configuration: is empty or has a '='; the values of tunables are added to it");
    }
    read_tunables(in);
    read_code(in);
    check_macros(in.at("code"));
    read_rules(in);
    find_expressions();
    check(in);
    std::string text = in.json().dump();
    for (const Code& code : codes_) {
        text += code.digest;
    }
    digest_ = content_hash(text.data(), text.size());
}

void KernelFolder::read_tunables(const JsonReader& in) {
    const auto tunables = in.find("tunables");
    if (!tunables) {
        return;
    }
    if (!tunables->json().is_object()) {
        tunables->fail("has to be an object: a list of whole numbers for each name");
    }
    for (const auto& [name, unused] : tunables->json().items()) {
        require_variable_name(*tunables, name);
        const JsonReader list = tunables->at(name);
        std::vector<double> values;
        for (std::size_t i = 0; i < list.size(); ++i) {
            values.push_back(static_cast<double>(list.element(i).whole(-most_value, most_value)));
            if (std::find(values.begin(), values.end() - 1, values.back()) != values.end() - 1) {
                list.element(i).fail("is there already");
            }
        }
        if (values.empty()) {
            list.fail("has no value to try");
        }
        names_.push_back(name);
        values_.push_back(std::move(values));
        if (product() > most_points) {
            tunables->fail(fmt::format("make more than {} combinations", most_points));
        }
    }
    tunables_ = names_.size();
}

void KernelFolder::read_code(const JsonReader& in) {
    const JsonReader code = in.at("code");
    code.only({"file", "hash", "files", "options", "macros"});
    if (const auto options = code.find("options")) {
        options_ = options->texts();
        for (std::size_t i = 0; i < options_.size(); ++i) {
            if (const std::string why = option_objection(options_[i]); !why.empty()) {
                options->element(i).fail(why);
            }
        }
    }
    if (const auto macros = code.find("macros")) {
        for (const auto& [name, unused] : macros->json().items()) {
            require_variable_name(*macros, name);
            macros_.push_back({name, {"code/macros/" + name, expression_text(macros->at(name)), false}});
        }
    }
    const auto files = code.find("files");
    if (files.has_value() == code.find("file").has_value()) {
        code.fail("has either \"file\" or \"files\"");
    }
    if (files) {
        read_files(*files);
    } else {
        const auto arch = in.find("arch");
        codes_.push_back({code.at("file").text(), arch ? arch->text() : "", {}, {}});
    }
    for (std::size_t i = 0; i < codes_.size(); ++i) {
        Code& one = codes_[i];
        const JsonReader place = files ? files->element(i) : code;
        const JsonReader file = place.at("file");
        if (const std::string why = folder_objection(path_, one.file); !why.empty()) {
            file.fail(why);
        }
        if (!is_code_name(one.file)) {
            file.fail(fmt::format("{} ends in none of .cubin, .hsaco, .cu and .hip", quoted_for_message(one.file)));
        }
        if (one.arch.empty() && !is_source_name(one.file)) {
            place.fail("is machine code; \"arch\" has to say what of");
        }
        if (!is_source_name(one.file) && (!values_.empty() || !macros_.empty() || !options_.empty())) {
            place.fail(
                "is machine code; \"tunables\", \"macros\" and \"options\" are for sources, and code/files[]/tunables says what it was "
                "made with");
        }
        const std::string bytes = normtune::read_code(path_, one.file, options_);
        one.digest = content_hash(bytes.data(), bytes.size());
        if (const auto hash = place.find("hash"); hash && hash->text() != one.digest) {
            hash->fail(fmt::format("is not that of {}, which is {}", one.file, one.digest));
        }
        const auto same_devices = [&](const Code& other) {
            return std::filesystem::path(other.file).extension() == std::filesystem::path(one.file).extension() &&
                   (other.arch == one.arch || other.arch.empty() || one.arch.empty());
        };
        if (!values_.empty() && std::any_of(codes_.begin(), codes_.begin() + static_cast<std::ptrdiff_t>(i), same_devices)) {
            place.fail(
                "is a second source for the same devices; the tunables of launch.json are for one, code/files[]/tunables for several");
        }
    }
}

/// Each name is one number: a second -D of it would take its place, and a constant of it would be another in expressions.
void KernelFolder::check_macros(const JsonReader& code) const {
    const auto tunable = [&](std::string_view name) {
        return std::find(names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(tunables_), name) !=
               names_.begin() + static_cast<std::ptrdiff_t>(tunables_);
    };
    for (std::size_t i = tunables_; i < names_.size(); ++i) {
        if (tunable(names_[i])) {
            code.fail(fmt::format("{} is a tunable and a constant; one of them needs another name", names_[i]));
        }
    }
    for (const Macro& macro : macros_) {
        if (tunable(macro.name)) {
            code.at("macros").at(macro.name).fail("is a tunable, too, which is a macro by itself; one of them needs another name");
        }
    }
    for (std::size_t i = 0; i < options_.size(); ++i) {
        constexpr std::string_view define = "-D";
        const std::string_view option = options_[i];
        const std::string_view name = option.starts_with(define) ? option.substr(define.size(), option.find('=') - define.size()) : "";
        if (tunable(name) || std::ranges::any_of(macros_, [&](const Macro& macro) { return macro.name == name; })) {
            code.at("options").element(i).fail(fmt::format("{} is a tunable or one of the macros, too; leave it out here", name));
        }
    }
}

void KernelFolder::read_files(const JsonReader& list) {
    if (list.size() == 0) {
        list.fail("are none");
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
        const JsonReader one = list.element(i);
        one.only({"file", "hash", "arch", "tunables", "constants"});
        const auto arch = one.find("arch");
        Code code{one.at("file").text(), arch ? arch->text() : "", {}, {}};
        std::vector<std::string> names;
        std::size_t tunables = 0;
        for (const char* kind : {"tunables", "constants"}) {
            if (const auto numbers = one.find(kind)) {
                for (const auto& [name, unused] : numbers->json().items()) {
                    require_variable_name(*numbers, name);
                    names.push_back(name);
                    code.values.push_back(static_cast<double>(numbers->at(name).whole(-most_value, most_value)));
                }
            }
            tunables = tunables == 0 && std::string_view(kind) == "tunables" ? names.size() : tunables;
        }
        if (!names.empty() && !values_.empty()) {
            one.fail("has numbers of its own, and launch.json has \"tunables\" for all; only one of them can say what to try");
        }
        if (i == 0 && !names.empty()) {
            names_ = names;
            tunables_ = tunables;
        } else if (values_.empty() && (names != names_ || tunables != tunables_)) {
            one.fail("has other tunables or constants than the first one");
        }
        codes_.push_back(std::move(code));
    }
}

void KernelFolder::read_rules(const JsonReader& in) {
    const auto rules = in.find("rules");
    for (std::size_t i = 0; rules && i < rules->size(); ++i) {
        const JsonReader one = rules->element(i);
        one.only({"name", "keep"});
        Rule rule{one.at("name").text(), {fmt::format("rules/{}/keep", i), one.at("keep").text(), false}};
        const auto same = [&](const Rule& other) { return other.name == rule.name; };
        if (!is_provider(rule.name) || std::any_of(rules_.begin(), rules_.end(), same)) {
            one.at("name").fail("has to be of letters, digits and . _ + -, and the only rule's of its name");
        }
        if (std::ranges::find(own_tallies, rule.name) != own_tallies.end()) {
            one.at("name").fail(fmt::format("{} is what plans count without a rule ({}); another name does", quoted_for_message(rule.name),
                                            fmt::join(own_tallies, ", ")));
        }
        rules_.push_back(std::move(rule));
    }
}

/// The texts in the places of numbers.
void KernelFolder::find_expressions() {
    const auto note = [&](const json& value, const std::string& place, bool whole) {
        if (value.is_string()) {
            texts_.push_back({place, value.get<std::string>(), whole});
        }
    };
    const auto member = [&](const json& object, const std::string& place, const char* name, bool whole) {
        if (object.is_object() && object.contains(name)) {
            note(object.at(name), place + name, whole);
        }
    };
    member(*base_, "", "workspace_bytes", true);
    const json& launches = base_->at("launches");
    for (std::size_t i = 0; i < launches.size(); ++i) {
        const std::string place = fmt::format("launches/{}/", i);
        member(launches[i], place, "shared_bytes", true);
        for (const char* name : {"grid", "block", "cluster"}) {
            const json list = launches[i].is_object() ? launches[i].value(name, json::array()) : json::array();
            for (std::size_t k = 0; list.is_array() && k < list.size(); ++k) {
                note(list[k], fmt::format("{}{}/{}", place, name, k), true);
            }
        }
        const json arguments = launches[i].is_object() ? launches[i].value("arguments", json::array()) : json::array();
        for (std::size_t k = 0; arguments.is_array() && k < arguments.size(); ++k) {
            const std::string its = fmt::format("{}arguments/{}/", place, k);
            const bool whole = !arguments[k].is_object() || arguments[k].value("type", json()) != "fp32";
            member(arguments[k], its, "workspace_offset", true);
            member(arguments[k], its, "value", whole);
        }
    }
}

namespace {

/// A number for an expression that goes with the numbers beside it: a grid of one cluster, an offset in any workspace.
json sample_of(const std::string& place, const json& launch_json) {
    if (place.ends_with("/workspace_offset")) {
        return 0;
    }
    constexpr std::string_view grid = "/grid/";
    const std::size_t at = place.rfind(grid);
    if (at == std::string::npos) {
        return 1;
    }
    const json::json_pointer extent("/" + place.substr(0, at) + "/cluster/" + place.substr(at + grid.size()));
    return launch_json.contains(extent) && launch_json[extent].is_number() ? launch_json[extent] : json(1);
}

}  // namespace

/// What is left once each expression is some number has to be a launch.json; a tensor is one that some claimed problem has.
void KernelFolder::check_names(const JsonReader& in) const {
    json filled = *base_;
    for (const Text& text : texts_) {
        filled[json::json_pointer("/" + text.place)] = sample_of(text.place, *base_);
    }
    filled["configuration"] = stem_;
    filled["arch"] = "any";
    filled["code"] = {{"file", codes_.front().file}};
    filled["workspace_bytes"] = in.at("workspace_bytes").is_text() ? json(std::int64_t{1} << 40) : in.at("workspace_bytes").json();
    std::set<std::string> wanted;
    for (json& launch : filled["launches"]) {
        if (!launch.is_object() || !launch.contains("arguments")) {
            continue;
        }
        for (json& argument : launch["arguments"]) {
            if (argument.is_object() && argument.contains("tensor") && argument["tensor"].is_string() &&
                tensor_names.find(argument["tensor"].get<std::string>())) {
                wanted.insert(argument["tensor"].get<std::string>());
                argument["tensor"] = "x";  // every problem has it
            }
        }
    }
    std::set<std::string> there;
    for (const Operation& operation : claims_.operations()) {
        const Problem sample{{1, 4096, 4096}, operation, {}};
        filled["problem"] = sample.key();
        filled["eps"] = operation.eps;
        for (const Tensor& tensor : tensors(sample)) {
            there.insert(std::string(tensor_names.name(tensor.role)));
        }
        const std::string root = in.path();
        read_launch_manifest(JsonReader(filled, root));
    }
    for (const std::string& name : wanted) {
        if (!there.contains(name)) {
            in.fail(fmt::format("launches: no problem that it claims has a tensor {}", name));
        }
    }
}

}  // namespace normtune
