#include "support/points.hpp"

#include <cmath>
#include <type_traits>

#include "quintet/core/error.hpp"
#include "quintet/core/storage16.hpp"
#include "quintet/io/matrix_file.hpp"

namespace quintet::driver {

namespace {

// "3, 7, 12 and 40 more"
std::string first_of(const std::vector<std::int64_t>& numbers) {
  constexpr std::size_t shown = 10;
  std::string list;
  for (std::size_t i = 0; i < numbers.size() && i < shown; ++i)
    list.append(i == 0 ? "" : ", ").append(std::to_string(numbers[i]));
  return numbers.size() > shown ? text(list, " and ", numbers.size() - shown, " more") : list;
}

/// Numbers as they are stored for the work.
template <class Storage>
io::matrix<Storage> read_as(const std::string& path, const std::string& dataset) {
  using Real = accumulator_t<Storage>;
  io::matrix<Real> read = io::read_matrix<Real>(path, dataset);
  if constexpr (std::is_same_v<Storage, Real>) {
    return read;
  } else {
    io::matrix<Storage> stored{read.rows, read.cols, std::vector<Storage>(read.data.size())};
    for (std::size_t e = 0; e < read.data.size(); ++e) {
      stored.data[e] = Storage(read.data[e]);
      if (std::isfinite(read.data[e]) && !std::isfinite(Real(stored.data[e])))
        throw FileError(path, text("holds ", read.data[e], " in row ", e / std::size_t(read.cols),
                                   " (counting from 0), too large for --precision ",
                                   std::is_same_v<Storage, half> ? "half; bfloat16 and float hold it" : "bfloat16"));
    }
    return stored;
  }
}

}  // namespace

template <class Storage>
io::matrix<Storage> read_points(session& session, const std::string& path, const std::string& dataset) {
  auto points = session.timed("read", [&] { return read_as<Storage>(path, dataset); });
  if (points.rows == 0) throw FileError(path, "holds no points");
  if (points.cols == 0) throw FileError(path, "holds points without coordinates");
  session.result("n", points.rows);
  session.result("dim", points.cols);
  return points;
}

template <class Storage>
io::matrix<Storage> read_further_points(session& session, const std::string& path, std::int64_t dim) {
  auto points = session.timed("read", [&] { return read_as<Storage>(path, ""); });
  if (points.rows == 0) throw FileError(path, "holds no points");
  if (points.cols != dim)
    throw FileError(path, text("holds points of ", points.cols, " coordinates where those of the input have ", dim));
  return points;
}

#define QUINTET_INSTANTIATE(Storage)                                                          \
  template io::matrix<Storage> read_points(session&, const std::string&, const std::string&); \
  template io::matrix<Storage> read_further_points(session&, const std::string&, std::int64_t);
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(double)
QUINTET_INSTANTIATE(half)
QUINTET_INSTANTIATE(bfloat16)
#undef QUINTET_INSTANTIATE

void report(session& session, const neighbour_facts& facts, metric distance) {
  session.result("neighbours", facts.neighbours);
  session.result("clamped", facts.clamped);
  session.result("invalid_rows", facts.invalid_rows);
  if (facts.clamped)
    session.warn(text("min_samples is larger than the number of other points and was lowered to ", facts.neighbours));
  if (!facts.invalid_rows.empty())
    session.warn(text(facts.invalid_rows.size(), " of the rows hold NaN or infinity",
                      distance == metric::cosine     ? " or have length 0"
                      : distance == metric::poincare ? " or lie outside the ball"
                                                     : "",
                      " and are left out (counting from 0): ", first_of(facts.invalid_rows)));
}

}  // namespace quintet::driver
