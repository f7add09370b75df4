// A row over the programs of a cluster (sm_90 and later): each has a share of the columns, and the row's sums go from one to the
// other through their shared memory. The programs of a cluster follow each other in the grid.

NT_DEVICE int nt_cluster_index() { return nt_program_x() / NT_CLUSTER; }
NT_DEVICE int nt_cluster_rank() { return nt_program_x() % NT_CLUSTER; }

#if NT_CLUSTER > 1
#if defined(NT_NVIDIA)
NT_DEVICE void nt_cluster_arrive() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
NT_DEVICE void nt_cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
// To where `to` lies in the shared memory of the cluster's program `rank`.
NT_DEVICE void nt_write_remote(float* to, int rank, float v) {
    asm volatile(
        "{ .reg .u64 a; .reg .u32 here, there; cvta.to.shared.u64 a, %0; cvt.u32.u64 here, a;"
        " mapa.shared::cluster.u32 there, here, %1; st.shared::cluster.f32 [there], %2; }" ::"l"(to),
        "r"(rank), "f"(v)
        : "memory");
}
#endif

/// Adds sums that each warp has already over all `Warps` warps of all programs: every warp writes its own to all of them.
/// `scratch`: as many floats as that is. `first`: of the launch; a program's shared memory is there once the program has begun.
template <int Count, int Warps>
NT_DEVICE void nt_cluster_sum(float (&sum)[Count], float* scratch, bool first) {
    constexpr int parts = NT_CLUSTER * Warps;
    const int warp = nt_thread() / NT_WARP_SIZE;
    const int lane = nt_thread() % NT_WARP_SIZE;
    if (first) {
        nt_cluster_wait();
    }
    if (lane < NT_CLUSTER) {
        NT_UNROLL
        for (int i = 0; i < Count; ++i) {
            nt_write_remote(scratch + i * parts + nt_cluster_rank() * Warps + warp, lane, sum[i]);
        }
    }
    nt_cluster_arrive();
    nt_cluster_wait();
    NT_UNROLL
    for (int i = 0; i < Count; ++i) {
        float total = 0.0f;
        NT_UNROLL
        for (int part = 0; part < parts; part += NT_WARP_SIZE) {
            total += scratch[i * parts + (part + lane) % parts];
        }
        NT_UNROLL
        for (int mask = 1; mask < (parts < NT_WARP_SIZE ? parts : NT_WARP_SIZE); mask *= 2) {
            total += nt_shuffle_xor(total, mask);
        }
        sum[i] = total;
    }
}
#endif

/// At a program's start: the others of its cluster may write to its shared memory from here on.
NT_DEVICE void nt_begin_in_cluster() {
#if NT_CLUSTER > 1
    nt_cluster_arrive();
#endif
}
