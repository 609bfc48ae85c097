#include "support/points.hpp"

#include "quintet/core/error.hpp"
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

}  // namespace

template <class Real>
io::matrix<Real> read_points(session& session, const std::string& path, const std::string& dataset) {
  auto points = session.timed("read", [&] { return io::read_matrix<Real>(path, dataset); });
  if (points.rows == 0) throw FileError(path, "holds no points");
  if (points.cols == 0) throw FileError(path, "holds points without coordinates");
  session.result("n", points.rows);
  session.result("dim", points.cols);
  return points;
}

template io::matrix<float> read_points(session&, const std::string&, const std::string&);
template io::matrix<double> read_points(session&, const std::string&, const std::string&);

void report(session& session, const neighbour_facts& facts, metric distance) {
  session.result("neighbours", facts.neighbours);
  session.result("clamped", facts.clamped);
  session.result("invalid_rows", facts.invalid_rows);
  if (facts.clamped)
    session.warn(text("min_samples is larger than the number of other points and was lowered to ", facts.neighbours));
  if (!facts.invalid_rows.empty())
    session.warn(text(facts.invalid_rows.size(), " of the rows hold NaN or infinity",
                      distance == metric::cosine ? " or have length 0" : "",
                      " and are left out (counting from 0): ", first_of(facts.invalid_rows)));
}

}  // namespace quintet::driver
