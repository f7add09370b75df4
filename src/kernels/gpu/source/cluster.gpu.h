// A row over the programs of a cluster (sm_90 and later): each has a share of the columns, and the row's sums go from one to the
// other through their shared memory. The programs of a cluster follow each other in the grid. What they send with is dgamma's, too, where
// programs that sum parts of its rows are a cluster (columns.gpu.h).

NT_DEVICE int nt_cluster_index() { return nt_program_x() / NT_CLUSTER; }
NT_DEVICE int nt_cluster_rank() { return nt_program_x() % NT_CLUSTER; }

#if defined(NT_NVIDIA) && NT_IN_CLUSTERS
// Halves of the cluster's barrier. Without an order of memory: to arrive with one would wait for all that the thread has stored.
NT_DEVICE void nt_cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
NT_DEVICE void nt_cluster_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
NT_DEVICE void nt_warp_barrier() { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }
// Barriers that this thread has begun are known to all of the cluster that meet it at the cluster's barrier after this.
NT_DEVICE void nt_share_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
// To where `to` lies in the shared memory of the cluster's program `rank`, where `barrier` counts its bytes as they come.
NT_DEVICE void nt_send(float* to, unsigned long long* barrier, int rank, float v) {
    asm volatile(
        "{ .reg .u32 there, counted_by; mapa.shared::cluster.u32 there, %0, %2; mapa.shared::cluster.u32 counted_by, %1, %2;"
        " st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [there], %3, [counted_by]; }" ::"r"(nt_shared_address(to)),
        "r"(nt_shared_address(barrier)), "r"(rank), "f"(v)
        : "memory");
}
#endif

/// The sum of `Parts` floats of shared memory, which other warps have written, for each lane of a warp: every lane reads `Vectors` accesses of 16
/// bytes, and shuffles add up what that leaves. Where there are few parts, reads take less time than shuffles.
template <int Parts, int Vectors>
NT_DEVICE float nt_sum_of_parts(const float* area, int lane) {
    constexpr int lanes = Parts / (4 * Vectors);
    static_assert(Parts % (4 * Vectors) == 0 && lanes <= NT_WARP_SIZE, "a warp reads each part once, by the lanes that differ");
    float total = 0.0f;
    NT_UNROLL
    for (int i = 0; i < Vectors; ++i) {
        float v[4];
        nt_load_floats(v, area + (i * lanes + lane % lanes) * 4);
        total += (v[0] + v[1]) + (v[2] + v[3]);
    }
    NT_UNROLL
    for (int mask = 1; mask < lanes; mask *= 2) {
        total += nt_shuffle_xor(total, mask);
    }
    return total;
}

#if NT_CLUSTER > 1
/// Adds sums that each warp has already over all `Warps` warps that a row has in each program: every warp sends its own to all of them. `thread`:
/// among the row's, which are whole warps. Steps take two areas of `scratch` (as many floats as that is for each of `Groups` rows side by side) and
/// of `barriers` (one for each) in turn: who sends a step's sums has those of the step before, from warps that have read the ones before these. So
/// nobody waits for more than a row's sums: not for another's stores, not for the row beside it, and at the end for nobody.
template <int Count, int Warps, int Groups>
NT_DEVICE void nt_cluster_sum(float (&sum)[Count], float* scratch, unsigned long long* barriers, int step, int group, int thread) {
    constexpr int parts = NT_CLUSTER * Warps;
    const int warp = thread / NT_WARP_SIZE;
    const int lane = thread % NT_WARP_SIZE;
    float* const area = scratch + ((step & 1) * Groups + group) * (parts * Count);
    unsigned long long* const barrier = barriers + (step & 1) * Groups + group;
    if (step == 0) {
        nt_cluster_wait();  // a program's shared memory and barriers are there once it has begun
    }
    if (thread == 0) {
        nt_bulk_expect(barrier, parts * Count * 4);
    }
    nt_warp_barrier();  // all lanes have read the last step's
    if (lane < NT_CLUSTER) {
        NT_UNROLL
        for (int i = 0; i < Count; ++i) {
            nt_send(area + i * parts + nt_cluster_rank() * Warps + warp, barrier, lane, sum[i]);
        }
    }
    // With an order among the program's threads alone: one among the cluster's drops L1, and the sums lie in shared memory.
    nt_bulk_wait(barrier, static_cast<unsigned>(step / 2) & 1u);
    NT_UNROLL
    for (int i = 0; i < Count; ++i) {
        if constexpr (parts >= 4 && parts <= 128) {
            constexpr int vectors = parts <= 16 ? parts / 4 : parts <= 64 ? 1 : 2;
            sum[i] = nt_sum_of_parts<parts, vectors>(area + i * parts, lane);
        } else {
            float total = 0.0f;
            NT_UNROLL
            for (int part = 0; part < parts; part += NT_WARP_SIZE) {
                total += area[i * parts + (part + lane) % parts];
            }
            NT_UNROLL
            for (int mask = 1; mask < (parts < NT_WARP_SIZE ? parts : NT_WARP_SIZE); mask *= 2) {
                total += nt_shuffle_xor(total, mask);
            }
            sum[i] = total;
        }
    }
}
#endif

/// Two barriers for each of `rows` side by side: the last of `bytes` of shared memory.
NT_DEVICE unsigned long long* nt_cluster_barriers([[maybe_unused]] char* shared, [[maybe_unused]] int bytes, [[maybe_unused]] int rows) {
    return NT_CLUSTER > 1 ? reinterpret_cast<unsigned long long*>(shared + bytes) - 2 * rows : nullptr;
}
/// The others of the cluster may send to this program's shared memory from here on. When: nt_beginning_in_cluster().
template <int Rows>
NT_DEVICE void nt_begin_in_cluster([[maybe_unused]] unsigned long long* barriers) {
#if NT_CLUSTER > 1
    if (nt_thread() == 0) {
        NT_UNROLL
        for (int barrier = 0; barrier < 2 * Rows; ++barrier) {
            nt_bulk_begin(barriers + barrier);
        }
        nt_share_barriers();
    }
    nt_cluster_arrive();
#endif
}
