// Everything of the Poincare ball.
#pragma once

#include "quintet/poincare/adam.hpp"
#include "quintet/poincare/ball.hpp"
#include "quintet/poincare/distances.hpp"
#include "quintet/poincare/gradient_weights.hpp"
#include "quintet/poincare/gradients.hpp"
#include "quintet/poincare/lorentz.hpp"
#include "quintet/poincare/lorentz_means.hpp"
#include "quintet/poincare/lorentz_operations.hpp"
#include "quintet/poincare/means.hpp"
#include "quintet/poincare/nearest.hpp"
#include "quintet/poincare/operations.hpp"
#include "quintet/poincare/product.hpp"
#include "quintet/poincare/stereographic.hpp"
#include "quintet/poincare/training.hpp"
