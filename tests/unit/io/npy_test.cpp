#include "quintet/io/npy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "quintet/core/error.hpp"
#include "quintet/core/storage16.hpp"
#include "unit/io/temporary_folder.hpp"

namespace {

using quintet::FileError;
using quintet::io::array;
using quintet::io::read_npy;
using quintet::test::error_of;
using sizes = std::vector<std::int64_t>;

// A file as NumPy would write it, or not: any header over any bytes.
std::string npy(std::string_view dictionary, std::string_view data, int version = 1) {
  std::string header(dictionary);
  const std::size_t prefix = version == 1 ? 10 : 12;
  while ((prefix + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string result("\x93NUMPY", 6);
  result += static_cast<char>(version);
  result += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) result += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return result + header + std::string(data);
}

std::string dictionary(std::string_view type, std::string_view shape, bool fortran = false) {
  return "{'descr': '" + std::string(type) + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + std::string(shape) + ", }";
}

template <class T>
std::string bytes_of(const std::vector<T>& values, bool big_endian = false) {
  std::string result;
  for (const T value : values) {
    char item[sizeof(T)];
    std::memcpy(item, &value, sizeof(T));
    if (big_endian != (std::endian::native == std::endian::big)) std::reverse(item, item + sizeof(T));
    result.append(item, sizeof(T));
  }
  return result;
}

class Npy : public quintet::test::temporary_folder {
 protected:
  std::string error(std::string_view content) {
    const std::string name = file("in.npy", content);
    const std::string message = error_of<FileError>([&] { read_npy<float>(name); });
    EXPECT_TRUE(message.starts_with(name)) << message;
    return message;
  }

  template <class Stored>
  void expect_read(const std::string& type, const std::vector<Stored>& values) {
    for (const bool big : {false, true}) {
      const std::string described = (big ? ">" : "<") + type;
      const std::string name = file("in.npy", npy(dictionary(described, "(3,)"), bytes_of(values, big)));
      const array<double> result = read_npy<double>(name);
      EXPECT_EQ(quintet::io::npy_fits_float(name), type == "f4" || type[1] <= '2') << described;
      EXPECT_EQ(result.shape, sizes{3}) << described;
      for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(result.data[i], static_cast<double>(values[i])) << described;
      const array<float> single = read_npy<float>(name);
      for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(single.data[i], static_cast<float>(values[i])) << described;
      const array<std::int64_t> integers = read_npy<std::int64_t>(name);
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(integers.data[i], static_cast<std::int64_t>(values[i])) << described;
    }
  }
};

TEST_F(Npy, AllTypesInBothByteOrders) {
  using quintet::half;
  expect_read<half>("f2", {half(1.0f), half(-2048.0f), half(300.0f)});
  expect_read<float>("f4", {1.0f, -2.0f, 3e5f});
  expect_read<double>("f8", {1.0, -2.0, 4e9});
  expect_read<std::int8_t>("i1", {1, -128, 127});
  expect_read<std::int16_t>("i2", {1, -32768, 32767});
  expect_read<std::int32_t>("i4", {1, -2147483647 - 1, 2147483647});
  expect_read<std::int64_t>("i8", {1, -(std::int64_t{1} << 40), std::int64_t{1} << 53});
  expect_read<std::uint8_t>("u1", {1, 0, 255});
  expect_read<std::uint16_t>("u2", {1, 0, 65535});
  expect_read<std::uint32_t>("u4", {1, 0, 4294967295u});
  expect_read<std::uint64_t>("u8", {1, 0, std::uint64_t{1} << 62});
  expect_read<std::uint8_t>("b1", {1, 0, 1});
}

TEST_F(Npy, VersionsAndSpellings) {
  const std::string data = bytes_of<float>({1, 2, 3, 4, 5, 6});
  for (const int version : {1, 2, 3})
    EXPECT_EQ(read_npy<float>(file("in.npy", npy(dictionary("<f4", "(2, 3)"), data, version))).shape, (sizes{2, 3}));
  for (const char* text : {"{\"shape\":(2,3),\"descr\":\"<f4\",\"fortran_order\":False}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L)}",
                           "  { 'fortran_order' : False , 'shape' : ( 2 , 3 , ) , 'descr' : '<f4' }  "})
    EXPECT_EQ(read_npy<float>(file("in.npy", npy(text, data))).shape, (sizes{2, 3})) << text;
  EXPECT_EQ(read_npy<float>(file("in.npy", npy(dictionary("|u1", "(6,)"), "abcdef"))).data[5], 'f');
  const array<float> scalar = read_npy<float>(file("in.npy", npy(dictionary("<f4", "()"), bytes_of<float>({7}))));
  EXPECT_TRUE(scalar.shape.empty());
  EXPECT_EQ(scalar.data, std::vector<float>{7});
  EXPECT_EQ(read_npy<float>(file("in.npy", npy(dictionary("<f4", "(0, 5)"), ""))).shape, (sizes{0, 5}));
}

TEST_F(Npy, FortranOrder) {
  // Element (i, j, k) is 100 i + 10 j + k; the first index runs fastest in the file.
  std::vector<double> stored, expected;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) stored.push_back(100 * i + 10 * j + k);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) expected.push_back(100 * i + 10 * j + k);
  for (const bool big : {false, true}) {
    const std::string name =
        file("in.npy", npy(dictionary(big ? ">f8" : "<f8", "(2, 3, 4)", true), bytes_of(stored, big)));
    EXPECT_EQ(read_npy<double>(name).data, expected);
    EXPECT_EQ(read_npy<std::int32_t>(name).data[23], 123);
  }
  const std::string matrix = file("in.npy", npy(dictionary("<f4", "(2, 2)", true), bytes_of<float>({1, 2, 3, 4})));
  EXPECT_EQ(read_npy<float>(matrix).data, (std::vector<float>{1, 3, 2, 4}));
}

TEST_F(Npy, HeadersThatLie) {
  const std::string data = bytes_of<float>({1, 2, 3, 4});
  for (const char* shape : {"(5,)", "(3,)", "(2, 3)", "(4, 0)", "(1000000000000,)", "(4611686018427387905,)",
                            "(4294967296, 4294967296)", "(2, 9223372036854775807, 9223372036854775807)"}) {
    const std::string message = error(npy(dictionary("<f4", shape), data));
    EXPECT_TRUE(message.find("is damaged") != std::string::npos || message.find("2^63") != std::string::npos)
        << message;
  }
  QUINTET_EXPECT_CONTAINS(error(npy(dictionary("<f4", "(99999999999999999999,)"), data)), "larger than 2^63");
  QUINTET_EXPECT_CONTAINS(error(npy(dictionary("<f4", "(-4,)"), data)), "sizes >= 0");
  QUINTET_EXPECT_CONTAINS(error(npy(dictionary("<f8", "(4,)"), data)), "4 elements of 8 bytes, and 16 bytes follow");
  // The length of the header itself.
  std::string huge = npy(dictionary("<f4", "(4,)"), data, 2);
  huge[11] = '\x7f';
  QUINTET_EXPECT_CONTAINS(error(huge), "npy header of");
}

TEST_F(Npy, EveryTruncationIsAnError) {
  const std::string whole = npy(dictionary("<f4", "(4,)"), bytes_of<float>({1, 2, 3, 4}));
  for (std::size_t length = 0; length < whole.size(); ++length) error(whole.substr(0, length));
  QUINTET_EXPECT_CONTAINS(error(whole.substr(0, whole.size() - 1)), "15 bytes follow");
}

TEST_F(Npy, EveryDamagedHeaderIsAnErrorOrAnArray) {
  const std::string whole = npy(dictionary("<f4", "(4,)"), bytes_of<float>({1, 2, 3, 4}));
  for (std::size_t at = 0; at < 64; ++at)
    for (const char c : {'\0', '\xff', '(', '\'', '9', '}', ' '}) {
      std::string damaged = whole;
      damaged[at] = c;
      const std::string name = file("in.npy", damaged);
      try {
        EXPECT_LE(read_npy<float>(name).data.size(), 16u);
      } catch (const FileError&) {
      }
    }
}

TEST_F(Npy, OtherFilesAndTypes) {
  QUINTET_EXPECT_CONTAINS(error("1,2,3\n4,5,6\n"), "is not an npy file");
  QUINTET_EXPECT_CONTAINS(error(""), "ends within the npy signature");
  QUINTET_EXPECT_CONTAINS(error(npy(dictionary("<f4", "(1,)"), "abcd", 9)), "npy version 9");
  for (const char* type : {"|O", "<c8", "<f16", "<U4", "<f3", "f", "", "<f", "<b2", "<M8", "<f1", "<i16", "<f0"})
    QUINTET_EXPECT_CONTAINS(error(npy(dictionary(type, "(1,)"), "abcd")),
                            "holds elements of type '" + std::string(type) + "'");
  QUINTET_EXPECT_CONTAINS(error(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "abcd")),
                          "structured array");
  for (const char* text :
       {"", "{", "{}", "{'descr': '<f4', 'fortran_order': False}", "{'descr': '<f4}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
        "1,1,1,1,1,1,1,1,1,1,1,1,1)}"})
    QUINTET_EXPECT_CONTAINS(error(npy(text, "abcd")), "malformed npy header");
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { read_npy<float>(path("none.npy")); }), "No such file");
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { read_npy<float>(path(".")); }), "it is a folder");
}

TEST_F(Npy, ValuesThatDoNotFit) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string special =
      file("special.npy", npy(dictionary("<f8", "(2,)"), bytes_of<double>({infinity, std::nan("")})));
  EXPECT_EQ(read_npy<float>(special).data[0], std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(read_npy<float>(special).data[1]));
  QUINTET_EXPECT_CONTAINS(error(npy(dictionary("<f8", "(2,)"), bytes_of<double>({0, 1e300}))),
                          "element 1 (1e+300) does not fit into float32");
  for (const double value : {0.5, 0x1p63, -0x1.8p63, infinity, std::nan("")}) {
    const std::string name = file("in.npy", npy(dictionary("<f8", "(1,)"), bytes_of<double>({value})));
    EXPECT_THROW(read_npy<std::int64_t>(name), FileError) << value;
  }
  EXPECT_THROW(read_npy<std::int64_t>(
                   file("in.npy", npy(dictionary("<u8", "(1,)"), bytes_of<std::uint64_t>({~std::uint64_t{0}})))),
               FileError);
  EXPECT_THROW(read_npy<std::int32_t>(
                   file("in.npy", npy(dictionary("<i8", "(1,)"), bytes_of<std::int64_t>({std::int64_t{1} << 31})))),
               FileError);
}

// The bytes that numpy.save writes for the same array.
TEST_F(Npy, WriterMakesNumPysBytes) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  quintet::io::write_npy<float>(path("out.npy"), values, sizes{2, 3});
  EXPECT_EQ(content("out.npy"), npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", bytes_of(values)));
  quintet::io::write_npy<float>(path("out.npy"), values, sizes{6});
  EXPECT_EQ(content("out.npy"), npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }", bytes_of(values)));
}

template <class T>
void npy_round_trip(const std::string& path) {
  std::vector<T> values(600'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i) - T(1000);
  quintet::io::write_npy<T>(path, values, sizes{2, 300, 1000});
  const array<T> result = read_npy<T>(path);
  EXPECT_EQ(result.shape, (sizes{2, 300, 1000}));
  EXPECT_EQ(result.data, values);
}

TEST_F(Npy, WhatIsWrittenReturns) {
  npy_round_trip<float>(path("out.npy"));
  npy_round_trip<double>(path("out.npy"));
  npy_round_trip<std::int32_t>(path("out.npy"));
  npy_round_trip<std::int64_t>(path("out.npy"));
}

TEST_F(Npy, StridedMatrix) {
  const double data[] = {1, 2, 99, 3, 4, 99};
  quintet::io::write_npy<double>(path("out.npy"), {data, 2, 2, 3});
  EXPECT_EQ(read_npy<double>(path("out.npy")).data, (std::vector<double>{1, 2, 3, 4}));
}

TEST_F(Npy, WriterByBlocksOfRows) {
  const std::vector<float> data{1, 2, 3, 4, 5, 6};
  quintet::io::npy_writer<float> out(path("out.npy"), 3, 2);
  out.write_rows({data.data(), 1, 2});
  EXPECT_FALSE(std::filesystem::exists(path("out.npy"))) << "nothing appears before commit";
  EXPECT_THROW(out.commit(), quintet::InvalidArgument) << "two rows are missing";
  EXPECT_THROW(out.write_rows({data.data(), 2, 3}), quintet::InvalidArgument);
  EXPECT_THROW(out.write_rows({data.data(), 3, 2}), quintet::InvalidArgument);
  out.write_rows({data.data() + 2, 2, 2});
  out.commit();
  const auto read = read_npy<float>(path("out.npy"));
  EXPECT_EQ(read.shape, (sizes{3, 2}));
  EXPECT_EQ(read.data, data);
  EXPECT_THROW(quintet::io::npy_writer<float>(path("x.npy"), -1, 2), quintet::InvalidArgument);
}

TEST_F(Npy, WriterFailures) {
  const std::vector<float> values(10'000);
  EXPECT_THROW(quintet::io::write_npy<float>(path("out.npy"), values, sizes{3, 3}), quintet::InvalidArgument);
  EXPECT_THROW(quintet::io::write_npy<float>(path("out.npy"), values, sizes{-1, -10'000}), quintet::InvalidArgument);
  EXPECT_THROW(quintet::io::write_npy<float>(path("out.npy"), {values.data(), 1}, sizes(33, 1)),
               quintet::InvalidArgument);
  EXPECT_THROW(quintet::io::write_npy<float>(path("none/out.npy"), values, sizes{10'000}), FileError);
  const quintet::test::file_size_limit limit(4096);
  EXPECT_THROW(quintet::io::write_npy<float>(path("out.npy"), values, sizes{10'000}), FileError);
  EXPECT_EQ(files(), 0);
}

}  // namespace
