#include "unit/spgemm/max_times.hpp"

#include "spgemm/semiring_kernels.hpp"

QUINTET_SEMIRING_KERNELS(quintet::test::max_times, double, std::int32_t)
