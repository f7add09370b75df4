#include "kernels/cpu/instruction_sets.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/error.h"

namespace normtune::cpu {
namespace {

class InstructionSets : public ::testing::Test {
protected:
    void TearDown() override { unsetenv("NORMTUNE_CPU_ISA"); }
};

TEST_F(InstructionSets, TheLastOneIsTheBaselineAndEachIsComplete) {
    const auto sets = usable_pass_sets();
    ASSERT_FALSE(sets.empty());
    EXPECT_STREQ(sets.back()->name, "baseline");
    for (const PassSet* set : sets) {
        for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
            const PassKey key{.dtype = dtype, .vectors = 4, .rows = 1};
            EXPECT_NE(set->square_sum(key), nullptr);
            EXPECT_NE(set->scale_rows(key), nullptr);
            EXPECT_NE(set->resident_forward(key), nullptr);
            EXPECT_NE(set->gradient_sum(key), nullptr);
            EXPECT_NE(set->gradient_rows(key), nullptr);
            EXPECT_NE(set->resident_backward(key), nullptr);
            EXPECT_NE(set->column_gradient(key), nullptr);
            EXPECT_NE(set->prepare_gamma(key), nullptr);
            EXPECT_NE(set->fold(key), nullptr);
            EXPECT_EQ(set->square_sum({.dtype = dtype, .vectors = 3, .rows = 1}), nullptr);
        }
    }
}

TEST_F(InstructionSets, TheWidestIsChosenUnlessTheEnvironmentNamesAnother) {
    const auto sets = usable_pass_sets();
    EXPECT_EQ(&chosen_pass_set(), sets.front());
    for (const PassSet* set : sets) {
        setenv("NORMTUNE_CPU_ISA", set->name, 1);
        EXPECT_EQ(&chosen_pass_set(), set);
    }
    setenv("NORMTUNE_CPU_ISA", "", 1);
    EXPECT_EQ(&chosen_pass_set(), sets.front());
}

TEST_F(InstructionSets, AnUnknownNameIsOneLineThatSaysWhatWouldBeRight) {
    setenv("NORMTUNE_CPU_ISA", "avx1024", 1);
    try {
        chosen_pass_set();
        FAIL() << "avx1024 was taken";
    } catch (const InputError& error) {
        const std::string what = error.what();
        EXPECT_NE(what.find("avx1024"), std::string::npos);
        EXPECT_NE(what.find("baseline"), std::string::npos);
        EXPECT_EQ(what.find('\n'), std::string::npos);
    }
}

TEST_F(InstructionSets, ArchitectureNamesTellTheSetsApart) {
    for (const PassSet* set : usable_pass_sets()) {
        const bool plain = std::string(set->name) == "baseline";
        EXPECT_EQ(arch_name(*set).find(set->name) == std::string::npos, plain);
    }
}

}  // namespace
}  // namespace normtune::cpu
