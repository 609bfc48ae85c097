// quintet-accuracy: how wrong results are, on every device, beside stated bounds and a baseline.
#include <boost/program_options.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "accuracy/results.hpp"
#include "quintet/core/build_info.hpp"

namespace {

using namespace quintet;            // NOLINT: a program
using namespace quintet::accuracy;  // NOLINT

struct settings {
  std::string cases = QUINTET_ACCURACY_FOLDER "/cases.json", baseline_path = QUINTET_ACCURACY_FOLDER "/baseline.json";
  std::string filter, devices = "host,emulated,offload", json, hdf5;
  bool fast = false, update = false, widen = false, list = false, quiet = false;
};

// Whether the arguments ask for work.
bool parse(int argc, char** argv, settings& s) {
  namespace po = boost::program_options;
  po::options_description options(
      "Measures the errors of all families and compares them with bounds and baseline.\n"
      "Exit status: 0 all within, 1 not, 2 wrong usage. docs/accuracy.md\n\nOptions");
  options.add_options()("help,h", "this text")                                                                        //
      ("fast", po::bool_switch(&s.fast), "only the cases that take seconds")                                          //
      ("filter", po::value(&s.filter), "only cases whose name contains this text")                                    //
      ("devices", po::value(&s.devices)->default_value(s.devices), "kinds of devices; host is always among them")     //
      ("json", po::value(&s.json), "write results to this file")                                                      //
      ("hdf5", po::value(&s.hdf5), "write results to this file")                                                      //
      ("cases", po::value(&s.cases)->default_value(s.cases), "the cases")                                             //
      ("baseline", po::value(&s.baseline_path)->default_value(s.baseline_path), "errors of earlier runs")             //
      ("update-baseline", po::bool_switch(&s.update), "the errors of this run become the baseline")                   //
      ("widen-baseline", po::bool_switch(&s.widen), "the larger of both becomes the baseline: for another compiler")  //
      ("list", po::bool_switch(&s.list), "print the names of the cases")                                              //
      ("quiet", po::bool_switch(&s.quiet), "failures and the summary only");
  po::variables_map given;
  po::store(po::parse_command_line(argc, argv, options), given);
  po::notify(given);
  if (given.count("help") > 0) std::cout << options;
  return given.count("help") == 0;
}

std::set<std::string> kinds_of(const settings& s) {
  std::set<std::string> kinds;
  std::istringstream words(s.devices);
  for (std::string kind; std::getline(words, kind, ',');) {
    if (kind != "host" && kind != "emulated" && kind != "offload")
      throw std::runtime_error("--devices must be a list of host, emulated, offload (--devices=" + s.devices + ")");
    kinds.insert(kind);
  }
  return kinds;
}

std::vector<Device> chosen_devices(const std::set<std::string>& kinds, const test_case& c) {
  std::vector<Device> devices{Device::host()};
  if (kinds.contains("emulated") && !c.host_only) devices.push_back(Device::emulated());
  // Devices of one machine are alike.
  if (kinds.contains("offload") && Device::count() > 0) devices.push_back(Device::offload(0));
  return devices;
}

void run_case(case_run& run) {
  static const std::map<std::string, std::function<void(case_run&)>> families{{"hdbscan", run_hdbscan},
                                                                              {"poincare", run_poincare},
                                                                              {"lorentz", run_curved_space},
                                                                              {"product", run_curved_space},
                                                                              {"stereographic", run_curved_space},
                                                                              {"spgemm", run_spgemm},
                                                                              {"svd", run_svd},
                                                                              {"snp", run_snp}};
  const auto family = families.find(run.parameters().family);
  if (family == families.end()) throw std::runtime_error("case " + run.parameters().id() + ": unknown family");
  family->second(run);
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int work(const settings& s) {
  const baseline before(s.baseline_path);
  results found(before);
  std::map<std::string, double> seconds;
  const std::set<std::string> kinds = kinds_of(s);
  for (const test_case& c : read_cases(s.cases)) {
    if ((s.fast && !c.fast) || c.id().find(s.filter) == std::string::npos) continue;
    if (s.list) {
      std::cout << c.id() << '\n';
      continue;
    }
    const double start = seconds_now();
    case_run run(c, chosen_devices(kinds, c));
    run_case(run);
    found.add(c, run);
    seconds[c.family] += seconds_now() - start;
    if (!s.quiet)
      for (const measurement& m : run.measurements())
        std::cout << c.id() << ' ' << m.device << ' ' << m.quantity << ": " << m.errors.max << " (mean "
                  << m.errors.mean() << ") of " << m.bound << ' ' << m.unit << '\n';
  }
  if (s.list) return 0;
  if (found.cases() == 0) throw std::runtime_error("no case is called '" + s.filter + "'");
  if (!s.json.empty()) found.write_json(s.json);
  if (!s.hdf5.empty()) found.write_hdf5(s.hdf5);
  const bool becomes_baseline = s.update || s.widen;
  if (becomes_baseline) found.updated(s.widen).write(s.baseline_path);
  for (const auto& [family, time] : seconds) std::cout << family << ": " << time << " s\n";
  std::cout << build_info().summary() << '\n';
  std::vector<std::string> failures = found.failures();
  if (!becomes_baseline) failures.insert(failures.end(), found.fresh().begin(), found.fresh().end());
  // What a run that writes the baseline finds is what is written: said, but no failure.
  for (const std::string& failure : failures)
    std::cout << (becomes_baseline ? "stored  " : "FAILED  ") << failure << '\n';
  std::cout << found.cases() << " cases (" << found.skipped() << " skipped: no reference data), " << found.measured()
            << " errors measured, ";
  if (becomes_baseline)
    std::cout << found.fresh().size() << " new in the baseline, " << failures.size() << " beyond what it was\n";
  else
    std::cout << failures.size() << " failures\n";
  return failures.empty() || becomes_baseline ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    settings s;
    return parse(argc, argv, s) ? work(s) : 0;
  } catch (const std::exception& error) {
    std::cerr << "quintet-accuracy: " << error.what() << '\n';
    return 2;
  }
}
