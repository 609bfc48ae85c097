#include "support/driver.hpp"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <thread>

#include "quintet/core/build_info.hpp"
#include "quintet/core/error.hpp"
#include "quintet/io/csv.hpp"
#include "support/json_value.hpp"
#include "unit/io/temporary_folder.hpp"

namespace {

namespace po = boost::program_options;
using quintet::driver::session;

class Driver : public quintet::test::temporary_folder {
 protected:
  struct outcome {
    int status;
    std::string out, error;
  };

  // Runs a driver with a few options of its own.
  outcome run(std::vector<std::string> arguments, const std::function<void(session&)>& work = [](session&) {}) {
    po::options_description options("Options");
    options.add_options()                                                        //
        ("input", po::value(&input)->required(), "points")                       //
        ("min-samples", po::value(&samples)->default_value(5), "neighbours")     //
        ("curvature", po::value(&curvature)->default_value(1.0), "of the ball")  //
        ("count-self", po::bool_switch(&count_self), "whether a point is its own");
    options.add_options()("output", quintet::driver::output_file(&output, {quintet::io::file_format::csv}), "labels");
    arguments.insert(arguments.begin(), "quintet-test");
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = quintet::driver::run_driver(
        static_cast<int>(argv.size()), argv.data(),
        {"quintet-test", "Tests.", "quintet-test --input points.npy --output labels.csv"}, options, work);
    return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
  }
  // The same with the required options given.
  outcome run_with(std::vector<std::string> more, const std::function<void(session&)>& work = [](session&) {}) {
    std::vector<std::string> arguments{"--input", "points.npy", "--output", path("labels.csv")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, work);
  }
  // Bad usage: status 2, the program's name, nothing on standard output, the work not begun.
  void expect_usage_error(std::vector<std::string> more, const std::string& message) {
    bool worked = false;
    const outcome result = run_with(std::move(more), [&](session&) { worked = true; });
    EXPECT_EQ(result.status, 2) << result.error;
    EXPECT_FALSE(worked) << message;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.error.starts_with("quintet-test: ")) << result.error;
    QUINTET_EXPECT_CONTAINS(result.error, message);
  }

  std::string input, output;
  std::int64_t samples = 0;
  double curvature = 0;
  bool count_self = false;
};

TEST_F(Driver, HelpAndVersionNeedNothingElse) {
  for (const char* option : {"--help", "-h"}) {
    const outcome help = run({option});
    EXPECT_EQ(help.status, 0);
    EXPECT_EQ(help.error, "");
    for (const char* part : {"quintet-test: Tests.", "--min-samples", "--device", "--json", "--quiet", "--threads",
                             "--precision", "Example:\n  quintet-test --input points.npy"})
      QUINTET_EXPECT_CONTAINS(help.out, part);
    EXPECT_EQ(help.out.find("unexpected"), std::string::npos);
  }
  const outcome version = run({"--version"});
  EXPECT_EQ(version.status, 0);
  QUINTET_EXPECT_CONTAINS(version.out, quintet::build_info().summary());
}

TEST_F(Driver, OptionsArrive) {
  const outcome result = run_with({"--min-samples=7", "--curvature", "-1", "--count-self"}, [&](session& s) {
    EXPECT_EQ(input, "points.npy");
    EXPECT_EQ(samples, 7);
    EXPECT_EQ(curvature, -1);
    EXPECT_TRUE(count_self);
    EXPECT_EQ(s.precision(), "float");
    EXPECT_FALSE(s.quiet());
    s.say() << "clusters: 3\n";
  });
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.out, "clusters: 3\n");
}

TEST_F(Driver, NegativeValuesInEverySpelling) {
  for (const std::vector<std::string>& spelling : std::vector<std::vector<std::string>>{
           {"--curvature", "-1e-3"}, {"--curvature=-1e-3"}, {"--curvature", "-.001"}, {"--curvature", "-0.001"}}) {
    EXPECT_EQ(run_with(spelling).status, 0) << spelling[0];
    EXPECT_EQ(curvature, -1e-3);
  }
  EXPECT_EQ(run_with({"--min-samples", "-3"}).status, 0);
  EXPECT_EQ(samples, -3);
  EXPECT_EQ(run_with({"--curvature", "-inf"}).status, 0);
  EXPECT_TRUE(std::isinf(curvature));
}

TEST_F(Driver, BadUsage) {
  expect_usage_error({"--min-sample", "3"}, "unknown option '--min-sample'; did you mean --min-samples?");
  expect_usage_error({"--samples", "3"}, "unknown option '--samples'");
  expect_usage_error({"--quite"}, "did you mean --quiet?");
  expect_usage_error({"--xyz"}, "unknown option '--xyz' (see --help)");
  expect_usage_error({"-x"}, "'-x'");
  expect_usage_error({"--curv", "1"}, "did you mean --curvature?");
  expect_usage_error({"more.npy"}, "unexpected argument 'more.npy'");
  expect_usage_error({"--min-samples", "five"}, "five");
  expect_usage_error({"--min-samples", "2.5"}, "--min-samples");
  expect_usage_error({"--min-samples", "99999999999999999999"}, "--min-samples");
  expect_usage_error({"--min-samples"}, "--min-samples");
  expect_usage_error({"--input", "again.npy"}, "--input");
  expect_usage_error({"--threads", "0"}, "--threads must be >= 1 (--threads=0)");
  expect_usage_error({"--threads", "-2"}, "--threads must be >= 1");
  expect_usage_error({"--precision", "half"}, "--precision must be float or double (--precision=half)");
  expect_usage_error({"--device", "gpu"}, "--device: device must be");
  for (const char* wrong : {"-1", "0x0", "1.5", " 0", "0 ", "HOST", "best", "offload", "offload:", "offload:-1",
                            "offload:host", "offload:offload:0", "99999999999"})
    expect_usage_error({"--device", wrong},
                       "must be auto, host, emulated, or an offload device as NUMBER or offload:NUMBER");
  expect_usage_error({"--json", path("none/x.json")}, "--json: " + path("none/x.json"));
  const outcome nothing = run({});
  EXPECT_EQ(nothing.status, 2);
  QUINTET_EXPECT_CONTAINS(nothing.error, "is required");
}

TEST_F(Driver, OutputsAreRefusedBeforeTheWork) {
  bool worked = false;
  for (const std::string& name :
       {std::string("labels.txt"), std::string("labels"), std::string("labels.npy"), std::string("none/labels.csv")}) {
    const outcome result = run({"--input", "points.npy", "--output", path(name)}, [&](session&) { worked = true; });
    EXPECT_EQ(result.status, 2);
    QUINTET_EXPECT_CONTAINS(result.error, "quintet-test: --output: " + path(name));
  }
  EXPECT_FALSE(worked);
}

TEST_F(Driver, ExceptionsBecomeStatus) {
  const auto status_of = [&](auto exception) {
    const outcome result = run_with({"--json", path("x.json")}, [&](session&) { throw exception; });
    EXPECT_TRUE(result.error.starts_with("quintet-test: ")) << result.error;
    EXPECT_TRUE(result.error.ends_with("\n"));
    EXPECT_EQ(files(), 0) << "no summary of work that failed";
    return result.status;
  };
  EXPECT_EQ(status_of(quintet::InvalidArgument("k must be < n")), 2);
  EXPECT_EQ(status_of(quintet::FileError("a.csv", 3, "is odd")), 2);
  EXPECT_EQ(status_of(quintet::DeviceError("lost")), 3);
  EXPECT_EQ(status_of(quintet::OutOfMemory(1024, "GPU")), 3);
  EXPECT_EQ(status_of(std::bad_alloc()), 3);
  EXPECT_EQ(status_of(quintet::Cancelled("tree")), 1);
  EXPECT_EQ(status_of(std::runtime_error("other")), 1);
  EXPECT_EQ(status_of(42), 1);
  QUINTET_EXPECT_CONTAINS(run_with({}, [](session&) { throw quintet::FileError("a.csv", 3, "is odd"); }).error,
                          "quintet-test: a.csv:3: is odd\n");
}

TEST_F(Driver, AbsentDevice) {
  EXPECT_EQ(run_with({"--device", "offload:1000"}).status, run_with({"--device", "1000"}).status);
  const outcome result = run_with({"--device", "1000"});
  EXPECT_EQ(result.status, 3);
  QUINTET_EXPECT_CONTAINS(result.error, "quintet-test: --device: ");
}

TEST_F(Driver, DeviceAndThreads) {
  const outcome result = run_with({"--device", "emulated", "--threads", "3"}, [](session& s) {
    EXPECT_EQ(s.device(), quintet::Device::emulated());
    EXPECT_EQ(quintet::threads(), 3);
  });
  EXPECT_EQ(result.status, 0) << result.error;
  quintet::set_threads(0);
}

TEST_F(Driver, QuietPrintsNothing) {
  const outcome result = run_with({"--quiet"}, [](session& s) {
    EXPECT_TRUE(s.quiet());
    s.say() << "clusters: 3\n";
  });
  EXPECT_EQ(result.out + result.error, "");
}

TEST_F(Driver, Warnings) {
  const auto work = [](session& s) {
    s.warn("a row is odd");
    EXPECT_EQ(s.summary()["warnings"].dump(), "[\"a row is odd\"]");
  };
  EXPECT_EQ(run_with({}, work).error, "quintet-test: warning: a row is odd\n");
  EXPECT_EQ(run_with({"--quiet"}, work).error, "");
}

TEST_F(Driver, DoneTellsFileAndStages) {
  const outcome result = run_with({}, [](session& s) {
    s.timed("read", [] {});
    s.say_done("labels.csv");
  });
  EXPECT_TRUE(result.out.starts_with("labels.csv written after ")) << result.out;
  QUINTET_EXPECT_CONTAINS(result.out, "(read ");
}

TEST_F(Driver, Choice) {
  const auto colour = [](std::string_view word) {
    return quintet::driver::choice<int>("--colour", word, {{"red", 1}, {"green", 2}});
  };
  EXPECT_EQ(colour("green"), 2);
  EXPECT_EQ(quintet::test::error_of<quintet::InvalidArgument>([&] { colour("blue"); }),
            "--colour must be red or green (--colour=blue)");
}

TEST_F(Driver, FilesMustBeDistinct) {
  using quintet::driver::require_distinct_files;
  const std::string a = file("a.csv", "1"), same = path("../" + a.substr(a.rfind('/', a.rfind('/') - 1) + 1));
  EXPECT_NO_THROW(require_distinct_files({{"--input", a}, {"--predict", a}},
                                         {{"--output", path("b.csv")}, {"--json", ""}, {"--x", ""}}));
  for (const std::string& other : {a, same})
    QUINTET_EXPECT_CONTAINS(quintet::test::error_of<quintet::InvalidArgument>(
                                [&] { require_distinct_files({{"--input", a}}, {{"--output", other}}); }),
                            "--output must be another file than --input");
}

TEST_F(Driver, OutputFormatIsRefusedWithTheReason) {
  po::options_description options("Options");
  options.add_options()("output", quintet::driver::output_file(&output, {quintet::io::file_format::csv}, "output",
                                                               "columns differ in type"));
  const std::string name = path("x.npy");
  const std::vector<const char*> argv{"quintet-test", "--output", name.c_str()};
  const std::string message = quintet::test::error_of<quintet::InvalidArgument>([&] {
    quintet::driver::parse_command_line(static_cast<int>(argv.size()), argv.data(), {"quintet-test", "", "", {"float"}},
                                        options);
  });
  EXPECT_TRUE(message.ends_with("allowed are .csv: columns differ in type")) << message;
}

TEST_F(Driver, WithoutATerminalShortWorkShowsNothing) {
  const outcome result = run_with({}, [](session& s) {
    const quintet::progress_callback report = s.progress();
    ASSERT_TRUE(report) << "a line every 10 seconds, for logs";
    EXPECT_TRUE(report("neighbours", 0.5));
  });
  EXPECT_EQ(result.error, "");
  run_with({"--quiet"}, [](session& s) { EXPECT_FALSE(s.progress()); });
}

TEST_F(Driver, Summary) {
  const outcome result =
      run_with({"--json", path("summary.json"), "--curvature", "-inf", "--precision", "double"}, [](session& s) {
        s.timed("wait", [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
        EXPECT_EQ(s.timed("answer", [] { return 42; }), 42);
        s.timed("wait", [] {});
        s.result("clusters", 3);
        s.result("weight", std::nan(""));
        s.result("sizes", std::vector<int>{1, 2});
      });
  ASSERT_EQ(result.status, 0) << result.error;
  const auto summary = quintet::test::json_value::parse(content("summary.json"));
  EXPECT_EQ(summary["program"], "quintet-test");
  EXPECT_EQ(summary["build"]["version"], std::string(quintet::build_info().version));
  EXPECT_EQ(summary["precision"], "double");
  EXPECT_NE(summary["device"]["name"].text(), "");
  EXPECT_EQ(summary["parameters"]["min_samples"], 5);
  EXPECT_EQ(summary["parameters"]["curvature"], "-inf");
  EXPECT_EQ(summary["parameters"]["count_self"], false);
  EXPECT_EQ(summary["parameters"]["input"], "points.npy");
  EXPECT_EQ(summary["results"]["clusters"], 3);
  EXPECT_EQ(summary["results"]["weight"], "nan");
  EXPECT_EQ(summary["results"]["sizes"][1], 2);
  EXPECT_GE(summary["seconds"]["wait"].number(), 0.005);
  EXPECT_GE(summary["seconds"]["total"].number(), summary["seconds"]["wait"].number());
  EXPECT_TRUE(summary["seconds"].contains("answer"));
}

TEST_F(Driver, SummaryThatCannotBeWritten) {
  const outcome result = run_with({"--json", path("x.json")}, [&](session&) {
    std::filesystem::create_directory(path("x.json"));  // meanwhile
  });
  EXPECT_EQ(result.status, 2);
  QUINTET_EXPECT_CONTAINS(result.error, "x.json");
}

TEST_F(Driver, ParametersGoIntoTheOutput) {
  const outcome result = run_with({"--min-samples", "9"}, [&](session& s) {
    quintet::io::hdf5_writer out(path("out.h5"));
    out.write("x", std::vector<float>{1});
    s.write_attributes(out);
    out.commit();
  });
  ASSERT_EQ(result.status, 0) << result.error;
  const std::string bytes = content("out.h5");
  for (const char* name : {"min_samples", "curvature", "precision", "device", "quintet-test"})
    QUINTET_EXPECT_CONTAINS(bytes, name);
}

TEST_F(Driver, PrecisionPicksTheType) {
  const auto bytes = [](session& s) {
    return quintet::driver::with_precision(s, {}, []<class Real>() { return sizeof(Real); });
  };
  run_with({}, [&](session& s) { EXPECT_EQ(bytes(s), 4u); });
  run_with({"--precision", "double"}, [&](session& s) { EXPECT_EQ(bytes(s), 8u); });
}

}  // namespace
