quintet_sources(neighbours
  KERNELS
    index.cpp
    index_bytes.cpp
    neighbours.cpp
  C
    neighbours.cpp)
