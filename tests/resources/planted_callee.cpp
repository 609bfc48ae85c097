// A function whose effects a kernel in another source cannot know: it keeps the address it is given.
#pragma omp declare target
float* planted_address;
__attribute__((noinline)) float planted_callee(float* team_memory) {
  for (int i = 0; i < 64; ++i) team_memory[i] = float(i);
  planted_address = team_memory;
  __asm__ volatile("");  // an effect on who knows what
  return team_memory[7];
}
#pragma omp end declare target
