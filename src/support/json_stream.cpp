#include "support/json_stream.h"

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/error.h"
#include "support/escape.h"
#include "support/json_reader.h"
#include "support/utf8.h"

namespace normtune {

using nlohmann::json;

namespace {

/// Where a text begins in its document, or ends; from 1, in bytes.
struct TextPlace {
    std::size_t line = 1;
    std::size_t column = 1;

    void pass(std::string_view text) {
        line += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
        const std::size_t last = text.rfind('\n');
        column = last == std::string_view::npos ? column + text.size() : text.size() - last;
    }
};

constexpr std::size_t deepest = 200;

std::string too_deep() {
    return fmt::format("lists and objects in each other, over {} deep", deepest);
}

/// Makes the document as the library's own parser does, but for two members of one name, which it refuses.
class DocumentBuilder : public nlohmann::json_sax<json> {
public:
    /// `path` of the text's root in its document: "records/3".
    DocumentBuilder(std::string path, std::function<TextPlace(std::size_t)> place) : root_(std::move(path)), place_(std::move(place)) {}

    json document;
    std::string error;

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(json::object()); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(json::array()); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        Level& level = levels_.back();
        json::object_t& object = level.value->get_ref<json::object_t&>();
        const std::size_t members = object.size();
        level.member = &*object.emplace_hint(object.end(), std::move(name), nullptr);  // normtune writes them in their order
        const bool added = object.size() > members;
        if (!added) {
            error = fmt::format("{}the member {} is there twice", path(), json(level.member->first).dump());
        }
        return added;
    }
    bool parse_error(std::size_t position, const std::string&, const json::exception& problem) override {
        // "[json.exception.parse_error.101] parse error at line 1, column 2: …": the library's tag says nothing to a user, and the place
        // is that in the text, not in the document.
        const std::string_view what = problem.what();
        const std::size_t said = what.find(": ");
        const TextPlace place = place_(position);
        error = fmt::format("parse error at line {}, column {}{}", place.line, place.column,
                            said == std::string_view::npos ? "" : what.substr(said));
        constexpr std::size_t longest = 200;  // the library quotes all of a token, however long it is
        error = "is not JSON: " + to_utf8(error.size() > longest ? error.substr(0, longest) + "…" : error);
        return false;
    }

private:
    struct Level {
        json* value;
        json::object_t::value_type* member = nullptr;  // of an object: the present one
    };

    template <typename T>
    json* put(T&& value) {
        if (levels_.empty()) {
            document = std::forward<T>(value);
            return &document;
        }
        Level& level = levels_.back();
        if (level.member != nullptr) {
            level.member->second = std::forward<T>(value);
            return &level.member->second;
        }
        return &level.value->get_ref<json::array_t&>().emplace_back(std::forward<T>(value));
    }
    template <typename T>
    bool add(T&& value) {
        put(std::forward<T>(value));
        return true;
    }
    bool open(json value) {
        if (levels_.size() == deepest) {
            error = too_deep();
            return false;
        }
        levels_.push_back({put(std::move(value))});
        return true;
    }
    bool close() {
        levels_.pop_back();
        return true;
    }
    /// Of the innermost object: "records/3/measurement: ".
    std::string path() const {
        std::string out = root_;
        for (std::size_t i = 0; i + 1 < levels_.size(); ++i) {
            const Level& level = levels_[i];
            out += out.empty() ? "" : "/";
            out += level.member != nullptr ? level.member->first : std::to_string(level.value->size() - 1);
        }
        return out.empty() ? out : for_terminal(out) + ": ";  // of members that the file may name as it likes
    }

    std::string root_;
    std::function<TextPlace(std::size_t)> place_;
    std::vector<Level> levels_;
};

json parsed(std::string_view text, std::string_view where, std::string path, std::function<TextPlace(std::size_t)> place) {
    DocumentBuilder builder(std::move(path), std::move(place));
    if (!json::sax_parse(text.begin(), text.end(), &builder)) {
        throw InputError(fmt::format("{}: {}", where, builder.error));
    }
    return std::move(builder.document);
}

/// The place behind the first `length` bytes of a text that begins at `place`; the parser counts the text's end as one.
TextPlace behind(TextPlace place, std::string_view text, std::size_t length) {
    place.pass(text.substr(0, length));
    place.column += length > text.size() ? 1 : 0;
    --place.column;  // the last byte that was read, not the next
    return place;
}

constexpr bool is_blank(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

std::string_view without_blanks(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_blank(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

/// The place of the quote that ends a string, or where the text ends; `escaped`: its first byte is, and whether the next text's is.
std::size_t end_of_string(std::string_view text, std::size_t at, bool& escaped) {
    for (; at < text.size(); ++at) {
        if (escaped) {
            escaped = false;
        } else if (text[at] == '\\') {
            escaped = true;
        } else if (text[at] == '"') {
            break;
        }
    }
    return at;
}

/// Reads a document in pieces, by its quotes and brackets alone, and sets the elements of the lists apart from the rest. Lines that look
/// like an element, as normtune writes them, are not looked into: what they are their parser finds.
class Splitter {
public:
    Splitter(ByteSource& source, std::string_view where, std::span<const StreamedList> lists, std::size_t most_bytes)
        : source_(source), where_(where), lists_(lists), most_bytes_(most_bytes), seen_(lists.size()) {}

    void read() {
        while (fill()) {
            for (scan(); !give(); scan()) {
                ++at_;
            }
        }
        if (list_ != nullptr && !without_blanks(piece(begin_, buffer_.size())).empty()) {  // cut in the middle: the parser says so
            elements_.push_back({begin_, buffer_.size()});
            give();
        }
    }

    const std::string& rest() const { return rest_; }
    TextPlace place_in_rest(std::size_t length) const {
        const auto cut = std::find_if(cuts_.rbegin(), cuts_.rend(), [&](const Cut& one) { return one.at < length; });
        return cut == cuts_.rend() ? behind({}, rest_, length)
                                   : behind(cut->end, std::string_view(rest_).substr(cut->at), length - cut->at);
    }

private:
    struct Piece {
        std::size_t begin, end;  // in the buffer
        bool guessed = false;
    };
    /// Where a list's elements were in the rest, and where they ended in the document.
    struct Cut {
        std::size_t at;
        TextPlace end;
    };

    std::string_view piece(std::size_t begin, std::size_t end) const { return std::string_view(buffer_).substr(begin, end - begin); }

    /// More bytes, behind those of an element that has not ended.
    bool fill() {
        constexpr std::size_t least = std::size_t{1} << 12, most = std::size_t{1} << 22;  // most documents are short
        const std::size_t passed = list_ != nullptr ? begin_ : at_;
        place_.pass(piece(0, passed));
        offset_ += passed;
        buffer_.erase(0, passed);
        at_ -= passed;
        begin_ = 0;
        newline_ = 0;
        step_ = std::clamp(2 * step_, least, most);
        std::size_t size = buffer_.size();
        const std::size_t wanted = size + step_;
        buffer_.resize(wanted);
        for (std::size_t got = 1; got > 0 && size < wanted; size += got) {
            got = source_.read(buffer_.data() + size, wanted - size);
        }
        buffer_.resize(size);
        if (std::max(rest_.size(), at_) > most_bytes_) {  // at_: of an element that has not ended
            std::string names;
            for (const StreamedList& list : lists_) {
                names += list_ != nullptr && list_ != &list ? "" : fmt::format("{}'{}'", names.empty() ? "" : " or ", list.member);
            }
            throw InputError(fmt::format("{}: over {} bytes without an element of {}", where_, most_bytes_, names));
        }
        return at_ < size;
    }

    void scan() {
        for (; at_ < buffer_.size(); ++at_) {
            if (in_string_) {
                const std::size_t begin = at_;
                at_ = end_of_string(buffer_, at_, escaped_);
                in_string_ = at_ == buffer_.size();
                if (list_ == nullptr) {
                    word_ += piece(begin, at_);
                    rest_ += piece(begin, std::min(at_ + 1, buffer_.size()));
                }
                if (in_string_) {
                    return;
                }
            } else if (list_ != nullptr) {
                in_list(buffer_[at_]);
            } else {
                outside(buffer_[at_]);
            }
        }
    }

    void check_depth(std::size_t depth) const {
        if (depth > deepest) {
            throw InputError(fmt::format("{}: {}", where_, too_deep()));
        }
    }

    void in_list(char c) {
        if (c == '"') {
            in_string_ = true;
        } else if (c == '{' || c == '[') {
            if (inner_ == 0 && guess_element()) {
                return;
            }
            ++inner_;
            check_depth(inner_ + 2);
        } else if (c == '}' || (c == ']' && inner_ > 0)) {
            inner_ -= inner_ > 0 ? 1 : 0;  // one bracket too many is for the parser to tell
        } else if (inner_ == 0 && (c == ',' || c == ']')) {
            end_element(c);
        }
    }

    /// Takes the rest of the line for one that begins here.
    bool guess_element() {
        if (!guessing_ || !without_blanks(piece(begin_, at_)).empty()) {
            return false;
        }
        if (newline_ < at_) {
            newline_ = std::min(buffer_.find('\n', at_), buffer_.size());
        }
        if (newline_ == buffer_.size() || !piece(at_, newline_).ends_with("},")) {
            return false;
        }
        elements_.push_back({at_, newline_ - 1, true});
        begin_ = newline_;
        at_ = newline_;
        return true;
    }

    void end_element(char c) {
        if (c == ',' || given_ + elements_.size() > 0 || !without_blanks(piece(begin_, at_)).empty()) {
            elements_.push_back({begin_, at_});
        }
        begin_ = at_ + 1;
        if (c == ']' && give()) {
            cuts_.push_back({rest_.size(), place_});
            cuts_.back().end.pass(piece(0, at_));
            rest_ += c;
            list_ = nullptr;
            --depth_;
        }
    }

    void outside(char c) {
        rest_ += c;
        if (c == '"') {
            in_string_ = true;
            word_.clear();
        } else if (c == ':') {
            const auto named = std::ranges::find(lists_, word_, &StreamedList::member);
            named_ = depth_ == 1 && named != lists_.end() ? &*named : nullptr;
            return;
        } else if (c == '{' || c == '[') {
            ++depth_;
            check_depth(static_cast<std::size_t>(std::max(depth_, 0)));
            if (c == '[' && named_ != nullptr && !seen_[static_cast<std::size_t>(named_ - lists_.data())]) {
                list_ = named_;
                seen_[static_cast<std::size_t>(named_ - lists_.data())] = true;
                given_ = 0;
                begin_ = at_ + 1;
            }
        } else if (c == '}' || c == ']') {
            --depth_;
        } else if (is_blank(c)) {
            return;
        }
        named_ = nullptr;
    }

    /// False where a guess was wrong: what follows its bracket, at which it then is, is to be scanned again.
    bool give() {
        std::vector<ListElement> out;
        TextPlace place = place_;
        std::size_t at = 0;
        for (const Piece& found : elements_) {
            std::string_view text = without_blanks(piece(found.begin, found.end));
            if (text.empty()) {
                text = piece(found.end, std::min(found.end + 1, buffer_.size()));  // what stands where an element should
            }
            const auto begin = static_cast<std::size_t>(text.data() - buffer_.data());
            place.pass(piece(at, begin));
            at = begin;
            out.push_back({text, given_ + out.size(), offset_ + begin, place.line, place.column, found.guessed});
        }
        const std::vector<Piece> pieces = std::exchange(elements_, {});
        const std::size_t taken = out.empty() ? 0 : list_->take(out);
        given_ += taken;
        if (taken == out.size()) {
            return true;
        }
        guessing_ = in_string_ = escaped_ = false;
        inner_ = 1;
        at_ = begin_ = pieces[taken].begin;
        return false;
    }

    ByteSource& source_;
    std::string_view where_;
    std::span<const StreamedList> lists_;
    std::size_t most_bytes_;
    std::string buffer_;
    std::size_t at_ = 0;       // in the buffer: what was looked at
    std::size_t begin_ = 0;    // in the buffer: of the present element
    std::size_t newline_ = 0;  // in the buffer: the first at or behind at_, if it is not before it
    std::size_t step_ = 0;
    TextPlace place_;  // of the buffer
    std::size_t offset_ = 0;
    std::vector<Piece> elements_;
    std::size_t given_ = 0;  // of the present list
    bool in_string_ = false, escaped_ = false, guessing_ = true;
    const StreamedList* list_ = nullptr;   // the present one
    const StreamedList* named_ = nullptr;  // the last word was its name, and a colon follows it
    std::vector<bool> seen_;               // which lists were there
    std::string word_;                     // the last string outside of the lists
    int depth_ = 0;                        // outside of the lists
    std::size_t inner_ = 0;                // within one
    std::string rest_;                     // all but the elements
    std::vector<Cut> cuts_;
};

}  // namespace

json parse_json(ByteSource& source, std::string_view where, std::span<const StreamedList> lists, std::size_t most_bytes) {
    Splitter splitter(source, where, lists, most_bytes);
    splitter.read();
    return parsed(splitter.rest(), where, "", [&](std::size_t length) { return splitter.place_in_rest(length); });
}

json parse_element(const ListElement& element, std::string_view where, std::string_view member) {
    return parsed(element.text, where, fmt::format("{}/{}", member, element.index), [&](std::size_t length) {
        return behind({element.line, element.column}, element.text, length);
    });
}

json parse_json(std::string_view text, std::string_view where) {
    return parsed(text, where, "", [&](std::size_t length) { return behind({}, text, length); });
}

}  // namespace normtune
