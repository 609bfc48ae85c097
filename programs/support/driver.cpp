#include "support/driver.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <exception>
#include <iomanip>
#include <ios>
#include <iostream>
#include <locale>
#include <new>

#include "quintet/core/build_info.hpp"
#include "quintet/core/error.hpp"
#include "quintet/io/atomic_file.hpp"
#include "quintet/io/matrix_file.hpp"
#ifdef QUINTET_HAS_MPI
#include "quintet/mpi/communicator.hpp"
#endif
#include "support/sparse.hpp"

namespace quintet::driver {

namespace {

enum exit_status { done = 0, failed = 1, bad_usage = 2, device_trouble = 3 };

// The sign of a NaN says nothing.
class number_text : public std::num_put<char> {
  iter_type do_put(iter_type out, std::ios_base& form, char_type fill, double value) const override {
    return std::num_put<char>::do_put(out, form, fill, std::isnan(value) ? std::fabs(value) : value);
  }
};

// What a program for the command line needs before it opens a file.
void prepare_streams() {
  // Where one of the three is closed, the next file opened would take its place, and messages would go into it.
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(standard, F_GETFD) < 0) (void)::open("/dev/null", O_RDONLY);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::cout.imbue(std::locale(std::cout.getloc(), new number_text));
}

// An ostream without a buffer takes everything and keeps nothing.
class null_stream : public std::ostream {
 public:
  null_stream() : std::ostream(nullptr) {}
};

Device chosen_device(const common_options& common, [[maybe_unused]] const mpi_session& mpi) {
  if (common.threads > 0) set_threads(common.threads);
  try {
    const Device device = Device::parse(common.device);
#ifdef QUINTET_HAS_MPI
    // Several ranks of a host share its GPUs, unless one is named.
    if (mpi.ranks() != nullptr && device.automatic() && device.kind() == device_kind::offload)
      return Device::offload(mpi.ranks()->host_rank() % Device::count());
#endif
    return device;
  } catch (const InvalidArgument& e) {
    throw InvalidArgument(text("--device: ", e.what()));
  } catch (const DeviceError& e) {
    throw DeviceError(text("--device: ", e.what()));
  }
}

// Runs `action`; as several ranks, all throw what the lowest of them throws.
template <class Action>
void on_all([[maybe_unused]] const mpi_session& mpi, const Action& action) {
#ifdef QUINTET_HAS_MPI
  if (mpi.ranks() != nullptr) return mpi.ranks()->run_collectively(action);
#endif
  action();
}

#ifdef QUINTET_HAS_MPI
// Names the first option that differs.
void require_same_options(mpi::communicator& ranks, const nlohmann::ordered_json& options) {
  std::string of_root = options.dump();
  ranks.broadcast(of_root);
  ranks.run_collectively([&] {
    const auto root = nlohmann::ordered_json::parse(of_root);
    nlohmann::ordered_json all = root;
    all.update(options);
    for (const auto& option : all.items()) {
      const auto value_in = [&](const nlohmann::ordered_json& of_rank) {
        return of_rank.contains(option.key()) ? of_rank[option.key()].dump() : std::string("absent");
      };
      const std::string value = value_in(options), value_of_root = value_in(root);
      std::string name = option.key();
      std::replace(name.begin(), name.end(), '_', '-');
      if (value != value_of_root)
        throw InvalidArgument(text("--", name, " must be the same on all ranks (rank 0: ", value_of_root, "; rank ",
                                   ranks.rank(), ": ", value, ")"));
    }
  });
}
#endif

// Ranks have to be alike, and take their share of the processors.
void prepare_ranks([[maybe_unused]] session& session) {
#ifdef QUINTET_HAS_MPI
  mpi::communicator* ranks = session.ranks();
  if (ranks == nullptr) return;
  ranks->require_same("the build of the program", build_info().summary());
  require_same_options(*ranks, session.line().parameters);
  ranks->require_same("the kind of device", kind_name(session.device().kind()));
  if (session.line().common.threads > 0) return;
  const std::string warning = ranks->use_threads();
  if (!warning.empty()) session.warn(warning);
#endif
}

void write_summary(const session& session) {
  const std::string& path = session.line().common.json;
  if (path.empty()) return;
  const nlohmann::ordered_json summary = session.summary();
  if (!session.is_root()) return;
  io::atomic_file out(path);
  // Paths need not be UTF-8; JSON must be.
  out.write(summary.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  out.write("\n");
  out.commit();
}

void run(int argc, const char* const* argv, const program& program,
         const boost::program_options::options_description& own, const std::function<void(session&)>& work,
         mpi_session& mpi) {
  // Help and version need no other ranks, so that programs which run as one process have them under a launcher too.
  const bool may_be_text = asks_for_text(argc, argv);
  if (!may_be_text) mpi.start(program);
  command_line line;
  on_all(mpi, [&] { line = parse_command_line(argc, argv, program, own); });
  if (may_be_text && line.asked == command_line::request::work) mpi.start(program);
  if (line.option_names.contains(program.option_of_ranks)) mpi.start_group(program.option_of_ranks);
  switch (line.asked) {
    case command_line::request::help:
      if (mpi.is_root()) std::cout << line.help;
      break;
    case command_line::request::version:
      if (mpi.is_root()) std::cout << program.name << ": " << build_info().summary() << "\n";
      break;
    case command_line::request::work: {
      std::unique_ptr<session> result;
      on_all(mpi, [&] { result = std::make_unique<session>(program, std::move(line), mpi); });
      session& session = *result;
      prepare_ranks(session);
      work(session);
      const bool is_written = bool(std::cout.flush());
      if (!is_written && session.has_file())
        session.warn("standard output cannot be written; the results are in the files");
      write_summary(session);
      if (is_written || session.has_file()) return;
    }
  }
  if (!std::cout.flush()) throw Error("standard output cannot be written");
}

/// How a run ended.
struct outcome {
  exit_status status = done;
  std::string line;  ///< for people, where it failed
};

outcome failure(const program& program, std::string_view message, exit_status status) {
  return {status, text(program.name, ": ", message)};
}

}  // namespace

void require_one_process(const session& session, std::initializer_list<const char*> options) {
  if (session.ranks() != nullptr)
    require_absent(session.line(), options, "has no form for several processes; run it without the launcher");
}

std::string kind_name(device_kind kind) {
  switch (kind) {
    case device_kind::host:
      return "host";
    case device_kind::emulated:
      return "emulated";
    case device_kind::offload:
      break;
  }
  return "offload";
}

session::session(const program& program, command_line line, const mpi_session& mpi)
    : program_(program.name),
      mpi_(mpi),
      line_(std::move(line)),
      device_(chosen_device(line_.common, mpi)),
      nowhere_(std::make_unique<null_stream>()) {
  if (quiet() || !is_root()) return;
  if (::isatty(STDERR_FILENO) != 0)
    bar_ = std::make_unique<progress_bar>(std::cerr);
  else
    log_ = std::make_unique<progress_log>(std::cerr, program_);
}

void session::settle_precision(std::initializer_list<number_file> files) {
  if (precision() != "auto") return;
  std::int64_t is_float = 1;
  const auto look = [&] {
    if (!is_root()) return;
    for (const number_file& file : files)
      if (is_float != 0 && !file.path.empty())
        is_float = static_cast<std::int64_t>(!is_sparse_format(file.path) && io::fits_float(file.path, file.dataset));
  };
  timed("read", [&] { on_all(mpi_, look); });
#ifdef QUINTET_HAS_MPI
  if (ranks() != nullptr) ranks()->broadcast(std::span<std::int64_t>(&is_float, 1));
#endif
  line_.common.precision = is_float != 0 ? "float" : "double";
}

progress_callback session::progress(const stage_shares& shares) const {
  if (bar_ == nullptr && log_ == nullptr) return {};
  if (bar_ != nullptr) bar_->expect(shares);
  if (log_ != nullptr) log_->expect(shares);
  return [bar = bar_.get(), log = log_.get()](std::string_view stage, double fraction) {
    if (bar != nullptr) bar->show(stage, fraction);
    if (log != nullptr) log->show(stage, fraction);
    return true;
  };
}

void session::result(const std::string& name, nlohmann::ordered_json value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    const auto number = value.get<double>();
    value = std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
  }
  results_[name] = std::move(value);
}

std::ostream& session::say() {
  if (bar_ != nullptr) bar_->erase();
  return quiet() || !is_root() ? *nowhere_ : std::cout;
}

void session::say_done(const std::string& path) {
  std::ostream& out = say();
  out << path << " written after " << std::setprecision(3) << timer_.total() << " s";
  const char* separator = " (";
  for (const auto& [stage, seconds] : timer_.seconds()) {
    out << separator << stage << " " << seconds;
    separator = ", ";
  }
  out << (timer_.seconds().empty() ? "\n" : ")\n") << std::setprecision(6);
}

void session::warn(const std::string& message) {
  warnings_.push_back(message);
  if (quiet() || !is_root()) return;
  if (bar_ != nullptr) bar_->erase();
  std::cerr << program_ << ": warning: " << message << std::endl;
}

void session::write_attributes(io::hdf5_writer& out) const {
  out.attribute("", "program", program_);
  out.attribute("", "quintet", build_info().summary());
  out.attribute("", "device", device_.name());
  out.attribute("", "precision", precision());
  // Names of output files and how a run was saved change no result, so they change no byte either.
  for (const auto& [name, value] : line_.parameters.items()) {
    if (name.find("output") != std::string::npos || name.starts_with("checkpoint") || name == "resume") continue;
    if (value.is_boolean())
      out.attribute("", name, value.get<bool>());
    else if (value.is_number_integer())
      out.attribute("", name, value.get<std::int64_t>());
    else if (value.is_number())
      out.attribute("", name, value.get<double>());
    else if (value.is_string())
      out.attribute("", name, value.get<std::string>());
    else if (!value.is_null())
      out.attribute("", name, value.dump());
  }
}

bool session::has_file() const {
  if (!line_.common.json.empty()) return true;
  for (const auto& parameter : line_.parameters.items())
    if (parameter.key().starts_with("output") && !parameter.value().is_boolean()) return true;
  return false;
}

nlohmann::ordered_json session::summary() const {
  const build_information& build = build_info();
  nlohmann::ordered_json seconds = nlohmann::ordered_json::object();
  for (const auto& [stage, time] : timer_.seconds()) seconds[stage] = time;
  seconds["total"] = timer_.total();
  nlohmann::ordered_json all = {{"program", program_},
                                {"build",
                                 {{"version", build.version},
                                  {"git_hash", build.git_hash},
                                  {"compiler", build.compiler},
                                  {"offload_targets", build.offload_targets}}},
                                {"device",
                                 {{"kind", kind_name(device_.kind())},
                                  {"name", device_.name()},
                                  {"index", device_.index()},
                                  {"threads", threads()}}},
                                {"precision", precision()},
                                {"parameters", line_.parameters},
                                {"results", results_},
                                {"warnings", warnings_},
                                {"seconds", seconds}};
  const nlohmann::ordered_json mpi = mpi_.summary();
  if (!mpi.is_null()) all["mpi"] = mpi;
  return all;
}

int run_driver(int argc, const char* const* argv, const program& program,
               const boost::program_options::options_description& own, const std::function<void(session&)>& work) {
  prepare_streams();
  mpi_session mpi;
  const outcome all = [&]() -> outcome {
    try {
      run(argc, argv, program, own, work, mpi);
      return {};
    } catch (const InvalidArgument& e) {
      return failure(program, e.what(), bad_usage);
    } catch (const FileError& e) {
      return failure(program, e.what(), bad_usage);
    } catch (const DeviceError& e) {  // OutOfMemory is one
      return failure(program, e.what(), device_trouble);
    } catch (const std::bad_alloc&) {
      return failure(program, "out of memory on the host", device_trouble);
    } catch (const std::exception& e) {
      return failure(program, e.what(), failed);
    } catch (...) {
      return failure(program, "an unknown error", failed);
    }
  }();
  return mpi.end(all.status, all.line);
}

}  // namespace quintet::driver
