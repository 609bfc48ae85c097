// Programs may hold the OpenMP runtimes of two compilers.
#pragma once

namespace quintet::detail {

/// Throws DeviceError when the runtime that answers omp_get_thread_num() is not the one that runs parallel regions.
/// Looks once; O(1) after that.
void require_one_runtime();

}  // namespace quintet::detail
