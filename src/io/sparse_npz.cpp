#include "io/sparse_npz.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "instantiate.hpp"
#include "io/npy_source.hpp"
#include "io/sparse_entries.hpp"
#include "io/zip_file.hpp"
#include "quintet/core/error.hpp"
#include "quintet/io/atomic_file.hpp"

namespace quintet::io {

namespace {

// The arrays of one archive.
class npz_arrays {
 public:
  explicit npz_arrays(const std::string& path) : zip_(path) {
    if (!zip_.has("format.npy") || !zip_.has("shape.npy") || !zip_.has("data.npy"))
      throw FileError(path, "is no sparse matrix of SciPy, which has the arrays format, shape and data");
    bytes_source source = member("format");
    format = read_npy_word(source);
    const auto sizes = read<std::int64_t>("shape").data;
    if (sizes.size() != 2 || sizes[0] < 0 || sizes[1] < 0)
      throw FileError(path, text("the array shape must hold two numbers >= 0 (it has ", sizes.size(), ")"));
    rows = sizes[0];
    cols = sizes[1];
  }
  const std::string& path() const { return zip_.path(); }
  bool has(const std::string& name) const { return zip_.has(name + ".npy"); }

  template <class T>
  array<T> read(const std::string& name, std::size_t rank = 1) {
    bytes_source source = member(name);
    auto values = read_npy<T>(source);
    if (values.shape.size() != rank)
      throw FileError(path(),
                      text("the array ", name, " must have ", rank, " dimensions (it has ", values.shape.size(), ")"));
    return values;
  }

  std::string format;
  std::int64_t rows = 0, cols = 0;

 private:
  bytes_source member(const std::string& name) { return {text(path(), ":", name), zip_.read(name + ".npy")}; }
  zip_reader zip_;
};

void require_equal_size(const npz_arrays& in, const char* name, std::int64_t size, std::int64_t expected) {
  if (size != expected)
    throw FileError(in.path(), text("the array ", name, " must have ", expected, " elements (it has ", size, ")"));
}

// Row pointers of `count` rows, columns and blocks, of which there may be more than the pointers say.
struct npz_blocks {
  std::vector<std::int64_t> pointers;
  std::int64_t entries = 0;
};

npz_blocks read_pointers(npz_arrays& in, std::int64_t count, std::int64_t indices, std::int64_t values) {
  npz_blocks blocks{in.read<std::int64_t>("indptr").data, 0};
  require_equal_size(in, "indptr", std::int64_t(blocks.pointers.size()), count + 1);
  blocks.entries = blocks.pointers.back();
  if (blocks.pointers.front() != 0 || !std::is_sorted(blocks.pointers.begin(), blocks.pointers.end()) ||
      blocks.entries > std::min(indices, values))
    throw FileError(in.path(), text("the array indptr must begin with 0, not fall, and end with at most the number of "
                                    "indices and data (it ends with ",
                                    blocks.entries, "; ", indices, " indices, ", values, " data)"));
  return blocks;
}

template <class Value, class Index>
spgemm::csr<Value, Index> read_compressed(npz_arrays& in) {
  const bool by_columns = in.format == "csc";
  const auto [rows, cols] = by_columns ? std::pair(in.cols, in.rows) : std::pair(in.rows, in.cols);
  require_size_of_rows<Index>(in.path(), in.rows, in.cols);
  const auto indices = in.read<Index>("indices").data;
  const auto values = in.read<Value>("data").data;
  const npz_blocks all = read_pointers(in, rows, std::int64_t(indices.size()), std::int64_t(values.size()));
  spgemm::csr<Value, Index> m{rows, cols, all.pointers, spgemm::array<Index>(indices.data(), all.entries),
                              spgemm::array<Value>(values.data(), all.entries)};
  check_read(in.path(), m.view());
  return by_columns ? rows_of_columns(m) : m;
}

template <class Value, class Index>
spgemm::csr<Value, Index> read_coordinates(npz_arrays& in) {
  require_size_of_rows<Index>(in.path(), in.rows, in.cols);
  std::vector<std::int64_t> row, col;
  if (in.has("coords")) {
    const auto both = in.read<std::int64_t>("coords", 2);
    require_equal_size(in, "coords", both.shape[0], 2);
    row.assign(both.data.begin(), both.data.begin() + both.shape[1]);
    col.assign(both.data.begin() + both.shape[1], both.data.end());
  } else {
    row = in.read<std::int64_t>("row").data;
    col = in.read<std::int64_t>("col").data;
  }
  const auto values = in.read<Value>("data").data;
  require_equal_size(in, "row", std::int64_t(row.size()), std::int64_t(values.size()));
  require_equal_size(in, "col", std::int64_t(col.size()), std::int64_t(values.size()));
  for (std::size_t k = 0; k < values.size(); ++k)
    if (row[k] < 0 || row[k] >= in.rows || col[k] < 0 || col[k] >= in.cols)
      throw FileError(in.path(), text("entry ", k, " (", row[k], ", ", col[k], ") is outside the ", in.rows, " x ",
                                      in.cols, " matrix"));
  return rows_of_entries<Value, Index>(in.rows, in.cols, [&](const auto& append) {
    for (std::size_t k = 0; k < values.size(); ++k) append(row[k], col[k], values[k]);
  });
}

template <class Value, class Index>
spgemm::csr<Value, Index> read_blocks(npz_arrays& in) {
  require_size_of_rows<Index>(in.path(), in.rows, in.cols);
  const auto indices = in.read<std::int64_t>("indices").data;
  const auto values = in.read<Value>("data", 3);
  const std::int64_t height = values.shape[1], width = values.shape[2];
  if (height < 1 || width < 1 || in.rows % height != 0 || in.cols % width != 0)
    throw FileError(in.path(),
                    text("blocks of ", height, " x ", width, " do not divide a matrix of ", in.rows, " x ", in.cols));
  const npz_blocks all = read_pointers(in, in.rows / height, std::int64_t(indices.size()), values.shape[0]);
  for (std::int64_t k = 0; k < all.entries; ++k)
    if (const std::int64_t block = indices[static_cast<std::size_t>(k)]; block < 0 || block >= in.cols / width)
      throw FileError(in.path(), text("column ", block, " of block ", k, " is not in [0, ", in.cols / width, ")"));
  return rows_of_entries<Value, Index>(in.rows, in.cols, [&](const auto& append) {
    for (std::int64_t i = 0; i < in.rows; ++i) {
      const auto row = static_cast<std::size_t>(i / height);
      for (std::int64_t k = all.pointers[row]; k < all.pointers[row + 1]; ++k)
        for (std::int64_t j = 0; j < width; ++j)
          append(i, indices[static_cast<std::size_t>(k)] * width + j,
                 values.data[static_cast<std::size_t>((k * height + i % height) * width + j)]);
    }
  });
}

// Element (d, j) is the entry (j - offsets[d], j); those that are 0 are none, as in SciPy.
template <class Value, class Index>
spgemm::csr<Value, Index> read_diagonals(npz_arrays& in) {
  require_size_of_rows<Index>(in.path(), in.rows, in.cols);
  const auto offsets = in.read<std::int64_t>("offsets").data;
  const auto values = in.read<Value>("data", 2);
  require_equal_size(in, "offsets", std::int64_t(offsets.size()), values.shape[0]);
  const std::int64_t length = std::min(values.shape[1], in.cols);
  return rows_of_entries<Value, Index>(in.rows, in.cols, [&](const auto& append) {
    for (std::size_t d = 0; d < offsets.size(); ++d) {
      const std::int64_t offset = offsets[d];
      if (offset >= length || offset <= -in.rows) continue;
      const std::int64_t begin = std::max<std::int64_t>(offset, 0), end = std::min(length, in.rows + offset);
      for (std::int64_t j = begin; j < end; ++j) {
        const Value value = values.data[d * std::size_t(values.shape[1]) + std::size_t(j)];
        if (value != 0) append(j - offset, j, value);
      }
    }
  });
}

template <class T>
void write_member(zip_writer& zip, const char* name, std::span<const T> values) {
  const std::int64_t shape[] = {std::int64_t(values.size())};
  const std::string head = npy_header_text<T>(shape);
  zip.begin(name);
  zip.write(head.data(), head.size());
  zip.write(values.data(), values.size_bytes());
  zip.end();
}

}  // namespace

template <class Value, class Index>
spgemm::csr<Value, Index> read_sparse_npz(const std::string& path) {
  npz_arrays in(path);
  if (in.format == "csr" || in.format == "csc") return read_compressed<Value, Index>(in);
  if (in.format == "coo") return read_coordinates<Value, Index>(in);
  if (in.format == "bsr") return read_blocks<Value, Index>(in);
  if (in.format == "dia") return read_diagonals<Value, Index>(in);
  throw FileError(path, text("has the format \"", in.format, "\"; allowed are csr, csc, coo, bsr, dia"));
}

template <class Value, class Index>
void write_sparse_npz(const std::string& path, const spgemm::csr_view<Value, Index>& m) {
  const auto count = static_cast<std::size_t>(m.nnz());
  const std::int64_t first = m.rows > 0 ? m.row_pointers[0] : 0;
  std::vector<std::int64_t> pointers(static_cast<std::size_t>(m.rows) + 1);
  for (std::int64_t i = 0; i < m.rows; ++i) pointers[static_cast<std::size_t>(i) + 1] = m.row_pointers[i + 1] - first;
  const std::int64_t shape[] = {m.rows, m.cols};
  atomic_file out(path);
  zip_writer zip(out);
  write_member<Index>(zip, "indices.npy", {m.columns + first, count});
  write_member<std::int64_t>(zip, "indptr.npy", pointers);
  const std::string format = npy_word("csr");
  zip.begin("format.npy");
  zip.write(format.data(), format.size());
  zip.end();
  write_member<std::int64_t>(zip, "shape.npy", shape);
  write_member<Value>(zip, "data.npy", {m.values + first, count});
  zip.finish();
  out.commit();
}

#define QUINTET_INSTANTIATE(Value, Index)                                 \
  template spgemm::csr<Value, Index> read_sparse_npz(const std::string&); \
  template void write_sparse_npz(const std::string&, const spgemm::csr_view<Value, Index>&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)

}  // namespace quintet::io
