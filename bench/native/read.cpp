// How fast this machine reads memory, 128 bits at a time, from tensors that stay in its caches to some that do not: a step of a sweep
// that is steep here too is the machine's.
//
//   g++ -O2 -o read bench/native/read.cpp && ./read 2.8 5.4 10.8 21.6 33.6     (sizes in MB)
#include <emmintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

// In a function of its own: a compiler that sees the clock called beside the loop keeps the sums in memory.
[[gnu::noinline]] static float most(const float* p, const float* end) {
  __m128 a = _mm_setzero_ps(), b = a, c = a, d = a;
  for (; p < end; p += 16) {
    a = _mm_max_ps(a, _mm_loadu_ps(p));
    b = _mm_max_ps(b, _mm_loadu_ps(p + 4));
    c = _mm_max_ps(c, _mm_loadu_ps(p + 8));
    d = _mm_max_ps(d, _mm_loadu_ps(p + 12));
  }
  return _mm_cvtss_f32(_mm_max_ps(_mm_max_ps(a, b), _mm_max_ps(c, d)));
}

int main(int count, char** sizes) {
  for (int k = 1; k < count; k++) {
    const double megabytes = std::atof(sizes[k]);
    const std::vector<float> values(static_cast<size_t>(megabytes * 1e6) / 64 * 16, 1.0f);
    std::vector<double> times;
    float kept = 0;
    for (int run = 0; run < 200; run++) {
      const auto from = std::chrono::steady_clock::now();
      kept += most(values.data(), values.data() + values.size());
      times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - from).count());
    }
    std::sort(times.begin(), times.end());
    std::printf("%.1f MB: %.0f us, %.1f GB/s (%.0f)\n", megabytes, times[100], megabytes * 1e3 / times[100], kept);
  }
}
