#include "snp_mcmc/assignments.hpp"

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <set>
#include <sstream>

namespace quintet::driver {

namespace {

// Fields apart by a comma, a semicolon or blanks; several blanks are one.
std::vector<std::string> fields_of(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  const bool has_marks = line.find_first_of(",;\t") != std::string::npos;
  std::vector<std::string> fields;
  std::string field;
  const auto end_field = [&](bool may_be_empty) {
    const std::size_t begin = field.find_first_not_of(' '), end = field.find_last_not_of(' ');
    if (may_be_empty || begin != std::string::npos)
      fields.push_back(begin == std::string::npos ? "" : field.substr(begin, end - begin + 1));
    field.clear();
  };
  for (const char c : line)
    if (has_marks ? c == ',' || c == ';' || c == '\t' : c == ' ')
      end_field(has_marks);
    else
      field += c;
  end_field(has_marks);
  return fields;
}

}  // namespace

std::vector<assignment> read_assignments(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw FileError(path, "cannot be read");
  std::vector<assignment> assignments;
  std::set<std::string> individuals;
  std::int64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos || line[0] == '#') continue;
    const std::vector<std::string> fields = fields_of(line);
    for (const std::string& field : fields)
      if (field.empty()) throw FileError(path, number, "a field is empty");
    if (assignments.empty()) {
      std::set<std::string> names;
      for (std::size_t i = 1; i < fields.size(); ++i) {
        if (!names.insert(fields[i]).second)
          throw FileError(path, number, text("the assignment ", fields[i], " comes twice"));
        if (fields[i].find('/') != std::string::npos || fields[i][0] == '.')
          throw FileError(path, number, text("the name of an assignment is that of a folder (", fields[i], ")"));
        assignments.push_back({fields[i], {}});
      }
      if (assignments.empty()) throw FileError(path, number, "the first line must name individual and assignments");
      continue;
    }
    if (fields.size() != assignments.size() + 1)
      throw FileError(path, number, text(fields.size(), " fields, the first line has ", assignments.size() + 1));
    if (!individuals.insert(fields[0]).second)
      throw FileError(path, number, text("the individual ", fields[0], " comes twice"));
    for (std::size_t i = 0; i < assignments.size(); ++i) {
      if (fields[i + 1] == "-")
        throw FileError(path, number,
                        text("every assignment has the same individuals, and ", fields[0], " has no species in ",
                             assignments[i].name));
      assignments[i].species_of.emplace_back(fields[0], fields[i + 1]);
    }
  }
  if (individuals.empty()) throw FileError(path, "has no individuals");
  return assignments;
}

void report_assignments(session& session, std::vector<compared_assignment> assignments) {
  std::stable_sort(assignments.begin(), assignments.end(),
                   [](const auto& a, const auto& b) { return a.estimate.log_z > b.estimate.log_z; });
  const double best = assignments[0].estimate.log_z;
  std::size_t width = 10;
  for (const compared_assignment& model : assignments) width = std::max(width, model.name.size());
  std::ostream& out = session.say();
  out << std::left << std::setw(int(width) + 2) << "assignment" << std::right << std::setw(14) << "log Z"
      << std::setw(9) << "error" << std::setw(10) << "log BF"
      << "  evidence for the first\n"
      << std::fixed;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const compared_assignment& model : assignments) {
    const double log_factor = model.estimate.log_z - best;
    const std::string words(&model == &assignments[0] ? "" : snp::evidence_in_words(-2 * log_factor));
    all.push_back({{"name", model.name},
                   {"log_z", model.estimate.log_z},
                   {"error", model.estimate.error},
                   {"thermodynamic", model.estimate.thermodynamic},
                   {"log_bayes_factor", log_factor},
                   {"evidence_for_the_first", words}});
    out << std::left << std::setw(int(width) + 2) << model.name << std::right << std::setprecision(4) << std::setw(14)
        << model.estimate.log_z << std::setw(9) << model.estimate.error << std::setw(10) << log_factor << "  " << words
        << "\n";
  }
  session.result("assignments", all);
}

}  // namespace quintet::driver
