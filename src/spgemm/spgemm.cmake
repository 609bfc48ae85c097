quintet_sources(spgemm
  KERNELS
    add.cpp
    analysis.cpp
    arena.cpp
    chunks.cpp
    complex_parts.cpp
    csr.cpp
    dense_product.cpp
    device_csr.cpp
    estimate.cpp
    halves.cpp
    left_transposed.cpp
    memory.cpp
    multiply_add.cpp
    operands.cpp
    plan.cpp
    sampled_product.cpp
    scan.cpp
    top.cpp
    transpose.cpp
    transposed_product.cpp
  HOST
    complex_product.cpp
    options.cpp
    summary.cpp
    tuning.cpp
  C
    spgemm.cpp
    spgemm_plan.cpp)

# The products have translation units for every type: one for the semiring that most use, one for the others, whose headers
# are read once.
set(types "")
foreach(real IN LISTS QUINTET_REALS)
  foreach(index IN LISTS QUINTET_INDICES)
    list(TRANSFORM QUINTET_SEMIRINGS APPEND ", ${real}, ${index}" OUTPUT_VARIABLE products)
    list(POP_FRONT products first)
    list(JOIN products " | " others)
    list(APPEND types "${first}" "${others}")
  endforeach()
endforeach()
quintet_instantiate(QUINTET_KERNEL_SOURCES HEADER spgemm/semiring_kernels.hpp MACRO QUINTET_SEMIRING_KERNELS
  TYPES ${types})
