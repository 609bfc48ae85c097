// Expects a NetworkError of a rule, whose text holds given words.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "quintet/snp/network/network.hpp"
#include "support/expect_error.hpp"

namespace quintet::test {

template <class Call>
void expect_network_error(Call call, snp::NetworkError::rule broken, const std::string& words) {
  try {
    call();
    ADD_FAILURE() << "no NetworkError: " << words;
  } catch (const snp::NetworkError& error) {
    EXPECT_EQ(int(error.reason()), int(broken)) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << "  got: " << error.what();
  }
}

}  // namespace quintet::test
