// Biallelic SNPs of VCF files.
#include "io/gzip.hpp"
#include "support/expect_error.hpp"
#include "unit/io/read_test.hpp"

namespace quintet {
namespace {

const std::string header =
    "##fileformat=VCFv4.2\n##contig=<ID=1>\n##FILTER=<ID=low,Description=\"x\">\n"
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype\">\n"
    "##FORMAT=<ID=DP,Number=1,Type=Integer,Description=\"Depth\">\n"
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta_1\ta_2\tb_1\n";

std::string record(const std::string& alleles, const std::string& rest) {
  return "1\t1\t.\t" + alleles + "\t.\tlow\t.\t" + rest + "\n";
}

class snp_vcf : public test::snp_reading {
 protected:
  snp_vcf() : snp_reading("vcf") {}
  void SetUp() override {
    if (!io::has_vcf()) GTEST_SKIP() << "this build has no htslib";
  }
  const io::snp_read_options rule = by_rule("before-first:_");
};

TEST(snp_vcf_support, a_build_without_htslib_says_so_beforehand) {
  bool refused = false;
  try {
    io::check_snp_data_input("a.vcf.gz");
  } catch (const FileError& e) {
    refused = std::string(e.what()).find("no htslib") != std::string::npos;
  }
  EXPECT_EQ(refused, !io::has_vcf());
}

TEST_F(snp_vcf, genotypes_of_any_ploidy) {
  EXPECT_EQ(read(header + record("A\tC", "GT\t0/1\t1|1\t0/0") + record("A\tC", "GT:DP\t./1:3\t.:1\t1:2") +
                     record("g\tt", "GT\t0/0\t0/0\t0/1/1") + record("A\tC", "GT\t./.\t./.\t0/1") +
                     record("A\tC", "DP\t1\t1\t1"),
                 rule),
            "a,b: 3/4 0/2; 1/1 1/1; 0/4 2/3; dropped; dropped");
}

TEST_F(snp_vcf, other_records_are_counted) {
  const auto input = io::read_snp_data(
      file("b.vcf", header + record("A\tC", "GT\t0/1\t1|1\t0/0") + record("A\tC,G", "GT\t0/1\t1|2\t0/0") +
                        record("A\t.", "GT\t0/0\t0/0\t0/0") + record("A\tAC", "GT\t0/1\t1|1\t0/0") +
                        record("AC\tGT", "GT\t0/1\t1|1\t0/0") + record("A\t*", "GT\t0/1\t1|1\t0/0") +
                        record("A\t<DEL>", "GT\t0/1\t1|1\t0/0") + record("N\tC", "GT\t0/1\t1|1\t0/0")),
      rule);
  EXPECT_EQ(test::counts_text(input.data), "a,b: 3/4 0/2; 0/4 0/2");
  EXPECT_EQ(input.report.records, 8);
  EXPECT_EQ(input.report.multiallelic, 1);
  EXPECT_EQ(input.report.without_alternative, 1);
  EXPECT_EQ(input.report.not_snps, 5);
  EXPECT_EQ(input.report.repeated_places, 1);
  EXPECT_EQ(input.report.individuals, 3);
}

TEST_F(snp_vcf, alleles_that_were_not_seen_and_constant_sites) {
  EXPECT_EQ(read(header + record("A\tC,<NON_REF>", "GT\t0/1\t1|1\t0/0") + record("A\tC,<*>", "GT\t0/0\t1|1\t0/0") +
                     record("A\t<NON_REF>", "GT\t0/0\t0/0\t0/0") + record("g\t.", "GT\t0/0\t./.\t0/0") +
                     record("N\t.", "GT\t0/0\t0/0\t0/0"),
                 rule),
            "a,b: 3/4 0/2; 2/4 0/2; 0/2 0/2");
  expect_bad(header + record("A\t.", "GT\t0/1\t0/0\t0/0"),
             "a.vcf:7: a genotype of a_1 has the allele 1; this site has 0", rule);
}

TEST_F(snp_vcf, a_map_may_leave_individuals_out) {
  const io::snp_read_options map{.populations =
                                     io::population_map::from_file(file("m", "a_1 X\na_2 -\nb_1 Y\nc_1 Y\n"))};
  const auto input = io::read_snp_data(file("b.vcf", header + record("A\tC", "GT\t0/1\t1|1\t0/0")), map);
  EXPECT_EQ(test::counts_text(input.data), "X,Y: 1/2 0/2");
  EXPECT_EQ(input.report.left_out, 1);
  EXPECT_EQ(input.report.absent, std::vector<std::string>{"c_1"});
}

TEST_F(snp_vcf, sampled_copies_are_those_of_the_individuals) {
  const snp::Data d = data(header + record("A\tC", "GT\t0/1\t./.\t0") + record("A\tC", "GT\t./.\t1/1\t0"), rule);
  EXPECT_EQ(d.sampled_copies()[0], 4);
  EXPECT_EQ(d.sampled_copies()[1], 1);
  EXPECT_EQ(d.max_copies()[0], 2);
}

TEST_F(snp_vcf, compressed_files) {
  io::atomic_file out(path("c.vcf.gz"));
  io::gzip_writer gzip(out);
  gzip.write(header + record("A\tC", "GT\t0/1\t1|1\t0/0"));
  gzip.finish();
  out.commit();
  EXPECT_EQ(test::counts_text(io::read_snp_data(path("c.vcf.gz"), rule).data), "a,b: 3/4 0/2");
  const std::string whole = content("c.vcf.gz");
  const std::string cut = file("d.vcf.gz", whole.substr(0, whole.size() - 30));
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { io::read_snp_data(cut, rule); }), "d.vcf.gz");
}

// BCF 2.2, not compressed, as its specification lays it out: one record A/C with the genotypes 0/1, 1|1 and 0/0.
std::string binary_file() {
  std::string bytes;
  const auto number = [&](std::uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes += char(value >> 8 * i & 255);
  };
  const std::string words =
      "##fileformat=VCFv4.2\n##contig=<ID=1>\n##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype\">\n"
      "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta_1\ta_2\tb_1\n";
  bytes = "BCF\2\2";
  number(std::uint32_t(words.size() + 1));
  bytes += words + '\0';
  const std::string shared{7, 0x17, 'A', 0x17, 'C', 0}, genotypes{0x11, 1, 0x21, 2, 4, 4, 5, 2, 2};
  number(std::uint32_t(24 + shared.size()));
  number(std::uint32_t(genotypes.size()));
  for (const std::uint32_t value : {0u, 0u, 1u, 0x7F800001u, 2u << 16, 1u << 24 | 3u}) number(value);
  return bytes + shared + genotypes;
}

TEST_F(snp_vcf, binary_files) {
  EXPECT_EQ(test::counts_text(io::read_snp_data(file("a.bcf", binary_file()), rule).data), "a,b: 3/4 0/2");
  const std::string good = binary_file();  // no length is that of the header alone, which is a file without records
  for (std::size_t length = 5; length < good.size(); length += 3) {
    const std::string cut = file("b.bcf", good.substr(0, length));
    QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { io::read_snp_data(cut, rule); }), "b.bcf");
  }
}

TEST_F(snp_vcf, bad_files_tell_line_and_reason) {
  expect_bad("", "is no VCF file", rule);
  expect_bad("hello\n", "is no VCF file", rule);
  expect_bad("##fileformat=VCFv4.2\nhello\n", "a.vcf:2: the header is no VCF header", rule);
  expect_bad("##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n", "has no individuals", rule);
  expect_bad(header + "1\tx\n", "a.vcf:7: this line is no VCF record", rule);
  expect_bad(header + record("A\tC", "GT\t0/1\t1|1"), "a.vcf:7: this line is no VCF record", rule);
  expect_bad(header + record("A\tC", "GT\t0/1\t1|1\t0/0\t0/1"), "a.vcf:7: this line has 13 columns, the header 12",
             rule);
  std::string twice = header;
  twice.replace(twice.find("a_2"), 3, "a_1");
  expect_bad(twice, "a.vcf:6: the individual \"a_1\" comes a second time", rule);
  expect_bad(header + record("A\tC", "GT\t0/1\t1|1\t0/2"), "a.vcf:7: a genotype of b_1 has the allele 2", rule);
  expect_bad(header + record("A\tC", "GT\t0/1\t1|1\t0/0"), "\"a_1\" has nothing before its first \"x\"",
             by_rule("before-first:x"));
}

TEST_F(snp_vcf, a_population_map_is_needed) {
  QUINTET_EXPECT_CONTAINS(test::error_of<InvalidArgument>([&] { read(header); }), "VCF needs a population map");
  QUINTET_EXPECT_CONTAINS(test::error_of<InvalidArgument>([&] { read(header, {.dominant = true}); }),
                          "dominant markers");
  QUINTET_EXPECT_CONTAINS(test::error_of<InvalidArgument>([&] { read(header, {.diploid = true}); }), "diploid is for");
}

TEST_F(snp_vcf, damaged_files_do_not_crash) {
  const std::string good = header + record("A\tC", "GT:DP\t0/1:1\t1|1:2\t0/0:.") + record("G\tT", "GT\t0/1\t./.\t0/0");
  test::expect_no_crash(good, [&](const std::string& content) { read(content, rule); });
}

// Contigs 1 and 2; copies 6, 4, 6 and constant on contig 1, in another order in the file.
TEST_F(snp_vcf, thinned_sites) {
  const auto at = [](int contig, int position, const std::string& genotypes) {
    return text(contig, "\t", position, "\t.\tA\tC\t.\t.\t.\tGT\t", genotypes, "\n");
  };
  const std::string content = header + at(1, 30, "0/1\t1/1\t0/0") + at(1, 10, "0/0\t./.\t0/1") +
                              at(1, 25, "0/1\t0/1\t0/1") + at(1, 5, "0/0\t0/0\t0/0") + at(2, 7, "0/0\t1/1\t1/1") +
                              at(2, 8, "0/1\t0/0\t1/1");
  const std::string path = file("t.vcf", content);
  const auto read_with = [&](auto change) {
    io::snp_read_options options = rule;
    change(options);
    return io::read_snp_data(path, options);
  };
  const auto whole = read_with([](auto&) {});
  EXPECT_EQ(whole.locus_of_site, (std::vector<std::int64_t>{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(whole.report.thinned, 0);
  // From left to right: 10, then 25, not 30; 7, not 8. The constant site goes too.
  const auto thinned = read_with([](auto& o) { o.thin_distance = 15; });
  EXPECT_EQ(test::counts_text(thinned.data), "a,b: 0/2 1/2; 2/4 1/2; 2/4 2/2");
  EXPECT_EQ(thinned.report.thinned, 3);
  EXPECT_EQ(thinned.locus_of_site, (std::vector<std::int64_t>{0, 0, 1}));
  EXPECT_EQ(read_with([](auto& o) { o.thin_distance = 20; }).report.thinned, 3);  // 10 and 30
  EXPECT_EQ(read_with([](auto& o) { o.thin_distance = 21; }).report.thinned, 4);
  // The most copies, and of equal ones the first on the contig: 25 and 7.
  const auto single = read_with([](auto& o) { o.one_per_locus = true; });
  EXPECT_EQ(test::counts_text(single.data), "a,b: 2/4 1/2; 2/4 2/2");
  EXPECT_EQ(single.report.thinned, 4);
  EXPECT_EQ(read_with([](auto& o) { o.max_missing = 0.3; }).report.too_much_missing, 1);
  expect_invalid([&] { read_with([](auto& o) { o.thin_distance = 5, o.one_per_locus = true; }); },
                 "exclude each other");
  expect_invalid([&] { read_with([](auto& o) { o.thin_distance = -5; }); }, "thin_distance must be >= 0");
}

}  // namespace
}  // namespace quintet
