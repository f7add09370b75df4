#include "support/escape.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

namespace normtune {
namespace {

TEST(Escape, WhatIsHarmlessStays) {
    const std::string text = "rms_norm/forward/bf16/llama/8192x4096 µs → 12.3 (50%), it's";
    EXPECT_EQ(for_terminal(text), text);
    EXPECT_EQ(for_xml(text), text);
    EXPECT_EQ(for_markdown(text), text);
    EXPECT_EQ(report_for_terminal("\033[1mtitle\033[0m\n  a::b\n\033[2mfaint\033[0m\n"),
              "\033[1mtitle\033[0m\n  a::b\n\033[2mfaint\033[0m\n");
    EXPECT_EQ(for_shell("results/run-20261120T235959Z-1f3a"), "results/run-20261120T235959Z-1f3a");
    EXPECT_EQ(markdown_code("w4.t128"), "`w4.t128`");
}

TEST(Escape, TerminalGetsNoControlsAndOneLine) {
    EXPECT_EQ(for_terminal("a\nb\033[31mc\tt\x7f"), "a\\x0ab\\x1b[31mc\\x09t\\x7f");
    EXPECT_EQ(for_terminal("\xC2\x9B"
                           "31m \xE2\x80\xAE"
                           "x \xFF"),
              "\\x9b31m \\u202ex \xEF\xBF\xBD");  // C1's CSI, a turn of direction
    EXPECT_EQ(report_for_terminal("a\033]0;title\007\nb\r\n"), "a\\x1b]0;title\\x07\nb\\x0d\n");
}

TEST(Escape, NoLineOfAReportIsAWorkflowCommand) {
    EXPECT_EQ(report_for_terminal("::add-mask::x\n  ::warning::y\n\xE3\x80\x80::z\nno ::command\n"),
              "\\x3a:add-mask::x\n  \\x3a:warning::y\n\xE3\x80\x80\\x3a:z\nno ::command\n");
    EXPECT_EQ(report_for_terminal("see ##[add-mask]x"), "see \\x23#[add-mask]x");
    EXPECT_EQ(for_workflow_command("50%\r\n::add-mask::x \033[1m"), "50%25%0D%0A::add-mask::x \\x1b[1m");
    EXPECT_EQ(for_workflow_command("a:b,c", true), "a%3Ab%2Cc");
}

TEST(Escape, MarkdownHasNoMarkup) {
    const std::string out = for_markdown("<script>x</script> [a](http://b) @me **b** `c` _d_ a|b ~e~ \\ $m$ www.x.y #12 GH\n# h");
    for (const char* markup : {"<", "[", "@", "*", "`", "_d", "|", "~", "\\", "$", "://", "www.", " #12", "\n"}) {
        EXPECT_EQ(out.find(markup), std::string::npos) << markup << " in " << out;
    }
    EXPECT_EQ(for_markdown("@me"), "&#64;&#8203;me");  // GitHub looks for mentions after the entities are gone
    EXPECT_EQ(markdown_code("a`b|<i>"), "<code>a&#96;b&#124;&lt;i&gt;</code>");
    EXPECT_EQ(markdown_code("a\n\n# b"), "<code>a&#92;x0a&#92;x0a# b</code>");
    EXPECT_EQ(markdown_code(""), "<code></code>");
}

TEST(Escape, XmlHasOnlyItsCharacters) {
    EXPECT_EQ(for_xml("<a b=\"c\">&\n\x01\xEF\xBF\xBE\xC2\x85\xFF"),
              "&lt;a b=&quot;c&quot;&gt;&amp; \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Escape, HtmlHasNoMarkupAndNothingUnseen) {
    EXPECT_EQ(for_html("<a b='c' d=\"e\">&\n\xE2\x80\xAE\xFF"), "&#60;a b=&#39;c&#39; d=&#34;e&#34;&#62;&#38;\\x0a\\u202e\xEF\xBF\xBD");
}

TEST(Escape, AScriptElementHoldsAnyJson) {
    EXPECT_EQ(for_html_script("[\"</script><!--&\xE2\x80\xA8\xE2\x80\xAE\xC2\x9B µ\", 1]"),
              "[\"\\u003c/script\\u003e\\u003c!--\\u0026\\\\u2028\\\\u202e\\\\x9b µ\", 1]");
}

TEST(Escape, JsonStaysTheSameValueWithoutControls) {
    EXPECT_EQ(for_json("[\"a\\n<b>\",\n 1]"), "[\"a\\n<b>\",\n 1]");
    EXPECT_EQ(for_json("[\"\xC2\x9B\x7F\xE2\x80\xAE µ ##[x]\"]"), "[\"\\u009b\\u007f\\u202e µ \\u0023#[x]\"]");
}

TEST(Escape, ShellReadsTheWordBack) {
    for (const std::string word :
         {"a b", ";touch X;", "it's", "$(id)", "`id`", "two\nlines", "\033[1m'\\x", "\xFF\xFE", "-", "~", "*", ""}) {
        const std::string quoted = for_shell(word);
        EXPECT_EQ(for_terminal(quoted), quoted);
        const std::string command = "bash -c 'eval \"w=$1\"; printf %s \"$w\"' - " + [&] {
            std::string out = "'";
            for (const char c : quoted) {
                out += c == '\'' ? std::string("'\\''") : std::string(1, c);
            }
            return out + "'";
        }();
        std::FILE* shell = ::popen(command.c_str(), "r");
        ASSERT_NE(shell, nullptr);
        std::array<char, 256> buffer{};
        const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), shell);
        ::pclose(shell);
        EXPECT_EQ(std::string(buffer.data(), got), word) << quoted;
    }
}

}  // namespace
}  // namespace normtune
