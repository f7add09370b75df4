#include "support/names.h"

#include <array>

#include <gtest/gtest.h>

namespace normtune {
namespace {

constexpr std::array<std::string_view, 3> known{"models", "tokens", "dtypes"};

TEST(Names, NearestFindsASlipOfTheFinger) {
    EXPECT_EQ(nearest("modles", known.data(), known.data() + known.size()), "models");
    EXPECT_EQ(nearest("dytpes", known.data(), known.data() + known.size()), "dtypes");  // swapped: one slip, not two
    EXPECT_EQ(nearest("token", known.data(), known.data() + known.size()), "tokens");
    EXPECT_EQ(nearest("elephant", known.data(), known.data() + known.size()), "");
    EXPECT_EQ(nearest("", known.data(), known.data() + known.size()), "");
    EXPECT_EQ(nearest(std::string(1 << 20, 'm'), known.data(), known.data() + known.size()), "");
}

TEST(Names, SuggestionListsWhatIsKnownWhereNothingIsNear) {
    EXPECT_EQ(suggestion("dtype", known.data(), known.data() + known.size()), "; did you mean 'dtypes'?");
    EXPECT_EQ(suggestion("elephant", known.data(), known.data() + known.size()), "; known: models, tokens, dtypes");
}

}  // namespace
}  // namespace normtune
