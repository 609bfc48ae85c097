// Everything of the singular value decompositions.
#pragma once

#include "quintet/svd/applications.hpp"
#include "quintet/svd/certify.hpp"
#include "quintet/svd/decompose.hpp"
#include "quintet/svd/eigen.hpp"
#include "quintet/svd/gradient.hpp"
#include "quintet/svd/kabsch.hpp"
#include "quintet/svd/options.hpp"
#include "quintet/svd/randomised.hpp"
#include "quintet/svd/symmetric.hpp"
