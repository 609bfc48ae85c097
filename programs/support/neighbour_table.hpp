// The table of nearest neighbours that quintet-neighbours and quintet-poincare write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "quintet/io/csv.hpp"
#include "quintet/io/file_format.hpp"
#include "quintet/io/hdf5.hpp"
#include "support/driver.hpp"

namespace quintet::driver {

/// What --output says: .csv with header query,nn1,d1,nn2,d2,...; .h5 with datasets index and distance [queries, k].
template <class Found>
void write_neighbours(session& session, const std::string& path, const Found& lists) {
  const std::int64_t n = lists.queries, k = lists.k;
  if (io::format_of(path) == io::file_format::hdf5) {
    io::hdf5_writer out(path);
    out.write("index", matrix_view<const std::int64_t>(lists.index.data(), n, k));
    out.write("distance",
              matrix_view<const typename decltype(lists.distance)::value_type>(lists.distance.data(), n, k));
    session.write_attributes(out);
    return out.commit();
  }
  std::vector<std::string> names{"query"};
  for (std::int64_t e = 1; e <= k; ++e) {
    names.push_back("nn" + std::to_string(e));
    names.push_back("d" + std::to_string(e));
  }
  io::csv_writer out(path, names);
  for (std::int64_t i = 0; i < n; ++i) {
    out.field(i);
    for (std::int64_t e = i * k; e < (i + 1) * k; ++e) {
      out.field(lists.index[e]);
      out.field(lists.distance[e]);
    }
    out.end_row();
  }
  out.commit();
}

}  // namespace quintet::driver
