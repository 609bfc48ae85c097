#include "quintet/io/snp_data.hpp"

#ifdef QUINTET_HAS_HTSLIB

#include <htslib/bgzf.h>
#include <htslib/hfile.h>
#include <htslib/hts.h>
#include <htslib/hts_log.h>
#include <htslib/vcf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <unordered_set>

#include "io/genotypes.hpp"
#include "io/input_file.hpp"
#include "io/line_reader.hpp"
#include "io/nexus_tokens.hpp"
#include "quintet/core/error.hpp"

namespace quintet::io {

namespace {

struct closer {
  void operator()(htsFile* file) const { hts_close(file); }
  void operator()(bcf_hdr_t* header) const { bcf_hdr_destroy(header); }
  void operator()(bcf1_t* record) const { bcf_destroy(record); }
};

// htslib writes its own messages to standard error; what is wrong is said by exceptions here.
class quiet_htslib {
 public:
  quiet_htslib() : before_(hts_get_log_level()) { hts_set_log_level(HTS_LOG_OFF); }
  ~quiet_htslib() { hts_set_log_level(before_); }

 private:
  htsLogLevel before_;
};

constexpr int columns_before_individuals = 9;  // CHROM ... FORMAT

bool is_base(const char* allele) {
  return allele[0] != '\0' && allele[1] == '\0' &&
         std::string_view("ACGTacgt").find(allele[0]) != std::string_view::npos;
}

class vcf_reader {
 public:
  vcf_reader(const std::string& path, const snp_read_options& options) : path_(path), options_(options) { open(); }
  ~vcf_reader() { std::free(genotypes_); }
  vcf_reader(const vcf_reader&) = delete;
  snp_input read();

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    if (is_binary_)
      throw FileError(path_, report_.records > 0 ? text("record ", report_.records, ": ", reason) : reason);
    throw FileError(path_, file_->lineno, reason);
  }
  void open();
  std::string repeated_individual() const;
  int read_line();
  bool next_record();
  bool is_site();
  int called_alleles() const;
  std::int64_t count_repeated_places() const;
  void count_copies();
  void count_individual(std::size_t individual, const std::int32_t* alleles, int max_alleles);
  std::vector<std::int64_t> sampled_copies() const;

  const std::string& path_;
  const snp_read_options& options_;
  const quiet_htslib quiet_{};
  std::unique_ptr<htsFile, closer> file_;
  std::unique_ptr<bcf_hdr_t, closer> header_;
  std::unique_ptr<bcf1_t, closer> record_{bcf_init()};
  std::int32_t* genotypes_ = nullptr;
  int genotypes_size_ = 0, alleles_ = 0;  // alleles: of the record
  bool is_binary_ = false;
  population_groups groups_;
  std::vector<std::int64_t> ploidy_, red_, copies_;  // of individuals; of species
  std::vector<std::uint64_t> places_;                // of the sites: contig and position
  snp_read_report report_;
};

void vcf_reader::open() {
  const input_file checked(path_);  // htslib would take some names for addresses, and cannot say why it fails
  hFILE* const stream = hdopen(::dup(checked.descriptor()), "r");
  file_.reset(stream == nullptr ? nullptr : hts_hopen(stream, path_.c_str(), "r"));
  if (file_ == nullptr) {
    if (stream != nullptr) hclose_abruptly(stream);
    throw FileError(path_, "is no VCF file, which begins with a header, ##fileformat=VCF...");
  }
  is_binary_ = hts_get_format(file_.get())->format == ::bcf;
  if (!is_binary_ && hts_get_format(file_.get())->format != ::vcf)
    throw FileError(path_, "is no VCF file, which begins with a header, ##fileformat=VCF...");
  header_.reset(bcf_hdr_read(file_.get()));
  if (header_ == nullptr) {
    const std::string name = is_binary_ ? "" : repeated_individual();
    fail(name.empty() ? "the header is no VCF header"
                      : text("the individual \"", shown(name), "\" comes a second time"));
  }
  if (bcf_hdr_nsamples(header_.get()) == 0) fail("the VCF file has no individuals");
  std::vector<std::string> individuals(header_->samples, header_->samples + bcf_hdr_nsamples(header_.get()));
  groups_ = options_.populations.group(path_, individuals);
  if (groups_.species.empty()) throw FileError(path_, "has no individual that the population map keeps");
  report_.individuals = static_cast<std::int64_t>(individuals.size());
  report_.left_out = std::count(groups_.species_of.begin(), groups_.species_of.end(), -1);
  report_.absent = groups_.absent;
  report_.over_limit = limit_individuals(groups_, options_.individuals);
  ploidy_.assign(individuals.size(), 0);
  red_.resize(groups_.species.size());
  copies_.resize(groups_.species.size());
}

// htslib only says that it takes no header with one; empty if there is none.
std::string vcf_reader::repeated_individual() const {
  line_reader in(path_, hts_get_format(file_.get())->compression != ::no_compression);
  std::string_view line;
  while (in.next(line) && line.starts_with('#')) {
    if (!line.starts_with("#CHROM\t")) continue;
    std::istringstream columns{std::string(line)};
    std::unordered_set<std::string> names;
    int column = 0;
    for (std::string name; std::getline(columns, name, '\t'); ++column)
      if (column >= columns_before_individuals && !names.insert(name).second) return name;
  }
  return "";
}

// As bcf_read(): -1 at the end, which it also returns for a record that is cut off.
int vcf_reader::read_line() {
  if (is_binary_) {
    bcf_clear(record_.get());
    const int status = bcf_read(file_.get(), header_.get(), record_.get());
    return status == -1 && record_->shared.l + record_->indiv.l > 0 ? -2 : status;
  }
  const int individuals = bcf_hdr_nsamples(header_.get());
  kstring_t& line = file_->line;
  int status = hts_getline(file_.get(), '\n', &line);
  if (status >= 0) {
    // htslib leaves out what is too much.
    const auto columns = 1 + std::count(line.s, line.s + line.l, '\t');
    if (columns > columns_before_individuals + individuals)
      fail(text("this line has ", columns, " columns, the header ", columns_before_individuals + individuals));
    status = vcf_parse(&line, header_.get(), record_.get());
    if (status < 0) status = -2;
  }
  return status;
}

bool vcf_reader::next_record() {
  const int status = read_line();
  if (status == -1) {
    if (hts_get_format(file_.get())->compression == ::bgzf && bgzf_check_EOF(file_->fp.bgzf) == 0)
      throw FileError(path_, "is compressed and ends too early");
    return false;
  }
  // A contig or tag that the header does not declare is no obstacle.
  if (status < -1 || (record_->errcode & ~(BCF_ERR_CTG_UNDEF | BCF_ERR_TAG_UNDEF)) != 0)
    fail("this line is no VCF record, or the file is damaged");
  // htslib takes a line that ends before the genotypes.
  if (static_cast<int>(record_->n_sample) != bcf_hdr_nsamples(header_.get()))
    fail("this line is no VCF record: it ends before the genotypes");
  ++report_.records;
  return true;
}

// Behind the alternative alleles gVCF files have one for all that were not seen.
int vcf_reader::called_alleles() const {
  const int alleles = static_cast<int>(record_->n_allele);
  if (alleles < 3) return alleles;
  const std::string_view last = record_->d.allele[alleles - 1];
  return last == "<NON_REF>" || last == "<*>" ? alleles - 1 : alleles;
}

// A biallelic SNP, or a base without an alternative, which is a constant site.
bool vcf_reader::is_site() {
  if (bcf_unpack(record_.get(), BCF_UN_STR) < 0) fail("the alleles of this line cannot be read");
  alleles_ = called_alleles();
  if (alleles_ > 2) {
    ++report_.multiallelic;
    return false;
  }
  if (!is_base(record_->d.allele[0]) || (alleles_ == 2 && !is_base(record_->d.allele[1]))) {
    ++report_.not_snps;
    return false;
  }
  report_.without_alternative += alleles_ < 2;
  places_.push_back(std::uint64_t(record_->rid) << 40 | std::uint64_t(record_->pos));
  return true;
}

// Sites whose place another one before them has.
std::int64_t vcf_reader::count_repeated_places() const {
  std::vector<std::uint64_t> places = places_;
  if (!std::is_sorted(places.begin(), places.end())) std::sort(places.begin(), places.end());
  return places.end() - std::unique(places.begin(), places.end());
}

void vcf_reader::count_individual(std::size_t individual, const std::int32_t* alleles, int max_alleles) {
  const std::int64_t species = groups_.species_of[individual];
  if (species < 0) return;
  std::int64_t& red = red_[static_cast<std::size_t>(species)];
  std::int64_t& copies = copies_[static_cast<std::size_t>(species)];
  std::int64_t ploidy = 0;
  for (; ploidy < max_alleles && alleles[ploidy] != bcf_int32_vector_end; ++ploidy) {
    if (bcf_gt_is_missing(alleles[ploidy])) continue;
    const int allele = bcf_gt_allele(alleles[ploidy]);
    if (allele < 0 || allele >= alleles_)
      fail(text("a genotype of ", header_->samples[individual], " has the allele ", allele, "; this site has 0",
                alleles_ < 2 ? " alone" : " and 1"));
    red += allele;
    ++copies;
  }
  if (copies > snp::DataBuilder::max_copies)
    fail(text("more than ", snp::DataBuilder::max_copies, " copies of species ",
              groups_.species[static_cast<std::size_t>(species)]));
  ploidy_[individual] = std::max(ploidy_[individual], ploidy);
}

void vcf_reader::count_copies() {
  std::fill(red_.begin(), red_.end(), 0);
  std::fill(copies_.begin(), copies_.end(), 0);
  // htslib ends the process when genotypes are not the integers that it makes of them.
  const bcf_fmt_t* field = bcf_get_fmt(header_.get(), record_.get(), "GT");
  if (field != nullptr && field->type != BCF_BT_INT8 && field->type != BCF_BT_INT16 && field->type != BCF_BT_INT32)
    fail("the genotypes (GT) cannot be read");
  const int count = bcf_get_genotypes(header_.get(), record_.get(), &genotypes_, &genotypes_size_);
  if (count == -3) return;  // no genotypes at this site: all missing
  if (count < 0) fail("there are no genotypes (GT)");
  const int max_alleles = count / bcf_hdr_nsamples(header_.get());
  for (std::size_t i = 0; i < ploidy_.size(); ++i)
    count_individual(i, genotypes_ + static_cast<std::ptrdiff_t>(i) * max_alleles, max_alleles);
}

std::vector<std::int64_t> vcf_reader::sampled_copies() const {
  std::vector<std::int64_t> sampled(groups_.species.size(), 0);
  for (std::size_t i = 0; i < ploidy_.size(); ++i)
    if (groups_.species_of[i] >= 0) sampled[static_cast<std::size_t>(groups_.species_of[i])] += ploidy_[i];
  return sampled;
}

snp_input vcf_reader::read() {
  snp::DataBuilder builder(groups_.species, {.empty = options_.empty});
  while (next_record()) {
    if (!is_site()) continue;
    count_copies();
    builder.add_site(red_, copies_);
  }
  report_.repeated_places = count_repeated_places();
  snp_input input{builder.finish(sampled_copies()), std::move(report_), {}};
  filter_sites(input, places_, options_);
  return input;
}

}  // namespace

bool has_vcf() { return true; }

snp_input read_vcf_data(const std::string& path, const snp_read_options& options) {
  return vcf_reader(path, options).read();
}

}  // namespace quintet::io

#else

#include "io/genotypes.hpp"
#include "quintet/core/error.hpp"

namespace quintet::io {

bool has_vcf() { return false; }

// check_snp_data_input has refused it before.
snp_input read_vcf_data(const std::string& path, const snp_read_options&) {
  throw FileError(path, "cannot be read: this build has no htslib (Debian package libhts-dev)");
}

}  // namespace quintet::io

#endif
