#include "quintet/io/csv.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "quintet/core/error.hpp"
#include "quintet/core/philox.hpp"
#include "unit/io/temporary_folder.hpp"

namespace {

using quintet::FileError;
using quintet::InvalidArgument;
using quintet::io::csv_writer;
using quintet::io::read_csv;
using quintet::io::table;
using quintet::test::error_of;

class Csv : public quintet::test::temporary_folder {
 protected:
  template <class T = double>
  table<T> parse(std::string_view content) {
    return read_csv<T>(file("in.csv", content));
  }
  // The message without the path.
  template <class T = double>
  std::string error(std::string_view content) {
    const std::string name = file("in.csv", content);
    const std::string message = error_of<FileError>([&] { read_csv<T>(name); });
    EXPECT_TRUE(message.starts_with(name + ":")) << message;
    return message.substr(std::min(message.size(), name.size() + 1));
  }
};

using numbers = std::vector<double>;
using names = std::vector<std::string>;

TEST_F(Csv, SeparatorsAndLineEnds) {
  for (const std::string_view content :
       {"1,2\n3,4\n", "1,2\r\n3,4\r\n", "1,2\n3,4", "1;2\n3;4\n", "1\t2\n3\t4\n", "1 2\n3 4\n", "  1   2 \n\t3\t 4  \n",
        " 1 , 2 \n 3 ,4\n",
        "\xEF\xBB\xBF"
        "1,2\n3,4\n",
        "\n1,2\n\n \n3,4\n\n", "# made by hand\n1,2\n# more\n3,4\n", "\"1\",\"2\"\n\" 3 \" , \"4\"\n", "1;2\n\"3\";4\n",
        "+1,2\n3.,4e0\n", "1\t 2\n3 \t4\n"}) {
    const table<double> result = parse(content);
    EXPECT_EQ(result.values.rows, 2) << content;
    EXPECT_EQ(result.values.cols, 2) << content;
    EXPECT_EQ(result.values.data, (numbers{1, 2, 3, 4})) << content;
    EXPECT_TRUE(result.names.empty()) << content;
  }
}

TEST_F(Csv, FloatHoldsEveryNumberOrNot) {
  const auto fits = [&](std::string_view content) { return quintet::io::csv_fits_float(file("in.csv", content)); };
  EXPECT_TRUE(fits("x,y\n1,-2.5\nnan,inf\n16777216,0.75\n-inf,-0\n"));
  EXPECT_TRUE(fits("x,y\n"));
  for (const char* content : {"16777217\n", "1\n2\n1700000030\n", "0.1\n", "1e39\n", "1e-46\n", "500000.2,0\n"})
    EXPECT_FALSE(fits(content)) << content;
  EXPECT_FALSE(fits("0.1\nno number\n")) << "the second line is not read";
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { fits("1\nno number\n"); }), "2: field 1");
}

TEST_F(Csv, HeaderIsALineWithoutNumbers) {
  const table<double> plain = parse("x,y\n1,2\n");
  EXPECT_EQ(plain.names, (names{"x", "y"}));
  EXPECT_EQ(plain.values.data, (numbers{1, 2}));
  EXPECT_EQ(parse("\"length, cm\",\"the \"\"other\"\"\"\n1,2\n").names, (names{"length, cm", "the \"other\""}));
  EXPECT_EQ(parse("a b\n1 2\n").names, (names{"a", "b"}));
  EXPECT_EQ(parse("1st,2nd\n1,2\n").names, (names{"1st", "2nd"}));
  // nan and inf are numbers.
  EXPECT_EQ(parse("nan,inf\n1,2\n").values.rows, 2);
  // As C's printf writes it for a sign that is set.
  EXPECT_TRUE(std::isnan(parse("-nan,1\n2,-NaN\n").values.data[0]));
  // A mixture is more likely damage than a header.
  QUINTET_EXPECT_CONTAINS(error("1,x\n1,2\n"), "1: field 2 \"x\" is not a number");
}

TEST_F(Csv, HeaderAloneIsATableOfNoRows) {
  const table<std::int64_t> result = parse<std::int64_t>("i,j\n");
  EXPECT_EQ(result.values.rows, 0);
  EXPECT_EQ(result.values.cols, 2);
}

TEST_F(Csv, SpecialValues) {
  const numbers data = parse("nan,NaN,NAN,inf,-INF,+Infinity,-0,1e-400,-1e-5000,0e999999999999\n").values.data;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(data[i]));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(data[3], infinity);
  EXPECT_EQ(data[4], -infinity);
  EXPECT_EQ(data[5], infinity);
  for (int i = 6; i < 10; ++i) EXPECT_EQ(data[i], 0);
  EXPECT_TRUE(std::signbit(data[6]) && std::signbit(data[8]) && !std::signbit(data[7]));
}

TEST_F(Csv, RoundsOnceToTheTypeAskedFor) {
  // Just above the middle between 1 and the next float, but the double nearest to it is the middle itself.
  EXPECT_EQ(parse<float>("1.00000005960464477539062500001\n").values.data[0], std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(parse<float>("1e-45,1e-46,1.17549421e-38\n").values.data,
            (std::vector<float>{0x1p-149f, 0.0f, 0x1.fffffcp-127f}));
  QUINTET_EXPECT_CONTAINS(error<float>("1\n1e39\n"), "2: field 1 \"1e39\" is too large for float32");
  QUINTET_EXPECT_CONTAINS(error<float>("0.0001e5000,1\n"), "too large for float32");
  EXPECT_EQ(parse<double>("1e39\n").values.data[0], 1e39);
  QUINTET_EXPECT_CONTAINS(error<double>("-1e309\n"), "too large for float64");
  QUINTET_EXPECT_CONTAINS(error<double>("1e99999999999999999999\n"), "too large for float64");
}

TEST_F(Csv, Integers) {
  EXPECT_EQ(parse<std::int64_t>("i,j\n-1,9223372036854775807\n3.0,4e2\n").values.data,
            (std::vector<std::int64_t>{-1, std::numeric_limits<std::int64_t>::max(), 3, 400}));
  QUINTET_EXPECT_CONTAINS(error<std::int64_t>("1,2.5\n"), "1: field 2 \"2.5\" is not an integer");
  QUINTET_EXPECT_CONTAINS(error<std::int64_t>("1,nan\n"), "\"nan\" is not an integer");
  QUINTET_EXPECT_CONTAINS(error<std::int64_t>("9223372036854775808\n"), "too large for int64");
  QUINTET_EXPECT_CONTAINS(error<std::int64_t>("1e300\n"), "too large for int64");
  QUINTET_EXPECT_CONTAINS(error<std::int64_t>("1,2\n3,x\n"), "2: field 2 \"x\" is not a number");
}

TEST_F(Csv, MalformedLinesAreNamed) {
  const struct {
    const char *content, *message;
  } cases[] = {
      {"1,2\n3\n", "2: has 1 fields where line 1 has 2"},
      {"a,b\n1,2\n\n3,4,5\n", "4: has 3 fields where line 1 has 2"},
      {"1,2\r\n3,x\r\n", "2: field 2 \"x\" is not a number"},
      {"1,2\n3,\n", "2: field 2 is empty"},
      {"1,2\n,4\n", "2: field 1 is empty"},
      {"1,2\n3,,4\n", "2: field 2 is empty"},
      {"1,2\n3,4 5\n", "2: field 2 \"4 5\" is not a number"},
      {"1,2\n3,4x\n", "2: field 2 \"4x\" is not a number"},
      {"1,2\n3,--4\n", "2: field 2 \"--4\" is not a number"},
      {"1,2\n3,+-4\n", "2: field 2 \"+-4\" is not a number"},
      {"1,2\n3,0x10\n", "2: field 2 \"0x10\" is not a number"},
      {"1,2\n3,\"4\n", "2: field 2: a quote is not closed"},
      {"1,2\n3,\"4\"5\n", "2: field 2: text follows a closing quote"},
      {"1,2\n3,\"\"\n", "2: field 2 is empty"},
      {"1;2\n3;4,5\n", "2: field 2 \"4,5\" is not a number"},
      {"1 2\n3 4 5\n", "2: has 3 fields where line 1 has 2"},
  };
  for (const auto& c : cases) EXPECT_TRUE(error(c.content).starts_with(c.message)) << error(c.content);
  QUINTET_EXPECT_CONTAINS(error(std::string_view("1,2\n\0\0,4\n", 9)), "NUL byte");
  // A long field does not flood the terminal.
  EXPECT_LT(error("1\n" + std::string(100'000, 'x')).size(), 200u);
}

TEST_F(Csv, EmptyFiles) {
  for (const char* content : {"", "\n", " \n\r\n", "# nothing\n", "\xEF\xBB\xBF"}) {
    const std::string name = file("in.csv", content);
    QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { read_csv<float>(name); }), "is empty");
  }
}

TEST_F(Csv, UnreadablePaths) {
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { read_csv<float>(path("none.csv")); }), "No such file");
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { read_csv<float>(path(".")); }), "it is a folder");
}

TEST_F(Csv, LinesLongerThanTheReadBuffer) {
  constexpr int cols = 400'000;
  std::string content;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < cols; ++j) content += std::to_string((i + j) % 1000) + (j + 1 < cols ? "," : "\n");
  const table<float> result = parse<float>(content);
  ASSERT_EQ(result.values.rows, 3);
  ASSERT_EQ(result.values.cols, cols);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < cols; ++j) ASSERT_EQ(result.values.data[std::size_t(i) * cols + j], (i + j) % 1000);
}

TEST_F(Csv, ManyLines) {
  std::string content = "a,b\n";
  for (int i = 0; i < 300'000; ++i) content += std::to_string(i) + "," + std::to_string(-i) + "\n";
  const table<std::int64_t> result = parse<std::int64_t>(content);
  ASSERT_EQ(result.values.rows, 300'000);
  for (int i = 0; i < 300'000; ++i) {
    ASSERT_EQ(result.values.data[2 * i], i);
    ASSERT_EQ(result.values.data[2 * i + 1], -i);
  }
}

template <class T>
void round_trip(const std::string& path) {
  quintet::random_stream random(9);
  std::vector<T> values{T(0),
                        T(-0.0),
                        T(0.1),
                        std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::lowest(),
                        std::numeric_limits<T>::min(),
                        std::numeric_limits<T>::denorm_min(),
                        std::numeric_limits<T>::infinity(),
                        -std::numeric_limits<T>::infinity(),
                        T(1) / 3};
  while (values.size() < 10'000)
    values.push_back(std::ldexp(random.uniform<T>() - T(0.5), static_cast<int>(random.below(200)) - 100));
  quintet::io::write_csv<T>(path, quintet::matrix_view<const T>(values.data(), 1000, 10));
  EXPECT_EQ(read_csv<T>(path).values.data, values);
}

TEST_F(Csv, EveryNumberReturns) {
  round_trip<float>(path("float.csv"));
  round_trip<double>(path("double.csv"));
}

TEST_F(Csv, WriterTextIsExact) {
  const std::vector<std::int32_t> label{-1, 2};
  const std::vector<float> probability{0.1f, std::nanf("")};
  const std::vector<double> score{1e-7, -std::numeric_limits<double>::infinity()};
  const std::vector<quintet::io::column> columns{{"label", std::span<const std::int32_t>(label)},
                                                 {"probability, or \"p\"", std::span<const float>(probability)},
                                                 {"score", std::span<const double>(score)}};
  quintet::io::write_csv(path("out.csv"), columns);
  EXPECT_EQ(content("out.csv"), "label,\"probability, or \"\"p\"\"\",score\n-1,0.1,1e-07\n2,nan,-inf\n");
  EXPECT_EQ(read_csv<double>(path("out.csv")).names[1], "probability, or \"p\"");
}

TEST_F(Csv, WriterRowByRow) {
  csv_writer out(path("out.csv"), {"i", "x", "name"});
  out.row(std::int64_t{1}, 0.5f, "one");
  out.row(2, -0.25, std::string("a,b"));
  EXPECT_FALSE(std::filesystem::exists(path("out.csv")));
  out.commit();
  EXPECT_EQ(content("out.csv"), "i,x,name\n1,0.5,one\n2,-0.25,\"a,b\"\n");
}

TEST_F(Csv, StridedMatrixWithNames) {
  const float data[] = {1, 2, 99, 3, 4, 99};
  const names header{"a", "b"};
  quintet::io::write_csv<float>(path("out.csv"), {data, 2, 2, 3}, header);
  EXPECT_EQ(content("out.csv"), "a,b\n1,2\n3,4\n");
}

TEST_F(Csv, WriterRefusesRaggedTables) {
  csv_writer out(path("out.csv"), {"a", "b"});
  EXPECT_THROW(out.row(1), InvalidArgument);
  QUINTET_EXPECT_CONTAINS(error_of<InvalidArgument>([&] { out.field(UINT64_MAX); }), "<= 2^63 - 1");
  const std::vector<float> two{1, 2}, three{1, 2, 3};
  const std::vector<quintet::io::column> columns{{"a", std::span<const float>(two)},
                                                 {"b", std::span<const float>(three)}};
  QUINTET_EXPECT_CONTAINS(error_of<InvalidArgument>([&] { quintet::io::write_csv(path("out.csv"), columns); }),
                          "column \"b\" must have as many rows");
  EXPECT_THROW(quintet::io::write_csv<float>(path("out.csv"), {two.data(), 1, 2}, names{"a"}), InvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(path("out.csv")));
}

TEST_F(Csv, WriterFailures) {
  const std::vector<float> values(100'000, 0.123456f);
  const quintet::matrix_view<const float> view(values.data(), 1000, 100);
  EXPECT_THROW(quintet::io::write_csv(path("none/out.csv"), view), FileError);
  const quintet::test::file_size_limit limit(4096);
  EXPECT_THROW(quintet::io::write_csv(path("out.csv"), view), FileError);
  EXPECT_EQ(files(), 0);
}

}  // namespace
