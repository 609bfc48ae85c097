#include "quintet/io/matrix_file.hpp"

#include <filesystem>

#include <sys/stat.h>

#include "quintet/core/error.hpp"
#include "quintet/io/file_format.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/io/npy.hpp"
#include "quintet/io/shared_matrix.hpp"
#include "unit/io/temporary_folder.hpp"

namespace {

using quintet::FileError;
using quintet::io::file_format;
using quintet::io::matrix;
using quintet::test::error_of;

using FileFormat = quintet::test::temporary_folder;

TEST_F(FileFormat, TheExtensionDecides) {
  using quintet::io::format_of;
  EXPECT_EQ(format_of("a.csv"), file_format::csv);
  EXPECT_EQ(format_of("dir.h5/a.b.NPY"), file_format::npy);
  EXPECT_EQ(format_of("/x/a.h5"), file_format::hdf5);
  EXPECT_EQ(format_of("a.HDF5"), file_format::hdf5);
  const std::string unknown = error_of<FileError>([] { format_of("result.txt"); });
  QUINTET_EXPECT_CONTAINS(unknown, "result.txt");
  QUINTET_EXPECT_CONTAINS(unknown, "\".txt\"");
  QUINTET_EXPECT_CONTAINS(unknown, "allowed are .csv, .npy, .h5, .hdf5");
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([] { format_of("a.npy", {file_format::csv, file_format::hdf5}); }),
                          "allowed are .csv, .h5, .hdf5");
  for (const char* path : {"result", ".csv", "dir.csv/result", "", "a."})
    EXPECT_THROW(format_of(path), FileError) << path;
}

TEST_F(FileFormat, OutputsAreCheckedBeforeTheWork) {
  using quintet::io::check_output;
  EXPECT_EQ(check_output(path("out.h5")), file_format::hdf5);
  EXPECT_EQ(files(), 0);
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { check_output(path("out.pdf")); }), "\".pdf\"");
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { check_output(path("none/out.csv")); }), "there is no folder");
  std::filesystem::create_directory(path("folder.csv"));
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { check_output(path("folder.csv")); }), "it is a folder");
}

using MatrixFile = quintet::test::temporary_folder;

TEST_F(MatrixFile, SameMatrixThroughEveryFormat) {
  const float data[] = {1, 2.5f, -3, 4e-20f, 5, 6};
  const quintet::matrix_view<const float> view(data, 3, 2);
  for (const char* name : {"m.csv", "m.npy", "m.h5"}) {
    quintet::io::write_matrix(path(name), view);
    const matrix<float> single = quintet::io::read_matrix<float>(path(name));
    EXPECT_EQ(single.rows, 3);
    EXPECT_EQ(single.cols, 2);
    EXPECT_EQ(single.data, std::vector<float>(data, data + 6)) << name;
    EXPECT_EQ(single.view()(2, 1), 6);
    EXPECT_EQ(quintet::io::read_matrix<double>(path(name)).data[1], 2.5) << name;
    EXPECT_THROW(quintet::io::read_table(path(name)), FileError) << name;
  }
  EXPECT_THROW(quintet::io::write_matrix(path("m.txt"), view), FileError);
  EXPECT_EQ(files(), 3);
}

TEST_F(MatrixFile, FloatHoldsWhatItsTypeOrItsNumbersSay) {
  using quintet::io::fits_float;
  const double data[] = {1, 2, 1700000030};
  const float rounded[] = {1, 2, 1700000000};
  const quintet::matrix_view<const double> large(data, 3, 1), small(data, 2, 1);
  for (const char* name : {"m.npy", "m.h5", "m.csv"}) {
    quintet::io::write_matrix(path(name), quintet::matrix_view<const float>(rounded, 3, 1));
    EXPECT_TRUE(fits_float(path(name))) << name;
    quintet::io::write_matrix(path(name), large);
    EXPECT_FALSE(fits_float(path(name))) << name;
    quintet::io::write_matrix(path(name), small);
    EXPECT_EQ(fits_float(path(name)), std::string(name) == "m.csv") << "text has no type: " << name;
  }
  EXPECT_FALSE(fits_float(path("m.h5"), "matrix"));
  EXPECT_THROW(fits_float(path("m.npy"), "matrix"), FileError);
  EXPECT_THROW(fits_float(path("none.npy")), FileError);
  ASSERT_EQ(::mkfifo(path("pipe.csv").c_str(), 0600), 0);
  EXPECT_FALSE(fits_float(path("pipe.csv"))) << "and it is not opened";
}

TEST_F(MatrixFile, Tables) {
  const matrix<std::int64_t> pairs = quintet::io::read_table(file("pairs.csv", "i,j\n0,5\n7,12345678901\n"));
  EXPECT_EQ(pairs.rows, 2);
  EXPECT_EQ(pairs.data, (std::vector<std::int64_t>{0, 5, 7, 12345678901}));
}

TEST_F(MatrixFile, OneDimensionIsAColumnAndThreeAreTooMany) {
  const std::vector<float> values{1, 2, 3, 4};
  quintet::io::write_npy<float>(path("v.npy"), values, std::vector<std::int64_t>{4});
  EXPECT_EQ(quintet::io::read_matrix<float>(path("v.npy")).rows, 4);
  EXPECT_EQ(quintet::io::read_matrix<float>(path("v.npy")).cols, 1);
  quintet::io::write_npy<float>(path("t.npy"), values, std::vector<std::int64_t>{2, 2, 1});
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { quintet::io::read_matrix<float>(path("t.npy")); }), "3 dimensions");
}

TEST_F(MatrixFile, DatasetsBelongToHdf5) {
  file("m.csv", "1,2\n");
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { quintet::io::read_matrix<float>(path("m.csv"), "points"); }),
                          "points");
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { quintet::io::read_matrix<float>(path("m.xls")); }), ".xls");
}

TEST_F(MatrixFile, RowsAreThoseOfTheWholeMatrix) {
  std::vector<float> data(40);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = float(i) - 0.25f;
  const quintet::matrix_view<const float> view(data.data(), 10, 4);
  for (const char* name : {"m.csv", "m.npy", "m.h5"}) {
    quintet::io::write_matrix(path(name), view);
    const auto extent = quintet::io::matrix_shape(path(name));
    EXPECT_EQ(extent.rows, 10) << name;
    EXPECT_EQ(extent.cols, 4) << name;
    EXPECT_EQ(quintet::io::has_row_access(path(name)), std::string(name) != "m.csv");
    for (const auto& [first, count] : {std::pair{0, 10}, {0, 3}, {3, 4}, {7, 3}, {9, 1}, {10, 0}, {0, 0}}) {
      const auto part = quintet::io::read_matrix_rows<double>(path(name), "", first, count);
      EXPECT_EQ(part.rows, count);
      EXPECT_EQ(part.cols, 4);
      EXPECT_EQ(part.data, std::vector<double>(data.begin() + 4 * first, data.begin() + 4 * (first + count))) << name;
    }
    for (const auto& [first, count] : {std::pair{-1, 1}, {11, 0}, {8, 3}, {0, -1}})
      EXPECT_THROW(quintet::io::read_matrix_rows<float>(path(name), "", first, count), quintet::InvalidArgument);
  }
  EXPECT_THROW(quintet::io::matrix_shape(path("m.npy"), "name"), FileError);
  EXPECT_THROW(quintet::io::matrix_shape(path("none.h5")), FileError);
  // A vector is a matrix of one column, more than two dimensions are none.
  const std::int64_t cube[] = {2, 4, 5}, line[] = {40};
  quintet::io::write_npy<float>(path("cube.npy"), data, cube);
  quintet::io::write_npy<float>(path("line.npy"), data, line);
  EXPECT_THROW(quintet::io::matrix_shape(path("cube.npy")), FileError);
  EXPECT_THROW(quintet::io::read_matrix_rows<float>(path("cube.npy"), "", 0, 1), FileError);
  EXPECT_EQ(quintet::io::read_matrix_rows<float>(path("line.npy"), "", 38, 2).data,
            std::vector<float>(data.end() - 2, data.end()));
}

TEST_F(MatrixFile, RowsOfEveryOrderAndRank) {
  // [5, 2, 3] in C and in Fortran order, big and little endian; matrices 1 ... 3 of the batch.
  for (const bool fortran : {false, true})
    for (const char* type : {"<i4", ">i4", "<f8"}) {
      std::string bytes = std::string("{'descr': '") + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
                          ", 'shape': (5, 2, 3), }";
      bytes.append((64 - (10 + bytes.size() + 1) % 64) % 64, ' ').append("\n");
      bytes = std::string("\x93NUMPY\x01\x00", 8) + char(bytes.size() & 0xff) + char(bytes.size() >> 8) + bytes;
      for (int place = 0; place < 30; ++place) {
        const int value = fortran ? (place % 5) * 6 + (place / 5 % 2) * 3 + place / 10 : place;
        if (type[1] == 'f') {
          const double real = value;
          bytes.append(reinterpret_cast<const char*>(&real), 8);
        } else if (type[0] == '<') {
          bytes.append({char(value), 0, 0, 0});
        } else {
          bytes.append({0, 0, 0, char(value)});
        }
      }
      const auto part = quintet::io::read_npy_rows<double>(file("batch.npy", bytes), 1, 3);
      EXPECT_EQ(part.shape, (std::vector<std::int64_t>{3, 2, 3}));
      ASSERT_EQ(part.data.size(), 18u);
      for (int i = 0; i < 18; ++i) EXPECT_EQ(part.data[std::size_t(i)], 6 + i) << type << fortran;
      EXPECT_EQ(quintet::io::npy_shape(path("batch.npy")), (std::vector<std::int64_t>{5, 2, 3}));
      EXPECT_EQ(quintet::io::read_npy<float>(path("batch.npy")).data[29], 29.0f);
    }
}

TEST_F(MatrixFile, ErrorsInOtherRowsAreNotFound) {
  const std::vector<double> values{1, 1e300, 2, 3};
  const std::int64_t shape[] = {4, 1};
  quintet::io::write_npy<double>(path("big.npy"), values, shape);
  quintet::io::hdf5_writer out(path("big.h5"));
  out.write<double>("x", values, shape);
  out.commit();
  for (const char* name : {"big.npy", "big.h5"}) {
    EXPECT_THROW(quintet::io::read_matrix<float>(path(name)), FileError);
    EXPECT_THROW(quintet::io::read_matrix_rows<float>(path(name), "", 1, 2), FileError);
    EXPECT_EQ(quintet::io::read_matrix_rows<float>(path(name), "", 2, 2).data, (std::vector<float>{2, 3}));
  }
}

TEST_F(MatrixFile, SeveralProcessesWriteOneFile) {
  std::vector<double> data(35);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = 0.5 * double(i);
  const quintet::matrix_view<const double> all(data.data(), 7, 5);
  for (const char* name : {"m.npy", "m.h5"}) {
    quintet::io::shared_matrix_file<double> out(path(name), "distances", 7, 5,
                                                [](quintet::io::hdf5_writer& more) { more.attribute("", "a", 3); });
    // Written as other processes would: in any order, through the name alone.
    for (const auto& [first, last] : {std::pair{5, 7}, {0, 2}, {2, 5}, {3, 3}})
      quintet::io::write_shared_rows<double>(out.place(), path(name), first, all.slice(first, last));
    EXPECT_FALSE(std::filesystem::exists(path(name)));
    out.commit();
    EXPECT_EQ(quintet::io::read_matrix<double>(path(name)).data, data) << name;
    // The bytes that one process writes.
    quintet::io::write_matrix(path(std::string("one_") + name), all, "distances");
    if (std::string(name) == "m.npy") EXPECT_EQ(content("one_m.npy"), content("m.npy"));
  }
  EXPECT_EQ(files(), 4);
  quintet::io::shared_matrix_file<float>(path("empty.h5"), "x", 0, 5).commit();
  EXPECT_EQ(quintet::io::matrix_shape(path("empty.h5")).cols, 5);
}

TEST_F(MatrixFile, ASharedFileThatIsNotFinishedLeavesNothing) {
  const std::vector<double> data(10000, 1.0);
  const quintet::matrix_view<const double> all(data.data(), 100, 100);
  for (const char* name : {"m.npy", "m.h5"}) {
    quintet::io::shared_matrix_file<double> out(path(name), "x", 100, 100);
    QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] {
                              const quintet::test::file_size_limit limit(4096);
                              quintet::io::write_shared_rows<double>(out.place(), path(name), 0, all);
                            }),
                            "cannot be written: File too large");
    EXPECT_THROW(quintet::io::write_shared_rows<double>(out.place(), path(name), 0, {data.data(), 1, 3}),
                 quintet::InvalidArgument);
  }
  EXPECT_EQ(files(), 0);
  EXPECT_THROW(quintet::io::shared_matrix_file<double>(path("m.csv"), "x", 1, 1), FileError);
  EXPECT_THROW(quintet::io::shared_matrix_file<double>(path("none/m.npy"), "x", 1, 1), FileError);
}

}  // namespace
