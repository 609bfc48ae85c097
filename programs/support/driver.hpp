// The main function that all drivers share.
//
//   struct arguments {
//     std::string input, output;
//   };
//   po::options_description describe(arguments& a) {
//     po::options_description options("Options");
//     options.add_options()("input", po::value(&a.input)->required(), "...")
//                          ("output", output_file(&a.output, {io::file_format::csv}), "...");
//     return options;
//   }
//   const program about{"quintet-x", "Does x.", "quintet-x --input a.npy --output b.csv"};
//   void run(session& session, arguments& a) {
//     const auto points = session.timed("read", [&] { return io::read_matrix<float>(a.input); });
//     ...
//     session.result("n", points.rows);
//   }
//   int main(int argc, char** argv) { return run_driver<arguments>(argc, argv, about, describe, run); }
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "quintet/core/progress.hpp"
#include "quintet/core/storage16.hpp"
#include "quintet/device/device.hpp"
#include "quintet/io/hdf5.hpp"
#include "support/command_line.hpp"
#include "support/mpi_session.hpp"
#include "support/progress_bar.hpp"
#include "support/stage_timer.hpp"

namespace quintet::driver {

/// Where numbers are read from: a matrix or array, or a sparse matrix; none for an empty path.
struct number_file {
  std::string path;
  std::string dataset;  ///< of an .h5 file; empty for its only one
};

/// What the work of a driver gets.
class session {
 public:
  session(const program& program, command_line line, const mpi_session& mpi);

  /// The processor that --device chose; --threads is in force already.
  const Device& device() const { return device_; }
  /// The value of --precision; "auto" until settle_precision().
  const std::string& precision() const { return line_.common.precision; }
  /// Makes "auto" one of "float" and "double": float where it holds every number of these files. Collective. Throws
  /// FileError.
  void settle_precision(std::initializer_list<number_file> files);
  /// Makes it what a file of results of before has; --precision must not be given.
  void settle_precision(const std::string& precision) { line_.common.precision = precision; }
  /// Makes "auto" double, whatever the files hold.
  void prefer_double() {
    if (precision() == "auto") line_.common.precision = "double";
  }
  bool quiet() const { return line_.common.quiet; }
  /// The ranks that work together on this; null for a process of its own. What is thrown out of the work then has to be
  /// thrown on all ranks: see mpi::communicator::run_collectively().
  mpi::communicator* ranks() const { return mpi_.ranks(); }
  /// Whether this process prints and writes files. say(), warn(), result() and the summary may be used by all ranks.
  bool is_root() const { return mpi_.is_root(); }

  /// Runs `action` as a stage whose seconds are counted under `name`; returns what it returns.
  template <class Action>
  auto timed(std::string name, Action&& action) {
    const stage_timer::scope scope = timer_.start(std::move(name));
    return std::forward<Action>(action)();
  }
  stage_timer& timer() { return timer_; }
  /// For the library's progress arguments: a bar on a terminal for work of over a second, a line every 10 seconds
  /// elsewhere. With the shares of its stages the time that is left is shown.
  progress_callback progress(const stage_shares& shares = {}) const;

  /// Adds to "results" of the JSON summary. Numbers that JSON cannot hold (nan, inf) become texts.
  void result(const std::string& name, nlohmann::ordered_json value);
  /// Standard output for people; goes nowhere with --quiet.
  std::ostream& say();
  /// Tells people that the work is done: the file written and the seconds of every stage.
  void say_done(const std::string& path);
  /// A line on standard error that begins with "warning", unless --quiet; and an entry of "warnings" in the summary.
  void warn(const std::string& message);
  /// Options and facts of this run as attributes of an output file.
  void write_attributes(io::hdf5_writer& out) const;

  /// The whole summary, as --json writes it. Collective.
  nlohmann::ordered_json summary() const;
  const command_line& line() const { return line_; }
  /// Whether results are in a file: of --json, --output or another option whose name begins so.
  bool has_file() const;

 private:
  std::string program_;
  const mpi_session& mpi_;
  command_line line_;
  Device device_;
  stage_timer timer_;
  nlohmann::ordered_json results_ = nlohmann::ordered_json::object();
  nlohmann::ordered_json warnings_ = nlohmann::ordered_json::array();
  std::unique_ptr<std::ostream> nowhere_;
  std::unique_ptr<progress_bar> bar_;
  std::unique_ptr<progress_log> log_;  // the same for a log; null when quiet or on a terminal
};

/// What --precision calls a storage type.
template <class Storage>
std::string spelling_of() {
  return std::is_same_v<Storage, float>    ? "float"
         : std::is_same_v<Storage, double> ? "double"
         : std::is_same_v<Storage, half>   ? "half"
                                           : "bfloat16";
}

/// As several ranks: throws InvalidArgument when one of these options, which have no distributed form, is given.
void require_one_process(const session& session, std::initializer_list<const char*> options);

/// "host", "emulated" or "offload".
std::string kind_name(device_kind kind);

/// Parses the command line, runs `work`, writes the summary, and turns exceptions into messages on standard error, each
/// beginning with the program's name, and an exit status:
/// 0 done; 2 InvalidArgument or FileError (bad usage, bad input); 3 DeviceError or no memory; 1 anything else.
/// Standard output that is closed or full is a warning where results are in files, and status 1 where they are not.
/// Ignores SIGPIPE and SIGXFSZ: writing then fails with an error that is reported.
int run_driver(int argc, const char* const* argv, const program& program, const po::options_description& own,
               const std::function<void(session&)>& work);

/// The same with the program's arguments in a structure, whose options `describe` lists.
template <class Arguments>
int run_driver(int argc, const char* const* argv, const program& about, po::options_description (*describe)(Arguments&),
               void (*run)(session&, Arguments&)) {
  Arguments arguments;
  const po::options_description own = describe(arguments);
  return run_driver(argc, argv, about, own, [&](session& session) { run(session, arguments); });
}

/// Calls `action.template operator()<Real>()` with the Real that --precision names, float or double, or that the
/// numbers of the input need.
template <class Action>
auto with_precision(session& session, std::initializer_list<number_file> input, Action&& action) {
  session.settle_precision(input);
  return session.precision() == "double" ? action.template operator()<double>() : action.template operator()<float>();
}

/// The same with "half" and "bfloat16" too: quintet::half or quintet::bfloat16.
template <class Action>
auto with_storage(session& session, std::initializer_list<number_file> input, Action&& action) {
  if (session.precision() == "half") return action.template operator()<half>();
  if (session.precision() == "bfloat16") return action.template operator()<bfloat16>();
  return with_precision(session, input, std::forward<Action>(action));
}

}  // namespace quintet::driver
