// A million rows of results.csv against a million: reading both, comparing them, and the table; time and peak memory.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

namespace {

constexpr int rows = 1'000'000;

/// Rows as a sweep writes them, with all of its columns: 10,000 problems of 100 configurations, every second of them of other code by
/// `seed`.
void write_results(const std::string& path, unsigned seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise(0, 0.003);
    std::ofstream out(path, std::ios::binary);
    out << "timestamp,backend,device,arch,op,mode,dtype,casting,model,site,rows,cols,config,num_warps,threads_per_row,"
           "rows_per_program,block_size,reduction,outcome,reason,samples,p20_us,p50_us,p80_us,gbps,limit_ratio,memory_"
           "mib,"
           "compile_ms,rank,tied,tokens,row_stride,weight_dtype,affine,offset,in_place,residual,eps,residency,grid,"
           "rows_binding,programs_per_sm,gamma,vector_bytes,load_hint,store_hint,stages,offset_bits,dgamma,reduce_rows,"
           "reduce_cols,reduce_warps,waves_per_eu,rounds,launches_per_sample,stop_reason,limit_us,floor_us,cold,timer,"
           "rotation_mib,clock_mhz,throttled_rounds,throttled_repeats,throttle_reasons,code_hash,from_cache,registers,"
           "spill_bytes,shared_bytes,occupancy,workspace_bytes,programs,verified,worst_over_bound,driver,normtune_"
           "version,"
           "repeat,rows_left\r\n";
    std::string text;
    for (int i = 0; i < rows; ++i) {
        const int problem = i / 100;
        const double us = (20 + problem % 500) * (1 + noise(random));
        text += fmt::format(
            "2026-11-20T23:59:59Z,cuda,NVIDIA H100 80GB "
            "HBM3,sm_90,rms_norm,forward,bf16,llama,Qwen3-8B,hidden,{0},4096,"
            "w4.t{1}.r1.row.registers.masked.per_row,4,128,1,row,masked,passed,,120,{2:.4f},{3:.4f},{4:.4f},1500.123,1."
            "0512,"
            "64.000000,53.123,,false,8192,4096,bf16,true,0,false,rounded,1e-06,registers,per_row,constexpr,1,after,16,"
            "default,default,1,auto,partials,64,64,4,0,6,20,confidence,{5:.4f},1.2500,true,graph,512.000000,1980.0,0,0,"
            ","
            "{7:032x},false,32,0,0,1.0000,0,8192,true,0.7500,550.54.15,0.1.0,normtune sweep --problem "
            "rms_norm/forward/bf16/llama/{0}x4096 --config w4.t{1}.r1.row.registers.masked.per_row,{6}\r\n",
            problem + 1, i % 100 + 1, us * 0.996, us, us * 1.005, (20 + problem % 500) * 0.9, rows - 1 - i,
            2U * static_cast<unsigned>(i % 100) + (i % 2 == 0 ? 0U : seed - 1U));
        if (text.size() > (1U << 20U)) {
            out << text;
            text.clear();
        }
    }
    out << text;
}

void million_against_million(benchmark::State& state) {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("bench-{}", getpid());
    std::filesystem::create_directory(folder);
    const std::string before = (folder / "before.csv").string();
    const std::string after = (folder / "after.csv").string();
    write_results(before, 1);
    write_results(after, 2);
    const std::string command = fmt::format("{} compare {} {} > /dev/null", NORMTUNE_EXECUTABLE, before, after);
    for (auto _ : state) {
        const auto start = std::chrono::steady_clock::now();
        const int status = std::system(command.c_str());
        state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 3) {
            state.SkipWithError("compare failed");
        }
    }
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    state.counters["peak_mib"] = static_cast<double>(usage.ru_maxrss) / 1024;
    state.counters["file_mib"] = static_cast<double>(std::filesystem::file_size(before)) / (1 << 20);
    std::filesystem::remove_all(folder);
}

BENCHMARK(million_against_million)->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
