// One-sided Jacobi on large matrices: many workers on one of them.
//
// Columns are grouped into blocks. A sweep takes every block with itself and then every pair of blocks; pairs (I, J)
// and (K, L) with I + J = K + L have no block in common and are worked on at the same time, by one worker each. In this
// order the result is that of row-cyclic Jacobi, rotation by rotation, whoever does the work.
//
// The columns themselves are rotated, two and two at a time, not by products with the eigenvectors of their Gram
// matrix: with scaled columns this takes 11 m n^2 + 11 n^3 operations a sweep (m n^2 and n^3 multiply-adds count 2)
// where products take 6 m n^2 + 4 n^3 and an eigenproblem for every pair of blocks, and it keeps the relative accuracy
// that Gram matrices lose.
#pragma once

#include "quintet/device/device.hpp"
#include "svd/job.hpp"

namespace quintet::svd {

/// Matrices with more columns are worked on in blocks.
constexpr int largest_undivided = 256;

/// Rows from which one matrix with fewer columns has its QR made by all workers.
constexpr int long_rows = 4096;

/// Runs `job`, in which everything but the working memory is set: QR, the product with Q and, beyond
/// largest_undivided columns, the sweeps are shared among all workers.
template <class Real>
void run_blocks(jacobi_job<Real> job, const Device& device);

/// The same with sweeps in blocks for any number of columns.
template <class Real>
void run_in_blocks(jacobi_job<Real> job, const Device& device);

}  // namespace quintet::svd
