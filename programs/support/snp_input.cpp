#include "support/snp_input.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "quintet/core/error.hpp"

namespace quintet::driver {

namespace {

void shape_in_range(double shape) {
  require_argument(shape > 0 && shape <= 1e6, "--gamma-shape", shape, "in (0, 1e6]");
}

void report_skipped(session& session, const io::snp_read_report& report) {
  session.result("individuals", report.individuals);
  session.result("individuals_left_out", report.left_out);
  if (!report.absent.empty())
    session.warn(text(report.absent.size(), " individuals of the population map are not in the data, the first is ",
                      report.absent.front()));
  if (report.assumed_diploid)
    session.warn(
        "datatype=snp may be of diploids or haploids, and no state is 2: they were taken as diploids (choose with "
        "--diploid or --haploid)");
  if (report.over_limit > 0) session.result("individuals_over_limit", report.over_limit);
  if (report.too_much_missing > 0) session.result("too_much_missing", report.too_much_missing);
  if (report.thinned > 0) session.result("thinned", report.thinned);
  if (report.nucleotide_sites > 0) {
    session.result("nucleotide_sites", report.nucleotide_sites);
    session.result("several_bases", report.several_bases);
    if (report.several_bases > 0)
      session.warn(text(report.several_bases, " of ", report.nucleotide_sites,
                        " sites have more than two bases and were left out"));
    if (report.ambiguous > 0)
      session.warn(text(report.ambiguous,
                        " states are codes for two bases, which are missing for haploids (--diploid "
                        "takes them as one copy of each)"));
  }
  if (report.records == 0) return;
  session.result("records", report.records);
  session.result("multiallelic", report.multiallelic);
  session.result("without_alternative", report.without_alternative);
  session.result("not_snps", report.not_snps);
  if (report.repeated_places > 0)
    session.warn(text(report.repeated_places, " of ", report.records,
                      " records are duplicates: they have the position of a record before them, and each counts as a "
                      "site"));
  const std::int64_t skipped = report.multiallelic + report.not_snps;
  if (skipped > 0)
    session.warn(text(skipped, " of ", report.records,
                      " records are no biallelic SNPs and were left out: ", report.multiallelic,
                      " with several alternative alleles, ", report.not_snps, " indels and others"));
}

// Of the gene copies that were sampled, at the sites that have a pattern.
double missing_share(const snp::Data& data) {
  double present = 0, sampled = 0;
  for (std::int64_t p = 0; p < data.patterns(); ++p)
    for (std::size_t s = 0; s < data.species().size(); ++s) {
      present += data.weight(p) * double(data.copies(p, std::int64_t(s)));
      sampled += data.weight(p) * double(data.sampled_copies()[s]);
    }
  return sampled > 0 ? 1 - present / sampled : 0;
}

void warn_of_ascertainment(session& session, const snp::Data& data, const snp::model& model, double constant_sites) {
  const double missing = missing_share(data);
  session.result("missing_share", missing);
  if (model.polymorphic_only && missing > 0)
    session.warn(text(missing * 100, " % of the gene copies are missing; ",
                      model.full_samples
                          ? "--full-samples conditions every site on the full samples, which makes lengths and thetas "
                            "too large"
                          : "every site is conditioned on being polymorphic among its observed copies, unlike in SNAPP "
                            "and SnappNet (--full-samples)"));
  if (!model.polymorphic_only && constant_sites == 0 && model.unseen_zeros + model.unseen_ones == 0)
    session.warn(
        "all sites are polymorphic; if constant sites were left out of the data, the log-likelihood needs "
        "--polymorphic-only, or their numbers (--unseen-zeros, --unseen-ones)");
}

// The rule by which the fewest species come out, two or more and fewer than there are names; empty: none does. Of as
// many the rule with the larger smallest species. Parts that are numbers are those of individuals.
std::pair<std::string, std::size_t> rule_of_names(std::span<const std::string> names) {
  std::pair<std::string, std::size_t> best{"", names.size()};
  std::size_t best_size = 0;
  for (const char mark : {'_', '-', '.'})
    for (const bool is_first : {true, false}) {
      std::map<std::string, std::size_t> parts;
      const auto fits = [&](const std::string& name) {
        const std::size_t at = is_first ? name.find(mark) : name.rfind(mark);
        if (at == std::string::npos) return false;
        const std::string part = is_first ? name.substr(0, at) : name.substr(at + 1);
        ++parts[part];
        return part.find_first_not_of("0123456789") != std::string::npos;
      };
      if (!std::all_of(names.begin(), names.end(), fits) || parts.size() < 2 || parts.size() >= names.size()) continue;
      const std::size_t size = std::min_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
                                 return a.second < b.second;
                               })->second;
      if (parts.size() > best.second || (parts.size() == best.second && size <= best_size)) continue;
      best = {text(is_first ? "before-first:" : "after-last:", mark), parts.size()};
      best_size = size;
    }
  return best;
}

void warn_of_species(session& session, const snp_input& a, const io::snp_input& input) {
  const auto species_count = std::int64_t(input.data.species().size());
  if (!a.reading.populations.is_identity() || input.report.individuals != species_count) return;
  const auto [rule, species] = rule_of_names(input.data.species());
  if (!rule.empty())
    session.warn(text("each of the ", input.data.species().size(), " individuals is a species; by their names ",
                      "--species-rule ", rule, " would make ", species, " species of them"));
}

void report_data(session& session, const snp_input& a, const snp::Data& data) {
  session.result("sites", data.sites());
  session.result("patterns", data.patterns());
  session.result("dropped_sites", data.dropped_sites().size());
  const double constant_sites =
      data.weight_of(snp::pattern_kind::all_zero) + data.weight_of(snp::pattern_kind::all_one);
  session.result("constant_sites", constant_sites);
  nlohmann::ordered_json copies = nlohmann::ordered_json::object();
  for (std::size_t s = 0; s < data.species().size(); ++s) copies[data.species()[s]] = data.sampled_copies()[s];
  session.result("copies", copies);
  if (!data.dropped_sites().empty()) {
    const snp::dropped_site& first = data.dropped_sites().front();
    session.warn(text(data.dropped_sites().size(), " of ", data.given_sites(),
                      " sites were left out, because a species has no copies there; the first is site ", first.site + 1,
                      ", without ", data.species()[std::size_t(first.species)], " (--keep-empty keeps them)"));
  }
  if (data.sites() == 0) throw InvalidArgument("the data have no sites that count (see --keep-empty)");
  if (a.is_for_likelihood) warn_of_ascertainment(session, data, a.model, constant_sites);
}

}  // namespace

void describe_markers(po::options_description& options, snp_input& a, bool is_required) {
  auto* data = po::value(&a.data)->value_name("FILE");
  if (is_required) data->required();
  options.add_options()  //
      ("data", data,
       "markers: NEXUS .nex .nexus .nxs, PHYLIP .phy, VCF .vcf (all also with .gz), PLINK .raw, or a table of counts "
       "red/copies, a "
       "column per species, .csv .tsv .txt; - is standard input")  //
      ("format", po::value(&a.format)->value_name("FORMAT"),
       "nexus, phylip, vcf, raw or table, if the name of the file does not show it")  //
      ("population-map", po::value(&a.population_map)->value_name("FILE"),
       "two columns, individual and species; the species - leaves out")  //
      ("species-rule", po::value(&a.species_rule)->value_name("RULE"),
       "before-first:_ or after-last:_ (any text behind the colon): the part of an individual's name that is its "
       "species; without map and rule every individual is a species")  //
      ("diploid", po::bool_switch(&a.reading.diploid),
       "NEXUS, PHYLIP: states are genotypes 0, 1, 2 of diploids; by itself with datatype=integerdata or "
       "snp, or symbols=\"012\"")  //
      ("haploid", po::bool_switch(&a.reading.haploid),
       "with datatype=snp of NEXUS: states are those of haploids, not genotypes")                                  //
      ("dominant", po::bool_switch(&a.reading.dominant), "dominant markers of diploids: 1 shows the band (AFLP)")  //
      ("nucleotides", po::bool_switch(&a.reading.nucleotides),
       "PHYLIP: states are bases, and the rarer one of a site becomes allele 1; NEXUS has datatype=dna for it")  //
      ("individuals", po::value(&a.reading.individuals)->value_name("N")->notifier(at_least("--individuals", 1)),
       "takes at most N of every species, the first in the file; time and memory grow fast with them")  //
      ("max-missing",
       po::value(&a.reading.max_missing)->value_name("SHARE")->notifier(within<double>("--max-missing", 0, 1)),
       "leaves out sites at which a larger share of the sampled copies is missing, 0 ... 1; not for tables")  //
      ("thin", po::value(&a.reading.thin_distance)->value_name("BASES")->notifier(at_least("--thin", 1)),
       "VCF: of the polymorphic sites those at least so far behind the one before on their contig")  //
      ("one-per-locus", po::bool_switch(&a.reading.one_per_locus),
       "VCF: of every contig, a locus of a de-novo assembly, the polymorphic site with the fewest missing copies")  //
      ("keep-empty", po::bool_switch(&a.keep_empty),
       "keeps sites at which a species has no copies, exactly; by default they are left out, and counted");
}

void describe_corrections(po::options_description& options, snp_input& a) {
  options.add_options()  //
      ("polymorphic-only", po::bool_switch(&a.model.polymorphic_only),
       "leaves constant sites out, and conditions each other site on being polymorphic among its observed copies")  //
      ("full-samples", po::bool_switch(&a.model.full_samples),
       "with --polymorphic-only: among the full samples at every site, as SNAPP does")  //
      ("ordered-data", po::bool_switch(&a.model.ordered_data),
       "likelihood of the individual red copies, not of their number: subtracts log C(copies, red)")  //
      ("unseen-zeros", po::value(&a.model.unseen_zeros)->value_name("N")->notifier(not_negative("--unseen-zeros")),
       "constant sites of allele 0 that are not in the data")  //
      ("unseen-ones", po::value(&a.model.unseen_ones)->value_name("N")->notifier(not_negative("--unseen-ones")),
       "constant sites of allele 1 that are not in the data")                                                    //
      ("mutation-only-at-root", po::bool_switch(&a.model.mutation_only_at_root), "no mutation on the branches")  //
      ("gamma-shape", po::value(&a.gamma_shape)->value_name("A")->notifier(shape_in_range),
       "u and v vary between sites by a gamma distribution of mean 1 and this shape, > 0 and at most 1e6")  //
      ("gamma-categories",
       po::value(&a.gamma_categories)
           ->default_value(4)
           ->value_name("K")
           ->notifier(within<std::int64_t>("--gamma-categories", 1, 64)),
       "classes of that distribution, 1 ... 64");
}

void complete(snp_input& a) {
  if (!a.population_map.empty() && !a.species_rule.empty())
    throw InvalidArgument("--population-map and --species-rule exclude each other");
  if (a.reading.thin_distance > 0 && a.reading.one_per_locus)
    throw InvalidArgument("--thin and --one-per-locus exclude each other");
  if (a.reading.diploid && a.reading.dominant)
    throw InvalidArgument("--diploid and --dominant exclude each other: dominant markers are of diploids already");
  if (a.reading.nucleotides && a.reading.dominant)
    throw InvalidArgument("--nucleotides and --dominant exclude each other: dominant markers have the states 0 and 1");
  if (!std::isnan(a.gamma_shape)) a.model.rate_categories = snp::gamma_rates(a.gamma_shape, a.gamma_categories);
  if (a.keep_empty) a.reading.empty = snp::empty_species::keep;
  if (!a.species_rule.empty()) a.reading.populations = io::population_map::from_rule(a.species_rule);
  if (!a.population_map.empty()) a.reading.populations = io::population_map::from_file(a.population_map);
  using format = io::marker_format;
  if (!a.format.empty())
    a.reading.format = choice<format>("--format", a.format,
                                      {{"nexus", format::nexus},
                                       {"phylip", format::phylip},
                                       {"vcf", format::vcf},
                                       {"raw", format::raw},
                                       {"table", format::table}});
  if (a.data == "-") {
    if (a.format.empty()) throw InvalidArgument("--data - needs --format: standard input has no name that says it");
    a.data = "/dev/stdin";
  }
  io::check_snp_data_input(a.data, a.reading.format);
}

io::snp_input read_marker_file(session& session, const snp_input& a) {
  io::snp_input input = session.timed("read", [&] { return io::read_snp_data(a.data, a.reading); });
  report_skipped(session, input.report);
  warn_of_species(session, a, input);
  report_data(session, a, input.data);
  return input;
}

snp::Data read_markers(session& session, const snp_input& a) { return std::move(read_marker_file(session, a).data); }

}  // namespace quintet::driver
