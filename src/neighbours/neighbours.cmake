quintet_sources(neighbours
  KERNELS
    neighbours.cpp)
