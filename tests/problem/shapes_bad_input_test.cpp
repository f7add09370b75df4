// Every file of tests/bad_input/shapes is refused with the line of expected.txt: "FILE<tab>what the message ends with".
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "problem/shapes_file.h"
#include "support/error.h"

namespace normtune {
namespace {

const std::string bad_shapes = std::string(NORMTUNE_SOURCE_DIR) + "/tests/bad_input/shapes/";

TEST(ShapesBadInput, IsRefusedInOneLineThatNamesTheFileAndTheRemedy) {
    std::ifstream expected(bad_shapes + "expected.txt");
    std::set<std::string> seen{"expected.txt"};
    std::string name;
    std::string message;
    while (std::getline(expected, name, '\t') && std::getline(expected, message)) {
        seen.insert(name);
        try {
            load_shapes(bad_shapes + name);
            ADD_FAILURE() << name << " is accepted";
        } catch (const InputError& error) {
            const std::string what = error.what();
            EXPECT_NE(what.find(message), std::string::npos) << name << ": " << what << "\nwanted: " << message;
            EXPECT_EQ(what.find('\n'), std::string::npos) << what;
            EXPECT_NE(what.find(bad_shapes + name), std::string::npos) << what;
        }
    }
    EXPECT_GE(seen.size(), 50u);
    for (const auto& entry : std::filesystem::directory_iterator(bad_shapes)) {
        EXPECT_TRUE(seen.contains(entry.path().filename().string())) << entry.path() << " is not in expected.txt";
    }
}

TEST(ShapesBadInput, AFileThatIsTooLargeIsNotRead) {
    const auto path = std::filesystem::temp_directory_path() / "normtune_shapes_too_large.yaml";
    std::ofstream(path) << std::string((4u << 20) + 1, '#');
    EXPECT_THROW(load_shapes(path.string()), InputError);
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace normtune
