# The instantiations of the pairwise engine: one translation unit for every type and dimension, so that they compile in
# parallel. Every other dimension uses the generic kernel.
#
# Sizes of common sentence embeddings, and of hyperbolic ones (8 on the host only: panels for a device hold a multiple of
# 16 coordinates, and 16 serves 8 there). Compile time counts: each set has the sinks that it needs.
set(QUINTET_EMBEDDING_DIMENSIONS 384 512 768 1536)
set(QUINTET_BALL_DIMENSIONS 8 16 32 64 128)

list(JOIN QUINTET_EMBEDDING_DIMENSIONS ", " QUINTET_EMBEDDING_DIMENSION_LIST)
list(JOIN QUINTET_BALL_DIMENSIONS ", " QUINTET_BALL_DIMENSION_LIST)
configure_file(pairwise/dimensions.hpp.in "${CMAKE_CURRENT_BINARY_DIR}/generated/pairwise/dimensions.hpp" @ONLY)

# quintet_pairwise_sinks(<dimensions> <sink>...)
function(quintet_pairwise_sinks dimensions)
  foreach(REAL float double)
    foreach(DIM ${dimensions})
      set(INSTANTIATIONS "")
      foreach(sink ${ARGN})
        set(arguments "const ${sink}_arguments<${REAL}>&, const Device&")
        if(sink STREQUAL "symmetric_nearest")
          set(arguments "const nearest_arguments<${REAL}>&")
        elseif(sink STREQUAL "lightest")
          set(arguments "const lightest_arguments<${REAL}>&, std::int64_t, const Device&")
        endif()
        string(APPEND INSTANTIATIONS "template void sinks<${REAL}, ${DIM}>::${sink}(${arguments});\n")
      endforeach()
      set(source "${CMAKE_CURRENT_BINARY_DIR}/generated/pairwise/sinks_${REAL}_${DIM}.cpp")
      configure_file(pairwise/instantiate.cpp.in "${source}" @ONLY)
      list(APPEND QUINTET_KERNEL_SOURCES "${source}")
    endforeach()
  endforeach()
  set(QUINTET_KERNEL_SOURCES ${QUINTET_KERNEL_SOURCES} PARENT_SCOPE)
endfunction()
quintet_pairwise_sinks("0" dense cross nearest symmetric_nearest lightest)
quintet_pairwise_sinks("${QUINTET_EMBEDDING_DIMENSIONS}" dense nearest symmetric_nearest lightest)
quintet_pairwise_sinks("${QUINTET_BALL_DIMENSIONS}" cross nearest)
