// Everything of sparse products of real numbers. complex_product.hpp is for itself: clang 19 cannot compile <complex>
// for devices as C++20.
#pragma once

#include "quintet/spgemm/add.hpp"
#include "quintet/spgemm/array.hpp"
#include "quintet/spgemm/csr.hpp"
#include "quintet/spgemm/dense_product.hpp"
#include "quintet/spgemm/device_csr.hpp"
#include "quintet/spgemm/gram.hpp"
#include "quintet/spgemm/left_transposed.hpp"
#include "quintet/spgemm/mask.hpp"
#include "quintet/spgemm/memory.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/multiply_add.hpp"
#include "quintet/spgemm/options.hpp"
#include "quintet/spgemm/plan.hpp"
#include "quintet/spgemm/semiring.hpp"
#include "quintet/spgemm/summary.hpp"
#include "quintet/spgemm/top.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "quintet/spgemm/triple_plan.hpp"
