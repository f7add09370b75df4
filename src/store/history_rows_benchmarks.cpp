// Bencher's Metric Format (bencher.dev/docs/reference/bencher-metric-format) and Google Benchmark's JSON (docs/user_guide.md of
// google/benchmark, "Output Formats").
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "measure/statistics.h"
#include "store/history_rows.h"
#include "support/clock.h"
#include "support/error.h"
#include "support/json_reader.h"
#include "support/utf8.h"
#include "trial/candidate.h"
#include "trial/field.h"
#include "trial/measurement.h"
#include "trial/record_fields.h"

namespace normtune {
namespace {

constexpr double not_told = std::numeric_limits<double>::quiet_NaN();
constexpr double ns_per_us = 1000;
constexpr std::string_view hot_word = "hot";
constexpr std::string_view own_program = "normtune";

/// Keys of other providers may have spaces, which end the words of a benchmark's name: as in URLs they are %20, and % is %25.
std::string one_word(std::string_view identity) {
    std::string out;
    for (const char c : identity) {
        out += c == ' ' ? "%20" : c == '%' ? "%25" : std::string(1, c);
    }
    return out;
}

/// Of what one_word() made; any other % stands for itself.
std::string identity_of(std::string_view word) {
    std::string out;
    while (!word.empty()) {
        const bool space = word.starts_with("%20");
        const bool escaped = space || word.starts_with("%25");
        out += space ? ' ' : word.front();
        word.remove_prefix(escaped ? 3 : 1);
    }
    return out;
}

/// "PROBLEM CANDIDATE", with a third word where it is hot; another tool's name as it was.
std::string benchmark_name(const HistoryTrial& trial) {
    std::string out = trial.problem;
    if (!trial.configuration.empty()) {
        out += " " + one_word(trial.candidate());
    }
    return trial.cold ? out : fmt::format("{} {}", out, hot_word);
}

/// Of a name that is none of ours the whole is the problem; cold or hot is then not known, and cold is said.
HistoryTrial trial_of(const std::string& name) {
    HistoryTrial out;
    try {
        const std::size_t space = name.find(' ');
        const std::size_t end = name.find(' ', space == std::string::npos ? space : space + 1);
        if (space != std::string::npos && (end == std::string::npos || name.substr(end + 1) == hot_word)) {
            const Candidate candidate =
                Candidate::parse(identity_of(name.substr(space + 1, end == std::string::npos ? end : end - space - 1)));
            out.problem = parse_problem_key(name.substr(0, space)).key();
            out.provider = candidate.provider();
            out.configuration = candidate.key();
            out.cold = end == std::string::npos;
            return out;
        }
    } catch (const InputError&) {
        // Another tool's name.
    }
    out.problem = name;
    return out;
}

/// A time in `unit_us` microseconds each.
double time_of(const JsonReader& in, double unit_us) {
    const double us = in.number() * unit_us;
    if (!(us > 0 && us <= longest_us)) {
        in.fail("is no time; a number above 0 belongs there");
    }
    return us;
}

HistoryTimes no_times() {
    return {not_told, not_told, not_told, not_told, not_told, not_told, not_told, 0};
}

void add(HistoryBatch& batch, const JsonReader& in, const std::string& name, std::string code, const HistoryTimes& times) {
    if (name.empty() || has_control(name)) {
        in.fail("has a name that is none");
    }
    const auto told = [](double us) { return std::isfinite(us) ? us : 0; };
    Measurement quantiles;
    quantiles.p20_us = told(times.p20_us);
    quantiles.p50_us = times.p50_us;
    quantiles.p80_us = told(times.p80_us);
    if (const std::string flaw = fields::flaw_of(quantiles); !flaw.empty()) {
        in.fail(flaw);
    }
    if (times.low_us > times.high_us) {
        in.fail(fmt::format("the interval from {} to {} us is out of order", times.low_us, times.high_us));
    }
    batch.points.push_back({trial_of(name), std::move(code), times});
}

HistoryBatch read_bencher(const JsonReader& in) {
    HistoryBatch batch;
    for (const auto& member : in.json().items()) {
        const JsonReader benchmark = in.at(member.key());
        const std::optional<JsonReader> latency = benchmark.find("latency");
        if (!latency) {
            continue;  // another measure: throughput, memory
        }
        HistoryTimes times = no_times();
        times.p50_us = time_of(latency->at("value"), 1 / ns_per_us);
        const auto read = [&](const std::optional<JsonReader>& measure, std::string_view value, double& us) {
            const std::optional<JsonReader> it = measure ? measure->find(value) : std::nullopt;
            if (it && !it->json().is_null()) {
                us = time_of(*it, 1 / ns_per_us);
            }
        };
        read(latency, "lower_value", times.low_us);
        read(latency, "upper_value", times.high_us);
        read(benchmark.find("floor"), "value", times.floor_us);
        read(benchmark.find("copy"), "value", times.copy_us);
        add(batch, benchmark, member.key(), "", times);
    }
    return batch;
}

double unit_us(const JsonReader& benchmark) {
    static const std::map<std::string, double> units{{"ns", 1e-3}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}};
    const std::optional<JsonReader> unit = benchmark.find("time_unit");
    const auto found = units.find(unit ? unit->text() : "ns");
    if (found == units.end()) {
        unit->fail("is no unit of time; ns, us, ms and s are");
    }
    return found->second;
}

/// Repetitions of a benchmark are samples of it; where only aggregates were kept, its median, else its mean.
HistoryBatch read_google(const JsonReader& in) {
    struct Benchmark {
        std::size_t first = 0;
        std::vector<double> repetitions;
        std::map<std::string, double> aggregates;
    };
    const JsonReader list = in.at("benchmarks");
    std::vector<std::string> names;
    std::map<std::string, Benchmark> benchmarks;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const JsonReader it = list.element(i);
        const auto says = [&](std::string_view member) {
            const std::optional<JsonReader> value = it.find(member);
            return value && value->flag();
        };
        if (says("error_occurred") || says("skipped")) {
            continue;
        }
        const std::optional<JsonReader> run_name = it.find("run_name");
        const std::string name = (run_name ? *run_name : it.at("name")).text();
        const auto [place, added] = benchmarks.try_emplace(name);
        if (added) {
            names.push_back(name);
            place->second.first = i;
        }
        const std::optional<JsonReader> type = it.find("run_type");
        if (!type || type->text() == "iteration") {
            place->second.repetitions.push_back(time_of(it.at("real_time"), unit_us(it)));
        } else if (const std::string what = it.at("aggregate_name").text(); what == "median" || what == "mean") {
            place->second.aggregates[what] = time_of(it.at("real_time"), unit_us(it));
        }
    }
    // Another tool's label is a text of its own.
    const std::optional<JsonReader> context = in.find("context");
    const std::optional<JsonReader> program = context ? context->find("executable") : std::nullopt;
    const bool labels_are_code = program && program->text() == own_program;
    HistoryBatch batch;
    for (const std::string& name : names) {
        const Benchmark& benchmark = benchmarks[name];
        const JsonReader it = list.element(benchmark.first);
        HistoryTimes times = no_times();
        if (!benchmark.repetitions.empty()) {
            times.p50_us = median(benchmark.repetitions);
        } else if (!benchmark.aggregates.empty()) {
            times.p50_us = benchmark.aggregates.rbegin()->second;  // "median" comes after "mean"
        } else {
            continue;
        }
        if (benchmark.repetitions.size() > 1) {
            times.p20_us = quantile(benchmark.repetitions, 0.2);
            times.p80_us = quantile(benchmark.repetitions, 0.8);
        }
        const auto counter = [&](std::string_view member, double& us) {
            if (const std::optional<JsonReader> value = it.find(member)) {
                us = time_of(*value, 1);
            }
        };
        counter("p20_us", times.p20_us);
        counter("p80_us", times.p80_us);
        counter("low_us", times.low_us);
        counter("high_us", times.high_us);
        counter("floor_us", times.floor_us);
        counter("copy_us", times.copy_us);
        const std::optional<JsonReader> code = labels_are_code ? it.find("label") : std::nullopt;
        add(batch, it, name, code ? code->text() : "", times);
    }
    return batch;
}

/// "2026-11-20T23:59:59+01:00", as Google Benchmark writes it, in UTC; empty: it is none.
std::string utc_of(const std::string& date) {
    std::tm parts{};
    const char* const rest = strptime(date.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    if (rest == nullptr) {
        return "";
    }
    long offset_s = 0;
    if (std::string_view(rest) != "Z" && *rest != '\0') {
        std::tm zone{};
        if ((*rest != '+' && *rest != '-') || strptime(rest + 1, "%H:%M", &zone) == nullptr) {
            return "";
        }
        offset_s = (*rest == '-' ? -1 : 1) * (zone.tm_hour * 3600L + zone.tm_min * 60L);
    }
    return utc_timestamp(timegm(&parts) - offset_s);
}

void read_context(const JsonReader& context, HistoryRun& run) {
    const auto read = [&](std::string_view member, std::string& text) {
        if (const std::optional<JsonReader> value = context.find(member)) {
            text = value->text();
        }
    };
    std::string date;
    read("date", date);
    run.started = utc_of(date);
    read("host_name", run.device);
    read("device", run.device);
    read("device_id", run.device_id);
    read("device_uuid", run.device_id);
    run.has_uuid = context.find("device_uuid").has_value();
    read("backend", run.backend);
    read("arch", run.arch);
    read("driver", run.driver);
    read("compiler", run.compiler);
    read("source_revision", run.revision);
}

nlohmann::json nanoseconds(double us) {
    return us * ns_per_us;
}

}  // namespace

std::string bencher_json(const HistoryBatch& batch) {
    nlohmann::ordered_json out = nlohmann::ordered_json::object();
    for (const HistoryPoint& point : batch.points) {
        const HistoryTimes& t = point.times;
        nlohmann::ordered_json& benchmark = out[benchmark_name(point.trial)];
        nlohmann::ordered_json& latency = benchmark["latency"];
        latency["value"] = nanoseconds(t.p50_us);
        if (std::isfinite(t.low_us) && std::isfinite(t.high_us)) {
            latency["lower_value"] = nanoseconds(t.low_us);
            latency["upper_value"] = nanoseconds(t.high_us);
        }
        if (std::isfinite(t.floor_us)) {
            benchmark["floor"]["value"] = nanoseconds(t.floor_us);
        }
        if (std::isfinite(t.copy_us)) {
            benchmark["copy"]["value"] = nanoseconds(t.copy_us);
        }
    }
    return out.dump(2) + "\n";
}

std::string google_benchmark_json(const HistoryBatch& batch) {
    nlohmann::ordered_json out;
    nlohmann::ordered_json& context = out["context"];
    const HistoryRun& run = batch.run;
    context["date"] = run.started;
    context["executable"] = own_program;
    const auto say = [&](std::string_view member, const std::string& text) {
        if (!text.empty()) {
            context[std::string(member)] = text;
        }
    };
    say("device", run.device);
    say(run.has_uuid ? "device_uuid" : "device_id", run.device_id);
    say("backend", run.backend);
    say("arch", run.arch);
    say("driver", run.driver);
    say("compiler", run.compiler);
    say("source_revision", run.revision);
    out["benchmarks"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < batch.points.size(); ++i) {
        const HistoryPoint& point = batch.points[i];
        const HistoryTimes& t = point.times;
        const std::string name = benchmark_name(point.trial);
        nlohmann::ordered_json it{{"name", name},
                                  {"family_index", i},
                                  {"per_family_instance_index", 0},
                                  {"run_name", name},
                                  {"run_type", "iteration"},
                                  {"repetitions", 1},
                                  {"repetition_index", 0},
                                  {"threads", 1},
                                  {"iterations", 1},
                                  {"real_time", t.p50_us},
                                  {"cpu_time", t.p50_us},
                                  {"time_unit", "us"}};
        for (const auto& [member, us] :
             {std::pair("p20_us", t.p20_us), std::pair("p80_us", t.p80_us), std::pair("low_us", t.low_us), std::pair("high_us", t.high_us),
              std::pair("floor_us", t.floor_us), std::pair("copy_us", t.copy_us)}) {
            if (std::isfinite(us)) {
                it[member] = us;
            }
        }
        if (!point.code.empty()) {
            it["label"] = point.code;
        }
        out["benchmarks"].push_back(std::move(it));
    }
    return out.dump(2) + "\n";
}

HistoryInput parse_benchmarks(std::string_view text, const std::string& file, const HistoryLabels& labels) {
    const nlohmann::json json = parse_json(text, file);
    const std::string root = file + ": ";
    const JsonReader in(json, root);
    if (!json.is_object() || json.contains("records")) {
        throw InputError(fmt::format("{}: is neither Bencher's JSON nor Google Benchmark's{}", file,
                                     json.is_object() ? "; results of normtune are added by: normtune history add" : ""));
    }
    const bool google = json.contains("benchmarks") && json["benchmarks"].is_array();
    HistoryInput out;
    out.batches.push_back(google ? read_google(in) : read_bencher(in));
    HistoryBatch& batch = out.batches.front();
    if (batch.points.empty()) {
        throw InputError(fmt::format("{}: holds no benchmark with a {}", file, google ? "time" : "latency"));
    }
    HistoryRun& run = batch.run;
    if (const std::optional<JsonReader> context = google ? in.find("context") : std::nullopt) {
        read_context(*context, run);
    }
    run.source = file;
    for (const auto& [text_of, wanted] :
         {std::pair(&run.started, &labels.started), std::pair(&run.device, &labels.device), std::pair(&run.driver, &labels.driver),
          std::pair(&run.compiler, &labels.compiler), std::pair(&run.revision, &labels.revision)}) {
        if (!wanted->empty()) {
            *text_of = *wanted;
        }
    }
    note_labels(run, labels);
    if (run.started.empty()) {
        throw InputError(fmt::format("{}: it does not say when it was measured; give --started 2026-11-20T23:59:59Z", file));
    }
    if (run.device.empty()) {
        throw InputError(fmt::format("{}: it does not say on what it was measured; give --device-name", file));
    }
    return out;
}

}  // namespace normtune
