// Batched singular value decomposition by several ranks: every rank has some of the matrices.
//
//   const auto own = mpi::even_rows(batch, ranks.rank(), ranks.size());
//   auto r = mpi::svd::decompose<double>(ranks, {a + own.first * m * n, own.count, m, n});
//
// One large matrix is not split.
#pragma once

#include "quintet/mpi/communicator.hpp"
#include "quintet/svd/decompose.hpp"

namespace quintet::mpi::svd {

/// Decomposes the matrices of all ranks, those of rank 0 first. The result on rank 0 has the bits of
/// quintet::svd::decompose() of the whole batch; rank r > 0 gets its part. Collective; m, n and the options are the
/// same on all ranks, and B >= 0 is any number on each. Throws the errors of quintet::svd::decompose() on all ranks,
/// and InvalidArgument if m, n or options differ. Bytes: the results, once, to rank 0.
template <class T>
quintet::svd::decomposition<T> decompose(communicator& ranks, batch_view<const T> own,
                                         const quintet::svd::options& options = {},
                                         const Device& device = Device::best());

/// The same without a transfer: every rank keeps its part.
template <class T>
quintet::svd::decomposition<T> decompose_own(communicator& ranks, batch_view<const T> own,
                                             const quintet::svd::options& options = {},
                                             const Device& device = Device::best());

}  // namespace quintet::mpi::svd
