// Sparse matrix times sparse matrix by several ranks.
//
//   mpi::communicator ranks;
//   auto a = ..., b = ...;                               // own rows of A and of B, those of rank 0 first
//   auto c = mpi::spgemm::multiply(ranks, a.view(), b.view());
//   c.block;                                             // rows c.first_row, c.first_row + 1, ... of C
//
// C = A B row by row. Rows of A are distributed so that every rank has about the same number of scalar products. A rank
// fetches the rows of B that its columns name, in chunks within a budget, and multiplies by quintet::spgemm. Before
// that the volume is counted. If it is above twice that of a grid, p x q ranks each multiply a panel of rows of A by a
// panel of columns of B. Both panels are taken whole, and the parts of a row of C are put together.
//
// Either way an entry of C adds up its products in the order of A's row, so the bits are those of
// quintet::spgemm::multiply() for any number of ranks. (Grids that add partial sums would not have that.)
//
// All functions are collective. A is m x k, B is k x n; each rank may have any number of their rows. Repeated and
// unsorted columns are allowed. Operands and results are in memory of the host.
#pragma once

#include <functional>

#include "quintet/mpi/communicator.hpp"
#include "quintet/mpi/distribution.hpp"
#include "quintet/spgemm/multiply.hpp"

namespace quintet::mpi::spgemm {

/// Distribution of the work; the result does not depend on it.
enum class layout {
  automatic,  ///< by the counted volumes
  rows,       ///< rows of A
  grid,       ///< p x q panels, p q the number of ranks, p / q as near to 1 as it goes
};

/// Options of a distributed product.
struct options {
  quintet::spgemm::options product{};  ///< of every local product
  /// Bytes of fetched rows of B that a rank holds at a time, >= 0; one row of A at least is worked on.
  std::int64_t budget = std::int64_t(1) << 30;
  /// Distributes rows of A again, by products; otherwise every rank keeps its rows.
  bool balance = true;
  spgemm::layout layout = spgemm::layout::automatic;  ///< distribution of the work
};

/// Report of a distributed product; sums over all ranks unless it says own.
struct report {
  std::int64_t products = 0;      ///< scalar multiplications
  std::int64_t own_products = 0;  ///< of this rank
  std::int64_t fetched_rows = 0;  ///< rows of B that were fetched
  ///@{
  /// Bytes of the entries that go by rows, and that go on the grid.
  std::int64_t row_volume = 0, grid_volume = 0;
  ///@}
  bool used_grid = false;       ///< how it was done
  int grid_rows = 1;            ///< p
  int grid_cols = 1;            ///< q
  std::int64_t own_chunks = 0;  ///< products of own rows, each with its fetched rows of B
  Device ran_on;                ///< own
};

/// Consecutive rows of a matrix that lies in parts.
template <class Value, class Index>
struct rows_of {
  std::int64_t first_row = 0;                ///< among all rows
  quintet::spgemm::csr<Value, Index> block;  ///< has all columns
};

namespace detail {
template <class Value, class Index>
using local_product = std::function<quintet::spgemm::csr<Value, Index>(const quintet::spgemm::csr_view<Value, Index>&,
                                                                       const quintet::spgemm::csr_view<Value, Index>&,
                                                                       quintet::spgemm::report*)>;
template <class Value, class Index>
rows_of<Value, Index> multiply(communicator& ranks, const quintet::spgemm::csr_view<Value, Index>& a,
                               const quintet::spgemm::csr_view<Value, Index>& b, const options& settings,
                               const local_product<Value, Index>& product, report* summary);
}  // namespace detail

/// Rows of C = A B of this rank. Throws the errors of quintet::spgemm::multiply() on all ranks; InvalidArgument also if
/// sizes or options differ between ranks.
///
/// Bytes by rows, phases "count" and "fetch": 16 for each row k of B that a rank needs and another has, and nnz(B_k)
/// (sizeof(Value) + sizeof(Index)). If the budget makes several chunks, 8 more for each chunk that needs the row. If
/// rows are distributed again, phase "balance" has rows of A, their lengths and products, and 16 for each row of B as
/// above. Memory: rows of A and B within the budget, and that of quintet::spgemm::multiply().
template <class Semiring = quintet::spgemm::plus_times, class Value, class Index>
  requires quintet::spgemm::has_kernels<Semiring>
rows_of<Value, Index> multiply(communicator& ranks, const quintet::spgemm::csr_view<Value, Index>& a,
                               const quintet::spgemm::csr_view<Value, Index>& b, const options& settings = {},
                               const Device& device = Device::best(), report* summary = nullptr) {
  return detail::multiply<Value, Index>(
      ranks, a, b, settings,
      [&](const auto& x, const auto& y, quintet::spgemm::report* local_report) {
        return quintet::spgemm::multiply<Semiring>(x, y, settings.product, device, local_report);
      },
      summary);
}

/// The whole matrix on rank 0, an empty one elsewhere.
template <class Value, class Index>
quintet::spgemm::csr<Value, Index> gather(communicator& ranks, const quintet::spgemm::csr_view<Value, Index>& own);

/// Rows of a matrix on rank 0: every rank gets its part of even size; `whole` counts on rank 0 only.
template <class Value, class Index>
rows_of<Value, Index> scatter(communicator& ranks, const quintet::spgemm::csr_view<Value, Index>& whole);

}  // namespace quintet::mpi::spgemm
