// Decompositions of tall matrices by Cholesky QR, done twice (Yamamoto, Nakatsukasa, Yanagisawa, Fukaya 2015): products
// with rows in registers instead of one reflection after the other. Taken where it is as good as reflections.
#pragma once

#include "quintet/device/device.hpp"
#include "svd/centring.hpp"

namespace quintet::svd {

/// Whether matrices of this shape are tried with it: at least three times as many rows as columns (float: four), and
/// 8192 numbers.
template <class Real>
bool suits_gram_qr(const jacobi_job<Real>& job);

/// Runs `job`, which is preconditioned by route::triangle, on all matrices. Those that want reflections have
/// code_wants_reflections afterwards, and no results. The means of the columns are taken off, if they are wanted, in
/// the passes over A that there are. `batch`: see run_jacobi().
template <class Real>
void run_gram_qr(const jacobi_job<Real>& job, const column_means<Real>& means, std::int64_t batch,
                 const Device& device);

}  // namespace quintet::svd
