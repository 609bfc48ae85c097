// The instruction sets that compiled code may need, one row each: name, macro with which compilers say that they use
// it, level of x86-64 that has it (0: none), where cpuid tells of it (leaf, subleaf, register, bit), and the registers
// that the system has to save for it.
//
// Sets are here that compilers use unasked, or that the library uses. Others, which take an intrinsic function (AES,
// SHA, RDRND, TSX, AMX), are not: -march=native turns them on, and a processor without them would be refused for
// nothing.
#pragma once

#define QUINTET_INSTRUCTION_SETS(ROW)                                           \
  ROW("SSE3", __SSE3__, 2, 1, 0, ecx, 0, sse)                                   \
  ROW("SSSE3", __SSSE3__, 2, 1, 0, ecx, 9, sse)                                 \
  ROW("CMPXCHG16B", __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16, 2, 1, 0, ecx, 13, sse) \
  ROW("SSE4.1", __SSE4_1__, 2, 1, 0, ecx, 19, sse)                              \
  ROW("SSE4.2", __SSE4_2__, 2, 1, 0, ecx, 20, sse)                              \
  ROW("POPCNT", __POPCNT__, 2, 1, 0, ecx, 23, sse)                              \
  ROW("LAHF", __LAHF_SAHF__, 2, 0x80000001, 0, ecx, 0, sse)                     \
  ROW("AVX", __AVX__, 3, 1, 0, ecx, 28, avx)                                    \
  ROW("AVX2", __AVX2__, 3, 7, 0, ebx, 5, avx)                                   \
  ROW("FMA", __FMA__, 3, 1, 0, ecx, 12, avx)                                    \
  ROW("F16C", __F16C__, 3, 1, 0, ecx, 29, avx)                                  \
  ROW("BMI1", __BMI__, 3, 7, 0, ebx, 3, sse)                                    \
  ROW("BMI2", __BMI2__, 3, 7, 0, ebx, 8, sse)                                   \
  ROW("LZCNT", __LZCNT__, 3, 0x80000001, 0, ecx, 5, sse)                        \
  ROW("MOVBE", __MOVBE__, 3, 1, 0, ecx, 22, sse)                                \
  ROW("AVX512F", __AVX512F__, 4, 7, 0, ebx, 16, avx512)                         \
  ROW("AVX512DQ", __AVX512DQ__, 4, 7, 0, ebx, 17, avx512)                       \
  ROW("AVX512CD", __AVX512CD__, 4, 7, 0, ebx, 28, avx512)                       \
  ROW("AVX512BW", __AVX512BW__, 4, 7, 0, ebx, 30, avx512)                       \
  ROW("AVX512VL", __AVX512VL__, 4, 7, 0, ebx, 31, avx512)                       \
  ROW("AVX512_IFMA", __AVX512IFMA__, 0, 7, 0, ebx, 21, avx512)                  \
  ROW("AVX512_VBMI", __AVX512VBMI__, 0, 7, 0, ecx, 1, avx512)                   \
  ROW("AVX512_VBMI2", __AVX512VBMI2__, 0, 7, 0, ecx, 6, avx512)                 \
  ROW("AVX512_VNNI", __AVX512VNNI__, 0, 7, 0, ecx, 11, avx512)                  \
  ROW("AVX512_BITALG", __AVX512BITALG__, 0, 7, 0, ecx, 12, avx512)              \
  ROW("AVX512_VPOPCNTDQ", __AVX512VPOPCNTDQ__, 0, 7, 0, ecx, 14, avx512)        \
  ROW("AVX512_VP2INTERSECT", __AVX512VP2INTERSECT__, 0, 7, 0, edx, 8, avx512)   \
  ROW("AVX512_FP16", __AVX512FP16__, 0, 7, 0, edx, 23, avx512)                  \
  ROW("AVX512_BF16", __AVX512BF16__, 0, 7, 1, eax, 5, avx512)                   \
  ROW("AVX-VNNI", __AVXVNNI__, 0, 7, 1, eax, 4, avx)                            \
  ROW("AVX-IFMA", __AVXIFMA__, 0, 7, 1, eax, 23, avx)                           \
  ROW("AVX-VNNI-INT8", __AVXVNNIINT8__, 0, 7, 1, edx, 4, avx)                   \
  ROW("AVX-NE-CONVERT", __AVXNECONVERT__, 0, 7, 1, edx, 5, avx)                 \
  ROW("AVX-VNNI-INT16", __AVXVNNIINT16__, 0, 7, 1, edx, 10, avx)                \
  ROW("APX", __APX_F__, 0, 7, 1, edx, 21, apx)                                  \
  ROW("GFNI", __GFNI__, 0, 7, 0, ecx, 8, sse)                                   \
  ROW("PCLMULQDQ", __PCLMUL__, 0, 1, 0, ecx, 1, sse)                            \
  ROW("VPCLMULQDQ", __VPCLMULQDQ__, 0, 7, 0, ecx, 10, avx)                      \
  ROW("SSE4A", __SSE4A__, 0, 0x80000001, 0, ecx, 6, sse)                        \
  ROW("XOP", __XOP__, 0, 0x80000001, 0, ecx, 11, avx)                           \
  ROW("FMA4", __FMA4__, 0, 0x80000001, 0, ecx, 16, avx)                         \
  ROW("TBM", __TBM__, 0, 0x80000001, 0, ecx, 21, sse)
