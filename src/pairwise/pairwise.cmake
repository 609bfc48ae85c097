quintet_sources(pairwise
  KERNELS
    block_tree.cpp
    filtered_lists.cpp
    group_minima.cpp
    kept_points.cpp
    locality.cpp
    metric.cpp
    neighbours.cpp
    pairs.cpp
    product_rows.cpp
    rounded_points.cpp
    scanned_points.cpp
    sheet_lists.cpp
    sinks.cpp
    sphere.cpp
    tree_search.cpp
    tree_walk.cpp)

# The pairwise engine has a kernel of its own for every type and for these dimensions; 0 is the one for every other,
# other_metrics that for metrics that sum no squares, rounded_products that for bounds in float, word_rows that for
# rows of bits and of integers, and product_rows that for those of products of spaces.
#
# Sizes of common sentence embeddings, and of hyperbolic ones (8 on the host only: panels for a device hold a multiple of
# 16 coordinates, and 16 serves 8 there). Compile time counts: sinks.hpp says which sinks each set has.
set(QUINTET_EMBEDDING_DIMENSIONS 384 512 768 1536)
set(QUINTET_BALL_DIMENSIONS 8 16 32 64 128)

list(JOIN QUINTET_EMBEDDING_DIMENSIONS ", " QUINTET_EMBEDDING_DIMENSION_LIST)
list(JOIN QUINTET_BALL_DIMENSIONS ", " QUINTET_BALL_DIMENSION_LIST)
configure_file(pairwise/dimensions.hpp.in "${CMAKE_CURRENT_BINARY_DIR}/generated/pairwise/dimensions.hpp" @ONLY)

set(dimensions 0 quintet::pairwise::other_metrics ${QUINTET_EMBEDDING_DIMENSIONS} ${QUINTET_BALL_DIMENSIONS})
quintet_product(types QUINTET_REALS dimensions)
list(APPEND types "float, quintet::pairwise::rounded_products" "double, quintet::pairwise::word_rows" "double, quintet::pairwise::product_rows")
quintet_instantiate(QUINTET_KERNEL_SOURCES HEADER pairwise/sinks_impl.hpp TEMPLATE "struct pairwise::sinks" TYPES ${types})
