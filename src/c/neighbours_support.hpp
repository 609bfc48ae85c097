// What the C functions of indexes share.
#pragma once

#include "c/support.hpp"
#include "quintet/c/neighbours.h"
#include "quintet/neighbours/index.hpp"

struct quintet_index {
  quintet::neighbours::any_index any;
};
