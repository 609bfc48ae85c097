// Matrix Market and HDF5 files of sparse matrices.
#include "quintet/io/sparse_file.hpp"

#include "io/gzip.hpp"
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
  expect_bad("%%MatrixMarket matrix array real general\n", "\"array\"; supported: coordinate");
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
  for (const char* name : {"m.mtx", "m.mtx.gz", "m.h5"}) {
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
