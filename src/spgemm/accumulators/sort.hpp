// Expand, sort, compress: the products of some rows are written one behind the other, sorted by row, column and
// position, and equal columns added up in that order, which is the order of A's entries (ESC: Bell,
// Dalton and Olson 2012).
#pragma once

#include <bit>

#include "spgemm/accumulators/emit.hpp"

namespace quintet::spgemm {

template <class Value, class Index, int Capacity>
struct sort_memory {
  static_assert(std::has_single_bit(unsigned(Capacity)));
  enum { capacity = Capacity, position_bits = std::bit_width(unsigned(Capacity - 1)), rows = 1 << 12 };
  /// Row in the chunk, position among the products.
  struct key {
    Index column;
    std::uint32_t tag;
    std::uint32_t row() const { return tag >> position_bits; }
    std::uint32_t position() const { return tag & std::uint32_t(capacity - 1); }
  };
  Value value[capacity];
  key keys[capacity];
  std::int32_t offset[capacity];  ///< of the products of each entry of A
};

/// All products of the chunk's rows, in order; returns how many.
template <class Team, class Product, class Memory>
inline std::int32_t expand_products(const Team& team, const Product& r, const chunk& c, Memory& m, std::int32_t* scan) {
  const auto& p = r.p;
  const std::int64_t first = p.a.row_pointers[c.first_row];
  const std::int64_t entries = p.a.row_pointers[c.last_row] - first;
  const team_share share(team, entries);
  const auto length = [&](std::int64_t e) {
    const std::int64_t j = p.a.columns[first + e];
    return std::int32_t(p.b_ends[j] - p.b.row_pointers[j]);
  };
  std::int32_t sum = 0, products = 0;
  for (std::int64_t e = share.begin; e < share.end; ++e) sum += length(e);
  std::int32_t offset = exclusive_scan(team, sum, scan, &products);
  for (std::int64_t e = share.begin; e < share.end; ++e) {
    m.offset[e] = offset;
    offset += length(e);
  }
  team.barrier();
  for (std::int64_t e = team.rank(); e < entries; e += team.size()) {
    // The last row that begins at or before this entry and is not empty.
    std::int64_t low = c.first_row, high = c.last_row;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      if (p.a.row_pointers[middle] <= first + e)
        low = middle;
      else
        high = middle;
    }
    const std::int64_t j = p.a.columns[first + e];
    std::int32_t to = m.offset[e];
    for (std::int64_t q = p.b.row_pointers[j]; q < p.b_ends[j]; ++q, ++to) {
      m.value[to] = Product::multiply(p.a.values[first + e], p.b.values[q]);
      m.keys[to] = {p.b.columns[q], std::uint32_t(low - c.first_row) << Memory::position_bits | std::uint32_t(to)};
    }
  }
  team.barrier();
  return products;
}

/// At most `capacity` products, entries of A and `rows` rows.
template <class Team, class Product, class Memory, class Out>
inline std::int64_t accumulate_sort(const Team& team, const Product& r, const chunk& c, Memory& m, std::int32_t* scan,
                                    Out& out) {
  using key = typename Memory::key;
  const std::int32_t products = expand_products(team, r, c, m, scan);
  team_sort(team, m.keys, products, key{0, 0xffffffffu}, [](const key& x, const key& y) {
    if (x.row() != y.row()) return x.row() < y.row();
    return x.column != y.column ? x.column < y.column : x.tag < y.tag;
  });
  const auto starts_row = [&](std::int32_t e) { return e == 0 || m.keys[e].row() != m.keys[e - 1].row(); };
  const auto starts_entry = [&](std::int32_t e) { return starts_row(e) || m.keys[e].column != m.keys[e - 1].column; };
  const auto is_kept = [&](std::int32_t e) {
    return starts_entry(e) && r.filter.keeps(c.first_row + m.keys[e].row(), m.keys[e].column);
  };
  const team_share share(team, products);
  std::int32_t heads = 0, entries = 0;
  for (std::int32_t e = std::int32_t(share.begin); e < share.end; ++e) heads += is_kept(e);
  std::int64_t place = out.used + exclusive_scan(team, heads, scan, &entries);
  if (!out.room(team, entries)) return no_room;
  std::int64_t* const ends = out.ends + c.first_row + 1;
  for (std::int32_t e = std::int32_t(share.begin); e < share.end; ++e) {
    if (starts_row(e))
      for (std::uint32_t row = e == 0 ? 0 : m.keys[e - 1].row(); row < m.keys[e].row(); ++row) ends[row] = place;
    if (!is_kept(e)) continue;
    auto sum = Product::first_sum(m.value[m.keys[e].position()]);
    for (std::int32_t next = e + 1; next < products && !starts_entry(next); ++next)
      sum = Product::add(sum, m.value[m.keys[next].position()]);
    out.columns[place] = m.keys[e].column;
    out.values[place++] = sum;
  }
  const std::int64_t open = products == 0 ? 0 : m.keys[products - 1].row();
  for (std::int64_t row = open + team.rank(); row < c.last_row - c.first_row; row += team.size())
    ends[row] = out.used + entries;
  return entries;
}

}  // namespace quintet::spgemm
