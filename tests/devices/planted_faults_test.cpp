#include "devices/gpu/planted_faults.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/error.h"

namespace normtune::gpu {
namespace {

constexpr const char* key = "w4.t128.r1.row.registers.masked.per_row";

PlantedFaults planted(const std::string& text) {
    setenv("NORMTUNE_PLANT_FAULTS", text.c_str(), 1);
    struct Unset {
        ~Unset() { unsetenv("NORMTUNE_PLANT_FAULTS"); }
    } const unset;
    return PlantedFaults::from_environment();
}

TEST(PlantedFaults, AreOfTheConfigurationsNamed) {
    const std::string other = "w8.t256.r1.row.registers.masked.per_row";
    const PlantedFaults faults = planted(std::string("hang=") + key + ";out_of_memory=" + other);
    EXPECT_EQ(faults.of(Configuration::parse(key)), PlantedFault::hang);
    EXPECT_EQ(faults.of(Configuration::parse(other)), PlantedFault::out_of_memory);
    EXPECT_EQ(faults.of(Configuration::parse("w4.t128.r1.row.registers.guard.per_row")), PlantedFault::none);
    EXPECT_EQ(planted("").of(Configuration::parse(key)), PlantedFault::none);
}

TEST(PlantedFaults, RefuseWhatTheyDoNotKnow) {
    EXPECT_THROW(planted(std::string("crash=") + key), InputError);
    EXPECT_THROW(planted(key), InputError);
    EXPECT_THROW(planted("hang=w4"), InputError);
}

}  // namespace
}  // namespace normtune::gpu
