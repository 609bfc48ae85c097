// How bounds of tiles are kept within a stated memory: for good of square cells of tiles, and of single tiles for one
// strip of rows at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pairwise/triangle.hpp"

namespace quintet::hdbscan {

/// Memory for bounds.
struct bound_limits {
  std::int64_t cell_bytes = std::int64_t(32) << 20;  ///< of cells, which all rounds keep
  std::int64_t strip_tiles = std::int64_t(1) << 24;  ///< tiles of a strip, unless a row of cells has more
};

/// Tiles are those of own blocks with each other and with visitors, see pairwise::edge_bounds: rows [0, own), in row r
/// columns [r, places). Cells are squares of them; strips are whole rows of cells.
class tile_strips {
 public:
  tile_strips() = default;
  tile_strips(std::int64_t own, std::int64_t places, std::int64_t bound_bytes, const bound_limits& limits)
      : own_(own), places_(places) {
    while (cells() * bound_bytes > limits.cell_bytes && cell_side_ < places) ++cell_side_;
    for (std::int64_t row = 0; row < own;) {
      first_row_.push_back(row);
      do row = std::min(row + cell_side_, own);
      while (row < own &&
             tile_before(std::min(row + cell_side_, own)) - tile_before(first_row_.back()) <= limits.strip_tiles);
    }
  }

  std::int64_t count() const { return std::int64_t(first_row_.size()); }
  ///@{
  /// Rows of a strip.
  std::int64_t first_row(std::int64_t strip) const { return strip < count() ? first_row_[strip] : own_; }
  std::int64_t rows(std::int64_t strip) const { return first_row(strip + 1) - first_row(strip); }
  ///@}
  ///@{
  /// Tiles of a strip, by their positions in triangles of the table.
  std::int64_t first_tile(std::int64_t strip) const { return tile_before(first_row(strip)); }
  std::int64_t tiles(std::int64_t strip) const { return first_tile(strip + 1) - first_tile(strip); }
  std::int64_t max_tiles() const {
    std::int64_t max = 0;
    for (std::int64_t strip = 0; strip < count(); ++strip) max = std::max(max, tiles(strip));
    return max;
  }
  ///@}
  ///@{
  /// Cells: rows and columns of tiles of each; rows and columns of cells; all of them, by positions in a triangle of
  /// cell_places() columns.
  std::int64_t cell_side() const { return cell_side_; }
  std::int64_t cell_rows() const { return (own_ + cell_side_ - 1) / cell_side_; }
  std::int64_t cell_places() const { return (places_ + cell_side_ - 1) / cell_side_; }
  std::int64_t cells() const {
    return own_ > 0 ? pairwise::triangle_position(cell_places(), cell_rows(), cell_rows()) : 0;
  }
  ///@}

 private:
  std::int64_t tile_before(std::int64_t row) const { return pairwise::triangle_position(places_, row, row); }

  std::int64_t own_ = 0, places_ = 0, cell_side_ = 1;
  std::vector<std::int64_t> first_row_;
};

}  // namespace quintet::hdbscan
