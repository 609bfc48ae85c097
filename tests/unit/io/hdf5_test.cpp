#include "quintet/io/hdf5.hpp"

#include <hdf5.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <thread>

#include "quintet/core/error.hpp"
#include "quintet/core/storage16.hpp"
#include "unit/io/temporary_folder.hpp"

namespace {

using quintet::FileError;
using quintet::InvalidArgument;
using quintet::io::array;
using quintet::io::hdf5_datasets;
using quintet::io::hdf5_writer;
using quintet::io::read_hdf5;
using quintet::test::error_of;
using sizes = std::vector<std::int64_t>;

// Files that other programs would write, made with the library itself.
class foreign_file {
 public:
  explicit foreign_file(const std::string& path)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {}
  ~foreign_file() { H5Fclose(file_); }

  void dataset(const char* name, hid_t type, const std::vector<hsize_t>& shape, const void* data) {
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t set = H5Dcreate2(file_, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(set, 0);
    if (data != nullptr) {
      ASSERT_GE(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), 0);
    }
    H5Dclose(set);
    H5Sclose(space);
  }
  hid_t id() const { return file_; }

 private:
  hid_t file_;
};

class Hdf5 : public quintet::test::temporary_folder {
 protected:
  std::string error(const std::string& name, const std::string& dataset = "") {
    testing::internal::CaptureStderr();
    const std::string message = error_of<FileError>([&] { read_hdf5<float>(path(name), dataset); });
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "HDF5 prints";
    EXPECT_TRUE(message.starts_with(path(name))) << message;
    return message;
  }
};

TEST_F(Hdf5, WhatIsWrittenReturns) {
  const std::vector<float> f{1.5f, -2, std::numeric_limits<float>::infinity(), 1e-45f};
  const std::vector<double> d{1.0 / 3, 1e300};
  const std::vector<std::int32_t> i{-1, 2147483647};
  const std::vector<std::int64_t> l{-1, std::int64_t{1} << 62};
  {
    hdf5_writer out(path("out.h5"));
    out.write("f", f);
    out.write("d", d);
    out.write("i", i);
    out.write("group/inner/l", l);
    EXPECT_FALSE(std::filesystem::exists(path("out.h5"))) << "nothing before the commit";
    out.commit();
  }
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(hdf5_datasets(path("out.h5")), (std::vector<std::string>{"d", "f", "group/inner/l", "i"}));
  EXPECT_EQ(read_hdf5<float>(path("out.h5"), "f").data, f);
  EXPECT_EQ(read_hdf5<double>(path("out.h5"), "d").data, d);
  EXPECT_EQ(read_hdf5<std::int32_t>(path("out.h5"), "i").data, i);
  const array<std::int64_t> longs = read_hdf5<std::int64_t>(path("out.h5"), "/group/inner/l");
  EXPECT_EQ(longs.data, l);
  EXPECT_EQ(longs.shape, sizes{2});
}

TEST_F(Hdf5, MatricesAndStrides) {
  const double data[] = {1, 2, 99, 3, 4, 99, 5, 6, 99};
  hdf5_writer out(path("out.h5"));
  out.write<double>("m", quintet::matrix_view<const double>(data, 3, 2, 3));
  out.write<double>("none", quintet::matrix_view<const double>(nullptr, 0, 2));
  out.write<float>("nothing", std::span<const float>());
  out.commit();
  const array<double> result = read_hdf5<double>(path("out.h5"), "m");
  EXPECT_EQ(result.shape, (sizes{3, 2}));
  EXPECT_EQ(result.data, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read_hdf5<double>(path("out.h5"), "none").shape, (sizes{0, 2}));
  EXPECT_EQ(read_hdf5<double>(path("out.h5"), "nothing").shape, (sizes{0}));
}

TEST_F(Hdf5, RowsInPieces) {
  std::vector<float> block(2 * 3);
  hdf5_writer out(path("out.h5"));
  out.create<float>("group/m", 5, 3);
  for (const std::int64_t first : {3, 0}) {
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<float>(10 * first) + static_cast<float>(i);
    out.write_rows<float>("group/m", first, quintet::matrix_view<const float>(block.data(), 2, 3));
  }
  const quintet::matrix_view<const float> rows(block.data(), 2, 3), narrow(block.data(), 2, 2);
  EXPECT_THROW(out.write_rows<float>("group/m", 4, rows), InvalidArgument);
  EXPECT_THROW(out.write_rows<float>("group/m", -1, rows), InvalidArgument);
  EXPECT_THROW(out.write_rows<float>("group/m", 0, narrow), InvalidArgument);
  EXPECT_THROW(out.write_rows<float>("other", 0, rows), InvalidArgument);
  const std::vector<float> one(1);
  const auto write_shape = [&](const sizes& shape) { out.write<float>("shape", std::span<const float>(one), shape); };
  QUINTET_EXPECT_CONTAINS(error_of<InvalidArgument>([&] { write_shape({-1, -1}); }), "negative size -1");
  QUINTET_EXPECT_CONTAINS(error_of<InvalidArgument>([&] { write_shape({1, 2}); }), "that of the shape, 2");
  QUINTET_EXPECT_CONTAINS(error_of<InvalidArgument>([&] { write_shape(sizes(33, 1)); }), "dimensions of the shape");
  EXPECT_THROW(out.attribute("", "large", UINT64_MAX), InvalidArgument);
  out.commit();
  EXPECT_EQ(read_hdf5<float>(path("out.h5")).data,
            (std::vector<float>{0, 1, 2, 3, 4, 5, 0, 0, 0, 30, 31, 32, 33, 34, 35}));
}

TEST_F(Hdf5, Attributes) {
  {
    hdf5_writer out(path("out.h5"));
    out.write("x", std::vector<float>{1});
    out.attribute("", "metric", "euclidean \xC3\xA9");
    out.attribute("", "epsilon", 0.25f);
    out.attribute("", "count_self", true);
    out.attribute("x", "min_samples", 5);
    EXPECT_THROW(out.attribute("", "metric", 1), InvalidArgument);
    EXPECT_THROW(out.attribute("y", "metric", 1), InvalidArgument);
    EXPECT_THROW(out.attribute("", "", 1), InvalidArgument);
    out.commit();
  }
  const hid_t file = H5Fopen(path("out.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const auto read = [&](const char* object, const char* name, hid_t type, void* value) {
    const hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(attribute, 0) << name;
    EXPECT_GE(H5Aread(attribute, type, value), 0) << name;
    H5Aclose(attribute);
  };
  double real = 0;
  std::int64_t integer = 0;
  read("/", "epsilon", H5T_NATIVE_DOUBLE, &real);
  EXPECT_EQ(real, 0.25);
  read("/", "count_self", H5T_NATIVE_INT64, &integer);
  EXPECT_EQ(integer, 1);
  read("x", "min_samples", H5T_NATIVE_INT64, &integer);
  EXPECT_EQ(integer, 5);
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, H5T_VARIABLE);
  H5Tset_cset(text, H5T_CSET_UTF8);
  char* value = nullptr;
  read("/", "metric", text, &value);
  EXPECT_STREQ(value, "euclidean \xC3\xA9");
  H5free_memory(value);
  H5Tclose(text);
  H5Fclose(file);
}

TEST_F(Hdf5, ConvertsWhatOthersStore) {
  const hid_t half_type = H5Tcopy(H5T_IEEE_F32LE);  // as h5py stores numpy.float16
  H5Tset_fields(half_type, 15, 10, 5, 0, 10);
  H5Tset_size(half_type, 2);
  H5Tset_ebias(half_type, 15);
  {
    foreign_file out(path("in.h5"));
    const quintet::half halves[] = {quintet::half(1.5f), quintet::half(0x1p-24f), quintet::half(-65504.0f),
                                    quintet::half(INFINITY)};
    out.dataset("half", half_type, {4}, halves);
    const float big_endian[] = {1, 2};
    const hid_t space_type = H5T_NATIVE_FLOAT;
    out.dataset("native", space_type, {2}, big_endian);
    const std::uint8_t bytes[] = {0, 255};
    out.dataset("bytes", H5T_NATIVE_UINT8, {2, 1}, bytes);
    const std::uint64_t large[] = {std::uint64_t{1} << 63};
    out.dataset("large", H5T_NATIVE_UINT64, {1}, large);
    const double wide[] = {1e300, 0.5};
    out.dataset("wide", H5T_NATIVE_DOUBLE, {2}, wide);
    const std::int32_t numbers[] = {7};
    out.dataset("int16", H5T_STD_I16BE, {1}, bytes);
    out.dataset("int32", H5T_NATIVE_INT32, {1}, numbers);
    const double special[] = {INFINITY, -INFINITY, NAN};
    out.dataset("special", H5T_NATIVE_DOUBLE, {3}, special);
    const double fraction[] = {2, 0.5};
    out.dataset("fraction", H5T_NATIVE_DOUBLE, {2}, fraction);
    // h5py's bool: an enumeration over int8.
    const hid_t boolean = H5Tenum_create(H5T_NATIVE_INT8);
    std::int8_t value = 0;
    H5Tenum_insert(boolean, "FALSE", &value);
    value = 1;
    H5Tenum_insert(boolean, "TRUE", &value);
    const std::int8_t flags[] = {0, 1, 1};
    out.dataset("flags", boolean, {3}, flags);
    H5Tclose(boolean);
    out.dataset("cube", H5T_NATIVE_FLOAT, {1, 2, 1}, big_endian);
  }
  H5Tclose(half_type);
  EXPECT_EQ(read_hdf5<float>(path("in.h5"), "half").data,
            (std::vector<float>{1.5f, 0x1p-24f, -65504.0f, std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(read_hdf5<double>(path("in.h5"), "half").data[1], 0x1p-24);
  for (const char* name : {"half", "native", "bytes", "int16", "flags", "cube"})
    EXPECT_TRUE(quintet::io::hdf5_fits_float(path("in.h5"), name)) << name;
  for (const char* name : {"int32", "large", "wide", "special"})
    EXPECT_FALSE(quintet::io::hdf5_fits_float(path("in.h5"), name)) << name;
  const array<float> bytes = read_hdf5<float>(path("in.h5"), "bytes");
  EXPECT_EQ(bytes.data, (std::vector<float>{0, 255}));
  EXPECT_EQ(bytes.shape, (sizes{2, 1}));
  EXPECT_EQ(read_hdf5<double>(path("in.h5"), "large").data[0], 0x1p63);
  EXPECT_EQ(read_hdf5<double>(path("in.h5"), "flags").data, (std::vector<double>{0, 1, 1}));
  EXPECT_EQ(read_hdf5<std::int64_t>(path("in.h5"), "flags").data, (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_EQ(read_hdf5<float>(path("in.h5"), "cube").shape, (sizes{1, 2, 1}));
  const std::vector<float> special = read_hdf5<float>(path("in.h5"), "special").data;
  EXPECT_EQ(special[0], std::numeric_limits<float>::infinity());
  EXPECT_EQ(special[1], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(special[2]));

  QUINTET_EXPECT_CONTAINS(error("in.h5", "wide"), "dataset \"wide\" holds a value that does not fit into float32");
  const auto integers = [&](const char* name) {
    return error_of<FileError>([&] { read_hdf5<std::int64_t>(path("in.h5"), name); });
  };
  QUINTET_EXPECT_CONTAINS(integers("large"), "does not fit into int64");
  QUINTET_EXPECT_CONTAINS(integers("special"), "does not fit into int64");
  QUINTET_EXPECT_CONTAINS(integers("fraction"), "not an integer");
}

TEST_F(Hdf5, BothByteOrders) {
  {
    foreign_file out(path("in.h5"));
    const unsigned char one[] = {0x3f, 0x80, 0, 0};
    out.dataset("big", H5T_IEEE_F32BE, {1}, one);
    const unsigned char two[] = {0, 0, 0, 2};
    out.dataset("integer", H5T_STD_I32BE, {1}, two);
  }
  EXPECT_EQ(read_hdf5<float>(path("in.h5"), "big").data[0], 1);
  EXPECT_EQ(read_hdf5<std::int64_t>(path("in.h5"), "integer").data[0], 2);
}

TEST_F(Hdf5, CompressedChunks) {
  std::vector<float> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  {
    foreign_file out(path("in.h5"));
    const hsize_t shape[] = {100, 10}, chunk[] = {30, 7};
    const hid_t space = H5Screate_simple(2, shape, nullptr), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 2, chunk);
    H5Pset_shuffle(creation);
    H5Pset_deflate(creation, 4);
    const hid_t set = H5Dcreate2(out.id(), "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    ASSERT_GE(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    H5Dclose(set);
    H5Pclose(creation);
    H5Sclose(space);
  }
  EXPECT_EQ(read_hdf5<float>(path("in.h5")).data, values);
}

TEST_F(Hdf5, ChoiceOfTheDataset) {
  {
    foreign_file out(path("none.h5"));
  }
  QUINTET_EXPECT_CONTAINS(error("none.h5"), "there are no datasets");
  {
    hdf5_writer out(path("two.h5"));
    out.write("points", std::vector<float>{1});
    out.write("group/labels", std::vector<std::int32_t>{1});
    out.commit();
  }
  QUINTET_EXPECT_CONTAINS(error("two.h5"), "there are group/labels, points");
  QUINTET_EXPECT_CONTAINS(error("two.h5", "x"), "dataset \"x\" does not exist; there are group/labels, points");
  QUINTET_EXPECT_CONTAINS(error("two.h5", "group"), "dataset \"group\" does not exist");
  QUINTET_EXPECT_CONTAINS(error("two.h5", "points/x"), "does not exist");
  EXPECT_EQ(read_hdf5<float>(path("two.h5"), "group/labels").data[0], 1);
  {
    foreign_file out(path("many.h5"));
    const float x = 1;
    for (int i = 0; i < 30; ++i) out.dataset(("d" + std::to_string(i)).c_str(), H5T_NATIVE_FLOAT, {1}, &x);
  }
  QUINTET_EXPECT_CONTAINS(error("many.h5"), "and 20 more");
}

TEST_F(Hdf5, SoftAndExternalLinks) {
  const float values[2] = {1, 2}, others[2] = {3, 4};
  {
    foreign_file other(path("other.h5"));
    other.dataset("far", H5T_NATIVE_FLOAT, {2}, others);
    other.dataset("near", H5T_NATIVE_FLOAT, {2}, others);
    foreign_file out(path("links.h5"));
    out.dataset("near", H5T_NATIVE_FLOAT, {2}, values);
    H5Lcreate_soft("near", out.id(), "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("nothing", out.id(), "dangling", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("other.h5", "far", out.id(), "external", H5P_DEFAULT, H5P_DEFAULT);
    // A name that both files have: the other file is meant.
    H5Lcreate_external("other.h5", "near", out.id(), "same", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("none.h5", "far", out.id(), "lost", H5P_DEFAULT, H5P_DEFAULT);
    foreign_file only(path("only.h5"));
    H5Lcreate_external("other.h5", "far", only.id(), "link", H5P_DEFAULT, H5P_DEFAULT);
  }
  const std::vector<float> here{1, 2}, there{3, 4};
  EXPECT_EQ(read_hdf5<float>(path("links.h5")).data, here) << "links are no further datasets";
  EXPECT_EQ(read_hdf5<float>(path("links.h5"), "soft").data, here);
  EXPECT_EQ(read_hdf5<float>(path("links.h5"), "external").data, there);
  EXPECT_EQ(read_hdf5<float>(path("links.h5"), "same").data, there);
  EXPECT_EQ(read_hdf5<float>(path("only.h5")).data, there);
  EXPECT_EQ(hdf5_datasets(path("only.h5")), std::vector<std::string>{"link"});
  QUINTET_EXPECT_CONTAINS(error("links.h5", "dangling"), "is a soft link to \"nothing\", which does not exist");
  QUINTET_EXPECT_CONTAINS(error("links.h5", "lost"),
                          "is an external link to \"far\" of the file none.h5, which cannot be opened");
}

TEST_F(Hdf5, DatasetsThatAreNoNumbers) {
  {
    foreign_file out(path("text.h5"));
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, 4);
    out.dataset("words", text, {1}, "abc");
    H5Tclose(text);
    const hid_t null = H5Screate(H5S_NULL);
    H5Dclose(H5Dcreate2(out.id(), "null", H5T_NATIVE_FLOAT, null, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(null);
    out.dataset("huge", H5T_NATIVE_FLOAT, {1}, nullptr);
  }
  QUINTET_EXPECT_CONTAINS(error("text.h5", "words"), "dataset \"words\" does not hold numbers");
  QUINTET_EXPECT_CONTAINS(error("text.h5", "null"), "dataset \"null\" has no shape");
}

TEST_F(Hdf5, ShapesThatLie) {
  {
    foreign_file out(path("huge.h5"));
    const hsize_t shape[] = {hsize_t{1} << 40, 1000}, chunk[] = {1, 1000};
    const hid_t space = H5Screate_simple(2, shape, nullptr), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 2, chunk);
    H5Dclose(H5Dcreate2(out.id(), "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Pclose(creation);
    H5Sclose(space);
  }
  QUINTET_EXPECT_CONTAINS(error("huge.h5"), "bytes of memory");
}

TEST_F(Hdf5, FilesThatAreNone) {
  file("text.h5", "1,2,3\n");
  file("empty.h5", "");
  file("long.h5", std::string(5000, 'x'));
  for (const char* name : {"text.h5", "empty.h5", "long.h5"})
    QUINTET_EXPECT_CONTAINS(error(name), "is not an HDF5 file");
  QUINTET_EXPECT_CONTAINS(error("missing.h5"), "No such file");
  std::filesystem::create_directory(path("folder.h5"));
  QUINTET_EXPECT_CONTAINS(error("folder.h5"), "it is a folder");
}

TEST_F(Hdf5, TruncatedFiles) {
  {
    hdf5_writer out(path("whole.h5"));
    out.write("x", std::vector<float>(10'000, 1.0f));
    out.commit();
  }
  const std::string whole = content("whole.h5");
  for (std::size_t length = 8; length < whole.size(); length += 997) {
    file("part.h5", whole.substr(0, length));
    error("part.h5");
  }
}

TEST_F(Hdf5, WriterErrors) {
  EXPECT_THROW(hdf5_writer(path("none/out.h5")), FileError);
  {
    hdf5_writer out(path("out.h5"));
    out.write("x", std::vector<float>{1});
    out.write("g/y", std::vector<float>{1});
    QUINTET_EXPECT_CONTAINS(error_of<InvalidArgument>([&] { out.write("x", std::vector<float>{1}); }), "already");
    EXPECT_THROW(out.write("g/y", std::vector<float>{1}), InvalidArgument);
    EXPECT_THROW(out.write("g", std::vector<float>{1}), InvalidArgument);
    EXPECT_THROW(out.write("", std::vector<float>{1}), InvalidArgument);
    testing::internal::CaptureStderr();
    EXPECT_THROW(out.write("x/y", std::vector<float>{1}), FileError);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }
  EXPECT_EQ(files(), 0) << "nothing without a commit";
  hdf5_writer out(path("out.h5"));
  out.commit();
  EXPECT_THROW(out.write("x", std::vector<float>{1}), FileError);
  EXPECT_THROW(out.attribute("", "x", 1), FileError);
  EXPECT_THROW(out.commit(), FileError);
}

// In data and in what HDF5 keeps back until the file is closed.
TEST_F(Hdf5, FullDisk) {
  for (const rlim_t bytes : {0, 512, 4096, 100'000}) {
    const quintet::test::file_size_limit limit(bytes);
    testing::internal::CaptureStderr();
    const std::string message = error_of<FileError>([&] {
      hdf5_writer out(path("out.h5"));
      for (int i = 0; i < 300; ++i) {
        out.write("group" + std::to_string(i) + "/x", std::vector<float>(100));
        out.attribute("", "a" + std::to_string(i), std::string(30, 'x'));
      }
      out.commit();
    });
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    QUINTET_EXPECT_CONTAINS(message, "cannot be written: File too large");
    EXPECT_EQ(files(), 0);
  }
  // The library is none the worse.
  hdf5_writer out(path("out.h5"));
  out.write("x", std::vector<float>{1});
  out.commit();
  EXPECT_EQ(read_hdf5<float>(path("out.h5")).data[0], 1);
}

TEST_F(Hdf5, SeveralThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string name = path("out" + std::to_string(t) + ".h5");
        hdf5_writer out(name);
        out.write("x", std::vector<float>(100, static_cast<float>(t)));
        out.commit();
        EXPECT_EQ(read_hdf5<float>(name).data[99], static_cast<float>(t));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
