// Products into a known structure: detail/structured_rows.hpp on every processor.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/atomic.hpp"
#include "spgemm/operands.hpp"
#include "spgemm/problem.hpp"
#include "spgemm/range_loop.hpp"

namespace quintet::spgemm {

/// Maps over the columns for the host's threads, all -1: a tile takes one that is free, and gives it back as it was.
/// There are as many as threads. Tiles and not threads, because the calling thread polls between tiles.
class column_maps {
 public:
  column_maps(std::int64_t tiles, std::int64_t cols, memory_source& memory)
      : cols_(cols),
        count_(cols <= widest_accumulator ? std::min<std::int64_t>(threads(), tiles) : 0),
        maps_(count_ * cols, memory),
        in_use_(count_, memory) {
    std::fill(maps_.begin(), maps_.end(), -1);
    std::fill(in_use_.begin(), in_use_.end(), std::uint8_t(0));
  }
  /// One of them, while the object lives; null where there are too many columns for a map.
  struct lease {
    std::int64_t* data = nullptr;
    std::uint8_t* in_use = nullptr;
    lease() = default;
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    ~lease() {
      if (in_use != nullptr) __atomic_clear(in_use, __ATOMIC_RELEASE);
    }
  };
  struct view {
    std::int64_t* maps;
    std::uint8_t* in_use;
    std::int64_t count, cols;
    // Acquire, with the release of the one before: its entries of the map are reset when this one reads them.
    void take(lease& map) const {
      for (std::int64_t w = 0; count > 0; w = w + 1 < count ? w + 1 : 0) {
        if (__atomic_test_and_set(in_use + w, __ATOMIC_ACQUIRE)) continue;
        map.data = maps + w * cols;
        map.in_use = in_use + w;
        return;
      }
    }
  };
  view all() { return {maps_.data(), in_use_.data(), count_, cols_}; }

 private:
  std::int64_t cols_, count_;
  array<std::int64_t> maps_;
  array<std::uint8_t> in_use_;
};

/// A team of a device takes `grain` rows at a time until there are none, a tile of the host has so many.
/// The numeric phase alone (Gustavson 1978): the structure is given.
template <class Semiring, class Value, class Index, class Shape>
struct structured_kernel {
  using shape = Shape;
  struct scratch {
    std::int64_t ticket;
  };
  enum { threads = 64, emulated_threads = 4 };
  problem<Value, Index> p;
  const std::int64_t* row_pointers;
  const Index* columns;
  Value* values;
  std::uint8_t* touched;  ///< may be null
  std::int64_t rows, grain;
  std::int64_t* next;      ///< row that no team has taken
  column_maps::view maps;  ///< of the host; elsewhere columns are searched for

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    if constexpr (Team::on_device) {
      for (;;) {
        const std::int64_t begin =
            device::broadcast(team, team.rank() == 0 ? device::atomic_draw(next, grain) : 0, 0, &s.ticket);
        if (begin >= rows) return;
        some_rows(team, begin, nullptr);
      }
    } else {
      column_maps::lease map;
      maps.take(map);
      some_rows(team, tile * grain, map.data);
    }
  }

 private:
  template <class Team>
  void some_rows(const Team& team, std::int64_t begin, std::int64_t* map) const {
    for (std::int64_t i = begin; i < std::min(rows, begin + grain); ++i)
      detail::structured_row<Semiring>(team, p.a, p.b, i, columns, row_pointers[i], row_pointers[i + 1], values,
                                       touched, map);
  }
};

}  // namespace quintet::spgemm
