#include "trial/record_json.h"

#include <algorithm>
#include <chrono>

#include "support/quick_json.h"
#include "trial/field_json.h"
#include "trial/record_text.h"

namespace normtune {

bool is_timestamp(std::string_view text) {
    constexpr std::string_view form = "0000-00-00T00:00:00Z";
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto fits = [&](char wanted, char c) { return wanted == '0' ? digit(c) : wanted == c; };
    if (text.empty()) {
        return true;
    }
    if (text.size() != form.size() || !std::equal(form.begin(), form.end(), text.begin(), fits)) {
        return false;
    }
    const auto number = [&](std::size_t at, std::size_t digits) {
        int value = 0;
        for (const char c : text.substr(at, digits)) {
            value = value * 10 + (c - '0');
        }
        return value;
    };
    const std::chrono::year_month_day day{std::chrono::year(number(0, 4)), std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                          std::chrono::day(static_cast<unsigned>(number(8, 2)))};
    return day.ok() && number(11, 2) <= 23 && number(14, 2) <= 59 && number(17, 2) <= 60;
}

void add_candidate(nlohmann::json& out, const Candidate& candidate) {
    out["provider"] = candidate.provider();
    if (const Configuration* own = candidate.configuration()) {
        out["configuration"] = to_json(*own);
    } else {
        out["candidate"] = to_utf8(candidate.key());
    }
}

/// Refuses what a later version wrote: reading it as if it were ours would misread it.
template <typename In>
void FieldReader<In>::version() {
    const In version = in_.at("schema_version");
    if (const std::int64_t number = version.whole(1); number > schema_version) {
        version.fail(fmt::format("{} was written by a newer normtune; this one reads up to {}: update it", number, schema_version));
    }
}

template <typename In>
void FieldReader<In>::axis(const AxisRow& axis, Configuration& configuration) {
    const std::optional<In> in = in_.find(axis.name);
    if (!in) {
        return;  // written before the axis was added
    }
    const AxisDomain& allowed = axis.domain;
    // text() fails with the place where it is a number and a name is needed.
    const std::string text =
        !in->is_text() && allowed.names.empty() ? std::to_string(in->integer(allowed.least, allowed.most)) : in->text();
    const std::optional<int> value = axis_parse(axis.axis, text);
    if (!value && allowed.names.empty()) {
        in->fail(fmt::format("{} is not a value of {}; {}", quoted_for_message(text), axis.name, allowed.wanted()));
    }
    set_axis(configuration, axis.axis, value ? *value : static_cast<int>(in->one_of(allowed.names)));
}

/// Files from before there were other providers have the own configurations alone.
template <typename In>
void FieldReader<In>::candidate(Candidate& candidate) {
    const auto provider = in_.find("provider");
    if (!provider || provider->text() == own_provider) {
        candidate = fields_of<Configuration>(in_.at("configuration"));
        return;
    }
    try {
        candidate = Candidate::named(provider->text(), in_.at("candidate").text());
    } catch (const InputError& error) {
        provider->fail(error.what());
    }
}

template <typename In>
void FieldReader<In>::read(const In& in, std::string& value, const FieldTraits& traits) {
    value = in.text();
    if (traits.form == TextForm::timestamp && !is_timestamp(value)) {
        in.fail(fmt::format("{} is not {}", quoted_for_message(value), timestamp_wanted));
    }
}

template <typename In>
void FieldReader<In>::read(const In& in, double& value, const FieldTraits& traits) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    value = in.number(traits.null == NullNumber::infinite ? std::numeric_limits<double>::infinity() : nan);
    if (is_null(in) ? traits.null == NullNumber::refused : !traits.allow(value)) {
        in.fail(fmt::format(
            "{} is out of range; {}", text_of(in),
            std::isinf(traits.most) ? fmt::format("at least {}", traits.least) : fmt::format("{} to {}", traits.least, traits.most)));
    }
}

template class FieldReader<JsonReader>;

template <typename T>
std::optional<T> read_quickly(std::string_view text) {
    std::optional<T> out;
    return with_quick_json(text, [&](const QuickJson& in) { out = fields_of<T>(in); }) ? std::move(out) : std::nullopt;
}
template std::optional<Record> read_quickly(std::string_view);
template std::optional<PlanSummary> read_quickly(std::string_view);

#define BOTH_WAYS(type)                           \
    template nlohmann::json to_json(const type&); \
    template type from_json(const JsonReader&);
BOTH_WAYS(Problem)
BOTH_WAYS(Configuration)
BOTH_WAYS(DeviceInfo)
BOTH_WAYS(CompileInfo)
BOTH_WAYS(Verification)
BOTH_WAYS(BitsCheck)
BOTH_WAYS(Measurement)
BOTH_WAYS(Environment)
BOTH_WAYS(PlanSummary)
BOTH_WAYS(Record)
#undef BOTH_WAYS

}  // namespace normtune
