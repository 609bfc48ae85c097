quintet_sources(distributed
  KERNELS
    ring_filter.cpp
    ring_lists.cpp)
