// Matrix Market and HDF5 files of sparse matrices.
#include "quintet/io/sparse_file.hpp"

#include <hdf5.h>

#include <complex>
#include <filesystem>
#include <limits>

#include "io/gzip.hpp"
#include "io/npy_source.hpp"
#include "io/zip_file.hpp"
#include "quintet/io/complex_file.hpp"
#include "quintet/spgemm/summary.hpp"
#include "support/sparse_matrices.hpp"
#include "unit/io/temporary_folder.hpp"

namespace quintet::io {
namespace {

class sparse_file : public test::temporary_folder {
 protected:
  spgemm::csr<double, std::int32_t> read(std::string_view content) const {
    return read_sparse<double, std::int32_t>(file("a.mtx", content));
  }
  void expect_bad(std::string_view content, std::string_view words) const {
    SCOPED_TRACE(content);
    QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { read(content); }), words);
  }
};

using matrix = spgemm::csr<double, std::int32_t>;

TEST_F(sparse_file, general_symmetric_skew_pattern_and_integer) {
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate real general\n% remark\n\n2 3 3\n1 3 1.5\n2 1 -2e1\n1 1 0\n"),
            (matrix{2, 3, {0, 2, 3}, {2, 0, 0}, {1.5, 0, -20}}));  // order and zeros stay
  EXPECT_EQ(read("%%MatrixMarket MATRIX Coordinate Real Symmetric\r\n2 2 2\r\n1 1 4\r\n2 1 3\r\n"),
            (matrix{2, 2, {0, 2, 3}, {0, 1, 0}, {4, 3, 3}}));
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 7\n"),
            (matrix{2, 2, {0, 1, 2}, {1, 0}, {-7, 7}}));
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate pattern general\n1 2 2\n1 2\n1 2\n"),
            (matrix{1, 2, {0, 2}, {1, 1}, {1, 1}}));
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate real general\n0 0 0"), (matrix{0, 0, {0}, {}, {}}));
}

// What SciPy and Fortran programs write.
TEST_F(sparse_file, unsigned_integers_zeros_on_a_skew_diagonal_fortran_exponents_indented_comments) {
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate unsigned-integer general\n1 2 2\n1 1 7\n1 2 18446744073709551615\n"),
            (matrix{1, 2, {0, 2}, {0, 1}, {7, 0x1p64}}));
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 3\n1 1 0\n2 1 7\n2 2 -0.0\n"),
            (matrix{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {0, -7, 7, 0}}));
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate real general\n1 5 5\n1 1 1.5D+01\n1 2 -2d-1 \n1 3 .5d0\n1 4 "
                 "1D2\n1 5 1d-999\n"),
            (matrix{1, 5, {0, 5}, {0, 1, 2, 3, 4}, {15, -0.2, 0.5, 100, 0}}));
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate real general\n  % remark\n\t%\n1 1 1\n %% 1 1 9\n1 1 2\n % end\n"),
            (matrix{1, 1, {0, 1}, {0}, {2}}));
}

TEST_F(sparse_file, bad_files_tell_line_and_reason) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  expect_bad("", "is empty");
  expect_bad("1 2 3\n", "a.mtx:1: no Matrix Market file");
  expect_bad("%%MatrixMarket matrix graph real general\n", "\"graph\"; supported: coordinate, array");
  expect_bad("%%MatrixMarket matrix coordinate complex general\n", "\"complex\"");
  expect_bad("%%MatrixMarket matrix coordinate real hermitian\n", "\"hermitian\"");
  expect_bad(head + "2 2\n", "a.mtx:2: this line must be three integers");
  expect_bad(head + "2 -2 1\n", "sizes must be >= 0");
  expect_bad(head + "2 2 1\n3 1 1\n", "a.mtx:3: row 3 is not in 1 ... 2");
  expect_bad(head + "2 2 1\n1 0 1\n", "column 0 is not in 1 ... 2");
  expect_bad(head + "2 2 1\n1 1 x\n", "a.mtx:3: the entry has no value");
  expect_bad(head + "2 2 1\n1 1\n", "the entry has no value");
  expect_bad(head + "2 2 1\n1 1 1 1\n", "more than three fields");
  expect_bad(head + "2 2 1\n1 1 1e999\n", "too large");
  expect_bad(head + "2 2 2\n1 1 1\n", "the file ends after 1 of 2 entries");
  expect_bad(head + "2 2 1\n1 1 1\n2 2 1\n", "a.mtx:4: more entries than the 1 announced");
  expect_bad(head + "2 2 900000000000\n", "cannot be in a file of");
  expect_bad(head + "2 9000000000 1\n", "need 64-bit indices");
  expect_bad("%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n", "must be square");
  expect_bad("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n", "only zeros on its diagonal");
  expect_bad("%%MatrixMarket matrix coordinate unsigned-integer general\n1 1 1\n1 1 -1\n", "not an unsigned integer");
  expect_bad("%%MatrixMarket matrix coordinate unsigned-integer general\n1 1 1\n1 1 18446744073709551616\n",
             "too large");
  expect_bad("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1D2\n", "no value that is a number");
  for (const char* wrong : {"1d", "1d5d3", "1e5d3", "d5", "1d5x", "1dd5"})
    expect_bad(head + "1 1 1\n1 1 " + wrong + "\n", "no value that is a number");
  expect_bad(head + "1 1 1\n1 1 1D999\n", "too large");
  expect_bad("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1.5\n", "not an integer");
}

// Elements by columns; zeros are no entries.
TEST_F(sparse_file, arrays_of_matrix_market) {
  const std::string head = "%%MatrixMarket matrix array ";
  EXPECT_EQ(read(head + "real general\n% remark\n2 3\n1.5\n0\n\n-0.0\n2\n3\nnan\n").columns,
            (spgemm::array<std::int32_t>{0, 2, 1, 2}));
  EXPECT_EQ(read(head + "integer general\n2 3\n1\n0\n0\n2\n3\n0\n"), (matrix{2, 3, {0, 2, 3}, {0, 2, 1}, {1, 3, 2}}));
  EXPECT_EQ(read(head + "double symmetric\n2 2\n1d0\n2\n3\n"), (matrix{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 2, 2, 3}}));
  EXPECT_EQ(read(head + "real skew-symmetric\n3 3\n1\n2\n3\n"),
            (matrix{3, 3, {0, 2, 4, 6}, {1, 2, 0, 2, 0, 1}, {-1, -2, 1, -3, 2, 3}}));
  for (const char* empty : {"real general\n0 3\n", "real symmetric\n0 0\n", "real skew-symmetric\n1 1\n"})
    EXPECT_EQ(read(head + empty).nnz(), 0) << empty;
  expect_bad(head + "pattern general\n1 1\n1\n", "a pattern has coordinates");
  expect_bad(head + "real general\n1 2 3\n", "must be two integers");
  expect_bad(head + "real general\n1 2\n1\n", "the file ends after 1 of 2 elements");
  expect_bad(head + "real general\n1 2\n1\n2\n3\n", "a.mtx:5: more elements than the 2");
  expect_bad(head + "real general\n1 2\n1 2\n", "a.mtx:3: more than one number");
  expect_bad(head + "real symmetric\n2 3\n", "must be square");
  file("large.mtx", head + "real general\n4000000000 4000000000\n");
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { read_sparse<double, std::int64_t>(path("large.mtx")); }),
                          "are too many");
  expect_bad(head + "real general\n1000000 1000000\n", "cannot be in a file of");
  expect_bad(head + "complex general\n1 1\n1 1\n", "\"complex\"");
}

using complex_matrix = spgemm::complex_csr<double, std::int32_t>;

TEST_F(sparse_file, complex_values) {
  const auto read = [&](std::string_view content) {
    return read_complex_sparse<double, std::int32_t>(file("a.mtx", content));
  };
  const std::string head = "%%MatrixMarket matrix coordinate complex ";
  EXPECT_EQ(read(head + "general\n2 3 2\n1 3 1.5 -2\n2 1 0 1d1\n"),
            (complex_matrix{2, 3, {0, 1, 2}, {2, 0}, {{1.5, -2}, {0, 10}}}));
  EXPECT_EQ(read(head + "symmetric\n2 2 2\n1 1 4 1\n2 1 3 -2\n"),
            (complex_matrix{2, 2, {0, 2, 3}, {0, 1, 0}, {{4, 1}, {3, -2}, {3, -2}}}));
  EXPECT_EQ(read(head + "hermitian\n2 2 2\n1 1 4 0\n2 1 3 -2\n"),
            (complex_matrix{2, 2, {0, 2, 3}, {0, 1, 0}, {{4, 0}, {3, 2}, {3, -2}}}));
  EXPECT_EQ(read(head + "skew-symmetric\n2 2 1\n2 1 3 -2\n"),
            (complex_matrix{2, 2, {0, 1, 2}, {1, 0}, {{-3, 2}, {3, -2}}}));
  EXPECT_EQ(read("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n0 0\n"),
            (complex_matrix{2, 2, {0, 2, 3}, {0, 1, 0}, {{1, 0}, {2, -3}, {2, 3}}}));
  // Real files have imaginary parts of 0.
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate integer general\n1 2 1\n1 2 7\n"),
            (complex_matrix{1, 2, {0, 1}, {1}, {{7, 0}}}));
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n").values[1], std::complex(1.0, 0.0));
  const auto bad = [&](std::string_view content, std::string_view words) {
    SCOPED_TRACE(content);
    QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { read(content); }), words);
  };
  bad(head + "general\n1 1 1\n1 1 2\n", "a.mtx:3: the entry has no value that is a number");
  bad(head + "general\n1 1 1\n1 1 2 3 4\n", "more than four fields");
  bad(head + "hermitian\n1 1 1\n1 1 2 3\n", "a Hermitian matrix has only real numbers on its diagonal");
  bad(head + "skew-symmetric\n1 1 1\n1 1 0 3\n", "only zeros on its diagonal");
  bad(head + "hermitian\n2 3 0\n", "must be square");
  bad("%%MatrixMarket matrix array complex hermitian\n1 1\n1 1\n", "real numbers on its diagonal");
}

TEST_F(sparse_file, complex_values_are_written) {
  const complex_matrix m{
      2, 3, {0, 1, 3}, {2, 0, 1}, {{0.1, -3e-300}, {-0.0, 2}, {std::numeric_limits<double>::infinity(), 0}}};
  for (const char* name : {"c.mtx", "c.mtx.gz"}) {
    write_complex_sparse(path(name), m.view());
    EXPECT_EQ((read_complex_sparse<double, std::int32_t>(path(name))), m);
    EXPECT_TRUE(has_complex_values(path(name)));
    QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { read_sparse<double, std::int32_t>(path(name)); }),
                            "the field is \"complex\"");
  }
  EXPECT_FALSE(has_complex_values(file("real.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n")));
  EXPECT_FALSE(has_complex_values("none.npz"));
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { has_complex_values(file("empty.mtx", "")); }), "is empty");
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { write_complex_sparse(path("c.npz"), m.view()); }),
                          "cannot hold complex matrices");
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { read_complex_sparse<double, std::int32_t>(path("c.h5")); }),
                          "cannot hold complex matrices");
}

// Written by SciPy 1.17: compressed and not, arrays and matrices, 32- and 64-bit indices, three types of values.
TEST_F(sparse_file, formats_of_scipy) {
  const auto of_scipy = [](const std::string& name) {
    return read_sparse<double, std::int64_t>(QUINTET_SOURCE_DIR "/tests/data/sparse/" + name + ".npz");
  };
  const spgemm::csr<double, std::int64_t> m{4, 6, {0, 2, 2, 5, 6}, {0, 3, 0, 1, 2, 5}, {1, 2, 3, -4, 5.5, 6}};
  for (const char* name : {"csr", "csc"}) EXPECT_EQ(of_scipy(name), m) << name;
  // Diagonals from the lowest one on.
  EXPECT_EQ(summarise(of_scipy("dia").view()).weighted, summarise(m.view()).weighted);
  EXPECT_EQ(of_scipy("dia").row_pointers, m.row_pointers);
  // Repeated entries stay.
  EXPECT_EQ(of_scipy("coo"),
            (spgemm::csr<double, std::int64_t>{4, 6, {0, 2, 2, 6, 7}, {0, 3, 0, 1, 2, 2, 5}, {1, 2, 3, -4, 5, .5, 6}}));
  // Blocks of 2 x 3 with their zeros, of twice the values.
  EXPECT_EQ(of_scipy("bsr"), (spgemm::csr<double, std::int64_t>{
                                 4,
                                 6,
                                 {0, 6, 12, 18, 24},
                                 {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5},
                                 {2, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 6, -8, 11, 0, 0, 0, 0, 0, 0, 0, 0, 12}}));
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { of_scipy("complex"); }), "elements of type '<c16'");
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { of_scipy("dense"); }), "is no sparse matrix of SciPy");
}

TEST_F(sparse_file, damaged_archives) {
  const auto m = test::uniform_matrix<double, std::int32_t>(60, 50, 5, 3);
  write_sparse(path("m.npz"), m.view());
  const std::string whole = content("m.npz");
  const auto error = [&](const std::string& bytes) {
    file("bad.npz", bytes);
    return test::error_of<FileError>([&] { read_sparse<double, std::int32_t>(path("bad.npz")); });
  };
  QUINTET_EXPECT_CONTAINS(error(""), "it has no directory");
  QUINTET_EXPECT_CONTAINS(error("no archive at all, and long enough"), "it has no directory");
  QUINTET_EXPECT_CONTAINS(error(whole.substr(0, whole.size() / 2)), "it has no directory");
  QUINTET_EXPECT_CONTAINS(error(whole.substr(whole.size() / 2)), "bad.npz: is no zip archive or damaged");
  const std::size_t data = whole.find("data.npy") + 8 + 20;
  for (std::size_t i = data; i < data + 400; i += 13) {
    std::string other = whole;
    other[i] = static_cast<char>(other[i] ^ 1);
    const std::string message = error(other);
    EXPECT_TRUE(message.find("member data.npy cannot be decompressed") != std::string::npos ||
                message.find("the checksum of member data.npy is another") != std::string::npos)
        << i << ": " << message;
  }
  // Whatever byte is another: the same matrix or an error.
  for (std::size_t i = 0; i < whole.size(); i += 37) {
    std::string other = whole;
    other[i] = static_cast<char>(other[i] ^ 0x55);
    file("bad.npz", other);
    try {
      EXPECT_EQ((read_sparse<double, std::int32_t>(path("bad.npz"))), m) << i;
    } catch (const FileError&) {
    }
  }
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { write_sparse("/dev/null/m.npz", m.view()); }), "m.npz");
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { read_sparse<double, std::int32_t>(path("m.npz"), "X"); }),
                          "has no groups");
}

// Matrices that are not valid, in archives that are.
TEST_F(sparse_file, invalid_matrices_in_archives) {
  const auto error = [&](std::string_view format, std::initializer_list<std::int64_t> shape,
                         std::initializer_list<std::pair<const char*, std::vector<std::int64_t>>> arrays) {
    atomic_file out(path("m.npz"));
    zip_writer zip(out);
    const auto member = [&](const std::string& name, const std::string& bytes) {
      zip.begin(name + ".npy");
      zip.write(bytes.data(), bytes.size());
      zip.end();
    };
    const auto numbers = [&](const std::string& name, const std::vector<std::int64_t>& values) {
      const std::int64_t size[] = {std::int64_t(values.size())};
      std::string bytes = npy_header_text<std::int64_t>(size);
      bytes.append(reinterpret_cast<const char*>(values.data()), 8 * values.size());
      member(name, bytes);
    };
    member("format", npy_word(format));
    numbers("shape", shape);
    for (const auto& [name, values] : arrays) numbers(name, values);
    zip.finish();
    out.commit();
    return test::error_of<FileError>([&] { read_sparse<double, std::int32_t>(path("m.npz")); });
  };
  const auto compressed = [&](std::vector<std::int64_t> pointers, std::vector<std::int64_t> indices) {
    return error("csr", {2, 3}, {{"indptr", pointers}, {"indices", indices}, {"data", {1, 2}}});
  };
  QUINTET_EXPECT_CONTAINS(compressed({0, 1}, {0, 1}), "indptr must have 3 elements");
  for (const std::vector<std::int64_t>& wrong : {std::vector<std::int64_t>{1, 1, 2}, {0, 2, 1}, {0, 1, 3}})
    QUINTET_EXPECT_CONTAINS(compressed(wrong, {0, 1}), "must begin with 0, not fall");
  QUINTET_EXPECT_CONTAINS(compressed({0, 1, 2}, {0}), "1 indices, 2 data");
  QUINTET_EXPECT_CONTAINS(compressed({0, 1, 2}, {0, 3}), "must be in [0, 3)");
  QUINTET_EXPECT_CONTAINS(compressed({0, 1, 2}, {0, std::int64_t(1) << 40}), "does not fit into int32");
  QUINTET_EXPECT_CONTAINS(error("csr", {2, 3}, {{"data", {}}, {"indices", {}}}), "has no member \"indptr.npy\"");
  QUINTET_EXPECT_CONTAINS(error("csr", {2, 3, 4}, {{"data", {}}}), "two numbers >= 0");
  QUINTET_EXPECT_CONTAINS(error("csr", {2, -3}, {{"data", {}}}), "two numbers >= 0");
  QUINTET_EXPECT_CONTAINS(error("lil", {2, 3}, {{"data", {}}}), "the format \"lil\"; allowed are csr");
  QUINTET_EXPECT_CONTAINS(error("coo", {2, 3}, {{"data", {1}}, {"row", {2}}, {"col", {0}}}),
                          "entry 0 (2, 0) is outside");
  QUINTET_EXPECT_CONTAINS(error("coo", {2, 3}, {{"data", {1}}, {"row", {1}}, {"col", {-1}}}), "entry 0 (1, -1)");
  QUINTET_EXPECT_CONTAINS(error("coo", {2, 3}, {{"data", {1}}, {"row", {1, 1}}, {"col", {0}}}), "row must have 1");
  QUINTET_EXPECT_CONTAINS(error("coo", {2, std::int64_t(1) << 40}, {{"data", {}}, {"row", {}}, {"col", {}}}),
                          "need 64-bit indices");
  QUINTET_EXPECT_CONTAINS(error("bsr", {2, 3}, {{"data", {1}}, {"indices", {0}}, {"indptr", {0, 1}}}),
                          "data must have 3 dimensions");
  QUINTET_EXPECT_CONTAINS(error("coo", {std::int64_t(1) << 60, 2}, {{"data", {}}, {"row", {}}, {"col", {}}}),
                          "bytes of memory");
}

// As EVA and USPowerGrid of the SuiteSparse collection circulate.
TEST_F(sparse_file, entries_above_the_diagonal_stand_for_their_mirror_images) {
  const auto expect = [&](const char* content, const matrix& expected, std::int64_t above) {
    sparse_read_report report{7};
    EXPECT_EQ((read_sparse<double, std::int32_t>(file("s.mtx", content), "", &report)), expected) << content;
    EXPECT_EQ(report.above_diagonal, above) << content;
  };
  const std::string head = "%%MatrixMarket matrix coordinate real ";
  expect((head + "symmetric\n3 3 3\n1 2 5\n3 1 4\n2 2 1\n").c_str(),
         {3, 3, {0, 2, 4, 5}, {1, 2, 0, 1, 0}, {5, 4, 5, 1, 4}}, 1);
  expect((head + "skew-symmetric\n2 2 1\n1 2 7\n").c_str(), {2, 2, {0, 1, 2}, {1, 0}, {7, -7}}, 1);
  expect((head + "symmetric\n2 2 1\n2 1 7\n").c_str(), {2, 2, {0, 1, 2}, {1, 0}, {7, 7}}, 0);
  expect((head + "general\n2 2 1\n1 2 7\n").c_str(), {2, 2, {0, 1, 1}, {1}, {7}}, 0);
  expect_bad(head + "symmetric\n3 3 3\n3 1 4\n1 2 1\n2 1 1\n", "both the entry 2 1 and the entry 1 2");
  expect_bad(head + "symmetric\n3 3 2\n1 2 1\n2 1 1\n", "both the entry 2 1 and the entry 1 2");
}

// The system would hand out the memory, and kill the program when it is touched.
TEST_F(sparse_file, sizes_are_compared_with_the_memory_before_anything_is_allocated) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  expect_bad(head + "1000000000000 1 1\n1 1 1\n", "bytes of memory");
  expect_bad(head + "9223372036854775807 1 1\n1 1 1\n", "bytes of memory");
  atomic_file out(path("a.mtx.gz"));
  gzip_writer gzip(out);
  gzip.write(head + "1000000000000 1 0\n");
  gzip.finish();
  out.commit();
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { read_sparse<double, std::int32_t>(path("a.mtx.gz")); }),
                          "bytes of memory");
  // Half of what is available, but for the row pointers twice.
  const test::address_space_limit limit(std::int64_t(3) << 30);
  expect_bad(head + "268435456 1 0\n", "bytes of memory; available are");
}

// Values of few digits, which every type has.
template <class Value, class Index>
spgemm::csr<Value, Index> simple_matrix() {
  auto m = test::matrix_of_rows<Value, Index>(60, 50, 1, [](std::int64_t i) {
    return i % 4 == 0 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{i % 7, 20 + i % 11, 49};
  });
  for (std::int64_t k = 0; k < m.nnz(); ++k) m.values[k] = Value(k % 13 - 6) / 4;
  return m;
}

template <class T>
class sparse_file_of : public sparse_file {};
template <class Value, class Index>
struct types {
  using value = Value;
  using index = Index;
};
using all_types = ::testing::Types<types<float, std::int32_t>, types<float, std::int64_t>, types<double, std::int32_t>,
                                   types<double, std::int64_t>>;
TYPED_TEST_SUITE(sparse_file_of, all_types);

TYPED_TEST(sparse_file_of, every_format_brings_back_what_was_written) {
  using V = typename TypeParam::value;
  using I = typename TypeParam::index;
  const auto m = test::uniform_matrix<V, I>(60, 50, 5, 1);
  const auto simple = simple_matrix<V, I>();
  for (const char* name : {"m.mtx", "m.mtx.gz", "m.h5", "m.npz"}) {
    SCOPED_TRACE(name);
    write_sparse(this->path(name), m.view());
    EXPECT_EQ((read_sparse<V, I>(this->path(name))), m);
    write_sparse(this->path(name), simple.view());
    EXPECT_EQ((read_sparse<float, std::int32_t>(this->path(name))), (simple_matrix<float, std::int32_t>()));
    EXPECT_EQ((read_sparse<float, std::int64_t>(this->path(name))), (simple_matrix<float, std::int64_t>()));
    EXPECT_EQ((read_sparse<double, std::int32_t>(this->path(name))), (simple_matrix<double, std::int32_t>()));
    EXPECT_EQ((read_sparse<double, std::int64_t>(this->path(name))), (simple_matrix<double, std::int64_t>()));
  }
}

TEST_F(sparse_file, rows_of_a_larger_matrix) {
  const auto m = test::uniform_matrix<double, std::int32_t>(60, 50, 5, 1);
  write_sparse(path("slice.h5"), m.view().slice(10, 20), "part/of");
  const auto part = read_sparse<double, std::int32_t>(path("slice.h5"), "part/of");
  EXPECT_EQ(part.rows, 10);
  EXPECT_EQ(part.values[0], m.values[m.row_pointers[10]]);
}

TEST_F(sparse_file, blocks_make_the_whole_matrix) {
  const auto m = test::uniform_matrix<double, std::int32_t>(60, 50, 5, 1);
  sparse_block_writer out(path("blocks.mtx"), 60, 50);
  for (const std::int64_t first : {0, 7, 59}) {
    const std::int64_t last = first == 0 ? 7 : first == 7 ? 59 : 60;
    out.write(first, m.view().slice(first, last));
  }
  EXPECT_FALSE(std::filesystem::exists(path("blocks.mtx")));
  QUINTET_EXPECT_CONTAINS(test::error_of<InvalidArgument>([&] { out.write(55, m.view().slice(0, 7)); }),
                          "first_row must be in [0, 53]");
  out.commit();
  EXPECT_EQ((read_sparse<double, std::int32_t>(path("blocks.mtx"))), m);
}

TEST_F(sparse_file, damaged_compression_and_wrong_names) {
  const auto read_it = [&](const std::string& name) {
    return test::error_of<FileError>([&] { read_sparse<double, std::int32_t>(path(name)); });
  };
  const auto m = test::uniform_matrix<double, std::int32_t>(60, 50, 5, 3);
  write_sparse(path("m.mtx.gz"), m.view());
  const std::string whole = content("m.mtx.gz");
  file("cut.mtx.gz", whole.substr(0, whole.size() / 2));
  QUINTET_EXPECT_CONTAINS(read_it("cut.mtx.gz"), "ends too early");
  file("text.mtx.gz", "no gzip at all");
  QUINTET_EXPECT_CONTAINS(read_it("text.mtx.gz"), "no gzip file");
  QUINTET_EXPECT_CONTAINS(read_it("m.csv"), "allowed are .mtx");
  file("two.mtx.gz", whole + whole);  // two members are one text
  QUINTET_EXPECT_CONTAINS(read_it("two.mtx.gz"), "more entries than");
}

// HDF5 files of other programs: attributes as AnnData writes them, with HDF5 itself.
class foreign_sparse_file : public sparse_file {
 protected:
  const spgemm::csr<double, std::int64_t> m_{3, 4, {0, 2, 2, 5}, {0, 3, 0, 1, 2}, {1, 2, 3, 4, 5}};

  void write_arrays(const std::string& name, const std::string& group, bool by_columns, bool has_shape) {
    hdf5_writer out(path(name));
    const std::vector<std::int64_t> rows{0, 2, 2, 5}, columns{0, 2, 3, 4, 5}, of_rows{0, 3, 0, 1, 2},
        of_columns{0, 2, 2, 2, 0};
    out.write<std::int64_t>(group + "indptr", by_columns ? columns : rows);
    out.write<std::int64_t>(group + "indices", by_columns ? of_columns : of_rows);
    out.write<float>(group + "data",
                     by_columns ? std::vector<float>{1, 3, 4, 5, 2} : std::vector<float>{1, 2, 3, 4, 5});
    if (has_shape) out.write<std::int64_t>(group + "shape", std::vector<std::int64_t>{3, 4});
    out.commit();
  }
  void write_attributes(const std::string& name, const std::string& group, const std::string& encoding) {
    const hid_t file = H5Fopen(path(name).c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t object = H5Oopen(file, group.c_str(), H5P_DEFAULT);
    const hsize_t two = 2;
    const std::int64_t shape[] = {3, 4};
    const hid_t vector = H5Screate_simple(1, &two, nullptr), scalar = H5Screate(H5S_SCALAR), text = H5Tcopy(H5T_C_S1);
    const hid_t extents = H5Acreate2(object, "shape", H5T_STD_I64LE, vector, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(extents, H5T_NATIVE_INT64, shape);
    H5Tset_size(text, H5T_VARIABLE);
    H5Tset_cset(text, H5T_CSET_UTF8);
    const hid_t type = H5Acreate2(object, "encoding-type", text, scalar, H5P_DEFAULT, H5P_DEFAULT);
    const char* const value = encoding.c_str();
    H5Awrite(type, text, &value);
    for (const hid_t attribute : {extents, type}) H5Aclose(attribute);
    for (const hid_t space : {vector, scalar}) H5Sclose(space);
    H5Tclose(text);
    H5Oclose(object);
    H5Fclose(file);
  }
  void expect_matrix(const std::string& name, const std::string& group = "") {
    EXPECT_EQ((read_sparse<double, std::int64_t>(path(name), group)), m_) << name;
  }
};

TEST_F(foreign_sparse_file, anndata_and_10x) {
  write_arrays("rows.h5ad", "X/", false, false);
  write_attributes("rows.h5ad", "X", "csr_matrix");
  expect_matrix("rows.h5ad");
  expect_matrix("rows.h5ad", "X");
  const sparse_rows rows = read_sparse_rows(path("rows.h5ad"));
  EXPECT_EQ((read_sparse_part<double, std::int64_t>(path("rows.h5ad"), "", rows, 2, 1).values),
            (spgemm::array<double>{3, 4, 5}));
  write_arrays("columns.h5ad", "layers/counts/", true, false);
  write_attributes("columns.h5ad", "layers/counts", "csc_matrix");
  expect_matrix("columns.h5ad", "layers/counts");
  write_arrays("10x.h5", "matrix/", true, true);
  expect_matrix("10x.h5");
  write_arrays("other.h5ad", "X/", false, false);
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { read_sparse<double, std::int64_t>(path("other.h5ad")); }),
                          "attributes shape, two numbers");
  write_attributes("other.h5ad", "X", "array");
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { read_sparse<double, std::int64_t>(path("other.h5ad")); }),
                          "it is \"array\"");
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { read_sparse_rows(path("10x.h5")); }), "stored by columns");
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { write_sparse(path("out.h5ad"), m_.view()); }),
                          "read and not written");
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { check_sparse_output(path("out.h5ad")); }),
                          "read and not written");
}

TEST_F(sparse_file, rows_are_those_of_the_whole_matrix) {
  const auto m = test::uniform_matrix<double, std::int32_t>(60, 50, 5, 3);
  write_sparse(path("m.h5"), m.view(), "graph");
  EXPECT_TRUE(has_sparse_row_access(path("m.h5")));
  EXPECT_FALSE(has_sparse_row_access(path("m.mtx.gz")));
  const sparse_rows rows = read_sparse_rows(path("m.h5"), "graph");
  EXPECT_EQ(rows.rows, 60);
  EXPECT_EQ(rows.cols, 50);
  for (const auto& [first, count] : {std::pair{0, 60}, {0, 7}, {7, 52}, {59, 1}, {60, 0}}) {
    const auto part = read_sparse_part<double, std::int32_t>(path("m.h5"), "graph", rows, first, count);
    spgemm::check(part.view(), "part");
    ASSERT_EQ(part.rows, count);
    EXPECT_EQ(part.cols, 50);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t begin = m.row_pointers[first + i], entries = m.row_pointers[first + i + 1] - begin;
      ASSERT_EQ(part.row_pointers[i + 1] - part.row_pointers[i], entries);
      for (std::int64_t e = 0; e < entries; ++e) {
        EXPECT_EQ(part.columns[part.row_pointers[i] + e], m.columns[begin + e]);
        EXPECT_EQ(part.values[part.row_pointers[i] + e], m.values[begin + e]);
      }
    }
  }
  EXPECT_THROW((read_sparse_part<double, std::int32_t>(path("m.h5"), "graph", rows, 59, 2)), InvalidArgument);
  sparse_rows falling = rows;
  falling.row_pointers[3] = falling.row_pointers[5] + 1;
  EXPECT_THROW((read_sparse_part<double, std::int32_t>(path("m.h5"), "graph", falling, 2, 4)), FileError);
}

}  // namespace
}  // namespace quintet::io
