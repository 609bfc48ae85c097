// An index as bytes:
//
//   file_head, and its CRC-32C
//   of metric product its factors, file_factor; their CRC-32C
//   the sizes of the parts, int64; their CRC-32C
//   the numbers of the valid points, int32, one part after another, each in the order of its tree; their CRC-32C
//   the coordinates of these points, row-major, as Storage (cosine: at length 1, in the type of the computation);
//   CRC-32C
//
// Little-endian, nothing between. Points that are not listed are invalid. Boxes follow from the points.
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "core/crc32c.hpp"
#include "instantiate.hpp"
#include "neighbours/index_state.hpp"
#include "pairwise/check_points.hpp"
#include "quintet/core/error.hpp"

namespace quintet::neighbours {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr char magic[] = {'Q', 'U', 'I', 'N', 'T', 'E', 'T', '\n'};
constexpr std::uint32_t format_version = 1;
constexpr std::int32_t metrics = int(metric::integer_inner_product) + 1, searches = int(search::all_pairs) + 1;

struct file_head {
  char magic[8];
  std::uint32_t version;
  std::int32_t storage, metric, search;
  double curvature, p;
  std::int64_t count, dim, valid, parts;
  double sphere_radius;
  std::int32_t unit, bits;  ///< of metric product: the number of factors
};
static_assert(sizeof(file_head) == 88 && std::is_trivially_copyable_v<file_head>);

struct file_factor {
  std::int64_t geometry, dim;
  double curvature, weight;
};

/// The factors of a metric as a file has them, and back.
std::vector<file_factor> in_file(const product_space& space) {
  std::vector<file_factor> factors;
  for (const product::factor& f : space.factors())
    factors.push_back({std::int64_t(f.kind), f.dim, f.curvature, f.weight});
  return factors;
}
product_space from_file(const std::vector<file_factor>& factors) {
  std::vector<product::factor> space;
  for (const file_factor& f : factors) space.push_back({product::geometry(f.geometry), f.dim, f.curvature, f.weight});
  return std::span<const product::factor>(space);
}

class byte_writer {
 public:
  template <class T>
  void add(const T* data, std::int64_t count) {
    const auto section = std::as_bytes(std::span<const T>(data, std::size_t(count)));
    const std::uint32_t checksum = crc32c(section);
    bytes.insert(bytes.end(), section.begin(), section.end());
    const auto end = std::as_bytes(std::span(&checksum, 1));
    bytes.insert(bytes.end(), end.begin(), end.end());
  }
  std::vector<std::byte> bytes;
};

class byte_reader {
 public:
  byte_reader(std::span<const std::byte> bytes, std::string_view label) : bytes_(bytes), label_(label) {}

  /// `count` values. Throws FileError where they end early or are damaged.
  template <class T>
  std::vector<T> take(double count, std::string_view content) {
    if (!(count * sizeof(T) + sizeof(std::uint32_t) <= double(bytes_.size() - at_)))
      fail(text("it ends within its ", content, ", after ", bytes_.size(), " bytes"));
    std::vector<T> values(static_cast<std::size_t>(count));
    const auto section = bytes_.subspan(at_, values.size() * sizeof(T));
    std::uint32_t checksum;
    std::memcpy(&checksum, section.data() + section.size(), sizeof checksum);
    if (crc32c(section) != checksum) fail(text("the checksum of its ", content, " does not agree"));
    if (!values.empty()) std::memcpy(values.data(), section.data(), section.size());
    at_ += section.size() + sizeof checksum;
    return values;
  }
  file_head take_head() {
    if (bytes_.size() < sizeof magic || std::memcmp(bytes_.data(), magic, sizeof magic) != 0)
      throw FileError(label_, "is not an index of neighbours");
    file_head head;
    if (bytes_.size() >= sizeof head) std::memcpy(&head, bytes_.data(), sizeof head);
    if (bytes_.size() >= sizeof head && head.version > format_version)
      throw FileError(label_, text("has version ", head.version, " of the format; this library reads up to version ",
                                   format_version));
    return take<file_head>(1, "head")[0];
  }
  void expect_end() const {
    if (at_ != bytes_.size()) fail(text(bytes_.size() - at_, " bytes follow its end"));
  }
  void require(bool condition, std::string_view reason) const {
    if (!condition) fail(reason);
  }
  std::string_view label() const { return label_; }

 private:
  [[noreturn]] void fail(std::string_view reason) const { throw FileError(label_, text("is damaged: ", reason)); }

  std::span<const std::byte> bytes_;
  std::string_view label_;
  std::size_t at_ = 0;
};

file_head checked_head(byte_reader& reader) {
  const file_head head = reader.take_head();
  reader.require(head.version == format_version && head.storage >= 1 && head.storage <= 4 && head.metric >= 0 &&
                     head.metric < metrics && head.search >= 0 && head.search < searches && head.unit >= 0 &&
                     head.unit <= int(angle_unit::radians),
                 "its head holds an unknown value");
  reader.require(metric(head.metric) != metric::product || (head.bits >= 1 && head.bits <= product_space::max_factors),
                 "its head holds an unknown number of factors");
  reader.require(
      head.count >= 0 && head.valid >= 0 && head.valid <= head.count && head.parts >= 0 && head.parts <= head.valid,
      "the sizes in its head do not agree");
  return head;
}

template <class Row>
pairwise::ordered_rows<Row> read_rows(byte_reader& reader, const file_head& head) {
  pairwise::ordered_rows<Row> points;
  points.settings.distance.kind = metric(head.metric);
  points.settings.distance.curvature = head.curvature;
  points.settings.distance.p = head.p;
  points.settings.distance.sphere_radius = head.sphere_radius;
  points.settings.distance.unit = angle_unit(head.unit);
  if (points.settings.distance.kind == metric::product)
    points.settings.distance.space = from_file(reader.take<file_factor>(head.bits, "factors"));
  else
    points.settings.distance.bits = head.bits;
  points.settings.method = pairwise::search_choice(head.search);
  points.count = head.count;
  points.dim = head.dim;
  points.parts = reader.take<std::int64_t>(double(head.parts), "sizes");
  points.numbers = reader.take<std::int32_t>(double(head.valid), "numbers");
  points.rows = reader.take<Row>(double(head.valid) * double(head.dim), "coordinates");
  reader.expect_end();
  std::int64_t sum = 0;
  for (const std::int64_t size : points.parts) {
    reader.require(size > 0 && size <= head.valid - sum, "the sizes of its parts do not agree with its head");
    sum += size;
  }
  reader.require(sum == head.valid, "the sizes of its parts do not agree with its head");
  std::vector<bool> is_listed(head.count);
  for (const std::int32_t number : points.numbers) {
    reader.require(number >= 0 && number < head.count && !is_listed[number], "its numbers are not a permutation");
    is_listed[number] = true;
  }
  return points;
}

template <class Row>
auto read_state(byte_reader& reader, const file_head& head, const Device& device) {
  std::optional<pairwise::kept_points<accumulator_t<Row>>> points;
  try {
    pairwise::check_points(head.count, head.dim);
    points = pairwise::keep(read_rows<Row>(reader, head), device);
  } catch (const InvalidArgument& error) {
    throw FileError(reader.label(), text("is damaged: ", error.what()));
  }
  reader.require(points.has_value(), "one of its points is not valid");
  return detail::state_of(std::move(*points));
}

}  // namespace

template <class Storage>
std::vector<std::byte> index<Storage>::to_bytes() const {
  const detail::index_state<Real>& state = *state_;
  std::vector<std::int64_t> sizes;
  std::vector<std::int32_t> numbers;
  std::vector<Real> rows;
  for (const auto& part : state.parts) {
    sizes.push_back(part->count());
    numbers.insert(numbers.end(), part->points.order.begin(), part->points.order.end());
    const std::vector<Real> packed = part->rows(state.dim);
    rows.insert(rows.end(), packed.begin(), packed.end());
  }
  const auto valid = std::int64_t(numbers.size());
  file_head head{};
  std::memcpy(head.magic, magic, sizeof magic);
  head.version = format_version;
  head.storage = std::int32_t(scalar_type_of<Storage>());
  head.metric = std::int32_t(state.settings.distance.kind);
  head.search = std::int32_t(state.settings.method);
  head.curvature = state.settings.distance.curvature;
  head.p = state.settings.distance.p;
  head.sphere_radius = state.settings.distance.sphere_radius;
  head.unit = std::int32_t(state.settings.distance.unit);
  const std::vector<file_factor> factors = in_file(state.settings.distance.space);
  const bool is_product = state.kind == metric::product;
  head.bits = std::int32_t(is_product ? std::int64_t(factors.size()) : state.settings.distance.bits);
  head.count = state.count;
  head.dim = state.dim;
  head.valid = valid;
  head.parts = std::int64_t(sizes.size());
  byte_writer out;
  out.bytes.reserve(sizeof head + valid * (4 + state.dim * sizeof(Real)) + sizes.size() * 8 + 16);
  out.add(&head, 1);
  if (is_product) out.add(factors.data(), std::int64_t(factors.size()));
  out.add(sizes.data(), head.parts);
  out.add(numbers.data(), valid);
  if (state.kind == metric::cosine) {
    out.add(rows.data(), valid * state.dim);
    return std::move(out.bytes);
  }
  std::vector<Storage> stored(valid * state.dim);
  for (std::int64_t i = 0; i < valid; ++i)
    for (std::int64_t k = 0; k < state.dim; ++k)
      stored[i * state.dim + k] = Storage(state.rows ? (*state.rows)[std::int64_t(numbers[i]) * state.dim + k]
                                                     : rows[i * state.dim + k] / state.scale);
  out.add(stored.data(), valid * state.dim);
  return std::move(out.bytes);
}

template <class Storage>
index<Storage> index<Storage>::from_bytes(std::span<const std::byte> bytes, const Device& device,
                                          std::string_view label) {
  byte_reader reader(bytes, label);
  const file_head head = checked_head(reader);
  if (head.storage != std::int32_t(scalar_type_of<Storage>()))
    throw FileError(label, text("holds points of ", name_of(scalar_type(head.storage)), ", not of ",
                                name_of(scalar_type_of<Storage>())));
  if (metric(head.metric) == metric::cosine) return index(read_state<Real>(reader, head, device));
  return index(read_state<Storage>(reader, head, device));
}

any_index any_index_from_bytes(std::span<const std::byte> bytes, const Device& device, std::string_view label) {
  byte_reader reader(bytes, label);
  return with_storage(scalar_type(checked_head(reader).storage),
                      [&]<class T>() -> any_index { return index<T>::from_bytes(bytes, device, label); });
}

#define QUINTET_INSTANTIATE(Storage)                                \
  template std::vector<std::byte> index<Storage>::to_bytes() const; \
  template index<Storage> index<Storage>::from_bytes(std::span<const std::byte>, const Device&, std::string_view);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::neighbours
