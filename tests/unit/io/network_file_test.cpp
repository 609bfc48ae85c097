#include "quintet/io/snp_network.hpp"

#include "unit/io/temporary_folder.hpp"

namespace quintet::io {
namespace {

class network_file : public test::temporary_folder {
 protected:
  std::string read(std::string_view content) const {
    return snp::to_newick(read_network(file("n.nwk", content), {.theta = 2}));
  }
  void expect_bad(std::string_view content, std::string_view words) const {
    SCOPED_TRACE(content);
    QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { read(content); }), words);
  }
};

const char* const expected = "[2](A:1:2,B:1:2)r;";

TEST_F(network_file, newick_and_nexus) {
  EXPECT_EQ(read("(A:1,B:1)r;\n"), expected);
  EXPECT_EQ(read("\xEF\xBB\xBF(A:1,\r\n B:1)r"), expected);
  EXPECT_EQ(read("#NEXUS\nBEGIN DATA; DIMENSIONS NCHAR=1; END;\nBEGIN TREES;\nTree 't 1' = [&R] (A:1, B:1)r;\nEND;\n"),
            expected);
  EXPECT_EQ(read("#nexus begin networks; Network n = (A:1,B:1)r; end; begin phylonet; mcmc_bimarkers; end;"), expected);
}

TEST_F(network_file, names_may_be_translated) {
  EXPECT_EQ(read("#NEXUS\nBEGIN TREES;\nTRANSLATE 1 A, 2 B;\nTREE a = [&R] (1:1,[x] 2:1)r;\nEND;\n"), expected);
  EXPECT_EQ(
      read(
          "#NEXUS\nBEGIN TREES;\nTRANSLATE\n1 'A''s (x)',\n2 B_b\n;\nTREE a = ((1:1)#H1:1::0.5,(2:1,#H1:2)1:1);\nEND;"),
      "[2](('A''s (x)':1:2)#H1:1:2:0.5,(B_b:1:2,#H1:2:2:0.5):1:2);");
}

TEST_F(network_file, several_networks) {
  for (const char* content : {"(A:1,B:1)r;\n\n[2](A:1,B:3)r; \n", "(A:1,B:1)r;(A:1,B:3)r",
                              "#NEXUS\nBEGIN TREES;\nTREE a = (A:1,B:1)r;\nTREE b = (A:1,B:3)r;\nEND;\n"}) {
    SCOPED_TRACE(content);
    const auto networks = read_networks(file("m.nwk", content), {.theta = 2});
    ASSERT_EQ(networks.size(), 2u);
    EXPECT_EQ(snp::to_newick(networks[0]), expected);
    EXPECT_EQ(snp::to_newick(networks[1]), "[2](A:1:2,B:3:2)r;");
  }
}

TEST_F(network_file, bad_files_tell_line_and_reason) {
  expect_bad("", "n.nwk:1: character 1: there is no network");
  expect_bad("(A:1,\nB:x)r;\n", "n.nwk:2: character 3: the length is no finite number: \"x\"");
  expect_bad("(A:1,B:1);\n(A:1,B:1);\n", "n.nwk:2: a second network; the first is in line 1");
  expect_bad("(A:1,B:1);\n0.3 NA A:1\n", "n.nwk:2: the network has ended, but there is more: \"0.3 NA A:1");
  expect_bad("(A:1,B:x);\n(A:1,B:1);\n", "n.nwk:2: a second network");
  expect_bad("(A:1,B:1,C:1);\n", "n.nwk:1: character 1: the root has three children");
  expect_bad("(A:1,B:1,C:1,D:1);\n", "n.nwk: node 0 above \"A\" has more than two children");
  expect_bad("#NEXUS\nBEGIN TREES; END;\n", "has no TREE or NETWORK");
  expect_bad("#NEXUS\nBEGIN TREES;\nTREE a = (A:1,B:1);\nTREE b = (A:1,B:1);\nEND;\n",
             "n.nwk:4: a second network; the first is in line 3");
  expect_bad("#NEXUS\nBEGIN TREES;\nTRANSLATE 1, 2 B;\nTREE a = (1:1,2:1);\nEND;\n",
             "n.nwk:3: TRANSLATE must be pairs such as 1 A, 2 B;");
  expect_bad("#NEXUS\nBEGIN TREES;\nTREE a (A:1,B:1);\nEND;\n", "n.nwk:3: a tree looks like");
  expect_bad("#NEXUS\nBEGIN TREES;\nTREE a = (A:1,\nB:x);\nEND;\n", "n.nwk:4: character 3: the length");
  expect_bad("#NEXUS\nBEGIN TREES;\nTREE a = (A:1,B:1)", "n.nwk:3: a command begins here and has no end");
}

}  // namespace
}  // namespace quintet::io
