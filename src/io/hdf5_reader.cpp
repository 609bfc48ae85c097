#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "instantiate.hpp"
#include "io/convert_value.hpp"
#include "io/hdf5_attributes.hpp"
#include "io/hdf5_descriptor_driver.hpp"
#include "io/hdf5_session.hpp"
#include "io/input_file.hpp"
#include "quintet/core/error.hpp"
#include "quintet/io/hdf5.hpp"

namespace quintet::io {

namespace {

constexpr std::array<unsigned char, 8> signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

std::string because(std::string reason) { return reason.empty() ? "" : " (HDF5: " + reason + ")"; }

// An HDF5 file open for reading. Members in this order: the session outlives the handles.
struct hdf5_input {
  hdf5_session session;
  input_file source;
  descriptor_file driver;
  file_handle file;

  explicit hdf5_input(const std::string& path) : source(path) {
    if (!source.regular()) throw FileError(path, "is not a regular file; HDF5 needs one");
    std::array<unsigned char, 8> start{};
    const std::size_t count = source.read(start.data(), start.size());
    // A user block may precede the signature; HDF5 looks for it itself then, at 512, 1024, ...
    if (count < start.size() || (start != signature && source.size() < 512))
      throw FileError(path, "is not an HDF5 file");
    driver.descriptor = source.descriptor();
    const property_handle access(H5Pcreate(H5P_FILE_ACCESS));
    if (use_descriptor_driver(access, &driver) >= 0) file = file_handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
    if (!file.valid())
      throw FileError(path, text(start == signature ? "is a damaged HDF5 file" : "is not an HDF5 file",
                                 because(hdf5_session::last_error())));
  }
};

// For opening what another file may hold: it is opened by HDF5's own driver, as ours reads one open file whatever the
// name.
property_handle access_through_links(hid_t kind) {
  property_handle access(H5Pcreate(kind));
  const property_handle other_file(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_elink_fapl(access, other_file);
  return access;
}

herr_t collect_dataset(hid_t, const char* name, const H5O_info_t* info, void* result) {
  if (info->type != H5O_TYPE_DATASET) return 0;
  try {
    static_cast<std::vector<std::string>*>(result)->emplace_back(name);
  } catch (...) {  // exceptions must not pass through C
    return -1;
  }
  return 0;
}

struct link_search {
  hid_t access;
  std::vector<std::string> names;
};

herr_t collect_linked_dataset(hid_t file, const char* name, const H5L_info_t* info, void* result) {
  if (info->type != H5L_TYPE_SOFT && info->type != H5L_TYPE_EXTERNAL) return 0;
  auto* search = static_cast<link_search*>(result);
  const object_handle object(H5Oopen(file, name, search->access));
  if (!object.valid() || H5Iget_type(object) != H5I_DATASET) return 0;
  try {
    search->names.emplace_back(name);
  } catch (...) {  // exceptions must not pass through C
    return -1;
  }
  return 0;
}

// Names of soft and external links to datasets.
std::vector<std::string> linked_datasets(const hdf5_input& input) {
  const property_handle access = access_through_links(H5P_LINK_ACCESS);
  link_search search{access, {}};
  if (H5Lvisit(input.file, H5_INDEX_NAME, H5_ITER_INC, collect_linked_dataset, &search) < 0)
    throw FileError(input.source.path(), text("its links cannot be listed", because(hdf5_session::last_error())));
  return search.names;
}

std::vector<std::string> datasets_of(const hdf5_input& input) {
  std::vector<std::string> names;
#if H5_VERSION_GE(1, 12, 0)
  const herr_t status = H5Ovisit3(input.file, H5_INDEX_NAME, H5_ITER_INC, collect_dataset, &names, H5O_INFO_BASIC);
#else
  const herr_t status = H5Ovisit2(input.file, H5_INDEX_NAME, H5_ITER_INC, collect_dataset, &names, H5O_INFO_BASIC);
#endif
  if (status < 0)
    throw FileError(input.source.path(), text("its datasets cannot be listed", because(hdf5_session::last_error())));
  // Links count where nothing else does: otherwise they are most often second names of what is listed already.
  if (names.empty()) names = linked_datasets(input);
  std::sort(names.begin(), names.end());
  return names;
}

// What a name in the file leads to, where it is a link that cannot be followed.
std::string link_of(const hdf5_input& input, const std::string& name) {
  H5L_info_t info;
  if (H5Lget_info(input.file, name.c_str(), &info, H5P_DEFAULT) < 0) return "";
  if (info.type != H5L_TYPE_SOFT && info.type != H5L_TYPE_EXTERNAL) return "";
  std::vector<char> value(info.u.val_size + 1);
  if (H5Lget_val(input.file, name.c_str(), value.data(), info.u.val_size, H5P_DEFAULT) < 0) return "";
  if (info.type == H5L_TYPE_SOFT) return text("is a soft link to \"", value.data(), "\", which does not exist");
  const char *file = nullptr, *object = nullptr;
  if (H5Lunpack_elink_val(value.data(), info.u.val_size, nullptr, &file, &object) < 0) return "";
  return text("is an external link to \"", object, "\" of the file ", file, ", which cannot be opened");
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t max = 10;
  if (names.empty()) return "there are no datasets";
  std::string list = "there are ";
  for (std::size_t i = 0; i < std::min(names.size(), max); ++i) list += (i > 0 ? ", " : "") + names[i];
  if (names.size() > max) list += text(" and ", names.size() - max, " more");
  return list;
}

// Why a conversion was stopped, and where to write it.
struct conversion_failure {
  bool too_large = false;
  bool fraction = false;
};

H5T_conv_ret_t check_conversion(H5T_conv_except_t exception, hid_t, hid_t, void*, void*, void* data) {
  auto* failure = static_cast<conversion_failure*>(data);
  switch (exception) {
    case H5T_CONV_EXCEPT_RANGE_HI:
    case H5T_CONV_EXCEPT_RANGE_LOW:
    case H5T_CONV_EXCEPT_PINF:
    case H5T_CONV_EXCEPT_NINF:
    case H5T_CONV_EXCEPT_NAN:
      failure->too_large = true;
      return H5T_CONV_ABORT;
    case H5T_CONV_EXCEPT_TRUNCATE:
      failure->fraction = true;
      return H5T_CONV_ABORT;
    default:  // rounding
      return H5T_CONV_UNHANDLED;
  }
}

template <class Real>
bool is_infinite(const void* bytes) {
  Real value;
  std::memcpy(&value, bytes, sizeof value);
  return std::isinf(value);
}

// The same between two formats of real numbers, where infinity and NaN have their like. HDF5's conversion of native
// types calls infinity out of range; left to it, it becomes infinity.
H5T_conv_ret_t check_real_conversion(H5T_conv_except_t exception, hid_t source, hid_t target, void* from, void* to,
                                     void* data) {
  const bool special = exception == H5T_CONV_EXCEPT_PINF || exception == H5T_CONV_EXCEPT_NINF ||
                       exception == H5T_CONV_EXCEPT_NAN ||
                       (H5Tequal(source, H5T_NATIVE_DOUBLE) > 0 && is_infinite<double>(from)) ||
                       (H5Tequal(source, H5T_NATIVE_LDOUBLE) > 0 && is_infinite<long double>(from));
  return special ? H5T_CONV_UNHANDLED : check_conversion(exception, source, target, from, to, data);
}

}  // namespace

std::vector<std::string> hdf5_datasets(const std::string& path) { return datasets_of(hdf5_input(path)); }

namespace {

attribute_handle open_attribute(const hdf5_input& input, const std::string& object, const std::string& name) {
  const char* const of = object.empty() ? "." : object.c_str();
  if (H5Aexists_by_name(input.file, of, name.c_str(), H5P_DEFAULT) <= 0) return {};
  return attribute_handle(H5Aopen_by_name(input.file, of, name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
}

}  // namespace

std::vector<std::int64_t> integers_of_attribute(const std::string& path, const std::string& object,
                                                const std::string& name) {
  const hdf5_input input(path);
  const attribute_handle attribute = open_attribute(input, object, name);
  if (!attribute.valid()) return {};
  const type_handle type(H5Aget_type(attribute));
  const dataspace_handle space(H5Aget_space(attribute));
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  constexpr hssize_t most = 64;
  if (H5Tget_class(type) != H5T_INTEGER || count < 1 || count > most) return {};
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  return H5Aread(attribute, H5T_NATIVE_INT64, values.data()) < 0 ? std::vector<std::int64_t>() : values;
}

std::string text_of_attribute(const std::string& path, const std::string& object, const std::string& name) {
  const hdf5_input input(path);
  const attribute_handle attribute = open_attribute(input, object, name);
  if (!attribute.valid()) return "";
  const type_handle type(H5Aget_type(attribute));
  const dataspace_handle space(H5Aget_space(attribute));
  if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) return "";
  if (H5Tis_variable_str(type) > 0) {
    char* text = nullptr;
    if (H5Aread(attribute, type, &text) < 0 || text == nullptr) return "";
    const std::string value = text;
    H5free_memory(text);
    return value;
  }
  std::vector<char> text(H5Tget_size(type) + 1);
  return H5Aread(attribute, type, text.data()) < 0 ? "" : text.data();
}

namespace {

// A dataset of numbers, open for reading. Members in this order: the file outlives the dataset.
struct hdf5_dataset {
  hdf5_input input;
  std::string name;
  dataset_handle data;
  H5T_class_t type_class = H5T_NO_CLASS;
  dataspace_handle space;
  std::vector<std::int64_t> shape;

  hdf5_dataset(const std::string& path, const std::string& dataset) : input(path), name(dataset) {
    if (name.empty()) {
      const std::vector<std::string> names = datasets_of(input);
      if (names.size() != 1) throw FileError(path, text("one dataset must be chosen by its name: ", listed(names)));
      name = names[0];
    }
    const property_handle access = access_through_links(H5P_DATASET_ACCESS);
    data = dataset_handle(H5Dopen2(input.file, name.c_str(), access));
    if (!data.valid()) {
      const std::string reason = hdf5_session::last_error();
      if (const std::string link = link_of(input, name); !link.empty()) fail(link + because(reason));
      const std::vector<std::string> names = datasets_of(input);
      const bool listed_name = std::find(names.begin(), names.end(), name) != names.end();
      fail(listed_name ? "cannot be opened" + because(reason) : "does not exist; " + listed(names));
    }
    const type_handle type(H5Dget_type(data));
    type_class = H5Tget_class(type);
    if (type_class != H5T_FLOAT && type_class != H5T_INTEGER && type_class != H5T_ENUM) fail("does not hold numbers");
    space = dataspace_handle(H5Dget_space(data));
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 0 || H5Sget_simple_extent_type(space) == H5S_NULL) fail("has no shape");
    std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
    if (rank > 0) H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
    shape.assign(sizes.begin(), sizes.end());
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw FileError(input.source.path(), text("dataset \"", name, "\" ", reason));
  }

  // What is selected in `file`, an array of the shape `part`.
  template <class T>
  array<T> read(hid_t file_selection, std::vector<std::int64_t> part) const {
    const std::string& path = input.source.path();
    array<T> result;
    result.shape = std::move(part);
    const std::int64_t count = element_count(path, result.shape);
    require_memory(path, count, sizeof(T));
    result.data.resize(static_cast<std::size_t>(count));
    if (count == 0) return result;
    conversion_failure failure;
    const property_handle transfer(H5Pcreate(H5P_DATASET_XFER));
    const bool real_to_real = type_class == H5T_FLOAT && std::is_floating_point_v<T>;
    H5Pset_type_conv_cb(transfer, real_to_real ? check_real_conversion : check_conversion, &failure);
    const hsize_t size = static_cast<hsize_t>(count);
    const dataspace_handle memory(H5Screate_simple(1, &size, nullptr));
    const bool is_all = file_selection == H5S_ALL;
    if (H5Dread(data, native_type<T>(), is_all ? H5S_ALL : hid_t(memory), file_selection, transfer,
                result.data.data()) < 0) {
      if (input.driver.error != 0) fail(text("cannot be read: ", std::strerror(input.driver.error)));
      if (failure.too_large) fail(text("holds a value that does not fit into ", type_name<T>()));
      if (failure.fraction) fail(text("holds a value that is not an integer, as ", type_name<T>(), " demands"));
      fail("cannot be read" + because(hdf5_session::last_error()));
    }
    return result;
  }
};

}  // namespace

template <class T>
array<T> read_hdf5(const std::string& path, const std::string& dataset) {
  const hdf5_dataset from(path, dataset);
  return from.read<T>(H5S_ALL, from.shape);
}

std::vector<std::int64_t> hdf5_shape(const std::string& path, const std::string& dataset) {
  return hdf5_dataset(path, dataset).shape;
}

bool hdf5_fits_float(const std::string& path, const std::string& dataset) {
  const hdf5_dataset from(path, dataset);
  const type_handle type(H5Dget_type(from.data));
  if (from.type_class == H5T_ENUM) return H5Tget_size(type) <= 2;
  if (from.type_class == H5T_INTEGER) return H5Tget_precision(type) <= 24;
  std::size_t exponent_bits = 0, mantissa_bits = 0, unused = 0;
  H5Tget_fields(type, &unused, &unused, &exponent_bits, &unused, &mantissa_bits);
  return exponent_bits <= 8 && mantissa_bits <= 23;
}

template <class T>
array<T> read_hdf5_rows(const std::string& path, const std::string& dataset, std::int64_t first, std::int64_t count) {
  const hdf5_dataset from(path, dataset);
  if (from.shape.empty()) from.fail("holds a single number, which has no rows");
  require_rows(first, count, from.shape[0]);
  std::vector<hsize_t> corner(from.shape.size(), 0), extent(from.shape.begin(), from.shape.end());
  corner[0] = static_cast<hsize_t>(first);
  extent[0] = static_cast<hsize_t>(count);
  H5Sselect_hyperslab(from.space, H5S_SELECT_SET, corner.data(), nullptr, extent.data(), nullptr);
  return from.read<T>(from.space, {extent.begin(), extent.end()});
}

#define QUINTET_INSTANTIATE(T)                                            \
  template array<T> read_hdf5<T>(const std::string&, const std::string&); \
  template array<T> read_hdf5_rows<T>(const std::string&, const std::string&, std::int64_t, std::int64_t);
QUINTET_FOR_EACH_ELEMENT(QUINTET_INSTANTIATE)

}  // namespace quintet::io
