/* Networks and markers from files; the folder for them is the argument. */
#include "check.h"

static char path[1000];

static const char* in_folder(const char* folder, const char* name, const char* content) {
  FILE* file;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  file = fopen(path, "w");
  CHECK(file != NULL && fputs(content, file) >= 0);
  fclose(file);
  return path;
}

int main(int argc, char** argv) {
  const char* folder = argc > 1 ? argv[1] : ".";
  quintet_snp_network* network = NULL;
  quintet_snp_data* data = NULL;
  quintet_snp_read_options options;
  int64_t nodes = 0, species = 0, sites = 0;
  CHECK_OK(quintet_snp_network_read(in_folder(folder, "tree.nwk", "(A:0.1,B:0.1);\n"), 0.01, NAN, &network));
  CHECK_OK(quintet_snp_network_sizes(network, &nodes, NULL, NULL));
  CHECK(nodes == 3);
  quintet_snp_network_free(network);
  CHECK_FAILS(quintet_snp_network_read("/nowhere/tree.nwk", 0.01, NAN, &network), QUINTET_FILE_ERROR,
              "/nowhere/tree.nwk");
  CHECK(network == NULL);
  CHECK_FAILS(quintet_snp_network_read(in_folder(folder, "bad.nwk", "(A:0.1,\n"), 0.01, NAN, &network),
              QUINTET_FILE_ERROR, "bad.nwk");
  CHECK_INVALID(quintet_snp_network_read(NULL, NAN, NAN, &network), "path must not be null");

  CHECK_OK(quintet_snp_data_read(in_folder(folder, "counts.csv", "A,B\n1/2,0/4\n2/2,4/4\n"), NULL, &data));
  CHECK_OK(quintet_snp_data_sizes(data, &species, NULL, &sites, NULL));
  CHECK(species == 2 && sites == 2);
  quintet_snp_data_free(data);
  CHECK_FAILS(quintet_snp_data_read(in_folder(folder, "bad.csv", "A,B\n3/2,0/4\n"), NULL, &data), QUINTET_FILE_ERROR,
              "bad.csv:2");
  CHECK_OK(quintet_snp_read_options_default(&options, sizeof options));
  CHECK(options.population_file == NULL && options.empty == QUINTET_SNP_DROP);
  options.population_rule = "before-first:_";
  CHECK_OK(quintet_snp_data_read(
      in_folder(folder, "genes.phy", "4 2\nA_1       01\nA_2       11\nB_1       00\nB_2       10\n"), &options,
      &data));
  CHECK_OK(quintet_snp_data_sizes(data, &species, NULL, &sites, NULL));
  CHECK(species == 2 && sites == 2);
  quintet_snp_data_free(data);
  CHECK(options.max_missing == 1 && options.thin_distance == 0 && options.one_per_locus == 0);
  options.population_rule = NULL;
  options.max_missing = 0.2;
  CHECK_OK(quintet_snp_data_read(
      in_folder(folder, "a.raw", "FID IID PAT MAT SEX PHENOTYPE s_T t_T\nA 1 0 0 0 -9 0 1\nB 1 0 0 0 -9 2 NA\n"),
      &options, &data));
  CHECK_OK(quintet_snp_data_sizes(data, NULL, NULL, NULL, &sites));
  CHECK(sites == 1);
  quintet_snp_data_free(data);
  options.thin_distance = 100;
  CHECK_INVALID(quintet_snp_data_read(path, &options, &data), "which only VCF has");
  options.thin_distance = 0;
  options.population_rule = "before-first:_";
  options.population_file = "map.csv";
  CHECK_INVALID(quintet_snp_data_read(path, &options, &data), "must not both be given");
  CHECK_INVALID(quintet_snp_read_options_default(NULL, sizeof options), "options must not be null");
  CHECK(data == NULL);
  return check_result();
}
