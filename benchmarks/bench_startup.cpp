// Start-up: `normtune --version` as a process, from fork to exit.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <benchmark/benchmark.h>

extern char** environ;

namespace {

void version_as_process(benchmark::State& state) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    char name[] = "normtune";
    char option[] = "--version";
    char* arguments[] = {name, option, nullptr};
    for (auto iteration : state) {
        pid_t child = 0;
        int status = 0;
        if (posix_spawn(&child, NORMTUNE_EXECUTABLE, &actions, nullptr, arguments, environ) != 0 || waitpid(child, &status, 0) != child ||
            status != 0) {
            state.SkipWithError("normtune --version failed");
            break;
        }
    }
    posix_spawn_file_actions_destroy(&actions);
}

BENCHMARK(version_as_process)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
