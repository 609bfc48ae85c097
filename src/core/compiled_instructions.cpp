// Compiled as the rest of the library is: what its code needs. Numbers alone, as no function of this file could be
// called before the check.
#include "core/instruction_sets.hpp"
#include "core/processor.hpp"

// Whether a macro is defined, as a number: to 1, which then is one argument more.
#define QUINTET_ONE_ARGUMENT_MORE_1 0,
#define QUINTET_SECOND(first, second, ...) second
#define QUINTET_IS_ONE(value) QUINTET_IS_ONE_(value)
#define QUINTET_IS_ONE_(value) QUINTET_SECOND_(QUINTET_ONE_ARGUMENT_MORE_##value)
#define QUINTET_SECOND_(arguments) QUINTET_SECOND(arguments 1, 0, 0)

namespace quintet::detail {

#define QUINTET_ROW(name, macro, ...) QUINTET_IS_ONE(macro),
constinit const unsigned char compiled_instructions[instruction_set_count] = {QUINTET_INSTRUCTION_SETS(QUINTET_ROW)};
#undef QUINTET_ROW

}  // namespace quintet::detail
