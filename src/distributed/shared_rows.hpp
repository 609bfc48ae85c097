// Rows that are spread over ranks, and what all of them together tell.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hdbscan/checks.hpp"
#include "pairwise/scanned_points.hpp"
#include "quintet/core/build_info.hpp"
#include "quintet/core/process_group.hpp"

namespace quintet::distributed {

/// Rows of all ranks, one rank's after another's.
class row_spread {
 public:
  /// Collective; throws InvalidArgument unless first_row is the number of rows on lower ranks.
  row_spread(process_group& ranks, std::int64_t rows, std::int64_t first_row) : first_(1, 0) {
    for (const std::int64_t count : ranks.allgather_counts(rows)) first_.push_back(first_.back() + count);
    ranks.run_collectively([&] {
      require_argument(first_row == first_[ranks.rank()], "first_row", first_row,
                       text("the number of rows on lower ranks, ", first_[ranks.rank()]));
    });
  }
  std::int64_t rows() const { return first_.back(); }
  std::int64_t first(int rank) const { return first_[rank]; }
  std::int64_t count(int rank) const { return first_[rank + 1] - first_[rank]; }
  int rank_of(std::int64_t row) const {
    return int(std::upper_bound(first_.begin(), first_.end(), row) - first_.begin()) - 1;
  }

 private:
  std::vector<std::int64_t> first_;
};

/// Throws InvalidArgument on all ranks unless they are the same program on the same kind of device, asked the same.
inline void require_same_work(process_group& ranks, const std::string& options, const Device& device) {
  ranks.require_same("the build", build_info().summary());
  const char* kinds[] = {"host", "emulated", "offload"};
  ranks.require_same("the kind of device", kinds[int(device.kind())]);
  ranks.require_same("options", options);
}

/// Points of all ranks: the own rows looked at, with the scale of all.
template <class Storage>
class shared_points {
 public:
  using Real = accumulator_t<Storage>;

  /// Collective, as all of this. The rows have to outlive it.
  shared_points(process_group& ranks, matrix_view<const Storage> rows, std::int64_t first_row,
                const point_metric& distance, const Device& device)
      : ranks_(ranks), rows_(rows), spread_(ranks, rows.rows(), first_row), distance_(distance), device_(device) {
    const std::int64_t dim = ranks.maximum(rows.rows() > 0 ? rows.cols() : 0);
    ranks.run_collectively([&] {
      quintet::hdbscan::check_points(rows);
      constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() - 1024;
      require_argument(spread_.rows() <= most, "rows of all ranks", spread_.rows(), text("<= ", most));
      require_argument(rows.rows() == 0 || rows.cols() == dim, "rows.cols", rows.cols(),
                       text("the same on all ranks, ", dim));
      require_argument(rows.device().shares_host_memory(), "rows", rows.device().name(), "in host memory");
      rows_ = matrix_view<const Storage>(rows.data(), rows.rows(), dim, rows.rows() > 0 ? rows.stride() : dim);
      scanned_.emplace(rows_, distance, device);
    });
    largest_ = ranks.largest(scanned_->largest());
    scanned_->share_scale(largest_);
    std::vector<std::int64_t> invalid = scanned_->invalid_rows();
    for (std::int64_t& row : invalid) row += spread_.first(ranks.rank());
    invalid_rows_ = ranks.allgather(std::span<const std::int64_t>(invalid));
  }

  const pairwise::scanned_points<Storage>& own() const { return *scanned_; }
  const matrix_view<const Storage>& rows() const { return rows_; }
  const row_spread& spread() const { return spread_; }
  const pairwise::reduced_metric<Real>& measure() const { return scanned_->measure; }
  std::int64_t dim() const { return rows_.cols(); }
  std::int64_t first_row() const { return spread_.first(ranks_.rank()); }
  bool has_factors() const { return distance_.kind == metric::poincare || distance_.kind == metric::lorentz; }
  const std::vector<std::int64_t>& invalid_rows() const { return invalid_rows_; }
  std::int64_t valid_count() const { return spread_.rows() - std::int64_t(invalid_rows_.size()); }

  /// The valid rows of all ranks, increasing.
  std::vector<std::int32_t> valid_rows() const {
    std::vector<std::int32_t> valid;
    valid.reserve(valid_count());
    auto next = invalid_rows_.begin();
    for (std::int64_t row = 0; row < spread_.rows(); ++row)
      if (next != invalid_rows_.end() && *next == row)
        ++next;
      else
        valid.push_back(std::int32_t(row));
    return valid;
  }

  /// Coordinates of own rows (by their numbers here), one row after another.
  std::vector<Storage> coordinates(const std::vector<std::int32_t>& rows) const {
    std::vector<Storage> values(std::int64_t(rows.size()) * dim());
    for (std::size_t i = 0; i < rows.size(); ++i)
      std::copy_n(rows_.data() + rows[i] * rows_.stride(), dim(), values.begin() + std::int64_t(i) * dim());
    return values;
  }

  /// Points with these coordinates as the own rows are looked at.
  std::optional<pairwise::scanned_points<Storage>> scan(const std::vector<Storage>& coordinates) const {
    std::optional<pairwise::scanned_points<Storage>> points;
    const std::int64_t count = dim() == 0 ? 0 : std::int64_t(coordinates.size()) / dim();
    points.emplace(matrix_view<const Storage>(coordinates.data(), count, dim()), distance_, device_);
    points->share_scale(largest_);
    return points;
  }

 private:
  process_group& ranks_;
  matrix_view<const Storage> rows_;
  row_spread spread_;
  point_metric distance_;
  Device device_;
  std::optional<pairwise::scanned_points<Storage>> scanned_;
  Real largest_ = 0;
  std::vector<std::int64_t> invalid_rows_;
};

}  // namespace quintet::distributed
