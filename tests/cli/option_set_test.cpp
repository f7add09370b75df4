#include "cli/option_set.h"

#include <gtest/gtest.h>

namespace normtune::cli {
namespace {

class OptionSetTest : public ::testing::Test {
protected:
    OptionSetTest() : options("try", "Tries things.") {
        options.flag("--quiet", "say nothing", quiet);
        options.one("-o,--out", folder(out), "where to");
        options.list("--tokens", whole_number(1, 100, tokens), "how many");
        options.many("--shapes", text("FILE", shapes), "which");
        options.many("FILES", text("FILE", files), "more");
        options.example("normtune try --quiet");
    }

    OptionSet::Parsed parse(const std::vector<std::string>& words) { return options.parse(words); }

    /// What is said of bad words; empty where they are taken.
    std::string complaint(const std::vector<std::string>& words) {
        try {
            parse(words);
        } catch (const InputError& error) {
            return error.what();
        }
        return {};
    }

    OptionSet options;
    bool quiet = false;
    std::string out;
    std::vector<std::int64_t> tokens;
    std::vector<std::string> shapes;
    std::vector<std::string> files;
};

TEST_F(OptionSetTest, TakesEachKindOfOption) {
    EXPECT_EQ(parse({"--shapes", "a", "b,c", "--tokens", "1,2", "--tokens=2,3", "-o", "dir", "--quiet"}), OptionSet::Parsed::run);
    EXPECT_TRUE(quiet);
    EXPECT_EQ(out, "dir");
    EXPECT_EQ(tokens, (std::vector<std::int64_t>{1, 2, 3}));
    EXPECT_EQ(shapes, (std::vector<std::string>{"a", "b,c"}));
}

TEST_F(OptionSetTest, PositionalsComeBetweenOptions) {
    parse({"x", "--quiet", "y", "--out", "dir", "z"});
    EXPECT_EQ(files, (std::vector<std::string>{"x", "y", "z"}));
    EXPECT_EQ(out, "dir");
}

TEST_F(OptionSetTest, NamesTheNearestOption) {
    EXPECT_EQ(complaint({"--shape", "a"}), "unknown option '--shape'; did you mean '--shapes'?");
    EXPECT_EQ(complaint({"--token=3"}), "unknown option '--token'; did you mean '--tokens'?");
    EXPECT_EQ(complaint({"--xyzzy"}), "unknown option '--xyzzy'; see normtune try --help");
}

TEST_F(OptionSetTest, AnOptionNeverSwallowsTheNext) {
    EXPECT_EQ(complaint({"--out", "--quiet"}), "--out needs a value: --out DIR");
    EXPECT_EQ(complaint({"--shapes", "--quiet"}), "--shapes needs a value: --shapes FILE...");
    EXPECT_EQ(complaint({"--out="}), "--out needs a value: --out DIR");
}

TEST(OptionSetHelp, HasLinesOfEightyColumnsAndBeginsThoseThatTheTextBegins) {
    bool quiet = false;
    OptionSet options("try", "Tries things.");
    options.flag("--quiet", "say nothing of what there is to say about all that is tried here, whatever it is\nloud: say it", quiet);
    options.example("normtune try --quiet " + std::string(100, 'x'));
    const std::string help = options.help();
    EXPECT_NE(help.find("\n  --quiet                         say nothing of what there is to say about all\n" + std::string(34, ' ') +
                        "that is tried here, whatever it is\n" + std::string(34, ' ') + "loud: say it\n"),
              std::string::npos)
        << help;
    EXPECT_NE(help.find("\n  normtune try --quiet " + std::string(100, 'x')), std::string::npos) << help;
}

TEST(OptionSetWithoutPositionals, ASecondValueIsToldWithItsOption) {
    const auto complaint = [](const std::vector<std::string>& words) -> std::string {
        bool quiet = false;
        std::string out;
        std::vector<std::int64_t> tokens;
        OptionSet options("try", "Tries things.");
        options.flag("--quiet", "say nothing", quiet);
        options.one("-o,--out", folder(out), "where to");
        options.list("--tokens", whole_number(1, 100, tokens), "how many");
        try {
            options.parse(words);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(complaint({"--out", "a", "b"}), "unexpected argument 'b': --out takes one value");
    EXPECT_EQ(complaint({"-o", "a", "b"}), "unexpected argument 'b': --out takes one value");
    EXPECT_EQ(complaint({"--tokens", "1", "28"}),
              "unexpected argument '28': --tokens takes one value, or several with commas between them");
    EXPECT_EQ(complaint({"--tokens", "1,"}), "--tokens: a value is missing between the commas of '1,'");
    EXPECT_EQ(complaint({"--tokens", "1", "1"}), "unexpected argument '1': --tokens takes one value, or several with commas between them");
    EXPECT_EQ(complaint({"--quiet", "a", "b"}), "unexpected argument 'a'; see normtune try --help");
    EXPECT_EQ(complaint({"b"}), "unexpected argument 'b'; see normtune try --help");
}

TEST_F(OptionSetTest, ASingleValueIsGivenOnce) {
    EXPECT_EQ(complaint({"--out", "a", "-o", "b"}), "--out is given 2 times; once is enough");
}

TEST_F(OptionSetTest, AFlagTakesNoValue) {
    EXPECT_EQ(complaint({"--quiet=no"}), "--quiet takes no value; write --quiet alone");
}

TEST_F(OptionSetTest, ABadValueNamesItsOption) {
    EXPECT_EQ(complaint({"--tokens", "1,-2"}), "--tokens: '-2' is out of range; give one from 1 to 100");
}

TEST_F(OptionSetTest, HelpWinsOverBadValues) {
    EXPECT_EQ(parse({"--tokens", "zero", "--help"}), OptionSet::Parsed::help);
    const std::string help = options.help();
    for (const char* part :
         {"Tries things.", "--quiet", "-o,--out DIR", "--tokens N,...", "--shapes FILE...", "FILES", "normtune try --quiet"}) {
        EXPECT_NE(help.find(part), std::string::npos) << part << "\n" << help;
    }
}

}  // namespace
}  // namespace normtune::cli
