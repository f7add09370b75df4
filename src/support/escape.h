// Text that came from a file or a device, for each place that it may go to: harmless there, and unchanged where it was so before.
#pragma once

#include <string>
#include <string_view>

namespace normtune {

/// One line for people: control characters (also the line's end, and those of C1) are "\x0a", characters that turn the direction of
/// writing or end a line unseen are "\u202e", and what is no UTF-8 is U+FFFD.
std::string for_terminal(std::string_view text);

/// A whole report: its line ends and the styles of report/table.h stay, everything else is as for_terminal has it, and no line is a
/// workflow command to GitHub's runner ("::…" at its start, "##[…" anywhere), whose steps print reports.
std::string report_for_terminal(std::string_view text);

/// The text of a workflow command of GitHub; `property`: the value of one of its properties, as title=.
std::string for_workflow_command(std::string_view text, bool property = false);

/// Text that is not markup in GitHub's markdown, also inside a table's cell: no HTML, link, mention or reference comes of it.
std::string for_markdown(std::string_view text);
/// As a code span.
std::string markdown_code(std::string_view text);

/// Text and attributes of XML 1.0; what XML cannot say is U+FFFD.
std::string for_xml(std::string_view text);

/// Text and quoted attributes of HTML; controls and what turns the direction of writing are visible, as for_terminal has them.
std::string for_html(std::string_view text);
/// A JSON text inside a <script> element, with nothing that HTML or JavaScript would end it by; texts show what for_html does.
std::string for_html_script(std::string_view json);

/// A JSON text that a terminal or a CI's runner may show: the same value, with escapes for what JSON itself leaves as it is.
std::string for_json(std::string json);

/// One word of a shell's command line, quoted where need be; the command can be pasted from a terminal.
std::string for_shell(std::string_view word);

}  // namespace normtune
