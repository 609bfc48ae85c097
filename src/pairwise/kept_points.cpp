#include "pairwise/kept_points.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>

#include "instantiate.hpp"
#include "pairwise/check_points.hpp"

namespace quintet::pairwise {

template <class Real>
std::vector<Real> kept_part<Real>::rows(std::int64_t dim) const {
  const auto& packed = points.packed;
  const bool is_shared = packed.device().shares_host_memory();
  const std::vector<Real> copy = is_shared ? std::vector<Real>{} : packed.data.to_vector();
  const Real* const panels = is_shared ? packed.data.data() : copy.data();
  std::vector<Real> to(packed.count * dim);
  for (std::int64_t i = 0; i < packed.count; ++i) {
    const Real* const from = detail::coordinates(panels, packed.dim, i);
    for (std::int64_t k = 0; k < dim; ++k) to[i * dim + k] = from[k * panel_points<Real>];
  }
  return to;
}

template <class Real>
std::int64_t kept_part<Real>::bytes() const {
  return std::int64_t(sizeof *this + points.order.size() * sizeof(std::int32_t)) + points.packed.data.bytes() +
         points.packed.factor.bytes() + points.tree.bytes() + number_on_device.bytes();
}

template <class Real>
std::vector<Real> kept_points<Real>::packed_rows() const {
  std::vector<Real> to(count * dim, std::numeric_limits<Real>::quiet_NaN());
  for (const auto& part : parts) {
    const std::vector<Real> from = part->rows(dim);
    for (std::int64_t i = 0; i < part->count(); ++i)
      std::copy_n(from.begin() + i * dim, dim, to.begin() + std::int64_t(part->points.order[i]) * dim);
  }
  return to;
}

template <class Real>
std::vector<Real> kept_points<Real>::stored_rows() const {
  if (rows) return *rows;
  std::vector<Real> to = packed_rows();
  for (Real& x : to) x /= scale;
  return to;
}

namespace {

constexpr std::int64_t usual_neighbours = 10;

// The share of the points that a walk may look at for batches to be faster than a pass over all pairs: a walk computes
// what it looks at about 5 times as slowly as tiles do (measured at 32 and 128 dimensions).
constexpr double worthwhile_walk = 0.125;

/// Points that a walk to a point's nearest looks at, by a sample of the points.
template <class Real>
double sampled_walk(const tree_points<Real>& points) {
  constexpr std::int64_t samples = 32, length = usual_neighbours + 1;
  const std::int64_t count = points.packed.count, dim = points.packed.dim;
  std::vector<Real> x(dim), value(length);
  std::vector<std::int32_t> index(length);
  std::int64_t pairs = 0;
  for (std::int64_t s = 0; s < samples; ++s) {
    const std::int64_t i = s * count / samples;
    const Real* from = detail::coordinates(points.packed.data.data(), dim, i);
    for (std::int64_t k = 0; k < dim; ++k) x[k] = from[k * panel_points<Real>];
    nearest_sink<Real> sink({value.data(), index.data(), int(length)});
    const Real factor = points.packed.factor.size() > 0 ? points.packed.factor.data()[i] : Real(1);
    pairs += walk(points.tree.view(), walking_point<Real>{x.data(), factor}, false, sink);
  }
  return double(pairs) / double(samples);
}

/// Whether batches are searched for by the tree of these points, as the share of pairs says that has to be computed.
template <class Real>
bool tree_pays(const tree_points<Real>& points, kept_points<Real>& state) {
  if (state.on_host() && state.settings.method != search_choice::all_pairs) state.pairs_of_walk = sampled_walk(points);
  if (state.settings.method != search_choice::automatic) return state.settings.method == search_choice::tree;
  if (points.packed.count < min_tree_points) return false;
  if (state.on_host()) return state.pairs_of_walk <= worthwhile_walk * double(points.packed.count);
  return sampled_share(points.tree, int(usual_neighbours)) <= worthwhile_share;
}

template <class Storage, class Real>
void add_part(kept_points<Real>& state, const scanned_points<Storage>& scanned, const std::vector<std::int32_t>& rows,
              const std::vector<std::int32_t>& numbers) {
  state.parts.push_back(std::make_shared<const kept_part<Real>>(scanned, rows, numbers, state.layout));
}

/// Adds the largest part, rows in the order of its tree, and decides how batches are answered.
template <class Storage, class Real>
void add_first_part(kept_points<Real>& state, const scanned_points<Storage>& scanned,
                    const std::vector<std::int32_t>& rows, const std::vector<std::int32_t>& numbers) {
  const auto wide = all_pairs_layout<Real>(state.device);
  const bool is_narrow = state.dim <= max_tree_dimensions && state.settings.method != search_choice::all_pairs;
  state.layout = is_narrow ? tree_layout() : wide;
  add_part(state, scanned, rows, numbers);
  state.batches_use_tree = tree_pays(state.parts[0]->points, state);
  if (!is_narrow || state.batches_use_tree) return;
  // Tiles of all pairs pad the dimension. Where that takes much memory, leaves of the tree are the tiles.
  state.batches_use_tree = 2 * state.dim < wide.dim_multiple;
  if (state.batches_use_tree) return;
  state.parts.clear();
  state.layout = wide;
  add_part(state, scanned, rows, numbers);
}

/// Orders and packs the valid points. `scanned` are those of `state`.
template <class Storage, class Real>
void order_points(kept_points<Real>& state, const scanned_points<Storage>& scanned) {
  const std::vector<std::int32_t> valid = scanned.valid_rows();
  state.invalid = scanned.invalid_rows();
  if (!valid.empty()) add_first_part(state, scanned, tree_points<Real>::ordered(scanned, valid), {});
}

/// Magnitudes of the coordinates of valid rows.
template <class Storage>
magnitudes<accumulator_t<Storage>> magnitudes_of(const matrix_view<const Storage>& points,
                                                 const scanned_points<Storage>& scanned) {
  magnitudes<accumulator_t<Storage>> all;
  const auto rows = stored(points);
  // Short rows one by one take several times as long.
  if (points.stride() == points.cols() && scanned.valid_count() == points.rows())
    return magnitudes<accumulator_t<Storage>>::of(points.data(), points.rows() * points.cols());
  for (std::int64_t i = 0; i < rows.count; ++i)
    if (scanned.valid(i)) all.take_in(magnitudes<accumulator_t<Storage>>::of(rows.row(i), rows.dim));
  return all;
}

/// Whether coordinates of these magnitudes have fewer digits when they are packed.
template <class Real>
bool loses_digits(const magnitudes<Real>& coordinates, Real scale) {
  return coordinates.least * scale < std::numeric_limits<Real>::min();
}

/// What packing leaves of the points' coordinates: notes their magnitudes, and keeps them where digits are lost, or
/// where others are packed. Row i is point numbers[i], or point i without numbers.
template <class Storage, class Real>
void note_coordinates(kept_points<Real>& state, const matrix_view<const Storage>& points,
                      const scanned_points<Storage>& scanned, const std::vector<std::int32_t>& numbers) {
  const bool keeps_rows = is_packed_as_other(state.kind);
  if (!state.has_scale() && !keeps_rows) return;
  const device::staged_in on_host(points, Device::host());
  state.coordinates = magnitudes_of<Storage>(on_host.view(), scanned);
  if (!keeps_rows && !loses_digits(state.coordinates, state.scale)) return;
  const auto rows = stored(on_host.view());
  // Words that are no number would be integers out of range; those of rows of zeros are invalid as they are.
  const Real missing = is_of_words(state.kind) ? Real(0) : std::numeric_limits<Real>::quiet_NaN();
  state.rows.emplace(state.count * state.dim, missing);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    if (!scanned.valid(i)) continue;
    const std::int64_t number = numbers.empty() ? i : numbers[i];
    for (std::int64_t k = 0; k < rows.dim; ++k) (*state.rows)[number * rows.dim + k] = rows.at(i, k);
  }
}

template <class Real>
kept_points<Real> empty_state(std::int64_t count, std::int64_t dim, const keep_options& settings,
                              const Device& device) {
  kept_points<Real> state;
  state.settings = settings;
  state.device = device;
  state.count = count;
  state.dim = dim;
  return state;
}

/// Takes over how distances are measured.
template <class Storage, class Real>
void take_measure(kept_points<Real>& state, const scanned_points<Storage>& scanned) {
  state.kind = scanned.kind();
  state.ball = scanned.ball();
  state.measure = scanned.measure;
  state.scale = scanned.scale();
}

/// Points of cosine that are at length 1 already.
template <class Real>
kept_points<Real> keep_directions(const std::vector<Real>& rows, const kept_points<Real>& old) {
  auto state = empty_state<Real>(std::int64_t(rows.size()) / old.dim, old.dim, old.settings, old.device);
  state.kind = old.kind;
  state.measure = old.measure;
  order_points(state, scanned_as_packed(rows, state));
  return state;
}

template <class Real>
std::vector<Real> joined(std::vector<Real> rows, const std::vector<Real>& behind) {
  rows.insert(rows.end(), behind.begin(), behind.end());
  return rows;
}

/// Further points as the index keeps them: cosine's at length 1, others as they come.
template <class Storage, class Real>
std::vector<Real> rows_to_keep(const kept_points<Real>& old, const matrix_view<const Storage>& more) {
  if (old.kind == metric::cosine) return keep<Storage>(more, old.settings, old.device).packed_rows();
  const device::staged_in on_host(more, Device::host());
  const auto from = stored(on_host.view());
  std::vector<Real> rows;
  rows.reserve(from.count * from.dim);
  for (std::int64_t i = 0; i < from.count; ++i)
    for (std::int64_t k = 0; k < from.dim; ++k) rows.push_back(from.at(i, k));
  return rows;
}

/// Rows that rows_to_keep() gave, looked at.
template <class Real>
scanned_points<Real> scanned_as_kept(const std::vector<Real>& rows, const kept_points<Real>& state) {
  if (state.kind == metric::cosine) return scanned_as_packed(rows, state);
  scanned_points<Real> scanned(matrix_view<const Real>(rows.data(), std::int64_t(rows.size()) / state.dim, state.dim),
                               state.settings.distance, state.device);
  if (state.has_scale()) scanned.share_scale(state.coordinates.largest);
  return scanned;
}

/// The coordinates of the points of a part as they came, in the order of its tree.
template <class Real>
std::vector<Real> stored_rows_of(const kept_part<Real>& part, const kept_points<Real>& state) {
  std::vector<Real> rows;
  if (!state.rows) {
    for (Real& x : rows = part.rows(state.dim)) x /= state.scale;
    return rows;
  }
  rows.reserve(part.count() * state.dim);
  for (const std::int32_t number : part.points.order) {
    const auto row = state.rows->begin() + number * state.dim;
    rows.insert(rows.end(), row, row + state.dim);
  }
  return rows;
}

/// Adds a part of the rows, which begin at number `first`, and of the last parts that are less than twice as large as
/// what joins them. False, and nothing is added, if that is all parts.
template <class Real>
bool add_to_parts(kept_points<Real>& state, std::vector<Real> rows, const std::vector<std::int32_t>& valid,
                  std::int64_t first) {
  std::vector<Real> members;
  std::vector<std::int32_t> numbers;
  for (const std::int32_t i : valid) {
    numbers.push_back(std::int32_t(first + i));
    members.insert(members.end(), rows.begin() + i * state.dim, rows.begin() + (i + 1) * state.dim);
  }
  auto& parts = state.parts;
  while (!parts.empty() && parts.back()->count() < 2 * std::int64_t(numbers.size())) {
    if (parts.size() == 1) return false;
    rows = stored_rows_of(*parts.back(), state);
    members.insert(members.end(), rows.begin(), rows.end());
    numbers.insert(numbers.end(), parts.back()->points.order.begin(), parts.back()->points.order.end());
    parts.pop_back();
  }
  if (parts.empty()) return false;
  if (numbers.empty()) return true;
  const auto scanned = scanned_as_kept(members, state);
  add_part(state, scanned, tree_points<Real>::ordered(scanned, scanned.valid_rows()), numbers);
  return true;
}

/// Numbers below `count` that are not among these, ascending.
std::vector<std::int64_t> numbers_left_out(const std::vector<std::int32_t>& numbers, std::int64_t count) {
  std::vector<bool> is_among(count);
  for (const std::int32_t number : numbers) is_among[number] = true;
  std::vector<std::int64_t> absent;
  for (std::int64_t i = 0; i < count; ++i)
    if (!is_among[i]) absent.push_back(i);
  return absent;
}

}  // namespace

template <class Storage>
kept_points<accumulator_t<Storage>> keep(matrix_view<const Storage> points, const keep_options& settings,
                                         const Device& device) {
  check_points(points);
  auto state = empty_state<accumulator_t<Storage>>(points.rows(), points.cols(), settings, device);
  const scanned_points<Storage> scanned(points, settings.distance, device);
  take_measure(state, scanned);
  note_coordinates(state, points, scanned, {});
  order_points(state, scanned);
  return state;
}

template <class Storage>
kept_points<accumulator_t<Storage>> appended(const kept_points<accumulator_t<Storage>>& old,
                                             matrix_view<const Storage> more) {
  using Real = accumulator_t<Storage>;
  if (more.rows() == 0) return old;
  const std::vector<Real> rows = rows_to_keep(old, more);
  kept_points<Real> state = old;
  state.count += more.rows();
  auto scanned = scanned_as_kept(rows, state);
  if (state.has_scale()) {
    state.coordinates.take_in(magnitudes_of(matrix_view<const Real>(rows.data(), more.rows(), old.dim), scanned));
    scanned.share_scale(state.coordinates.largest);
  }
  const bool is_packed_alike =
      !old.has_scale() || (scanned.scale() == old.scale && !old.rows && !loses_digits(state.coordinates, state.scale));
  for (const std::int64_t i : scanned.invalid_rows()) state.invalid.push_back(old.count + i);
  if (is_packed_as_other(old.kind)) state.rows = joined(*old.rows, rows);
  if (is_packed_alike && add_to_parts(state, rows, scanned.valid_rows(), old.count)) return state;
  if (old.kind == metric::cosine) return keep_directions(joined(old.packed_rows(), rows), old);
  const std::vector<Real> all = joined(old.stored_rows(), rows);
  return keep(matrix_view<const Real>(all.data(), state.count, old.dim), old.settings, old.device);
}

template <class Row>
std::optional<kept_points<accumulator_t<Row>>> keep(const ordered_rows<Row>& points, const Device& device) {
  using Real = accumulator_t<Row>;
  auto state = empty_state<Real>(points.count, points.dim, points.settings, device);
  const auto valid = std::int64_t(points.numbers.size());
  const matrix_view<const Row> rows(points.rows.data(), valid, points.dim);
  const bool are_directions = points.settings.distance.kind == metric::cosine;
  if (are_directions) take_measure(state, scanned_points<Real>({nullptr, 0, points.dim}, metric::cosine, device));
  const auto scanned = [&] {
    if constexpr (std::is_same_v<Row, Real>)
      if (are_directions) return scanned_as_packed(points.rows, state);
    return scanned_points<Row>(rows, points.settings.distance, device);
  }();
  if (scanned.valid_count() < valid) return std::nullopt;
  if (!are_directions) {
    take_measure(state, scanned);
    note_coordinates(state, rows, scanned, points.numbers);
  }
  if (valid < points.count) state.invalid = numbers_left_out(points.numbers, points.count);
  std::int64_t first = 0;
  for (const std::int64_t size : points.parts) {
    std::vector<std::int32_t> in_order(size);
    std::iota(in_order.begin(), in_order.end(), std::int32_t(first));
    if (first == 0)
      add_first_part(state, scanned, in_order, points.numbers);
    else
      add_part(state, scanned, in_order, points.numbers);
    first += size;
  }
  return state;
}

#define QUINTET_INSTANTIATE(Real)  \
  template struct kept_part<Real>; \
  template struct kept_points<Real>;
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE
#define QUINTET_INSTANTIATE(Storage)                                                                                 \
  template kept_points<accumulator_t<Storage>> keep(matrix_view<const Storage>, const keep_options&, const Device&); \
  template kept_points<accumulator_t<Storage>> appended(const kept_points<accumulator_t<Storage>>&,                  \
                                                        matrix_view<const Storage>);                                 \
  template std::optional<kept_points<accumulator_t<Storage>>> keep(const ordered_rows<Storage>&, const Device&);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::pairwise
