# The instantiations of the pairwise engine: one translation unit for every type and dimension, so that they compile in
# parallel. These are the sizes of common sentence embeddings; every other dimension uses the generic kernel.
set(QUINTET_PAIRWISE_DIMENSIONS 384 512 768 1536)

list(JOIN QUINTET_PAIRWISE_DIMENSIONS ", " QUINTET_PAIRWISE_DIMENSION_LIST)
configure_file(pairwise/dimensions.hpp.in "${CMAKE_CURRENT_BINARY_DIR}/generated/pairwise/dimensions.hpp" @ONLY)
foreach(REAL float double)
  foreach(DIM 0 ${QUINTET_PAIRWISE_DIMENSIONS})
    set(source "${CMAKE_CURRENT_BINARY_DIR}/generated/pairwise/sinks_${REAL}_${DIM}.cpp")
    configure_file(pairwise/instantiate.cpp.in "${source}" @ONLY)
    list(APPEND QUINTET_KERNEL_SOURCES "${source}")
  endforeach()
endforeach()
