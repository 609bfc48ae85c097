// A condensed tree small enough to work out by hand.
#pragma once

#include "quintet/hdbscan/tree_stages.hpp"

namespace quintet::test {

/// Of six points. The root sheds point 5 at density 0.125 and splits at 0.25 into {0, 1, 2} and {3, 4}.
inline hdbscan::condensed_tree hand_worked_tree() {
  return {6,
          3,
          {{6, 5, 0.125, 1},
           {6, 7, 0.25, 3},
           {6, 8, 0.25, 2},
           {7, 2, 0.5, 1},
           {7, 0, 1.0, 1},
           {7, 1, 1.0, 1},
           {8, 3, 2.0, 1},
           {8, 4, 2.0, 1}}};
}

}  // namespace quintet::test
