// The same as compiled_templates.cpp of readers and writers of files.
#include <quintet/io/complex_file.hpp>
#include <quintet/io/csv.hpp>
#include <quintet/io/hdf5.hpp>
#include <quintet/io/matrix_file.hpp>
#include <quintet/io/neighbours_index.hpp>
#include <quintet/io/npy.hpp>
#include <quintet/io/shared_matrix.hpp>
#include <quintet/io/sparse_file.hpp>

#include <filesystem>
#include <string>

#include "expect.hpp"

namespace {

std::string scratch(const char* name) { return (std::filesystem::temp_directory_path() / name).string(); }

template <class T>
void files_of_numbers() {
  namespace io = quintet::io;
  const T values[4] = {1, 2, 3, 4};
  const quintet::matrix_view<const T> matrix(values, 2, 2);
  const std::int64_t shape[2] = {2, 2};
  const std::string npy = scratch("quintet_compiled.npy"), h5 = scratch("quintet_compiled.h5");
  io::write_npy<T>(npy, std::span<const T>(values), shape);
  io::write_npy<T>(npy, matrix);
  expect(std::int64_t(io::read_npy<T>(npy).data[3]), 4, "read_npy");
  expect(std::int64_t(io::read_npy_rows<T>(npy, 1, 1).data[0]), 3, "read_npy_rows");
  {
    io::hdf5_writer out(h5);
    out.write<T>("line", std::span<const T>(values));
    out.write<T>("shaped", std::span<const T>(values), shape);
    out.write<T>("matrix", matrix);
    out.create<T>("rows", 2, 2);
    out.write_rows<T>("rows", 0, matrix);
    out.commit();
  }
  expect(std::int64_t(io::read_hdf5<T>(h5, "rows").data[3]), 4, "read_hdf5");
  expect(std::int64_t(io::read_hdf5_rows<T>(h5, "matrix", 1, 1).data[0]), 3, "read_hdf5_rows");
  std::filesystem::remove(npy);
  std::filesystem::remove(h5);
}

template <class Real>
void files_of_matrices() {
  namespace io = quintet::io;
  const Real values[4] = {1, 2, 3, 4};
  const quintet::matrix_view<const Real> matrix(values, 2, 2);
  const std::string csv = scratch("quintet_compiled.csv"), npy = scratch("quintet_compiled_matrix.npy");
  io::write_csv<Real>(csv, matrix);
  expect(std::int64_t(io::read_csv<Real>(csv).values.data[3]), 4, "read_csv");
  io::write_matrix<Real>(npy, matrix);
  expect(io::read_matrix<Real>(npy).rows, 2, "read_matrix");
  expect(io::read_matrix_rows<Real>(npy, "", 1, 1).rows, 1, "read_matrix_rows");
  io::shared_matrix_file<Real> shared(npy, "", 2, 2);
  io::write_shared_rows<Real>(shared.place(), npy, 0, matrix);
  shared.commit();
  std::filesystem::remove(csv);
  std::filesystem::remove(npy);
}

template <class Storage>
void files_of_indexes() {
  namespace io = quintet::io;
  const Storage points[3] = {Storage(0.0f), Storage(1.0f), Storage(3.0f)};
  const std::string path = scratch("quintet_compiled.index");
  io::write_index(path, quintet::neighbours::index<Storage>(quintet::matrix_view<const Storage>(points, 3, 1)));
  expect(io::read_index<Storage>(path).size(), 3, "write_index, read_index");
  std::filesystem::remove(path);
}

template <class Value, class Index>
void files_of_sparse_matrices() {
  namespace io = quintet::io;
  const quintet::spgemm::csr<Value, Index> matrix{2, 2, {0, 1, 2}, {1, 0}, {2, 3}};
  const std::string h5 = scratch("quintet_compiled_sparse.h5");
  io::write_sparse<Value, Index>(h5, matrix.view());
  expect(io::read_sparse<Value, Index>(h5).nnz(), 2, "read_sparse");
  expect(io::read_sparse_part<Value, Index>(h5, "", io::read_sparse_rows(h5), 1, 1).nnz(), 1, "read_sparse_part");
  const std::string mtx = scratch("quintet_compiled.mtx");
  io::sparse_block_writer blocks(mtx, 2, 2);
  blocks.write<Value, Index>(0, matrix.view());
  blocks.commit();
  expect(io::read_sparse<Value, Index>(mtx).nnz(), 2, "sparse_block_writer::write");
  const quintet::spgemm::complex_csr<Value, Index> imaginary{1, 1, {0, 1}, {0}, {{0, 1}}};
  io::write_complex_sparse<Value, Index>(mtx, imaginary.view());
  expect(io::read_complex_sparse<Value, Index>(mtx).nnz(), 1, "write_complex_sparse, read_complex_sparse");
  std::filesystem::remove(mtx);
  {
    io::hdf5_writer out(h5);
    io::write_csr<Value, Index>(out, matrix.view(), "group");
    out.commit();
  }
  std::filesystem::remove(h5);
}

}  // namespace

int main() {
  files_of_numbers<float>();
  files_of_numbers<double>();
  files_of_numbers<std::int32_t>();
  files_of_numbers<std::int64_t>();
  files_of_matrices<float>();
  files_of_matrices<double>();
  files_of_indexes<float>();
  files_of_indexes<double>();
  files_of_indexes<quintet::half>();
  files_of_indexes<quintet::bfloat16>();
  files_of_sparse_matrices<float, std::int32_t>();
  files_of_sparse_matrices<float, std::int64_t>();
  files_of_sparse_matrices<double, std::int32_t>();
  files_of_sparse_matrices<double, std::int64_t>();
  return failures;
}
