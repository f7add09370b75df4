// launch.json of a kernel for many problems: what it claims, its tunables, and the launches that its expressions give.
#include "trial/kernel_folder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/content_hash.h"
#include "support/error.h"
#include "trial/manifest_fixture.h"

namespace normtune {
namespace {

using nlohmann::json;
using testing::refusal;
using testing::TemporaryFolder;

json tuned_json() {
    return json::parse(R"json({
        "schema_version": 2, "provider": "mine", "configuration": "norm",
        "claims": {"op": ["rms_norm", "fused_add_rms_norm"], "mode": "forward", "dtype": ["bf16", "fp16"], "casting": "llama"},
        "code": {"file": "norm.cu", "options": ["-std=c++17", "--use_fast_math"], "macros": {"COLS": "cols"}},
        "tunables": {"THREADS": [64, 128, 2048], "ROWS": [1, 3]},
        "rules": [{"name": "vector", "keep": "divides(8, cols)"}, {"name": "few", "keep": "THREADS <= 64 || ROWS == 1"}],
        "workspace_bytes": "4 * ROWS * THREADS + 8",
        "launches": [{"kernel": "norm", "grid": ["ceildiv(rows, ROWS)", 1, 1], "block": ["THREADS", 1, 1], "shared_bytes": "cols * element_bytes",
            "cluster": ["ROWS", 1, 1], "programmatic_stream_serialization": true,
            "arguments": [{"name": "x", "type": "pointer", "tensor": "x"}, {"name": "r", "type": "pointer", "tensor": "residual"},
                {"name": "w", "type": "pointer", "workspace_offset": "4 * ROWS"}, {"name": "n", "type": "int32", "value": "cols"},
                {"name": "eps", "type": "fp32", "value": "eps + offset"}]}]
})json");
}

std::string write_folder(const TemporaryFolder& folder, const json& launch, const std::string& name = "mine") {
    folder.make_folder(name);
    folder.write(name + "/launch.json", launch.dump(2));
    folder.write(name + "/norm.cu", "extern \"C\" __global__ void norm() {}\n");
    folder.write(name + "/norm.cubin", "machine code");
    folder.write(name + "/other.cubin", "other code");
    return folder.path(name);
}

DeviceInfo h100() {
    DeviceInfo device;
    device.backend = Backend::cuda;
    device.arch = "sm_90";
    device.compute_units = 132;
    return device;
}

Problem problem(const std::string& key = "rms_norm/forward/bf16/llama/96x1024") {
    return parse_problem_key(key);
}

std::vector<std::string> keys(const FolderPlan& plan) {
    std::vector<std::string> out;
    for (const auto& manifest : plan.kept) {
        out.push_back(manifest->key);
    }
    return out;
}

const RuleTally& tally(const FolderPlan& plan, const std::string& rule) {
    static const RuleTally none;
    for (const RuleTally& one : plan.tallies) {
        if (one.rule == rule) {
            return one;
        }
    }
    ADD_FAILURE() << rule;
    return none;
}

TEST(KernelFolder, TunablesMakeASpaceThatRulesAndLaunchesNarrow) {
    const TemporaryFolder folder;
    const auto mine = KernelFolder::load(write_folder(folder, tuned_json()));
    EXPECT_EQ(mine->single(), nullptr);
    const FolderPlan plan = mine->plan(problem(), h100(), true);
    EXPECT_EQ(plan.points, 6U);
    EXPECT_EQ(keys(plan), (std::vector<std::string>{"norm.ROWS=1.THREADS=64", "norm.ROWS=1.THREADS=128"}));
    EXPECT_EQ(tally(plan, "mine.few").pruned, 2U);
    EXPECT_EQ(tally(plan, "mine.few").reason, "THREADS <= 64 || ROWS == 1");
    EXPECT_EQ(tally(plan, "mine.vector").pruned, 0U);
    // ROWS = 3: 32 programs, no multiple of a cluster of 3; THREADS = 2048: more than a block has.
    EXPECT_EQ(tally(plan, "mine.launch").pruned, 2U);
    EXPECT_NE(tally(plan, "mine.launch").reason.find("launches/0/block/0"), std::string::npos) << tally(plan, "mine.launch").reason;
    ASSERT_EQ(plan.pruned_by.size(), 4U);
    std::uint64_t sum = plan.kept.size();
    for (const RuleTally& one : plan.tallies) {
        sum += one.pruned;
    }
    EXPECT_EQ(sum, plan.points);
    EXPECT_EQ(tunables_of(plan.kept[1]->key), (std::vector<std::pair<std::string, std::string>>{{"ROWS", "1"}, {"THREADS", "128"}}));
}

TEST(KernelFolder, ExpressionsBecomeNumbersOfTheProblem) {
    const TemporaryFolder folder;
    const auto mine = KernelFolder::load(write_folder(folder, tuned_json()));
    Problem fused = problem("fused_add_rms_norm/forward/fp16/llama/99x512");
    fused.operation.eps = 0.5;
    const FolderPlan plan = mine->plan(fused, h100());
    ASSERT_EQ(keys(plan), (std::vector<std::string>{"norm.ROWS=1.THREADS=64", "norm.ROWS=1.THREADS=128", "norm.ROWS=3.THREADS=64"}));
    const LaunchManifest& manifest = *plan.kept[2];
    EXPECT_EQ(manifest.problem.key(), fused.key());
    EXPECT_EQ(manifest.arch, "sm_90");
    EXPECT_EQ(manifest.options, (std::vector<std::string>{"-std=c++17", "--use_fast_math", "-DROWS=3", "-DTHREADS=64", "-DCOLS=512"}));
    EXPECT_EQ(manifest.plan.workspace_bytes, 776);
    const gpu::Launch& launch = manifest.plan.launches.at(0);
    EXPECT_EQ(launch.grid[0], 33);
    EXPECT_EQ(launch.threads(), 64);
    EXPECT_EQ(launch.shared_bytes, 1024);
    EXPECT_EQ(launch.cluster, (std::array<int, 3>{3, 1, 1}));
    EXPECT_TRUE(launch.overlaps);
    EXPECT_EQ(launch.arguments[1].source, gpu::Argument::Source::tensor);
    EXPECT_EQ(launch.arguments[2].integer, 12);
    EXPECT_EQ(launch.arguments[3].integer, 512);
    EXPECT_FLOAT_EQ(launch.arguments[4].real, 0.5F);
    // What the problem does not have is a null pointer; what a worker gets reads as it was.
    const FolderPlan plain = mine->plan(problem(), h100());
    EXPECT_EQ(plain.kept[0]->plan.launches[0].arguments[1].source, gpu::Argument::Source::null);
    const json written = json::parse(to_json(manifest).dump());
    EXPECT_EQ(written.at("schema_version"), 2);
    EXPECT_EQ(json::parse(to_json(read_launch_manifest(JsonReader(written, ""))).dump()), written);
}

TEST(KernelFolder, ExpressionsGoWithTheNumbersBesideThem) {
    const TemporaryFolder folder;
    json launch = tuned_json();
    launch["launches"][0]["cluster"] = {2, 1, 1};
    launch["launches"][0]["grid"] = {"2 * rows", 1, 1};
    launch["launches"][0]["arguments"][2]["workspace_offset"] = "rows - 96";
    launch["workspace_bytes"] = 1;
    const FolderPlan plan = KernelFolder::load(write_folder(folder, launch))->plan(problem(), h100());
    ASSERT_FALSE(plan.kept.empty());
    EXPECT_EQ(plan.kept[0]->plan.launches[0].grid[0], 192);
    EXPECT_EQ(plan.kept[0]->plan.launches[0].arguments[2].integer, 0);
    launch["launches"][0]["grid"] = {"rows + 1", 1, 1};
    const FolderPlan odd = KernelFolder::load(write_folder(folder, launch, "odd"))->plan(problem(), h100());
    EXPECT_TRUE(odd.kept.empty()) << "97 programs are no clusters of two";
}

TEST(KernelFolder, SecondSourcesAndControlCharactersAreRefused) {
    const TemporaryFolder folder;
    json launch = tuned_json();
    launch["code"] = {{"files", {{{"file", "norm.cu"}}, {{"file", "norm.cu"}}}}};
    EXPECT_NE(
        refusal([&] { KernelFolder::load(write_folder(folder, launch)); }).find("code/files/1: is a second source for the same devices"),
        std::string::npos);
    launch = tuned_json();
    launch["configuration"] = "norm\x1b[31m";
    EXPECT_NE(refusal([&] { KernelFolder::load(write_folder(folder, launch)); }).find("configuration: has control characters"),
              std::string::npos);
    launch = tuned_json();
    launch["rules"][0]["keep"] = "cols / 0";
    const auto mine = KernelFolder::load(write_folder(folder, launch));
    EXPECT_NE(refusal([&] { mine->plan(problem(), h100()); }).find("mine/launch.json: rules/0/keep"), std::string::npos);
}

TEST(KernelFolder, WhatItDoesNotClaimIsPrunedWithTheReason) {
    const TemporaryFolder folder;
    const auto mine = KernelFolder::load(write_folder(folder, tuned_json()));
    for (const char* other :
         {"rms_norm/backward/bf16/llama/96x1024", "rms_norm/forward/fp32/llama/96x1024", "rms_norm/forward/bf16/gemma/96x1024",
          "rms_norm/forward/bf16/llama/96x1024/w_fp32", "rms_norm/forward/bf16/llama/96x1024/offset1",
          "rms_norm/forward/bf16/llama/96x1024/weightless", "fused_add_rms_norm/forward/bf16/llama/96x1024/residual_fp32"}) {
        EXPECT_FALSE(mine->claims(problem(other))) << other;
        const FolderPlan plan = mine->plan(problem(other), h100());
        EXPECT_TRUE(plan.kept.empty());
        EXPECT_EQ(tally(plan, "mine.claims").pruned, 6U);
    }
    EXPECT_EQ(tally(mine->plan(problem(), h100()), "mine.claims").reason,
              "is for op rms_norm, fused_add_rms_norm; mode forward; dtype bf16, fp16; casting llama");
    EXPECT_EQ(tally(mine->plan(problem("rms_norm/forward/bf16/llama/96x1001"), h100()), "mine.vector").pruned, 6U);
    DeviceInfo amd = h100();
    amd.backend = Backend::hip;
    amd.arch = "gfx942";
    EXPECT_EQ(tally(mine->plan(problem(), amd), "mine.code").pruned, 6U);
    EXPECT_EQ(tally(mine->plan(problem(), amd), "mine.code").reason, "has no code for gfx942");
}

json compiled_json() {
    json out = tuned_json();
    out.erase("tunables");
    out["code"] = json::parse(R"json({"files": [
        {"file": "norm.cubin", "arch": "sm_90", "tunables": {"THREADS": 64, "ROWS": 1}, "constants": {"BLOCK": 1024, "shared": 256}},
        {"file": "other.cubin", "arch": "sm_90", "tunables": {"THREADS": 64, "ROWS": 1}, "constants": {"BLOCK": 2048, "shared": 512}},
        {"file": "norm.cubin", "arch": "sm_80", "tunables": {"THREADS": 64, "ROWS": 1}, "constants": {"BLOCK": 1024, "shared": 128}}]})json");
    out["rules"] = {{{"name", "block"}, {"keep", "BLOCK == pow2ceil(cols)"}}};
    out["launches"][0]["shared_bytes"] = "shared";
    return out;
}

TEST(KernelFolder, CompiledCodeSaysWhichPointItIsFor) {
    const TemporaryFolder folder;
    const auto mine = KernelFolder::load(write_folder(folder, compiled_json()));
    const FolderPlan plan = mine->plan(problem("rms_norm/forward/bf16/llama/96x1536"), h100());
    EXPECT_EQ(plan.points, 2U);
    ASSERT_EQ(keys(plan), (std::vector<std::string>{"norm.ROWS=1.THREADS=64"}));
    EXPECT_EQ(plan.kept[0]->code_file, "other.cubin");
    EXPECT_EQ(plan.kept[0]->code_digest, content_hash("other code"));
    EXPECT_EQ(plan.kept[0]->plan.launches[0].shared_bytes, 512);
    EXPECT_EQ(read_code(*plan.kept[0]), "other code");
    DeviceInfo old = h100();
    old.arch = "sm_80";
    EXPECT_EQ(mine->plan(problem(), old).kept.at(0)->plan.launches[0].shared_bytes, 128);
    old.arch = "sm_75";
    EXPECT_EQ(tally(mine->plan(problem(), old), "mine.code").pruned, 1U);
}

TEST(KernelFolder, SaysWhatIsWrongAndWhere) {
    const TemporaryFolder folder;
    const std::string file = folder.path("mine") + "/launch.json: ";
    const auto error_of = [&](const json& base, const char* pointer, const json& value) {
        json bad = base;
        bad[json::json_pointer(pointer)] = value;
        const std::string at = write_folder(folder, bad);
        return refusal([&] { KernelFolder::load(at); });
    };
    const std::vector<std::tuple<const char*, json, const char*>> cases{
        {"/schema_version", 3, "schema_version: 3 is not what this normtune reads"},
        {"/tunabels", json::object(), "unknown member 'tunabels'; did you mean 'tunables'?"},
        {"/problem", "rms_norm/forward/bf16/llama/96x1024", "unknown member 'problem'"},
        {"/claims/op", "rmsnorm", "claims/op: unknown value 'rmsnorm'"},
        {"/claims/mode", json::array(), "claims/mode: is empty"},
        {"/claims/dtypes", "bf16", "claims: unknown member 'dtypes'; did you mean 'dtype'?"},
        {"/tunables/THREADS", json::array(), "tunables/THREADS: has no value to try"},
        {"/tunables/THREADS", {64, 64}, "tunables/THREADS/1: is there already"},
        {"/tunables/THREADS", {1.5}, "tunables/THREADS/0: expected a whole number"},
        {"/tunables/2nd", {1}, "tunables: '2nd' is no name of a number"},
        {"/tunables/floor", {1}, "tunables: 'floor' is no name of a number"},
        {"/tunables/rows", {1}, "rows is what the problem or the device says; a tunable needs another name"},
        {"/rules/0/keep", "colls > 4", "rules/0/keep: 'colls > 4': 'colls' at character 1 is unknown; did you mean 'cols'?"},
        {"/rules/1/name", "vector", "rules/1/name: has to be of letters"},
        {"/rules/1/name", "claims", "rules/1/name: 'claims' is what plans count without a rule (claims, code, launch, random)"},
        {"/rules/1/name", "code", "rules/1/name: 'code' is what"},
        {"/rules/1/name", "launch", "rules/1/name: 'launch' is what"},
        {"/rules/1/name", "random", "rules/1/name: 'random' is what"},
        {"/code/macros/THREADS", 32, "code/macros/THREADS: is a tunable, too, which is a macro by itself"},
        {"/code/options/0", "-DTHREADS=32", "code/options/0: THREADS is a tunable or one of the macros, too"},
        {"/code/options/0", "-DCOLS", "code/options/0: COLS is a tunable or one of the macros, too"},
        {"/code/file", "../norm.cu", "code/file: '../norm.cu' is no name of a file in its folder"},
        {"/code/file", "norm.ptx", "code/file: 'norm.ptx' ends in none of .cubin, .hsaco, .cu and .hip"},
        {"/code/file", "norm.cubin", "code: is machine code; \"arch\" has to say what of"},
        {"/code/options/0", "-I/usr/include", "code/options/0: '-I/usr/include' is not taken; what is: -DNAME=VALUE"},
        {"/code/options/0", "--pre-include=/etc/passwd", "code/options/0: '--pre-include=/etc/passwd' is not taken"},
        {"/code/macros/COLS", "colums", "code/macros/COLS: 'colums': 'colums' at character 1 is unknown"},
        {"/workspace_bytes", "rows *", "workspace_bytes: 'rows *': "},
        {"/launches/0/grid/0", "rows = 2", "launches/0/grid/0: 'rows = 2': '=' at character 6 assigns"},
        {"/launches/0/grid", {"rows", 1}, "launches/0/grid: has to be three whole numbers"},
        {"/launches/0/cluster", {32, 1, 1}, "launches/0/cluster/0"},
        {"/launches/0/arguments/0/tensor", "xx", "launches/0/arguments/0/tensor: unknown value 'xx'"},
        {"/launches/0/arguments/0/tensor", "dy", "launches: no problem that it claims has a tensor dy"},
        {"/launches/0/arguments/0/type", "int32", "launches/0/arguments/0: a pointer is"},
        {"/launches/0/argument", json::array(), "launches/0: unknown member 'argument'; did you mean 'arguments'?"},
    };
    for (const auto& [pointer, value, expected] : cases) {
        const std::string error = error_of(tuned_json(), pointer, value);
        EXPECT_EQ(error.find(file + expected), 0U) << pointer << ": " << error;
    }
    json neither = tuned_json();
    neither.erase("claims");
    const std::string unclaimed = write_folder(folder, neither);
    EXPECT_EQ(refusal([&] { KernelFolder::load(unclaimed); }),
              file + "has neither a \"problem\", the one that it is for, nor \"claims\", which say what it is for");
    const auto of_files = [&](const char* pointer, const json& value, const char* expected) {
        const std::string error = error_of(compiled_json(), pointer, value);
        EXPECT_EQ(error.find(file + expected), 0U) << pointer << ": " << error;
    };
    of_files("/code/files/1/tunables", {{"THREADS", 64}}, "code/files/1: has other tunables or constants than the first one");
    of_files("/tunables", {{"MORE", {1}}}, "code/files/0: has numbers of its own");
    of_files("/code/options", {"-O3"}, "code/files/0: is machine code; \"tunables\"");
    of_files("/code/files/0/hash", "abc", "code/files/0/hash: is not that of norm.cubin");
    of_files("/code/file", "norm.cubin", "code: has either \"file\" or \"files\"");
    json twice = compiled_json();
    for (json& one : twice["code"]["files"]) {
        one["constants"]["ROWS"] = 1;
    }
    const std::string of_two = write_folder(folder, twice);
    EXPECT_EQ(refusal([&] { KernelFolder::load(of_two); }),
              file + "code: ROWS is a tunable and a constant; one of them needs another name");
}

TEST(KernelFolder, ARuleThatIsNoNumberSaysSo) {
    const TemporaryFolder folder;
    json bad = tuned_json();
    bad["rules"][0]["keep"] = "1 / (cols - 1024)";
    const auto mine = KernelFolder::load(write_folder(folder, bad));
    EXPECT_NE(
        refusal([&] { mine->plan(problem(), h100()); }).find("rules/0/keep: '1 / (cols - 1024)' gives inf, which is no finite number"),
        std::string::npos);
}

TEST(KernelFolder, IncludesAreOfItsFolderAlone) {
    const TemporaryFolder folder;
    json launch = tuned_json();
    launch["code"]["options"] = {"-Ilib"};
    const std::string at = write_folder(folder, launch);
    folder.write("outside.cuh", "secret");
    folder.make_folder("mine/lib");
    folder.write("mine/lib/sum.cuh", "#pragma once\nfloat sum();\n");
    const auto source = [&](const std::string& text) {
        folder.write("mine/norm.cu", text);
        return read_source(at, "norm.cu", {"-Ilib"});
    };
    const std::string text = source("#include \"sum.cuh\"\n  # include \"sum.cuh\"\n#include <cuda_bf16.h>\nint last;");
    EXPECT_NE(text.find("#line 1 \"lib/sum.cuh\"\n\nfloat sum();\n#endif\n#line 2 \"norm.cu\""), std::string::npos) << text;
    EXPECT_NE(text.find("#include <cuda_bf16.h>\nint last;"), std::string::npos) << text;
    EXPECT_EQ(text.back(), ';');
    EXPECT_NE(refusal([&] { source("\n#include \"../outside.cuh\""); }).find("norm.cu:2: '../outside.cuh' is no file in its folder"),
              std::string::npos);
    EXPECT_NE(refusal([&] { source("#include \"none.cuh\""); }).find("'none.cuh' is not in its folder"), std::string::npos);
    EXPECT_NE(refusal([&] { source("#include </etc/passwd>"); }).find("has no path outside its folders"), std::string::npos);
    EXPECT_NE(refusal([&] { source("#include WHAT"); }).find("an include is \"FILE\" of the folder"), std::string::npos);
    EXPECT_NE(refusal([&] { source("#embed \"/etc/passwd\""); }).find("takes only #include"), std::string::npos);
    EXPECT_NE(refusal([&] { source("#include \"norm.cu\""); }).find("nested more than 32 deep"), std::string::npos);
    std::filesystem::create_symlink(folder.path("outside.cuh"), folder.path("mine/link.cuh"));
    EXPECT_NE(refusal([&] { source("#include \"link.cuh\""); }).find("'link.cuh' is no name of a file in its folder"), std::string::npos);
    // What is included is part of what the candidate is.
    source("#include \"sum.cuh\"\n");
    const std::string before = KernelFolder::load(at)->digest();
    folder.write("mine/lib/sum.cuh", "#pragma once\nfloat sum(int);\n");
    EXPECT_NE(KernelFolder::load(at)->digest(), before);
}

TEST(KernelFolder, OptionsThatAreTaken) {
    for (const char* option : {"-DN=1", "-DNAME", "-DT=a::b(1, 2) < 3", "-Isub/folder", "-std=c++20", "--use_fast_math", "-use_fast_math",
                               "-ffast-math", "--fmad=false", "-ftz=true", "--maxrregcount=64", "-O3", "-ffp-contract=fast"}) {
        EXPECT_EQ(option_objection(option), "") << option;
    }
    for (const char* option : {"",
                               "-",
                               "-D",
                               "-D=1",
                               "-D1=1",
                               "-DN=$(x)",
                               "-DN=\"x\"",
                               "-I",
                               "-I..",
                               "-I/etc",
                               "-Ia/../../b",
                               "-include",
                               "-std=gnu++17",
                               "-O9",
                               "--fmad=maybe",
                               "--maxrregcount=",
                               "--maxrregcount=1000",
                               "-o",
                               "-x",
                               "-fplugin=x",
                               "-Wl,x",
                               "@file",
                               "-DN=1\n#include </etc/passwd>"}) {
        EXPECT_NE(option_objection(option).find("is not taken"), std::string::npos) << option;
    }
}

}  // namespace
}  // namespace normtune
