#include "support/yaml_reader.h"

#include <string>

#include <gtest/gtest.h>

#include "support/error.h"

namespace normtune {
namespace {

/// What a call says that must be refused: always one line.
template <typename Call>
std::string refusal(Call call) {
    try {
        call();
    } catch (const InputError& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
        return error.what();
    }
    return "accepted";
}

std::string parse_refusal(std::string_view text) {
    return refusal([&] { parse_yaml(text, "f.yaml"); });
}

enum class Fruit { apple, pear };
constexpr NameTable<Fruit, 2> fruit_names{{"apple", "pear"}};

TEST(YamlReader, ReadsEveryKindOfValueWithItsLine) {
    const YamlNode root = parse_yaml(
        "# a comment\n"
        "count: 7\n"
        "eps: 1e-6\n"
        "name: \"quoted: text\"\n"
        "on: true\n"
        "fruit: pear\n"
        "list: [3, 1,\n  2]\n"
        "maps:\n"
        "  - {a: 1}\n"
        "  - a: 2\n",
        "f.yaml");
    EXPECT_EQ(root.require("count").integer(1, 10), 7);
    EXPECT_EQ(root.require("eps").number(0, 1), 1e-6);
    EXPECT_EQ(root.require("name").string(), "quoted: text");
    EXPECT_TRUE(root.require("on").boolean());
    EXPECT_EQ(root.require("fruit").one_of(fruit_names), Fruit::pear);
    EXPECT_EQ(root.require("list").distinct([](const YamlNode& item) { return item.integer(1, 3); }), (std::vector<std::int64_t>{3, 1, 2}));
    EXPECT_EQ(root.require("list").items().back().line(), 8);
    EXPECT_EQ(root.require("maps").items().at(1).require("a").line(), 11);
    EXPECT_EQ(root.find("absent"), nullptr);
    EXPECT_EQ(root.find_integer("absent", 0, 1), std::nullopt);
    EXPECT_EQ(root.find_integer("count", 0, 10), 7);
    EXPECT_EQ(root.entries().size(), 7u);
    EXPECT_EQ(root.entries().at(2).key, "name");
    EXPECT_EQ(root.entries().at(2).line, 4);
}

TEST(YamlReader, RefusesValuesOfTheWrongTypeOrRange) {
    const auto integer = [](const std::string& value) {
        return refusal([&] { parse_yaml("a: 1\ncols: " + value, "f.yaml").require("cols").integer(1, 100); });
    };
    const std::string wanted = "f.yaml:2: 'cols' must be a whole number from 1 to 100, not ";
    for (const std::string value :
         {"0", "-4", "101", "99999999999999999999", "4.0", "1e2", "0x10", "nan", ".inf", "abc", "4 8", "+4", "1_0"}) {
        EXPECT_EQ(integer(value), wanted + "'" + value + "'");
    }
    EXPECT_EQ(integer("'4'"), wanted + "the quoted text '4'");
    EXPECT_EQ(integer("[4]"), wanted + "a list");
    EXPECT_EQ(integer("{a: 4}"), wanted + "a map");
    EXPECT_EQ(integer(""), "f.yaml:2: 'cols' has no value");
    EXPECT_EQ(integer("~"), "f.yaml:2: 'cols' has no value");

    const auto number = [](const std::string& value) {
        return refusal([&] { parse_yaml("eps: " + value, "f.yaml").require("eps").number(1e-12, 1); });
    };
    for (const std::string value : {"0", "-1e-6", "2", ".nan", "nan", "inf", "-inf", "1e999", "1e-6x", "1,5"}) {
        EXPECT_EQ(number(value), "f.yaml:1: 'eps' must be a number from 1e-12 to 1, not '" + value + "'");
    }

    const YamlNode root = parse_yaml("on: yes\nfruit: appel\nempty: ''\nlist: []\ntwice: [a, a]\ntext: [x]\n", "f.yaml");
    EXPECT_EQ(refusal([&] { root.require("on").boolean(); }), "f.yaml:1: 'on' must be true or false, not 'yes'");
    EXPECT_EQ(refusal([&] { root.require("fruit").one_of(fruit_names); }),
              "f.yaml:2: 'fruit': unknown value 'appel'; did you mean 'apple'?");
    EXPECT_EQ(refusal([&] { root.require("empty").string(); }),
              "f.yaml:3: 'empty' must be one line of 1 to 200 bytes of text, not the quoted text ''");
    EXPECT_EQ(refusal([&] { root.require("list").items(); }), "f.yaml:4: 'list' is an empty list; leave the key out, or give it a value");
    EXPECT_EQ(refusal([&] { root.require("twice").distinct([](const YamlNode& i) { return i.string(); }); }),
              "f.yaml:5: an item of 'twice': 'a' is listed twice");
    EXPECT_EQ(refusal([&] { root.require("text").string(); }), "f.yaml:6: 'text' must be text, not a list");
    EXPECT_EQ(refusal([&] { root.require("on").items(); }), "f.yaml:1: 'on' must be a list, not 'yes'");
    EXPECT_EQ(refusal([&] { root.require("on").entries(); }), "f.yaml:1: 'on' must be a map of 'key: value', not 'yes'");
}

TEST(YamlReader, NamesTheNearestKnownKey) {
    const YamlNode root = parse_yaml("\nnmae: x\n", "f.yaml");
    EXPECT_EQ(refusal([&] { root.only_keys({"name", "models"}); }), "f.yaml:2: unknown key 'nmae'; did you mean 'name'?");
    EXPECT_EQ(refusal([&] { root.only_keys({"axes", "rules"}); }), "f.yaml:2: unknown key 'nmae'; known: axes, rules");
    EXPECT_EQ(refusal([&] { root.require("name"); }), "f.yaml:2: the file needs the key 'name'");
}

TEST(YamlReader, RefusesWhatIsNotOneMapOfPlainValues) {
    EXPECT_EQ(parse_refusal(""), "f.yaml: empty; a map of 'key: value' lines is needed");
    EXPECT_EQ(parse_refusal("# only a comment\n"), "f.yaml: empty; a map of 'key: value' lines is needed");
    EXPECT_EQ(parse_refusal("---\n"), "f.yaml: empty; a map of 'key: value' lines is needed");
    EXPECT_EQ(parse_refusal("- a\n"), "f.yaml:1: the file must be a map of 'key: value', not a list");
    EXPECT_EQ(parse_refusal("word\n"), "f.yaml:1: the file must be a map of 'key: value', not 'word'");
    EXPECT_EQ(parse_refusal("a: 1\nb: 2\na: 3\n"), "f.yaml:3: the key 'a' is given twice; the first is in line 1");
    EXPECT_EQ(parse_refusal("a: {b: 1, b: 2}\n"), "f.yaml:1: the key 'b' is given twice; the first is in line 1");
    EXPECT_EQ(parse_refusal("a: 1\n---\nb: 2\n"), "f.yaml:2: a second document ('---'); a file holds one");
    EXPECT_EQ(parse_refusal("a: &x 1\nb: *x\n"), "f.yaml:1: anchors ('&name') are not read; write the value out");
    EXPECT_EQ(parse_refusal("a: !!int 4\n"), "f.yaml:1: the tag 'tag:yaml.org,2002:int' is not read; leave it out");
    EXPECT_EQ(parse_refusal("[a, b]: 4\n"), "f.yaml:1: a key must be plain text (or a '{' or '[' before it is never closed)");
    EXPECT_EQ(parse_refusal(": 4\n"), "f.yaml:1: a key must be plain text (or a '{' or '[' before it is never closed)");
    EXPECT_EQ(parse_refusal("a: " + std::string(5000, '[') + std::string(5000, ']')), "f.yaml:1: lists and maps nested deeper than 16");
    EXPECT_NE(parse_refusal("a: " + std::string(100000, '{')), "accepted");
}

TEST(YamlReader, RefusesWhatIsNotYamlText) {
    EXPECT_EQ(parse_refusal("a: [1, 2\n"), "f.yaml:1: not valid YAML: end of sequence flow not found");
    EXPECT_EQ(parse_refusal("a: 1\n\tb: 2\n").substr(0, 9), "f.yaml:2:");
    EXPECT_EQ(parse_refusal("a:\n\tb: 2\n"), "f.yaml:2: a tab in the indentation; use spaces");
    EXPECT_EQ(parse_refusal("a: 1\n b: 2\n").substr(0, 26), "f.yaml:2: not valid YAML: ");
    EXPECT_EQ(parse_refusal("a: \"open\n"), "f.yaml:1: not valid YAML: illegal EOF in scalar");
    EXPECT_EQ(parse_refusal("a: 'open\nb: 2\n\n"), "f.yaml:2: not valid YAML: illegal EOF in scalar");
    using namespace std::string_view_literals;
    EXPECT_EQ(parse_refusal("a: 1\n\0\0"sv), "f.yaml:2: not a text file (byte 0x00); YAML in UTF-8 is needed");
    EXPECT_EQ(parse_refusal("a: 1\nb: \xff\xfe"sv), "f.yaml:2: not a text file (byte 0xff); YAML in UTF-8 is needed");
    EXPECT_EQ(parse_refusal("\x7f"
                            "ELF"sv),
              "f.yaml:1: not a text file (byte 0x7f); YAML in UTF-8 is needed");
    for (const std::string_view bad : {"\xc0\x80"sv, "\xed\xa0\x80"sv, "\xe2\x82"sv, "\xf5\x80\x80\x80"sv, "\x80"sv}) {
        EXPECT_NE(parse_refusal(bad).find("not a text file"), std::string::npos);
    }
    EXPECT_EQ(parse_refusal(std::string((4u << 20) + 1, ' ')), "f.yaml: 4194305 bytes; at most 4194304 are read");
    std::string many = "a: [";
    for (int i = 0; i < 30000; ++i) {
        many += "1,";
    }
    EXPECT_EQ(parse_refusal(many + "]"), "f.yaml:1: more than 20000 values");
}

TEST(YamlReader, TakesUnicodeTextAndByteOrderMark) {
    EXPECT_EQ(parse_yaml("\xef\xbb\xbfname: müller 模型 😀\n", "f.yaml").require("name").string(), "müller 模型 😀");
}

/// No text may bring the parser down: whatever bytes change in a file, it is read or refused in one line.
TEST(YamlReader, SurvivesMutatedText) {
    const std::string seed =
        "name: q\nmodels:\n  - name: \"A\"\n    sites:\n      - {site: h, cols: 4}\n    x: |\n      t\n? k\n: [1, 2]\n";
    const std::string marks = "{}[]:,-?!&*|>'\"#%@`~ \n\t\\=<0a";
    std::uint64_t state = 1;
    const auto draw = [&](std::size_t below) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::size_t>(state >> 33) % below;
    };
    int read = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string text = seed;
        for (std::size_t change = 1 + draw(4); change > 0; --change) {
            const std::size_t at = draw(text.size());
            if (draw(3) == 0) {
                text.erase(at, 1 + draw(3));
            } else {
                text.insert(at, 1, marks[draw(marks.size())]);
            }
        }
        read += parse_refusal(text) == "accepted" ? 1 : 0;
    }
    EXPECT_GT(read, 100);
    EXPECT_LT(read, 19900);
}

}  // namespace
}  // namespace normtune
