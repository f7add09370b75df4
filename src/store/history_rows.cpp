#include "store/history_rows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "measure/statistics.h"
#include "support/error.h"
#include "support/plural.h"

namespace normtune {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double positive(double us) {
    return us > 0 ? us : unknown;
}

HistoryTimes times_of(const Measurement& measured) {
    constexpr double confidence = 0.95;
    HistoryTimes out{positive(measured.p20_us),   measured.p50_us, positive(measured.p80_us), unknown, unknown, positive(measured.floor_us),
                     positive(measured.limit_us), measured.rank};
    std::vector<double> rounds;
    for (const Round& round : measured.rounds) {
        if (round.median_us > 0) {  // a CSV has their number alone
            rounds.push_back(round.median_us);
        }
    }
    if (!rounds.empty()) {
        if (const Interval interval = median_interval(rounds, confidence); interval.coverage >= confidence) {
            out.low_us = interval.low;
            out.high_us = interval.high;
        }
    }
    return out;
}

HistoryTrial trial_of(const Record& record, bool cold) {
    return {record.problem.key(), std::string(record.candidate.provider()), record.candidate.key(), joined_sites(record.problem.uses),
            cold};
}

HistoryPoint point_of(const Record& record) {
    return {trial_of(record, record.measurement->cold), record.compile ? record.compile->code_hash : "", times_of(*record.measurement)};
}

/// `other`: one of the file that was measured, which says whether it was cold where this one was not measured; null: none.
HistoryFailure failure_of(const Record& record, const Record* other) {
    const Record* const says = record.measurement ? &record : other;
    return {trial_of(record, says == nullptr || says->measurement->cold), says == nullptr, record.outcome};
}

void label(std::string& text, const std::string& wanted) {
    if (!wanted.empty()) {
        text = wanted;
    }
}

/// The device of a record, by the run that it is of: merged results name several, and the place in the machine tells those of one name
/// apart on one machine alone. Without a UUID where it is not known which.
DeviceInfo device_of(const Record& record, const Results& results) {
    DeviceInfo out = results.environment.device;
    const auto fits = [&](const DeviceInfo& device) {
        return device.name == record.device && (record.device_id.empty() || record.device_id == device.id);
    };
    if (results.merged.empty()) {
        out.uuid = record.device_id.empty() || record.device_id == out.id ? out.uuid : "";
        return out;
    }
    std::set<std::string> uuids;
    for (const MergedRun& run : results.merged) {
        if (fits(run.environment.device)) {
            uuids.insert(run.environment.device.uuid);
            out = run.environment.device;
        }
    }
    out.driver = results.environment.device.driver;
    out.uuid = uuids.size() == 1 ? *uuids.begin() : "";
    return out;
}

HistoryRun run_of(const Record& record, const Results& results, const std::string& source, const HistoryLabels& labels) {
    const Environment& environment = results.environment;
    const DeviceInfo device = device_of(record, results);
    HistoryRun run;
    run.started = environment.started;
    run.backend = backend_names.name(record.backend);
    run.device = record.device;
    run.arch = record.arch;
    run.has_uuid = !device.uuid.empty();
    run.device_id = run.has_uuid ? device.uuid : record.device_id.empty() ? device.id : record.device_id;
    run.driver = device.driver;
    run.compiler = environment.compiler;
    run.revision = environment.source_revision;
    run.source = source;
    label(run.started, labels.started);
    label(run.device, labels.device);
    label(run.driver, labels.driver);
    label(run.compiler, labels.compiler);
    label(run.revision, labels.revision);
    note_labels(run, labels);
    return run;
}

/// Leaves of `all` what `one`, which began when it did, has as well.
void keep_common(HistoryRun& all, const HistoryRun& one) {
    if (all.device != one.device) {
        throw InputError(fmt::format("runs on {} and on {} began at {}; --device-name takes those of one name",
                                     quoted_for_message(all.device), quoted_for_message(one.device), all.started));
    }
    all.has_uuid = all.has_uuid && all.device_id == one.device_id;
    for (std::string HistoryRun::*text : {&HistoryRun::backend, &HistoryRun::arch, &HistoryRun::device_id, &HistoryRun::driver,
                                          &HistoryRun::compiler, &HistoryRun::revision, &HistoryRun::source}) {
        if (all.*text != one.*text) {
            (all.*text).clear();
        }
    }
}

std::string from_store(std::size_t problems) {
    return fmt::format("{} {} from the store of winners, measured by an earlier run, and left out; normtune sweep --fresh measures {}",
                       counted(problems, "problem"), problems == 1 ? "is" : "are", problems == 1 ? "it" : "them");
}

}  // namespace

std::optional<HistoryBatch> night_of(const History& history, const std::string& started, std::vector<std::string>& remarks) {
    std::string wanted = started;
    for (const HistorySeries& series : history.series) {
        for (const HistoryNight& night : series.nights) {
            wanted = started.empty() ? std::max(wanted, history.runs[night.run].started) : wanted;
        }
    }
    std::optional<HistoryBatch> out;
    std::size_t twice = 0;
    for (const HistorySeries& series : history.series) {
        std::size_t points = 0;
        for (const HistoryNight& night : series.nights) {
            const HistoryRun& run = history.runs[night.run];
            if (run.started != wanted) {
                continue;
            }
            if (!out) {
                out = HistoryBatch{run, {}};
            }
            keep_common(out->run, run);
            if (points > 0) {
                out->points.pop_back();
            }
            out->points.push_back({series.trial, history.codes[night.code], night.times});
            ++points;
        }
        twice += points > 1 ? 1 : 0;
    }
    if (twice > 0) {
        remarks.push_back(fmt::format("{} {} in several of the runs that began at {}: the last one's times are taken",
                                      counted(twice, "trial"), twice == 1 ? "is" : "are", wanted));
    }
    return out;
}

HistoryInput history_of(const Results& results, const std::string& source, const HistoryLabels& labels) {
    HistoryInput out;
    std::map<std::string, std::size_t> devices;  // batches by the name and the id that records have
    std::size_t dropped = 0;
    std::set<std::string> stored;  // problems that the run took from the store of winners: another run measured them
    for (const PlanSummary& plan : results.plans) {
        if (plan.stored()) {
            stored.insert(plan.problem_key);
        }
    }
    const auto measured = std::ranges::find_if(results.records, [](const Record& record) { return record.measurement.has_value(); });
    const Record* const other = measured == results.records.end() ? nullptr : &*measured;
    for (const Record& record : results.records) {
        if (stored.contains(record.problem.key())) {
            continue;
        }
        const bool failed = record.outcome != Outcome::passed;
        if (!failed && (!record.measurement || !(record.measurement->p50_us > 0))) {
            continue;
        }
        if (!failed && record.measurement->stop_reason == StopReason::dropped) {
            ++dropped;
            continue;
        }
        const auto [place, added] = devices.try_emplace(record.device + '\n' + record.device_id, out.batches.size());
        if (added) {
            out.batches.push_back({run_of(record, results, source, labels), {}});
        }
        HistoryBatch& batch = out.batches[place->second];
        if (failed) {
            batch.failed.push_back(failure_of(record, other));
            continue;
        }
        if (labels.started.empty() && results.environment.started.empty() && !record.timestamp.empty()) {
            batch.run.started = batch.run.started.empty() ? record.timestamp : std::min(batch.run.started, record.timestamp);
        }
        batch.points.push_back(point_of(record));
    }
    // A results.csv of failures alone does not say which run it is of.
    std::erase_if(out.batches, [](const HistoryBatch& batch) { return batch.points.empty() && batch.run.started.empty(); });
    if (std::ranges::all_of(out.batches, [](const HistoryBatch& batch) { return batch.points.empty(); })) {
        out.no_times = fmt::format("{}: no trial in it passed and was measured{}{}", source,
                                   dropped > 0 ? fmt::format(" to the end (a race dropped {})", dropped) : "",
                                   stored.empty() ? "" : fmt::format("; {}", from_store(stored.size())));
    }
    if (out.batches.empty()) {
        throw InputError(out.no_times);
    }
    if (dropped > 0) {
        out.remarks.push_back(fmt::format("{}: {} that a race dropped after few rounds {} left out", source, counted(dropped, "trial"),
                                          dropped == 1 ? "is" : "are"));
    }
    if (!stored.empty()) {
        out.remarks.push_back(fmt::format("{}: {}", source, from_store(stored.size())));
    }
    for (const HistoryBatch& batch : out.batches) {
        if (batch.run.started.empty()) {
            throw InputError(fmt::format("{}: it does not say when the run began; give --started 2026-11-20T23:59:59Z", source));
        }
        if (!batch.run.has_uuid && batch.run.backend != backend_names.name(Backend::cpu) &&
            batch.run.backend != backend_names.name(Backend::replay)) {
            out.remarks.push_back(
                batch.run.device_id.empty()
                    ? fmt::format("{}: the device has neither UUID nor id: another of the same name would not be told", source)
                    : fmt::format("{}: the device has no UUID (an older file, or one of several devices); it is told by its "
                                  "id {}, which is its place in the machine",
                                  source, batch.run.device_id));
        }
    }
    return out;
}

}  // namespace normtune
