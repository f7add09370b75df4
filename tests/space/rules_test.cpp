#include "space/rules.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "space/plan.h"
#include "support/error.h"

namespace normtune {
namespace {

struct Setting {
    Problem problem;
    DeviceInfo device;

    Setting() {
        problem.shape = {8192, 4000, 4096};
        problem.operation.dtype = Dtype::bf16;
        problem.operation.weight_dtype = Dtype::fp32;
        device.warp_size = 64;
        device.compute_units = 304;
        device.shared_bytes_per_program = 65536;
        device.cache_bytes = 1 << 25;
    }

    RuleAnswer ask(const std::string& keep, const Configuration& configuration = {}) const {
        return CompiledRule({"r", keep, false, "space.yaml", 3}, problem, device).ask(configuration);
    }
};

std::string error_of(const std::string& keep) {
    try {
        check_rule({"mine", keep, false, "space.yaml", 7});
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Rules, ReadShapeOperationAndDevice) {
    const Setting s;
    for (const char* holds : {"rows == 8192", "cols == 4000", "row_stride == 4096", "element_bytes == 2", "weight_bytes == 4",
                              "forward == 1", "backward == 0", "full == 0", "inference == 0", "fused == 0", "affine == 1", "in_place == 0",
                              "warp_size == 64", "compute_units == 304", "shared_bytes == 65536", "cache_bytes == 2^25"}) {
        EXPECT_EQ(s.ask(holds), RuleAnswer::keeps) << holds;
    }
}

// What holds for kernels without a backward holds for both modes that have none.
TEST(Rules, InferenceIsAForwardToo) {
    Setting s;
    s.problem.operation.mode = Mode::inference;
    for (const char* holds : {"inference == 1", "forward == 1", "backward == 0", "full == 0"}) {
        EXPECT_EQ(s.ask(holds), RuleAnswer::keeps) << holds;
    }
}

TEST(Rules, ReadAxesByNameAndWhatFollowsFromThem) {
    const Setting s;
    Configuration c;
    c.num_warps = 8;
    c.threads_per_row = 128;
    c.reduction = Reduction::guard;
    c.grid = Grid::persistent_strided;
    c.store_hint = CacheHint::streaming;
    c.offset_bits = OffsetBits::_64;
    c.rows_binding = RowsBinding::runtime;
    for (const char* holds :
         {"num_warps == 8", "threads == 512", "rows_side_by_side == 4", "block == 4096", "block_size == row", "reduction == guard",
          "reduction != masked", "grid == persistent_strided", "store_hint == streaming", "load_hint == default", "offset_bits == 64",
          "rows_binding == runtime", "gamma == after", "dgamma == partials"}) {
        EXPECT_EQ(s.ask(holds, c), RuleAnswer::keeps) << holds;
    }
    c.block_size = 512;
    EXPECT_EQ(s.ask("block == 512", c), RuleAnswer::keeps);
    EXPECT_EQ(s.ask("block_size == row", c), RuleAnswer::prunes);
}

TEST(Rules, SparePrograms) {
    const Setting s;
    Configuration c;
    c.grid = Grid::persistent_strided;
    for (const auto& [programs_per_sm, spare] : {std::pair{1, 304 - 304}, {2, 608 - 586}, {16, 4864 - 4096}}) {
        c.programs_per_sm = programs_per_sm;  // 8192 rows: 27, 14, 2 each at the most
        EXPECT_EQ(s.ask("spare_programs == " + std::to_string(spare), c), RuleAnswer::keeps) << programs_per_sm;
    }
    c.programs_per_sm = 1;
    c.rows_per_program = 32;
    EXPECT_EQ(s.ask("spare_programs == 0", c), RuleAnswer::keeps) << "256 groups of rows, one each";
    c.unit_margin = 104;
    EXPECT_EQ(s.ask("spare_programs == 72", c), RuleAnswer::keeps) << "200 programs, 2 groups each: 128 take them";
}

TEST(Rules, ANameNeverEqualsAnotherAxisValue) {
    Setting s;
    Configuration c;
    c.reduction = Reduction::masked;
    for (int residency = 0; residency < 3; ++residency) {
        c.residency = static_cast<Residency>(residency);
        EXPECT_EQ(s.ask("residency == masked", c), RuleAnswer::prunes);
    }
}

TEST(Rules, FunctionsAndOperators) {
    const Setting s;
    for (const char* holds : {"min(3, 4) == 3 && max(3, 4) == 4", "ceil(7 / 2) == 4 && floor(7 / 2) == 3", "mod(7, 4) == 3",
                              "divides(16, cols)", "!divides(64, cols)", "pow2ceil(cols) == 4096", "pow2ceil(4096) == 4096",
                              "pow2floor(cols) == 2048", "!(cols < 10) && rows != cols", "forward ? cols > 1 : 0"}) {
        EXPECT_EQ(s.ask(holds), RuleAnswer::keeps) << holds;
    }
}

TEST(Rules, NameTheAxesThatTheyRead) {
    const Setting s;
    const auto axes = [&](const std::string& keep) {
        const CompiledRule rule({"r", keep, false, "", 0}, s.problem, s.device);
        return std::set<Axis>(rule.axes().begin(), rule.axes().end());
    };
    EXPECT_EQ(axes("cols > 4"), std::set<Axis>{});
    EXPECT_EQ(axes("threads <= 2 * cols"), std::set<Axis>{Axis::num_warps});
    EXPECT_EQ(axes("rows_side_by_side == rows_per_program"),
              (std::set<Axis>{Axis::num_warps, Axis::threads_per_row, Axis::rows_per_program}));
    EXPECT_EQ(axes("forward ? block < 4 : stages == 1"), (std::set<Axis>{Axis::block_size, Axis::stages}));
}

TEST(Rules, AnUndefinedResultIsToldFromPruning) {
    const Setting s;
    EXPECT_EQ(s.ask("0 / (cols - cols)"), RuleAnswer::undefined);
    EXPECT_EQ(s.ask("cols / (stages - 1)"), RuleAnswer::undefined);
    const CompiledRule rule({"ratio", "cols / (stages - 1)", false, "s.yaml", 9}, s.problem, s.device);
    try {
        rule.fail(Configuration{});
    } catch (const InputError& error) {
        const std::string what = error.what();
        EXPECT_NE(what.find("s.yaml:9: rule 'ratio'"), std::string::npos) << what;
        EXPECT_NE(what.find("gives inf where cols = 4000, stages = 1"), std::string::npos) << what;
    }
}

TEST(Rules, BadExpressionsSayWhereAndWhatIsKnown) {
    EXPECT_NE(error_of("num_warp <= 4")
                  .find("space.yaml:7: rule 'mine' (keep: num_warp <= 4): 'num_warp' at character 1 is "
                        "unknown; did you mean 'num_warps'?"),
              std::string::npos)
        << error_of("num_warp <= 4");
    EXPECT_NE(error_of("cols > zzzzzzzzzz").find("at character 8 is unknown; known: num_warps,"), std::string::npos);
    for (const char* keep : {"cols >\n$", "co\"\nls"}) {
        EXPECT_EQ(error_of(keep).find('\n'), std::string::npos) << error_of(keep);
    }
    EXPECT_NE(error_of("9 <= num_warps <= 8").find("the comparison at character 16 has another beside it"), std::string::npos)
        << error_of("9 <= num_warps <= 8");
    EXPECT_EQ(error_of("(9 <= num_warps) == (num_warps <= 8) && (cols > 1 ? num_warps >= 1 : cols < 5)"), "accepted");
    EXPECT_NE(error_of("reduction = masked").find("'=' at character 11 assigns; values are compared with '=='"), std::string::npos);
    EXPECT_NE(error_of("cols, rows").find("2 values"), std::string::npos);
    for (const char* bad : {"", "   ", "cols >", "(cols", "cols cols", "min()", "\"text\"", "cols > 1 &&", "1 +* 2", "cols ? 1",
                            "divides(2)", "=", "cols\n> (", "\x01\x02"}) {
        const std::string error = error_of(bad);
        EXPECT_NE(error, "accepted") << bad;
        EXPECT_NE(error.find("space.yaml:7: rule 'mine'"), std::string::npos) << error;
        EXPECT_EQ(error.find_first_of("\n\x01"), std::string::npos) << error;
    }
    EXPECT_NE(error_of(std::string(3000, '(')).find("3000 characters; at most 2000"), std::string::npos);
    EXPECT_NE(error_of(std::string(1900, '(')), "accepted");
}

TEST(Rules, ComparisonsWithAnEqualSignAreNoAssignment) {
    EXPECT_EQ(error_of("cols <= 4 || cols >= 8 || cols != 5 || cols == 6"), "accepted");
}

// Golden values: TransformerEngine #615 with warps {1, 4, 8, 16} of 64 threads.
TEST(Rules, ThreadsPerRowKeepsWhatTransformerEngineKeeps) {
    Setting s;
    const auto kept = [&](std::int64_t cols) {
        s.problem.shape = {8192, cols, cols};
        const CompiledRule rule(default_threads_per_row_rule(), s.problem, s.device);
        std::set<int> out;
        for (const int warps : {1, 4, 8, 16}) {
            Configuration c;
            c.num_warps = warps;
            if (rule.ask(c) == RuleAnswer::keeps) {
                out.insert(warps);
            }
        }
        return out;
    };
    EXPECT_EQ(kept(128), (std::set<int>{1, 4}));
    EXPECT_EQ(kept(4096), (std::set<int>{4, 8, 16}));
    EXPECT_EQ(kept(16384), (std::set<int>{16}));
    EXPECT_EQ(kept(32768), std::set<int>{});  // the plan then keeps all
    EXPECT_TRUE(default_threads_per_row_rule().keep_all_if_none);
}

TEST(CodeRules, AreAskedOnceTheCodeIsThere) {
    const Setting s;
    SearchSpace space;
    space.name = "t";
    space.rules = {{"wide", "cols >= 4000", false, "s.yaml", 2},
                   {"no_spills", "code_spill_bytes == 0", false, "s.yaml", 3},
                   {"busy", "code_occupancy * num_warps >= 2 || code_registers < 64", false, "s.yaml", 4}};
    const CodeRules rules(space, s.problem, s.device);
    Configuration c;
    c.num_warps = 4;
    EXPECT_EQ(rules.taken_by(c, {40, 0, 1024, 0.25}), nullptr);
    const Rule* rule = rules.taken_by(c, {40, 8, 1024, 0.25});
    ASSERT_NE(rule, nullptr);
    EXPECT_EQ(rule->name, "no_spills");
    rule = rules.taken_by(c, {64, 0, 1024, 0.25});
    ASSERT_NE(rule, nullptr);
    EXPECT_EQ(rule->name, "busy");
    EXPECT_EQ(rules.taken_by(c, {64, 0, 1024, 0.5}), nullptr);
    EXPECT_EQ(rules.taken_by(c, {}), nullptr) << "what is not known takes nothing";

    DeviceInfo device = s.device;
    device.warp_size = 32;
    device.max_threads_per_program = 1024;
    const ProblemPlan plan = plan_problem(s.problem, space, {Backend::replay, {}, {}}, device, false, {});
    EXPECT_EQ(plan.kept, 1U) << "planning leaves them out";
    EXPECT_TRUE(std::none_of(plan.tallies.begin(), plan.tallies.end(), [](const RuleTally& tally) { return tally.rule == "no_spills"; }));
}

TEST(CodeRules, TakeNoRefuge) {
    EXPECT_EQ(
        [] {
            try {
                check_rule({"mine", "code_registers < 100", true, "space.yaml", 7});
            } catch (const InputError& error) {
                return std::string(error.what());
            }
            return std::string("accepted");
        }(),
        "space.yaml:7: rule 'mine' (keep: code_registers < 100): keep_all_if_none is for rules that are applied before "
        "anything is compiled; this one reads code_…");
}

}  // namespace
}  // namespace normtune
