// Records with every member at random, awkward text included: what the formats have to carry without loss.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "store/results.h"
#include "trial/record.h"

namespace normtune::testing {

class RandomRecords {
public:
    explicit RandomRecords(std::uint64_t seed) : engine_(seed) {}

    Record record() {
        Record r;
        r.timestamp = "2026-11-20T23:59:59Z";
        r.backend = any(backend_names);
        r.device = text();
        r.arch = text();
        r.device_id = text();
        r.problem = problem();
        r.candidate = configuration();
        r.outcome = any(outcome_names);
        r.reason = text();
        r.repeat = text();
        if (chance()) {
            r.compile = compile();
        }
        if (chance()) {
            r.verification = verification();
        }
        if (chance()) {
            r.bits = BitsCheck{text(), text(), text()};
        }
        if (chance()) {
            r.measurement = measurement();
        }
        return r;
    }

    Environment environment() {
        Environment e;
        e.normtune_version = "0.1.0";
        e.source_revision = text();
        e.hostname = text();
        e.os = text();
        e.device = {any(backend_names),
                    text(),
                    text(),
                    text(),
                    whole(0, 7),
                    text(),
                    text(),
                    whole(1, 64),
                    whole(1, 304),
                    whole(1, 1024),
                    whole(0, 1 << 20),
                    whole(0, 1 << 30),
                    big(),
                    chance()};
        e.started = "2026-11-20T23:00:00Z";
        e.seed = engine_();
        return e;
    }

    Results results(int records) {
        Results out;
        out.environment = environment();
        out.command = {"normtune", "sweep", "--shapes", text()};
        out.plans.push_back({text(), engine_(), engine_(), {{text(), text(), engine_()}}, engine_()});
        out.sweep = SweepIdentity{text(), text(), engine_(), 9, {1, 3, 9}};
        out.merged = {{environment(), {"normtune", text()}}, {environment(), {}}};
        for (int i = 0; i < records; ++i) {
            out.records.push_back(record());
        }
        return out;
    }

    Problem problem() {
        Problem p;
        p.shape.rows = whole(1, 100000);
        p.shape.cols = whole(1, 100000);
        p.shape.row_stride = p.shape.cols + whole(0, 100);
        p.operation = {any(op_names), any(mode_names), any(dtype_names), any(casting_names),  any(dtype_names),
                       chance(),      whole(0, 1),     chance(),         any(residual_names), real()};
        for (int i = whole(0, 3); i > 0; --i) {
            p.uses.push_back({text(), text(), big()});
        }
        return p;
    }

    Configuration configuration() {
        Configuration c;
        for (int i = 0; i < axis_count; ++i) {
            const auto axis = static_cast<Axis>(i);
            const AxisDomain& d = domain(axis);
            if (!d.names.empty()) {
                set_axis(c, axis, whole(0, static_cast<int>(d.names.size()) - 1));
            } else if (d.power_of_two) {
                set_axis(c, axis, axis == Axis::block_size && chance() ? whole_row : 8);
            } else {
                set_axis(c, axis, whole(d.least, d.most));
            }
        }
        return c;
    }

    Measurement measurement() {
        Measurement m;
        for (int i = whole(0, 6); i > 0; --i) {
            m.rounds.push_back({time_us(), whole(0, 1000), chance(), chance()});
            if (m.rounds.back().clocks_moved) {
                m.rounds.back().clock_mhz = {time_us(), time_us()};
                m.rounds.back().memory_clock_mhz = {time_us(), time_us()};
            }
            m.final_rounds_us.push_back(time_us());
        }
        m.samples = whole(0, 1000);
        m.launches_per_sample = whole(1, 100);
        m.p50_us = time_us();
        m.p20_us = m.p50_us * 0.75;
        m.p80_us = m.p50_us * 1.25;
        m.gbps = real();
        m.limit_us = real();
        m.limit_ratio = real();
        m.limit_copy = text();
        m.floor_us = real();
        m.memory_bytes = big();
        m.rotation_bytes = big();
        m.cold = chance();
        m.timer = text();
        m.stop_reason = any(stop_reason_names);
        m.throttled_repeats = whole(0, 9);
        if (chance()) {
            m.clock_mhz = real();
            m.memory_clock_mhz = real();
        }
        m.throttle_reasons = chance() ? std::vector<std::string>{text(), text()} : std::vector<std::string>{};
        m.rank = whole(0, 50);
        m.tied = chance();
        for (int process = 2; process < 2 + whole(0, 3); ++process) {
            const double p50_us = time_us();
            m.repetitions.push_back({process, m.rounds, p50_us * 0.75, p50_us, p50_us * 1.25, real(), real()});
        }
        return m;
    }

    /// Quotes, separators, line ends, UTF-8, leading and trailing blanks, JSON and CSV syntax, now and then 10 kB.
    std::string text() {
        static const std::vector<std::string> parts{"a", "\"", "\"\"", ",", ";", "\n",  "\r\n", "\t", " ",  "\\",      "{",
                                                    "]", "'",  "é",    "𝛾", "0", "NaN", "=1+1", "#",  "/*", "\\u0000", "\x01"};
        std::string out;
        for (int i = chance() ? whole(0, 8) : chance() ? 0 : whole(2000, 5000) * (whole(0, 9) == 0 ? 1 : 0); i > 0; --i) {
            out += parts[static_cast<std::size_t>(whole(0, static_cast<int>(parts.size()) - 1))];
        }
        return out;
    }

    bool chance() { return (engine_() & 1u) != 0; }
    int whole(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }
    std::int64_t big() { return static_cast<std::int64_t>(engine_() >> 1); }
    /// Every magnitude, so that printing with too few digits shows.
    double real() { return std::ldexp(std::uniform_real_distribution<double>(0.5, 1.0)(engine_), whole(-60, 60)); }

    /// From 0.1 ns, the last digit of a CSV, on.
    double time_us() { return std::ldexp(std::uniform_real_distribution<double>(0.5, 1.0)(engine_), whole(-11, 38)); }

private:
    template <typename E, std::size_t N>
    E any(const NameTable<E, N>&) {
        return static_cast<E>(whole(0, static_cast<int>(N) - 1));
    }

    CompileInfo compile() {
        CompileInfo c;
        c.compile_ms = real();
        c.from_cache = chance();
        c.code_hash = text();
        if (chance()) {
            c.registers = whole(0, 255);
        }
        if (chance()) {
            c.spill_bytes = whole(0, 4096);
        }
        if (chance()) {
            c.shared_bytes = whole(0, 1 << 18);
        }
        if (chance()) {
            c.occupancy = real();
        }
        c.workspace_bytes = big();
        c.programs = big();
        return c;
    }

    Verification verification() {
        Verification v;
        v.passed = chance();
        v.reason = text();
        v.seed = engine_();
        for (int i = whole(0, 2); i > 0; --i) {
            ShapeCheck check{problem().shape, whole(0, 1000), {}};
            for (int j = whole(0, 3); j > 0; --j) {
                check.tensors.push_back({any(tensor_names), text(), real(), real(), whole(0, 1000), whole(0, 1000), big()});
            }
            v.shapes.push_back(std::move(check));
        }
        return v;
    }

    std::mt19937_64 engine_;
};

}  // namespace normtune::testing
