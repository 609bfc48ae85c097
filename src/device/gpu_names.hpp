// Names and memory sizes of GPUs. OpenMP has no call for them; the vendors' drivers do.
#pragma once

#include <cstdint>
#include <string>

namespace quintet::detail {

/// Whether the offload targets of this build are GPUs (and not the x86_64 emulation).
bool offload_is_gpu();
/// What the driver calls the GPU; "offload device N" when no driver answers.
std::string gpu_name(int index);
/// Bytes; 0 when no driver answers.
std::int64_t gpu_memory_bytes(int index);

}  // namespace quintet::detail
