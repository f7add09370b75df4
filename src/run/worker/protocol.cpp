#include "run/worker/protocol.h"

#include <array>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "support/error.h"
#include "support/json_reader.h"
#include "trial/launch_manifest.h"
#include "trial/record_json.h"

namespace normtune {

namespace {

using nlohmann::json;

constexpr NameTable<SampleKind, 3> sample_kind_names{{"kernel", "copy", "empty"}};

constexpr std::array<std::pair<const char*, std::optional<double> SampleBatch::*>, 4> clock_names{{
    {"clock_mhz", &SampleBatch::clock_mhz},
    {"memory_clock_mhz", &SampleBatch::memory_clock_mhz},
    {"clock_before_mhz", &SampleBatch::clock_before_mhz},
    {"memory_clock_before_mhz", &SampleBatch::memory_clock_before_mhz},
}};

template <typename... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

json batch_to_json(const SampleBatch& batch) {
    json out{{"us", batch.us}, {"launches", batch.launches_per_sample}, {"rotation_bytes", batch.rotation_bytes}, {"timer", batch.timer}};
    if (!batch.copy.empty()) {
        out["copy"] = batch.copy;
    }
    for (const auto& [name, clock] : clock_names) {
        if (batch.*clock) {
            out[name] = *(batch.*clock);
        }
    }
    if (batch.clocks_moved) {
        out["clocks_moved"] = true;
    }
    if (!batch.throttle_reasons.empty()) {
        out["throttle"] = batch.throttle_reasons;
    }
    return out;
}

SampleBatch batch_from_json(const JsonReader& in) {
    SampleBatch batch;
    batch.us = in.at("us").numbers();
    batch.launches_per_sample = in.at("launches").integer(1);
    batch.rotation_bytes = in.at("rotation_bytes").whole(0);
    batch.timer = in.at("timer").text();
    if (const auto copy = in.find("copy")) {
        batch.copy = copy->text();
    }
    for (const auto& [name, clock] : clock_names) {
        if (const auto value = in.find(name)) {
            batch.*clock = value->number();
        }
    }
    batch.clocks_moved = in.find("clocks_moved").has_value();
    if (const auto reasons = in.find("throttle")) {
        batch.throttle_reasons = reasons->texts();
    }
    return batch;
}

SampleRequest sample_from_json(const JsonReader& in) {
    SampleRequest sample;
    sample.kind = in.at("sample").name_of(sample_kind_names);
    sample.cold = in.at("cold").flag();
    sample.samples = in.at("samples").integer(1);
    sample.time_cap_us = in.at("time_cap_us").number();
    sample.seed = in.at("seed").natural();
    sample.dependent = in.at("dependent").flag();
    return sample;
}

/// An own candidate is its key; of another the worker needs all.
json candidate_to_json(const Candidate& candidate) {
    if (candidate.manifest() == nullptr) {
        return candidate.identity();
    }
    const LaunchManifest& manifest = *candidate.manifest();
    if (manifest.is_python()) {
        json out{{"python_provider", manifest.python_provider},
                 {"python_name", manifest.python_name},
                 {"provider", manifest.provider},
                 {"key", manifest.key}};
        if (manifest.rounding) {
            out["rounding"] = to_json(*manifest.rounding);
        }
        return out;
    }
    return {{"folder", manifest.folder}, {"code_digest", manifest.code_digest}, {"launch", to_json(manifest)}};
}

Candidate candidate_from_json(const JsonReader& in) {
    if (in.is_text()) {
        return Candidate::parse(in.text());
    }
    if (const auto provider = in.find("python_provider")) {
        auto callable = std::make_shared<LaunchManifest>();
        callable->python_provider = provider->text();
        callable->python_name = in.at("python_name").text();
        callable->provider = in.at("provider").text();
        callable->key = in.at("key").text();
        const auto rounding = in.find("rounding");
        callable->rounding = rounding ? std::optional(read_rounding(*rounding)) : std::nullopt;
        return Candidate(std::move(callable));
    }
    auto manifest = std::make_shared<LaunchManifest>(read_launch_manifest(in.at("launch")));
    manifest->folder = in.at("folder").text();
    manifest->code_digest = in.at("code_digest").text();
    return Candidate(std::move(manifest));
}

// Texts that come from elsewhere (a driver's or a compiler's words) may hold bytes that are no UTF-8.
std::string dump(json message, RequestNumber number) {
    message["request"] = number;
    return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string encode(const Request& request, RequestNumber number) {
    return dump(std::visit(Overloaded{[](const OpenRequest& open) {
                                          return json{{"do", "open"},
                                                      {"problem", to_json(open.problem)},
                                                      {"rotation_bytes", open.buffers.rotation_bytes},
                                                      {"seed", open.buffers.seed},
                                                      {"verify_seed", open.verify_seed}};
                                      },
                                      [](const BuildRequest& build) {
                                          return json{{"do", "build"},
                                                      {"trial", build.trial},
                                                      {"candidate", candidate_to_json(build.candidate)},
                                                      {"verify", build.verify},
                                                      {"bits", build.bits}};
                                      },
                                      [](const MeasureRequest& measure) {
                                          return json{{"do", "measure"},
                                                      {"trial", measure.trial},
                                                      {"sample", sample_kind_names.name(measure.sample.kind)},
                                                      {"cold", measure.sample.cold},
                                                      {"samples", measure.sample.samples},
                                                      {"time_cap_us", measure.sample.time_cap_us},
                                                      {"seed", measure.sample.seed},
                                                      {"dependent", measure.sample.dependent}};
                                      },
                                      [](const CheckRequest& check) {
                                          return json{{"do", "check"},
                                                      {"trial", check.trial},
                                                      {"candidate", candidate_to_json(check.candidate)},
                                                      {"cold", check.cold},
                                                      {"seed", check.seed}};
                                      },
                                      [](const DropRequest& drop) {
                                          return json{{"do", "drop"}, {"trial", drop.trial}};
                                      },
                                      [](const AheadRequest& ahead) {
                                          json candidates = json::array();
                                          for (const Candidate& candidate : ahead.candidates) {
                                              candidates.push_back(candidate_to_json(candidate));
                                          }
                                          json out{{"do", "ahead"}, {"candidates", std::move(candidates)}, {"verify", ahead.verify}};
                                          if (ahead.problem) {
                                              out["problem"] = to_json(*ahead.problem);
                                          }
                                          return out;
                                      }},
                           request),
                number);
}

std::string encode(const Reply& reply, RequestNumber number) {
    return dump(
        std::visit(Overloaded{[](const ReadyReply& ready) {
                                  return json{{"is", "ready"}, {"device", to_json(ready.device)}};
                              },
                              [](const RefusedReply& refused) {
                                  return json{{"is", "refused"}, {"reason", refused.reason}};
                              },
                              [](const OpenedReply& opened) {
                                  return json{{"is", "opened"}, {"sets", opened.sets}};
                              },
                              [](const BuiltReply& built) {
                                  json out{{"is", "built"}, {"outcome", outcome_names.name(built.outcome)}, {"reason", built.reason}};
                                  if (built.compile) {
                                      out["compile"] = to_json(*built.compile);
                                  }
                                  if (built.verification) {
                                      out["verification"] = to_json(*built.verification);
                                  }
                                  if (built.bits) {
                                      out["bits"] = to_json(*built.bits);
                                  }
                                  return out;
                              },
                              [](const MeasuredReply& measured) {
                                  return json{{"is", "measured"}, {"batch", batch_to_json(measured.batch)}};
                              },
                              [](const CheckedReply& checked) {
                                  return json{{"is", "checked"}, {"reason", checked.reason}};
                              },
                              [](const DroppedReply&) {
                                  return json{{"is", "dropped"}};
                              },
                              [](const FaultReply& fault) {
                                  return json{{"is", "fault"}, {"outcome", outcome_names.name(fault.outcome)}, {"reason", fault.reason}};
                              }},
                   reply),
        number);
}

namespace {

Request request_from_json(const JsonReader& in) {
    const std::string what = in.at("do").text();
    if (what == "open") {
        OpenRequest open;
        open.problem = from_json<Problem>(in.at("problem"));
        open.buffers.rotation_bytes = in.at("rotation_bytes").whole(0);
        open.buffers.seed = in.at("seed").natural();
        open.verify_seed = in.at("verify_seed").natural();
        return open;
    }
    if (what == "build") {
        return BuildRequest{in.at("trial").natural(), candidate_from_json(in.at("candidate")), in.at("verify").flag(),
                            in.at("bits").flag()};
    }
    if (what == "measure") {
        return MeasureRequest{in.at("trial").natural(), sample_from_json(in)};
    }
    if (what == "check") {
        return CheckRequest{in.at("trial").natural(), candidate_from_json(in.at("candidate")), in.at("cold").flag(),
                            in.at("seed").natural()};
    }
    if (what == "drop") {
        return DropRequest{in.at("trial").natural()};
    }
    if (what == "ahead") {
        AheadRequest ahead;
        ahead.verify = in.at("verify").flag();
        const JsonReader candidates = in.at("candidates");
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            ahead.candidates.push_back(candidate_from_json(candidates.element(i)));
        }
        if (const auto problem = in.find("problem")) {
            ahead.problem = from_json<Problem>(*problem);
        }
        return ahead;
    }
    in.at("do").fail("unknown request; known: open, build, measure, check, drop, ahead");
}

Reply reply_from_json(const JsonReader& in) {
    const std::string what = in.at("is").text();
    if (what == "ready") {
        return ReadyReply{from_json<DeviceInfo>(in.at("device"))};
    }
    if (what == "refused") {
        return RefusedReply{in.at("reason").text()};
    }
    if (what == "opened") {
        return OpenedReply{in.at("sets").integer(1)};
    }
    if (what == "built") {
        BuiltReply built;
        built.outcome = in.at("outcome").name_of(outcome_names);
        built.reason = in.at("reason").text();
        if (const auto compile = in.find("compile")) {
            built.compile = from_json<CompileInfo>(*compile);
        }
        if (const auto verification = in.find("verification")) {
            built.verification = from_json<Verification>(*verification);
        }
        if (const auto bits = in.find("bits")) {
            built.bits = from_json<BitsCheck>(*bits);
        }
        return built;
    }
    if (what == "measured") {
        return MeasuredReply{batch_from_json(in.at("batch"))};
    }
    if (what == "checked") {
        return CheckedReply{in.at("reason").text()};
    }
    if (what == "dropped") {
        return DroppedReply{};
    }
    if (what == "fault") {
        return FaultReply{in.at("outcome").name_of(outcome_names), in.at("reason").text()};
    }
    in.at("is").fail("unknown reply; known: ready, refused, opened, built, measured, checked, dropped, fault");
}

}  // namespace

Numbered<Request> decode_request(const std::string& text) {
    const json message = parse_json(text, "request");
    const JsonReader in(message, "request: ");
    return {in.at("request").natural(), request_from_json(in)};
}

Numbered<Reply> decode_reply(const std::string& text) {
    const json message = parse_json(text, "reply");
    const JsonReader in(message, "reply: ");
    return {in.at("request").natural(), reply_from_json(in)};
}

}  // namespace normtune
