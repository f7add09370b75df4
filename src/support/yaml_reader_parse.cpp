// From text to YamlNode, by yaml-cpp's events: its node tree takes duplicate keys silently and expands aliases without bound.
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "support/error.h"
#include "support/utf8.h"
#include "support/yaml_reader.h"

namespace normtune {
namespace {

constexpr std::size_t most_bytes = std::size_t{4} << 20;
constexpr std::size_t most_values = 20'000;
constexpr std::size_t most_depth = 16;

int line_of(const YAML::Mark& mark) {
    return mark.line + 1;
}  // a null mark's line is -1: no line is told

void check_text(std::string_view text, const std::string& file) {
    if (text.size() > most_bytes) {
        throw InputError(file, 0, fmt::format("{} bytes; at most {} are read", text.size(), most_bytes));
    }
    int line = 1;
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        const std::size_t length = utf8_sequence_length(text.substr(i));
        const bool control = (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7f;
        if (length == 0 || control) {
            throw InputError(file, line,
                             fmt::format("not a text file (byte 0x{:02x}); YAML in UTF-8 is needed", static_cast<unsigned char>(c)));
        }
        line += c == '\n' ? 1 : 0;
        i += length;
    }
}

bool indented_with_tab(std::string_view text, int line) {
    for (int current = 1; current < line; ++current) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) {
            return false;
        }
        text.remove_prefix(end + 1);
    }
    const std::size_t first = text.find_first_not_of(' ');
    return first != std::string_view::npos && text[first] == '\t';
}

}  // namespace

class YamlBuilder : public YAML::EventHandler {
public:
    explicit YamlBuilder(const std::string& file) : file_(std::make_shared<const std::string>(file)) {}

    YamlNode take() { return std::move(root_); }
    bool has_root() const { return values_ > 0; }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1) {
            throw InputError(*file_, line_of(mark), "a second document ('---'); a file holds one");
        }
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add(start(mark, YamlNode::Kind::null)); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        throw InputError(*file_, line_of(mark), "aliases ('*name') are not read; write the value out");
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
        check_tag(mark, tag);
        if (expects_key()) {
            take_key(mark, value);
            return;
        }
        YamlNode node = start(mark, YamlNode::Kind::scalar);
        node.text_ = value;
        node.quoted_ = tag == "!";
        add(std::move(node));
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
        check_tag(mark, tag);
        open(start(mark, YamlNode::Kind::list));
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
        check_tag(mark, tag);
        open(start(mark, YamlNode::Kind::map));
    }
    void OnMapEnd() override { close(); }
    void OnAnchor(const YAML::Mark& mark, const std::string&) override {
        throw InputError(*file_, line_of(mark), "anchors ('&name') are not read; write the value out");
    }

private:
    struct Level {
        YamlNode node;
        bool has_key = false;  // a map's key was read and its value comes next
    };

    bool expects_key() const { return !open_.empty() && open_.back().node.kind_ == YamlNode::Kind::map && !open_.back().has_key; }

    void check_tag(const YAML::Mark& mark, const std::string& tag) const {
        if (!tag.empty() && tag != "?" && tag != "!") {
            throw InputError(*file_, line_of(mark), fmt::format("the tag {} is not read; leave it out", quoted_for_message(tag)));
        }
    }

    YamlNode start(const YAML::Mark& mark, YamlNode::Kind kind) {
        if (++values_ > most_values) {
            throw InputError(*file_, line_of(mark), fmt::format("more than {} values", most_values));
        }
        if (expects_key()) {
            throw InputError(*file_, line_of(mark), "a key must be plain text (or a '{' or '[' before it is never closed)");
        }
        YamlNode node;
        node.kind_ = kind;
        node.line_ = line_of(mark);
        node.file_ = file_;
        if (open_.empty()) {
            node.label_ = "the file";
        } else if (open_.back().node.kind_ == YamlNode::Kind::list) {
            node.label_ = "an item of " + open_.back().node.label_;
        } else {
            const YamlEntry& entry = open_.back().node.entries_.back();
            node.label_ = quoted_for_message(entry.key);
            if (kind == YamlNode::Kind::null) {
                node.line_ = entry.line;  // yaml-cpp marks a missing value where the next token is
            }
        }
        return node;
    }

    void take_key(const YAML::Mark& mark, const std::string& key) {
        Level& level = open_.back();
        for (const YamlEntry& earlier : level.node.entries_) {
            if (earlier.key == key) {
                throw InputError(*file_, line_of(mark),
                                 fmt::format("the key {} is given twice; the first is in line {}", quoted_for_message(key), earlier.line));
            }
        }
        level.node.entries_.push_back({key, line_of(mark), {}});
        level.has_key = true;
    }

    void open(YamlNode node) {
        if (open_.size() >= most_depth) {
            node.fail(fmt::format("lists and maps nested deeper than {}", most_depth));
        }
        open_.push_back({std::move(node)});
    }

    void close() {
        YamlNode node = std::move(open_.back().node);
        open_.pop_back();
        add(std::move(node));
    }

    void add(YamlNode node) {
        if (open_.empty()) {
            root_ = std::move(node);
        } else if (open_.back().node.kind_ == YamlNode::Kind::list) {
            open_.back().node.items_.push_back(std::move(node));
        } else {
            open_.back().node.entries_.back().value = std::move(node);
            open_.back().has_key = false;
        }
    }

    std::shared_ptr<const std::string> file_;
    std::vector<Level> open_;
    YamlNode root_;
    std::size_t values_ = 0;
    int documents_ = 0;
};

YamlNode parse_yaml(std::string_view text, const std::string& file) {
    check_text(text, file);
    YamlBuilder builder(file);
    try {
        // Without its last line breaks: at one, yaml-cpp 0.7 takes a quote that nobody closed for the scalar's end.
        std::istringstream in{std::string(text.substr(0, text.find_last_not_of(" \t\r\n") + 1))};
        YAML::Parser parser(in);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const YAML::Exception& error) {
        const int line = line_of(error.mark);
        throw InputError(
            file, line,
            indented_with_tab(text, line) ? "a tab in the indentation; use spaces" : fmt::format("not valid YAML: {}", error.msg));
    }
    YamlNode root = builder.take();
    if (!builder.has_root() || root.kind() == YamlNode::Kind::null) {
        throw InputError(file, 0, "empty; a map of 'key: value' lines is needed");
    }
    root.entries();  // nothing but a map may be at the root
    return root;
}

}  // namespace normtune
