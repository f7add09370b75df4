#include "store/csv_trials.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "store/run_folder.h"
#include "support/csv.h"
#include "support/error.h"
#include "support/utf8.h"
#include "trial/record_fields.h"

namespace normtune {
namespace {

template <typename Take>
void for_each_part(std::string_view joined, const Take& take) {
    for (std::size_t begin = 0; begin <= joined.size();) {
        const std::size_t end = std::min(joined.find(';', begin), joined.size());
        take(joined.substr(begin, end - begin));
        begin = end + 1;
    }
}

void require_plain_text(std::string_view text) {
    if (std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; })) {
        return;  // nearly every text
    }
    if (!is_utf8(text)) {
        throw InputError("is not UTF-8; save the file as UTF-8");
    }
    if (has_control(text)) {
        throw InputError(fmt::format("{} holds a control character", quoted_for_message(text)));
    }
}

/// As ==, without a call for what most cells are: a million rows are compared with the rows before them.
bool same(std::string_view a, std::string_view b) {
    if (a.size() != b.size() || a.size() > 2 * sizeof(std::uint64_t)) {
        return a == b;
    }
    const auto ends_equal = [&]<typename Word>(Word) {
        Word words[4];
        const std::size_t last = a.size() - sizeof(Word);
        std::memcpy(&words[0], a.data(), sizeof(Word));
        std::memcpy(&words[1], b.data(), sizeof(Word));
        std::memcpy(&words[2], a.data() + last, sizeof(Word));
        std::memcpy(&words[3], b.data() + last, sizeof(Word));
        return words[0] == words[1] && words[2] == words[3];
    };
    return a.size() >= 8   ? ends_equal(std::uint64_t{})
           : a.size() >= 4 ? ends_equal(std::uint32_t{})
           : a.size() >= 2 ? ends_equal(std::uint16_t{})
                           : a.empty() || a.front() == b.front();
}

/// Reads a cell into a member; `name` is its column's.
class CellParser {
public:
    CellParser(std::string_view name, std::string_view cell, const FieldTraits& traits) : name_(name), cell_(cell), traits_(traits) {}

    void parse(std::string& value) const {
        if (traits_.form == TextForm::prose) {
            value = to_utf8(cell_);
            return;
        }
        require_plain_text(cell_);
        if (traits_.form == TextForm::timestamp && !is_timestamp(cell_)) {
            fail(fmt::format("{} belongs there", timestamp_wanted));
        }
        value = cell_;
    }
    void parse(bool& value) const {
        const auto is = [&](std::string_view a, std::string_view b, std::string_view c) { return cell_ == a || cell_ == b || cell_ == c; };
        value = is("true", "True", "TRUE");  // as pandas and spreadsheets write it
        if (!value && !is("false", "False", "FALSE")) {
            fail("true or false belongs there");
        }
    }
    void parse(double& value) const {
        const double number = csv_real(cell_).value_or(std::numeric_limits<double>::quiet_NaN());
        value = number * traits_.per;
        if (!traits_.allow(value) || std::isinf(value)) {
            const double least = traits_.least / traits_.per;
            fail(std::isinf(traits_.most) ? fmt::format("a number of at least {} belongs there", least)
                                          : fmt::format("a number from {} to {} belongs there", least, traits_.most / traits_.per));
        }
    }
    template <Whole T>
    void parse(T& value) const {
        const T least = least_of<T>(traits_);
        const T most = most_of<T>(traits_);
        if (traits_.per != 1) {
            double number = 0;
            parse(number);
            if (number >= static_cast<double>(most)) {
                fail("that is more than there can be");
            }
            value = static_cast<T>(std::llround(number));
            return;
        }
        const auto [end, error] = std::from_chars(cell_.data(), cell_.data() + cell_.size(), value);
        const bool as_integer = error == std::errc{} && end == cell_.data() + cell_.size();
        if ((!as_integer && !parse_decimal(value)) || value < least || value > most) {
            fail(fmt::format("a whole number from {} to {} belongs there", least, most));
        }
    }
    template <typename E, std::size_t N>
    void parse(E& value, const NameTable<E, N>& table) const {
        const std::optional<E> found = table.find(cell_);
        if (!found) {
            fail(fmt::format("known: {}", table.list()));
        }
        value = *found;
    }
    void parse(std::vector<std::string>& values) const {
        values.clear();
        for_each_part(cell_, [&](std::string_view part) { CellParser(name_, part, traits_).parse(values.emplace_back()); });
    }
    /// A list of objects: its length alone is known.
    template <Described T>
    void parse(std::vector<T>& values) const {
        std::uint16_t length = 0;
        parse(length);
        values.assign(length, T{});
    }
    template <typename T>
    void parse(std::optional<T>& value) const {
        parse(value.emplace());
    }

private:
    /// "34.0": pandas makes floating-point numbers of a column of whole ones where a cell is empty.
    template <Whole T>
    bool parse_decimal(T& value) const {
        constexpr double most_exact = 0x1p53;
        const double number = csv_real(cell_).value_or(std::numeric_limits<double>::quiet_NaN());
        if (!(std::abs(number) <= most_exact) || number != std::floor(number) || !std::in_range<T>(static_cast<std::int64_t>(number))) {
            return false;
        }
        value = static_cast<T>(number);
        return true;
    }

    [[noreturn]] void fail(std::string_view wanted) const {
        throw InputError(fmt::format("{} is {}; {}", name_, quoted_for_message(cell_), wanted));
    }

    std::string_view name_, cell_;
    const FieldTraits& traits_;
};

}  // namespace

/// The visitor of the field tables that reads a row. Its first visit finds the columns in the header.
class CsvTrials::Cells {
public:
    Cells(const CsvReader& reader, const CsvColumns& header, Which which) : reader_(reader), header_(header), which_(which) {}

    void begin_row() {
        binding_ = false;
        next_ = 0;
        next_group_ = 0;
    }

    template <typename T>
    [[gnu::always_inline]] void operator()(std::string_view name, T& value, std::string_view, const FieldTraits& traits = {}) {
        if constexpr (Described<T>) {
            describe(*this, value);
        } else if constexpr (requires(const CellParser& cell) { cell.parse(value); }) {
            visit(name, traits, value, [&](const CellParser& cell) { cell.parse(value); });
        }
    }
    template <typename E, std::size_t N>
    [[gnu::always_inline]] void operator()(std::string_view name, const NameTable<E, N>& table, E& value, std::string_view,
                                           const FieldTraits& traits = {}) {
        visit(name, traits, value, [&](const CellParser& cell) { cell.parse(value, table); });
    }
    /// It is there where one of its cells is not empty.
    template <Described T>
    void operator()(std::string_view, std::optional<T>& value, std::string_view) {
        const std::size_t begin = next_;
        if (binding_) {
            describe(*this, value.emplace());
            value.reset();
            group_ends_.push_back(next_);
            return;
        }
        const auto first = columns_.begin() + static_cast<std::ptrdiff_t>(begin);
        const std::size_t end = group_ends_[next_group_++];
        const auto last = columns_.begin() + static_cast<std::ptrdiff_t>(end);
        if (std::all_of(first, last, [&](const Column& column) { return cell(column).empty(); })) {
            value.reset();
            std::for_each(first, last, [](Column& column) { column.read = false; });
            next_ = end;
            return;
        }
        describe(*this, value ? *value : value.emplace());
    }
    template <typename T>
    void otherwise(T& member, const T& value) {
        if (!binding_ && cell(columns_[next_ - 1]).empty()) {
            member = value;
        }
    }
    template <typename Why>
    void flaw(const Why& why) {
        if (!binding_) {
            if (const std::string text = why(); !text.empty()) {
                throw InputError(text);
            }
        }
    }
    template <typename Made>
    void column(std::string_view, int, const Made&) {}
    template <typename Made>
    void repeated(std::string_view, std::string_view, const Made&, bool = false) {}
    void candidate(Candidate&) {}

private:
    struct Column {
        std::size_t at = CsvColumns::absent;  // in the file's rows
        double standard = 0;                  // the default of a number, a flag or a name
        bool read = false;                    // `last` is what the member holds
        std::string last = {};
    };

    std::string_view cell(const Column& column) const {
        return column.at == CsvColumns::absent ? std::string_view() : reader_.fields()[column.at];
    }

    template <typename T, typename Parse>
    [[gnu::always_inline]] void visit(std::string_view name, const FieldTraits& traits, T& value, const Parse& parse) {
        if (traits.place == place::none || (which_ == Which::compared && !traits.compared)) {
            return;
        }
        const std::string_view column_name = traits.column.empty() ? name : traits.column;
        if (binding_) {
            Column& column = columns_.emplace_back();
            column.at = traits.needed ? header_.require(reader_, column_name) : header_.find(column_name);
            if constexpr (std::is_scalar_v<T>) {
                column.standard = static_cast<double>(value);
            }
            ++next_;
            return;
        }
        Column& column = columns_[next_++];
        const std::string_view text = cell(column);
        if (column.read && same(text, column.last)) {
            return;
        }
        if (text.empty() && (!traits.needed || std::same_as<T, double>)) {  // a time that is not there is told by its flaw
            if constexpr (std::is_scalar_v<T>) {
                value = static_cast<T>(column.standard);
            } else {
                value = T{};
            }
        } else {
            parse(CellParser(column_name, text, traits));
        }
        column.last = text;
        column.read = true;
    }

    const CsvReader& reader_;
    const CsvColumns& header_;
    Which which_;
    bool binding_ = true;
    std::vector<Column> columns_;
    std::vector<std::size_t> group_ends_;
    std::size_t next_ = 0, next_group_ = 0;
};

CsvTrials::CsvTrials(CsvReader& reader, const CsvColumns& header, Which which)
    : reader_(reader),
      header_(header),
      cells_(std::make_unique<Cells>(reader, header, which)),
      config_(header.require(reader, "config")),
      provider_(header.find("provider")),
      model_(header.find("model")),
      site_(header.find("site")),
      cold_(header.find("cold")),
      rows_left_(header.find(rows_left_column)) {
    describe(*cells_, record_);
    describe(*cells_, run_);
}

CsvTrials::~CsvTrials() = default;

bool CsvTrials::next() {
    if (!reader_.next()) {
        check_end();
        return false;
    }
    header_.check(reader_);
    follow_rows_left();
    try {
        cells_->begin_row();
        describe(*cells_, record_);
        describe(*cells_, run_);
        read_candidate();
        read_uses();
    } catch (const InputError& error) {
        reader_.fail(error.what());
    }
    return true;
}

void CsvTrials::follow_rows_left() {
    const std::string_view text = cell(rows_left_);
    std::uint64_t left = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), left);
    const bool good = error == std::errc{} && end == text.data() + text.size();
    as_written_ = as_written_ && good && (first_ || left_ == left + 1);
    left_ = good ? std::optional(left) : std::nullopt;
    first_ = false;
}

/// Rows that were taken out, sorted or put behind others since are no file that was cut: their counts do not go down by one.
void CsvTrials::check_end() const {
    if (first_ && (rows_left_ != CsvColumns::absent || !reader_.line_ended())) {  // no row at all
        reader_.fail(fmt::format("the file ends behind its header: was it cut short? Of a run without trials it has no column {}",
                                 rows_left_column));
    }
    if (rows_left_ == CsvColumns::absent || first_ || left_ == 0 || (!as_written_ && reader_.line_ended())) {
        return;
    }
    reader_.fail(left_ ? fmt::format("the file ends here, and {} more row{} should follow: was it cut short? Without its column {} it is "
                                     "read as it is",
                                     *left_, left_ == 1 ? "" : "s", rows_left_column)
                       : "the file ends in the middle of this line: was it cut short?");
}

void CsvTrials::read_candidate() {
    const std::string_view key = cell(config_);
    const std::string_view provider = cell(provider_);
    if (key.empty()) {
        throw InputError("config is empty; a candidate's key belongs there");
    }
    if (!provider.empty() && !is_provider(provider)) {
        throw InputError(fmt::format("provider is {}; letters, digits and . _ + - make one", quoted_for_message(provider)));
    }
    require_plain_text(key);
    candidate_.clear();
    if (!provider.empty() && provider != own_provider) {
        candidate_.append(provider).append(1, ':');
    }
    candidate_ += key;
}

/// Every model with every site: a CSV joins each by itself.
void CsvTrials::read_uses() {
    const std::string_view models = cell(model_);
    const std::string_view sites = cell(site_);
    if (models == models_ && sites == sites_) {
        return;
    }
    require_plain_text(models);
    require_plain_text(sites);
    models_ = models;
    sites_ = sites;
    record_.problem.uses.clear();
    for_each_part(models, [&](std::string_view model) {
        for_each_part(sites, [&](std::string_view site) { record_.problem.uses.push_back({std::string(model), std::string(site), 0}); });
    });
}

namespace {

Results read_records(ByteSource& source, const std::string& path) {
    CsvReader reader(source, path);
    const CsvColumns header(reader);
    if (!header.has("config")) {
        throw InputError(fmt::format("{}: is {}; a results.json or results.csv of normtune is needed", path,
                                     header.has("kernel_provider") ? "Liger-Kernel CSV" : "no results.csv"));
    }
    CsvTrials trials(reader, header, CsvTrials::Which::all);
    Results results;
    DeviceInfo& device = results.environment.device;
    while (trials.next()) {
        Record& record = results.records.emplace_back(trials.record());
        try {
            record.candidate = Candidate::parse(trials.candidate());
        } catch (const InputError& error) {
            reader.fail(error.what());
        }
        if (record.measurement) {
            record.measurement->rounds_taken = static_cast<int>(record.measurement->rounds.size());
            record.measurement->rounds.clear();
        }
        if (results.records.size() == 1) {
            results.environment = trials.run();
            device.name = record.device;
            device.arch = record.arch;
        } else if (record.device != device.name) {
            reader.fail(fmt::format("is of another device, {}, than the rows before it, {}; give a file a device",
                                    quoted_for_message(record.device), quoted_for_message(device.name)));
        }
    }
    return results;
}

}  // namespace

Results read_results_csv(const std::string& path) {
    require_results(path);
    return read_records(*open_source(path), path);
}

Results parse_results_csv(std::string_view text, const std::string& file) {
    MemorySource source(text);
    return read_records(source, file);
}

}  // namespace normtune
