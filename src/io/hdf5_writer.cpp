#include <cstring>

#include "instantiate.hpp"
#include "io/hdf5_descriptor_driver.hpp"
#include "io/hdf5_session.hpp"
#include "io/input_file.hpp"
#include "quintet/core/error.hpp"
#include "quintet/io/atomic_file.hpp"
#include "quintet/io/hdf5.hpp"

namespace quintet::io {

struct hdf5_writer::state {
  atomic_file output;
  descriptor_file driver;
  file_handle file;

  bool is_left_to_others = false;

  state(std::string path, atomic_file::temporary kind) : output(std::move(path), kind) {}

  // A handle is valid, or the reason why it is not becomes an exception.
  void check(bool succeeded, std::string_view label) const {
    if (driver.error != 0) throw FileError(output.path(), text("cannot be written: ", std::strerror(driver.error)));
    if (succeeded) return;
    const std::string reason = hdf5_session::last_error();
    throw FileError(output.path(), text(label, " cannot be written", reason.empty() ? "" : ": HDF5: ", reason));
  }

  void require_open() const {
    if (!file.valid()) throw FileError(output.path(), "cannot be written: the file is closed");
  }

  // Part by part: HDF5 wants every group on the way to be there before it can be asked for what is in it.
  bool exists(std::string_view name) const {
    for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
      if (H5Lexists(file, std::string(name.substr(0, end)).c_str(), H5P_DEFAULT) <= 0) return false;
      if (end == std::string_view::npos) return true;
    }
  }

  dataset_handle create(std::string_view name, hid_t type, std::span<const hsize_t> shape, bool is_early = false) {
    require_open();
    const std::string path(name);
    const std::string label = text("dataset \"", name, "\"");
    require_argument(!name.empty(), "name of a dataset", "\"\"", "not empty");
    const property_handle links(H5Pcreate(H5P_LINK_CREATE));
    H5Pset_create_intermediate_group(links, 1);
    H5Pset_char_encoding(links, H5T_CSET_UTF8);
    if (exists(name)) throw InvalidArgument(text("dataset \"", name, "\" is already in ", output.path()));
    const dataspace_handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
    const property_handle creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_obj_track_times(creation, false);  // the same values make the same bytes
    if (is_early) {
      H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
      H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    }
    dataset_handle data(H5Dcreate2(file, path.c_str(), type, space, links, creation, H5P_DEFAULT));
    check(data.valid(), label);
    return data;
  }

  template <class T>
  void store(const dataset_handle& data, std::string_view name, hsize_t first_row, matrix_view<const T> values) {
    if (values.rows() == 0 || values.cols() == 0) return;
    const auto rows = static_cast<hsize_t>(values.rows()), cols = static_cast<hsize_t>(values.cols());
    const hsize_t stride = static_cast<hsize_t>(values.stride());
    const hsize_t origin[2] = {0, 0}, extent[2] = {rows, cols}, memory_shape[2] = {rows, stride};
    const dataspace_handle memory(H5Screate_simple(2, memory_shape, nullptr));
    H5Sselect_hyperslab(memory, H5S_SELECT_SET, origin, nullptr, extent, nullptr);
    const dataspace_handle target(H5Dget_space(data));
    const hsize_t corner[2] = {first_row, 0};
    H5Sselect_hyperslab(target, H5S_SELECT_SET, corner, nullptr, extent, nullptr);
    check(H5Dwrite(data, native_type<T>(), memory, target, H5P_DEFAULT, values.data()) >= 0,
          text("dataset \"", name, "\""));
  }

  void attribute(std::string_view object, std::string_view name, hid_t type, const void* value) {
    const hdf5_session session;
    require_open();
    require_argument(!name.empty(), "name of an attribute", "\"\"", "not empty");
    const std::string label = text("attribute \"", name, "\"");
    const object_handle owner(H5Oopen(file, object.empty() ? "/" : std::string(object).c_str(), H5P_DEFAULT));
    if (!owner.valid()) throw InvalidArgument(text(label, ": there is no dataset \"", object, "\" in ", output.path()));
    const std::string key(name);
    if (H5Aexists(owner, key.c_str()) > 0)
      throw InvalidArgument(text(label, " of \"", object, "\" is already in ", output.path()));
    const dataspace_handle scalar(H5Screate(H5S_SCALAR));
    const attribute_handle attribute(H5Acreate2(owner, key.c_str(), type, scalar, H5P_DEFAULT, H5P_DEFAULT));
    check(attribute.valid() && H5Awrite(attribute, type, value) >= 0, label);
  }
};

hdf5_writer::hdf5_writer(std::string path, atomic_file::temporary kind)
    : state_(std::make_unique<state>(std::move(path), kind)) {
  const hdf5_session session;
  if (!state_->output.regular()) throw FileError(state_->output.path(), "cannot be written: HDF5 needs a regular file");
  state_->driver.descriptor = state_->output.descriptor();
  const property_handle access(H5Pcreate(H5P_FILE_ACCESS));
  const herr_t status = use_descriptor_driver(access, &state_->driver);
  // The earliest format that does: every HDF5 since 1.8 reads the file.
  H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
  if (status >= 0)
    state_->file = file_handle(H5Fcreate(state_->output.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
  state_->check(state_->file.valid(), "the HDF5 file");
}

hdf5_writer::~hdf5_writer() {
  const hdf5_session session;
  state_.reset();
}

template <class T>
void hdf5_writer::write(std::string_view name, std::span<const T> values) {
  const hdf5_session session;
  const hsize_t shape[1] = {values.size()};
  const dataset_handle data = state_->create(name, native_type<T>(), shape);
  if (values.empty()) return;
  state_->check(H5Dwrite(data, native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0,
                text("dataset \"", name, "\""));
}

template <class T>
void hdf5_writer::write(std::string_view name, std::span<const T> values, std::span<const std::int64_t> shape) {
  const hdf5_session session;
  require_argument(shape.size() <= H5S_MAX_RANK, "dimensions of the shape", shape.size(), text("<= ", H5S_MAX_RANK));
  const std::int64_t size = checked_element_count(shape);
  require_argument(std::int64_t(values.size()) == size, "number of values", values.size(),
                   text("that of the shape, ", size));
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  const dataset_handle data = state_->create(name, native_type<T>(), extents);
  if (values.empty()) return;
  state_->check(H5Dwrite(data, native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0,
                text("dataset \"", name, "\""));
}

template <class T>
void hdf5_writer::write(std::string_view name, matrix_view<const T> values) {
  const hdf5_session session;
  const hsize_t shape[2] = {static_cast<hsize_t>(values.rows()), static_cast<hsize_t>(values.cols())};
  state_->store(state_->create(name, native_type<T>(), shape), name, 0, values);
}

template <class T>
void hdf5_writer::create(std::string_view name, std::int64_t rows, std::int64_t cols) {
  require_argument(rows >= 0, "rows", rows, ">= 0");
  require_argument(cols >= 0, "cols", cols, ">= 0");
  const hdf5_session session;
  const hsize_t shape[2] = {static_cast<hsize_t>(rows), static_cast<hsize_t>(cols)};
  state_->create(name, native_type<T>(), shape);
}

template <class T>
void hdf5_writer::write_rows(std::string_view name, std::int64_t first_row, matrix_view<const T> values) {
  const hdf5_session session;
  state_->require_open();
  const dataset_handle data(H5Dopen2(state_->file, std::string(name).c_str(), H5P_DEFAULT));
  if (!data.valid()) throw InvalidArgument(text("there is no dataset \"", name, "\" in ", state_->output.path()));
  const dataspace_handle space(H5Dget_space(data));
  hsize_t shape[2] = {0, 0};
  if (H5Sget_simple_extent_ndims(space) != 2 || H5Sget_simple_extent_dims(space, shape, nullptr) != 2)
    throw InvalidArgument(text("dataset \"", name, "\" must be a matrix for rows to be written"));
  const auto rows = static_cast<std::int64_t>(shape[0]), cols = static_cast<std::int64_t>(shape[1]);
  require_argument(values.cols() == cols, "values.cols()", values.cols(), text("that of dataset ", name, ": ", cols));
  require_argument(first_row >= 0 && first_row <= rows - values.rows(), "first_row", first_row,
                   text("in 0 ... ", rows - values.rows(), " for ", values.rows(), " rows of ", rows));
  state_->store(data, name, static_cast<hsize_t>(first_row), values);
}

void hdf5_writer::attribute(std::string_view object, std::string_view name, std::string_view value) {
  const hdf5_session session;
  const type_handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const std::string terminated(value);
  const char* pointer = terminated.c_str();
  state_->attribute(object, name, type, &pointer);
}

void hdf5_writer::real_attribute(std::string_view object, std::string_view name, double value) {
  const hdf5_session session;
  state_->attribute(object, name, H5T_NATIVE_DOUBLE, &value);
}

void hdf5_writer::integer_attribute(std::string_view object, std::string_view name, std::int64_t value) {
  const hdf5_session session;
  state_->attribute(object, name, H5T_NATIVE_INT64, &value);
}

template <class T>
std::int64_t hdf5_writer::leave_rows_to_others(std::string_view name, std::int64_t rows, std::int64_t cols) {
  require_argument(rows >= 0, "rows", rows, ">= 0");
  require_argument(cols >= 0, "cols", cols, ">= 0");
  const hdf5_session session;
  const hsize_t shape[2] = {static_cast<hsize_t>(rows), static_cast<hsize_t>(cols)};
  std::int64_t offset = 0;
  {
    const dataset_handle data = state_->create(name, native_type<T>(), shape, true);
    const haddr_t place = H5Dget_offset(data);
    state_->check(place != HADDR_UNDEF || rows * cols == 0, text("dataset \"", name, "\""));
    if (rows * cols > 0) offset = static_cast<std::int64_t>(place);
  }
  const herr_t status = state_->file.close();
  state_->check(status >= 0, "the HDF5 file");
  state_->is_left_to_others = true;
  return offset;
}

const std::string& hdf5_writer::temporary_path() const noexcept { return state_->output.temporary_path(); }

void hdf5_writer::commit() {
  const hdf5_session session;
  if (state_->is_left_to_others) return state_->output.commit();
  state_->require_open();
  const herr_t status = state_->file.close();
  state_->check(status >= 0, "the HDF5 file");
  state_->output.commit();
}

#define QUINTET_INSTANTIATE(T)                                                                              \
  template void hdf5_writer::write<T>(std::string_view, std::span<const T>);                                \
  template void hdf5_writer::write<T>(std::string_view, std::span<const T>, std::span<const std::int64_t>); \
  template void hdf5_writer::write<T>(std::string_view, matrix_view<const T>);                              \
  template std::int64_t hdf5_writer::leave_rows_to_others<T>(std::string_view, std::int64_t, std::int64_t); \
  template void hdf5_writer::create<T>(std::string_view, std::int64_t, std::int64_t);                       \
  template void hdf5_writer::write_rows<T>(std::string_view, std::int64_t, matrix_view<const T>);
QUINTET_FOR_EACH_ELEMENT(QUINTET_INSTANTIATE)

}  // namespace quintet::io
