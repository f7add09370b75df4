#include "trial/kernel_folder.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include <nlohmann/json.hpp>

#include "support/atomic_file.h"
#include "support/content_hash.h"
#include "support/error.h"
#include "trial/manifest_fixture.h"

namespace normtune {
namespace {

using nlohmann::json;
using testing::manifest_json;
using testing::refusal;
using testing::TemporaryFolder;
using testing::write_candidate;

Problem manifest_problem() {
    return parse_problem_key("rms_norm/forward/bf16/llama/256x1024");
}

LaunchManifest read(const json& document) {
    return read_launch_manifest(JsonReader(document, "launch.json: "));
}

TEST(LaunchManifest, IsReadAsItIsWritten) {
    const LaunchManifest manifest = read(manifest_json(manifest_problem()));
    EXPECT_EQ(manifest.key, "norm_v2");
    EXPECT_TRUE(manifest.problem.same_work(manifest_problem()));
    EXPECT_EQ(manifest.code_file, "kernel.cubin");
    const gpu::Launch& launch = manifest.plan.launches.at(0);
    EXPECT_EQ(launch.programs(), 256);
    EXPECT_EQ(launch.threads(), 256);
    EXPECT_FALSE(launch.cooperative);
    ASSERT_EQ(launch.arguments.size(), 6U);
    EXPECT_EQ(launch.arguments[1].source, gpu::Argument::Source::workspace);
    EXPECT_EQ(launch.arguments[1].integer, 256);
    EXPECT_EQ(launch.arguments[2].source, gpu::Argument::Source::null);
    EXPECT_EQ(launch.arguments[4].integer, -1);
    EXPECT_FLOAT_EQ(launch.arguments[5].real, 0.5F);
    const json written = json::parse(to_json(manifest).dump());
    EXPECT_EQ(json::parse(to_json(read(written)).dump()), written);
}

TEST(LaunchManifest, SaysWhereSomethingIsWrong) {
    const auto error_of = [](const char* pointer, const json& value) {
        json bad = manifest_json(manifest_problem());
        bad[json::json_pointer(pointer)] = value;
        return refusal([&] { read(bad); });
    };
    const std::vector<std::tuple<const char*, json, const char*>> cases{
        {"/schema_version", 3, "launch.json: schema_version: 3 is not what this normtune reads, which is up to 2"},
        {"/problem", "rms_norm/forward", "launch.json: problem: "},
        {"/eps", nullptr, "launch.json: eps: is no number from 1e-12 to 1"},
        {"/eps", -3, "launch.json: eps: is no number from 1e-12 to 1"},
        {"/configuration", "a\x1b[31m", "launch.json: configuration: has control characters"},
        {"/launches/0/kernel", "norm\n", "launch.json: launches/0/kernel: has control characters"},
        {"/launches/0/arguments/5/value", 1e300, "launch.json: launches/0/arguments/5/value: is no number of fp32"},
        {"/archs", "sm_90", "launch.json: unknown member 'archs'; did you mean 'arch'?"},
        {"/provider", "", "launch.json: provider: is empty"},
        {"/workspace_bytes", -1, "launch.json: workspace_bytes"},
        {"/workspace_bytes", 256, "launch.json: launches/0/arguments/1: lies beyond the workspace's 256 bytes"},
        {"/launches", json::array(), "launch.json: launches: are none"},
        {"/launches/0/grid", {1, 2}, "launch.json: launches/0/grid: has to be three whole numbers"},
        {"/launches/0/block", {1, 0, 1}, "launch.json: launches/0/block/1"},
        {"/launches/0/block", {1024, 1024, 1024}, "launch.json: launches/0/block: has too many threads"},
        {"/launches/0/cooperativ", true, "launch.json: launches/0: unknown member 'cooperativ'; did you mean 'cooperative'?"},
        {"/launches/0/arguments/0/type", "float", "launch.json: launches/0/arguments/0/type: unknown value 'float'"},
        {"/launches/0/arguments/0/tensor", "dy",
         "launch.json: launches/0/arguments/0: rms_norm/forward/bf16/llama/256x1024 has no tensor dy"},
        {"/launches/0/arguments/0/value", 1, "launch.json: launches/0/arguments/0: an argument has one of"},
        {"/launches/0/arguments/1/type", "int32", "launch.json: launches/0/arguments/1: a pointer is"},
        {"/launches/0/arguments/3/value", nullptr, "launch.json: launches/0/arguments/3: a pointer is"},
        {"/launches/0/arguments/4/value", 3'000'000'000, "launch.json: launches/0/arguments/4/value"},
        {"/tensors",
         {{{"name", "x"}, {"dtype", "fp32"}, {"rows", 256}, {"cols", 1024}, {"row_stride", 1024}, {"access", "in"}}},
         "launch.json: tensors: are not those of"},
    };
    for (const auto& [pointer, value, expected] : cases) {
        const std::string error = error_of(pointer, value);
        EXPECT_EQ(error.find(expected), 0U) << pointer << ": " << error;
    }
    json missing = manifest_json(manifest_problem());
    missing.erase("arch");
    EXPECT_NE(refusal([&] { read(missing); }).find("\"arch\" is missing"), std::string::npos);
}

TEST(LaunchManifest, OfAFolderHasItsNameAndItsCode) {
    const TemporaryFolder folder;
    const std::string at = write_candidate(folder, "vendor", manifest_json(manifest_problem()));
    const auto manifest = KernelFolder::load(at + "/")->single();
    EXPECT_EQ(manifest->provider, "vendor");
    EXPECT_EQ(manifest->code_digest, content_hash("machine code"));
    EXPECT_EQ(read_code(*manifest), "machine code");
    EXPECT_EQ(digest(*manifest), KernelFolder::load(at)->digest());
    folder.write("vendor/kernel.cubin", "other code");
    EXPECT_NE(digest(*manifest), KernelFolder::load(at)->digest());
    EXPECT_NE(refusal([&] { read_code(*manifest); }).find("has changed"), std::string::npos);
}

TEST(LaunchManifest, OfAFolderThatIsWrongIsRefused) {
    const TemporaryFolder folder;
    const auto error_of = [&](const char* pointer, const json& value, const std::string& name = "kernel") {
        json bad = manifest_json(manifest_problem());
        bad[json::json_pointer(pointer)] = value;
        const std::string at = write_candidate(folder, name, bad);
        return refusal([&] { KernelFolder::load(at); });
    };
    EXPECT_NE(error_of("/provider", "normtune").find("'normtune' cannot be its provider"), std::string::npos);
    EXPECT_NE(error_of("/eps", 1e-6, "two words").find("'two words' cannot be its provider"), std::string::npos);
    folder.write("outside.cubin", "code");
    EXPECT_NE(error_of("/code/file", "../outside.cubin").find("is no name of a file in its folder"), std::string::npos);
    EXPECT_NE(error_of("/code/file", "kernel.txt").find("ends in none of"), std::string::npos);
    EXPECT_NE(error_of("/code/file", "none.cubin").find("none.cubin"), std::string::npos);
    EXPECT_NE(error_of("/code/hash", "0123").find("code/hash: is not that of kernel.cubin"), std::string::npos);
    folder.write("kernel/norm.cu", "extern \"C\" __global__ void norm() {}");
    EXPECT_NE(error_of("/code", {{"file", "norm.cu"}, {"hash", "0123"}}).find("code/hash: is not that of norm.cu"), std::string::npos);
    std::filesystem::create_symlink(folder.path("outside.cubin"), folder.path("kernel/link.cubin"));
    EXPECT_NE(error_of("/code/file", "link.cubin").find("is no name of a file in its folder"), std::string::npos);
    EXPECT_NE(refusal([&] { KernelFolder::load(folder.path("nowhere")); }).find("nowhere/launch.json"), std::string::npos);
}

TEST(LaunchManifest, MayStateARoundingContract) {
    json file = manifest_json(manifest_problem());
    EXPECT_FALSE(read(file).rounding.has_value());
    file["rounding"] = {{"forward", {"normal"}}, {"backward", {"normal", "gradient", "terms"}}};
    const LaunchManifest manifest = read(file);
    const RoundingContract autograd{{.normal = true}, {.normal = true, .gradient = true, .terms = true}};
    EXPECT_EQ(manifest.rounding, autograd);
    EXPECT_EQ(read(json::parse(to_json(manifest).dump())).rounding, autograd);
    file["rounding"] = json::object();
    EXPECT_EQ(read(file).rounding, RoundingContract{}) << "nothing is rounded";
    file["rounding"] = {{"forward", {"gradient"}}};
    EXPECT_THROW(read(file), InputError) << "a forward has none";
    file["rounding"] = {{"backwards", json::array()}};
    EXPECT_THROW(read(file), InputError);
}

// launch.json's members: "launches[].grid", …
void names_of(const json& value, const std::string& path, std::set<std::string>& names) {
    if (value.is_array() && !value.empty() && value.front().is_object()) {
        for (const json& element : value) {
            names_of(element, path + "[]", names);
        }
    } else if (value.is_object()) {
        for (const auto& [name, member] : value.items()) {
            const std::string its = path.empty() ? name : path + '.' + name;
            names.insert(its);
            names_of(member, its, names);
        }
    }
}

void names_of_schema(const json& schema, const std::string& path, std::set<std::string>& names) {
    if (schema.contains("items")) {
        names_of_schema(schema.at("items"), path + "[]", names);
    }
    const json properties = schema.value("properties", json::object());
    for (const auto& [name, member] : properties.items()) {
        const std::string its = path.empty() ? name : path + '.' + name;
        names.insert(its);
        names_of_schema(member, its, names);
    }
}

std::string source_file(const char* name) {
    return read_file(std::string(NORMTUNE_SOURCE_DIR) + name, std::size_t{1} << 20);
}

TEST(LaunchManifest, SchemaAndPageOfManyProblemsNameTheSameMembers) {
    std::set<std::string> of_schema;
    names_of_schema(json::parse(source_file("/schemas/candidate.schema.json")), "", of_schema);
    std::set<std::string> of_page;
    const std::string page = source_file("/docs/candidates.md");
    const std::regex row(R"(\n\| `([^`]+)` \|)");
    for (std::sregex_iterator at(page.begin(), page.end(), row), end; at != end; ++at) {
        of_page.insert((*at)[1]);
    }
    EXPECT_EQ(of_page, of_schema);
}

TEST(LaunchManifest, SchemaPageAndFileNameTheSameMembers) {
    std::set<std::string> of_schema;
    names_of_schema(json::parse(source_file("/schemas/launch.schema.json")), "", of_schema);
    std::set<std::string> of_page;
    const std::string page = source_file("/docs/emit.md");
    const std::regex row(R"(\n\| `([^`]+)` \|)");
    for (std::sregex_iterator at(page.begin(), page.end(), row), end; at != end; ++at) {
        of_page.insert((*at)[1]);
    }
    LaunchManifest manifest = read(manifest_json(manifest_problem()));
    manifest.normtune_version = manifest.provider = manifest.compiler = manifest.code.hash = "any";
    manifest.options = {"-DN=1"};
    manifest.plan.launches[0].cluster = {2, 1, 1};
    manifest.rounding = manifest.problem.operation.contract();
    std::set<std::string> of_file;
    names_of(json::parse(to_json(manifest).dump()), "", of_file);
    EXPECT_EQ(of_page, of_schema);
    EXPECT_EQ(of_file, of_schema);
}

}  // namespace
}  // namespace normtune
