// Everything of the Poincare ball.
#pragma once

#include "quintet/poincare/ball.hpp"
#include "quintet/poincare/distances.hpp"
#include "quintet/poincare/gradients.hpp"
#include "quintet/poincare/means.hpp"
#include "quintet/poincare/nearest.hpp"
#include "quintet/poincare/operations.hpp"
