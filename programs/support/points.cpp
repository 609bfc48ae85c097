#include "support/points.hpp"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "quintet/core/error.hpp"
#include "quintet/core/storage16.hpp"
#include "quintet/io/matrix_file.hpp"
#ifdef QUINTET_HAS_MPI
#include "quintet/mpi/files.hpp"
#endif

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

/// Numbers as they are stored for the work; rows from first_row on.
template <class Storage>
io::matrix<Storage> stored_as(io::matrix<accumulator_t<Storage>> read, const std::string& path,
                              std::int64_t first_row = 0) {
  using Real = accumulator_t<Storage>;
  if constexpr (std::is_same_v<Storage, Real>) {
    return read;
  } else {
    io::matrix<Storage> stored{read.rows, read.cols, std::vector<Storage>(read.data.size())};
    for (std::size_t e = 0; e < read.data.size(); ++e) {
      stored.data[e] = Storage(read.data[e]);
      if (std::isfinite(read.data[e]) && !std::isfinite(Real(stored.data[e])))
        throw FileError(path, text("holds ", read.data[e], " in row ", first_row + std::int64_t(e) / read.cols,
                                   " (counting from 0), too large for --precision ",
                                   std::is_same_v<Storage, half> ? "half; bfloat16 and float hold it" : "bfloat16"));
    }
    return stored;
  }
}

template <class Storage>
io::matrix<Storage> read_as(const std::string& path, const std::string& dataset) {
  return stored_as<Storage>(io::read_matrix<accumulator_t<Storage>>(path, dataset), path);
}

void require_points(const std::string& path, std::int64_t rows, std::int64_t cols) {
  if (rows == 0) throw FileError(path, "holds no points");
  if (cols == 0) throw FileError(path, "holds points without coordinates");
}

}  // namespace

#ifdef QUINTET_HAS_MPI
template <class Storage>
shared_points<Storage> read_shared_points(session& session, const std::string& path, const std::string& dataset,
                                          bool further) {
  mpi::communicator& ranks = *session.ranks();
  shared_points<Storage> points;
  session.timed("read", [&] {
    auto read = mpi::read_rows<accumulator_t<Storage>>(ranks, path, dataset);
    points.first_row = read.first_row;
    points.all_rows = read.all_rows;
    ranks.run_collectively([&] { points.own = stored_as<Storage>(std::move(read.rows), path, read.first_row); });
  });
  ranks.run_collectively([&] { require_points(path, points.all_rows, points.own.cols); });
  if (further) return points;
  session.result("n", points.all_rows);
  session.result("dim", points.own.cols);
  return points;
}

template shared_points<float> read_shared_points(session&, const std::string&, const std::string&, bool);
template shared_points<double> read_shared_points(session&, const std::string&, const std::string&, bool);
template shared_points<half> read_shared_points(session&, const std::string&, const std::string&, bool);
template shared_points<bfloat16> read_shared_points(session&, const std::string&, const std::string&, bool);
#endif

template <class Storage>
io::matrix<Storage> read_points(session& session, const std::string& path, const std::string& dataset) {
  auto points = session.timed("read", [&] { return read_as<Storage>(path, dataset); });
  require_points(path, points.rows, points.cols);
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

namespace {

/// The bits of a number of a file; throws FileError for one that the metric does not take.
std::uint64_t bits_of_number(double number, std::int64_t row, const std::string& path, metric kind) {
  const bool is_taken =
      is_of_bits(kind) ? number == 0 || number == 1 : number >= -255 && number <= 255 && number == std::rint(number);
  if (!is_taken)
    throw FileError(path,
                    text("holds ", number, " in row ", row, " (counting from 0), where --metric ", to_string(kind),
                         is_of_bits(kind) ? " takes 0 and 1" : " takes integers in [-255, 255]"));
  return is_of_bits(kind) ? std::uint64_t(number) : std::uint16_t(std::int16_t(number));
}

/// Throws FileError for rows that are not those of the factors of a product.
void check_factors(std::int64_t cols, const std::string& path, const product_space& space) {
  std::int64_t dim = 0;
  for (const product::factor& factor : space.factors()) dim += factor.dim;
  if (cols != dim) throw FileError(path, text("holds points of ", cols, " coordinates where --factors have ", dim));
}

}  // namespace

template <class Storage>
void pack_words(io::matrix<Storage>& points, const std::string& path, point_metric& distance) {
  if (distance.kind == metric::product && points.cols > 0) check_factors(points.cols, path, distance.space);
  if (!is_of_words(distance.kind) || points.cols == 0) return;
  if constexpr (!std::is_same_v<Storage, double>) {
    throw InvalidArgument(text("--metric ", to_string(distance.kind), " needs --precision double or auto"));
  } else {
    const std::int64_t width = is_of_bits(distance.kind) ? 1 : bits_of_integer, in_word = 64 / width;
    distance.bits = width * points.cols;
    const std::int64_t words = (points.cols + in_word - 1) / in_word;
    std::vector<std::uint64_t> packed(points.rows * words);
    for (std::int64_t i = 0; i < points.rows; ++i)
      for (std::int64_t k = 0; k < points.cols; ++k)
        packed[i * words + k / in_word] |= bits_of_number(points.data[i * points.cols + k], i, path, distance.kind)
                                           << (k % in_word * width);
    points.cols = words;
    points.data.resize(packed.size());
    if (!packed.empty()) std::memcpy(points.data.data(), packed.data(), packed.size() * sizeof(double));
  }
}

std::int64_t columns_in_files(const point_metric& distance, std::int64_t cols) {
  return is_of_bits(distance.kind) ? distance.bits : dimension_of(distance, cols);
}

std::vector<double> read_weights(session& session, const std::string& path, std::int64_t rows) {
  auto weights = session.timed("read", [&] { return io::read_matrix<double>(path); });
  if (weights.cols != 1) throw FileError(path, text("holds ", weights.cols, " numbers a row where weights have one"));
  if (weights.rows != rows) throw FileError(path, text("holds ", weights.rows, " weights for ", rows, " points"));
  for (std::int64_t i = 0; i < rows; ++i)
    if (!(weights.data[i] >= 0) || !std::isfinite(weights.data[i]))
      throw FileError(path, text("holds ", weights.data[i], " in row ", i,
                                 " (counting from 0), where weights are >= 0 and finite"));
  return std::move(weights.data);
}

#define QUINTET_INSTANTIATE(Storage)                                                            \
  template io::matrix<Storage> read_points(session&, const std::string&, const std::string&);   \
  template io::matrix<Storage> read_further_points(session&, const std::string&, std::int64_t); \
  template void pack_words(io::matrix<Storage>&, const std::string&, point_metric&);
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
                      distance == metric::cosine      ? " or have length 0"
                      : distance == metric::poincare  ? " or lie outside the ball"
                      : distance == metric::haversine ? " or latitudes and longitudes out of range"
                                                      : "",
                      " and are left out (counting from 0): ", first_of(facts.invalid_rows)));
}

}  // namespace quintet::driver
