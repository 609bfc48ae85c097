# The products have a translation unit for every semiring and type.
quintet_product(types QUINTET_SEMIRINGS QUINTET_REALS QUINTET_INDICES)
quintet_instantiate(QUINTET_KERNEL_SOURCES HEADER spgemm/semiring_kernels.hpp MACRO QUINTET_SEMIRING_KERNELS
  TYPES ${types})
