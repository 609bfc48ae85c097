// Rows that go around among ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "quintet/core/process_group.hpp"
#include "quintet/core/view.hpp"

namespace quintet::distributed {

/// The rows of a view, one after another.
template <class T>
std::vector<T> dense_rows(const matrix_view<const T>& rows) {
  std::vector<T> dense;
  dense.reserve(std::size_t(rows.rows() * rows.cols()));
  for (std::int64_t i = 0; i < rows.rows(); ++i) dense.insert(dense.end(), rows.row(i), rows.row(i) + rows.cols());
  return dense;
}

/// Number of the first row of every part; one more: of all rows.
inline std::vector<std::int64_t> first_rows(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> first(counts.size() + 1, 0);
  for (std::size_t r = 0; r < counts.size(); ++r) first[r + 1] = first[r] + counts[r];
  return first;
}

/// Shows the rows of every rank to every rank: meet(owner, rows), the own ones first, then those of the next ranks. The
/// next rows come while the present ones are worked on; meet() may throw, and calls poke() now and then, which moves
/// them on. Throws on all ranks what was thrown on the lowest one; whatever happened, all messages were sent.
/// `counts`: rows by rank. Memory: three times the largest part.
template <class T, class Meet>
void around(process_group& ranks, const matrix_view<const T>& own, std::int64_t cols,
            const std::vector<std::int64_t>& counts, const Meet& meet) {
  constexpr int tag = 1;
  std::vector<T> current, next;
  const auto largest = std::size_t(*std::max_element(counts.begin(), counts.end()) * cols);
  ranks.run_collectively([&] {
    current = dense_rows(own);
    current.resize(largest);
    next.resize(largest);
  });
  const int size = ranks.size(), rank = ranks.rank();
  const auto used = [&](int owner) { return std::size_t(counts[std::size_t(owner)] * cols); };
  failure local_failure;
  for (int step = 0; step < size; ++step) {
    const int owner = (rank + step) % size, following = (owner + 1) % size;
    const bool goes_on = step + 1 < size;
    transfer moved;
    if (goes_on) {
      ranks.start_receive(std::span<T>(next.data(), used(following)), (rank + 1) % size, tag, moved);
      ranks.start_send(std::span<const T>(current.data(), used(owner)), (rank + size - 1) % size, tag, moved);
    }
    local_failure.attempt([&] {
      meet(owner, matrix_view<const T>(current.data(), counts[std::size_t(owner)], cols), [&] { ranks.poke(moved); });
    });
    if (goes_on) ranks.finish(moved);
    ranks.agree(local_failure);
    current.swap(next);
  }
}

/// f(first, last) for parts of `rows` rows, some sixteen of them where there are many, and poke() after each.
template <class Function, class Poke>
void in_parts(std::int64_t rows, const Function& f, const Poke& poke) {
  constexpr std::int64_t tile = 192;  // a multiple of the sides of all tiles
  const std::int64_t part = std::max<std::int64_t>(5, (rows / 16 + tile - 1) / tile) * tile;
  for (std::int64_t first = 0; first < rows; first += part) {
    f(first, std::min(rows, first + part));
    poke();
  }
}

}  // namespace quintet::distributed
