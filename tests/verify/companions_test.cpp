#include "verify/companions.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace normtune {
namespace {

const Shape own{1024, 4096, 4096};
const Shape strided_shape{1024, 512, 576};

std::vector<Shape> of(const Shape& shape, Backend backend) {
    DeviceInfo device;
    device.backend = backend;
    return companion_shapes({shape, {}, {}}, {}, device);
}

bool is_odd(const Shape& shape) {
    return shape.cols % 2 != 0;
}
bool has_gap(const Shape& shape) {
    return shape.row_stride > shape.cols;
}

TEST(Companions, AreFewAndOfOtherRows) {
    for (const Backend backend : {Backend::cuda, Backend::hip, Backend::cpu}) {
        for (const Shape& shape : {own, strided_shape}) {
            const std::vector<Shape> found = of(shape, backend);
            EXPECT_EQ(found.size(), backend == Backend::cpu ? 5U : 3U);
            EXPECT_EQ(std::count(found.begin(), found.end(), shape), 0);
            EXPECT_EQ(std::count_if(found.begin(), found.end(), [&](const Shape& s) { return s.rows == 1 && s.cols == shape.cols; }), 1);
            EXPECT_TRUE(std::any_of(found.begin(), found.end(), is_odd));
        }
    }
}

// One of a GPU's companions needs machine code of its own: it has both, columns and a stride that the others have not.
TEST(Companions, OfAGpuShareTheProblemsCodeButOne) {
    for (const Shape& shape : {own, strided_shape}) {
        int others = 0;
        for (const Shape& companion : of(shape, Backend::cuda)) {
            if (companion.cols == shape.cols && companion.row_stride == shape.row_stride) {
                continue;
            }
            ++others;
            EXPECT_TRUE(is_odd(companion));
            EXPECT_NE(has_gap(companion), has_gap(shape));
        }
        EXPECT_EQ(others, 1);
    }
}

TEST(Companions, OfAProgramOfMoreRowsThanThereAreHaveFew) {
    DeviceInfo device;
    device.backend = Backend::cpu;
    Configuration configuration;
    configuration.rows_per_program = 1 << 20;
    for (const Shape& shape : companion_shapes({{8, 64, 64}, {}, {}}, configuration, device)) {
        EXPECT_LE(shape.rows, 127) << shape.cols;
    }
}

TEST(Companions, OfACpuHaveAStrideAtTheProblemsOwnColumns) {
    const std::vector<Shape> found = of(own, Backend::cpu);
    EXPECT_TRUE(std::any_of(found.begin(), found.end(), [](const Shape& s) { return s.cols == own.cols && has_gap(s); }));
    EXPECT_TRUE(std::any_of(found.begin(), found.end(), [](const Shape& s) { return s.cols == own.cols - 1; }));
}

}  // namespace
}  // namespace normtune
