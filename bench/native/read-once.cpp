// Reads float32 values from standard input. Measures how long one thread takes to load each value once and to compute
// the maximum, 128 bits at a time. Measures a memcpy of the values too. Prints both times in microseconds as JSON.
//
//   g++ -O3 -msse4.1 -o read-once read-once.cpp && ./read-once MILLISECONDS < tensor.bin
#include <smmintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Reads kStreams parts of the tensor in turns and prefetches kAhead bytes. One thread alone does not keep enough cache
// lines in flight, and processors differ in what helps them.
template <int kStreams, int kAhead>
[[gnu::noinline]] float readOnce(const float* data, size_t count) {
  constexpr int kStep = 64 / kStreams;
  const size_t part = count / kStreams / kStep * kStep;
  __m128 most[8];
  for (auto& m : most) m = _mm_set1_ps(data[0]);
  for (size_t at = 0; at < part; at += kStep)
    for (int s = 0; s < kStreams; s++)
      for (int i = 0; i < kStep; i += 4) {
        const float* p = data + s * part + at + i;
        if (kAhead > 0 && i % 16 == 0) _mm_prefetch(reinterpret_cast<const char*>(p) + kAhead, _MM_HINT_T0);
        auto& m = most[(s * kStep + i) / 4 & 7];
        m = _mm_max_ps(m, _mm_loadu_ps(p));
      }
  for (size_t at = part * kStreams; at < count; at++) most[0] = _mm_max_ss(most[0], _mm_load_ss(data + at));
  for (int i = 1; i < 8; i++) most[0] = _mm_max_ps(most[0], most[i]);
  return _mm_cvtss_f32(most[0]);
}

static double now() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static volatile float sink;

// Appends one sample of at least 20 microseconds.
template <class Work>
static void sample(std::vector<double>& samples, Work work) {
  const double start = now();
  double time = 0;
  int runs = 0;
  for (; time < 20; runs++) {
    sink = work();
    time = now() - start;
  }
  samples.push_back(time / runs);
}

static double median(std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

int main(int, char** arguments) {
  std::vector<float> data(1 << 24);
  data.resize(fread(data.data(), 4, data.size(), stdin));
  std::vector<float> other(data.size());
  float (*const ways[])(const float*, size_t) = {readOnce<1, 0>, readOnce<1, 2048>, readOnce<2, 0>, readOnce<4, 0>};
  std::vector<double> reads[4], copies;
  // Measure the functions in turns, so that other programs slow all of them. The first call of a turn fills the caches.
  const double until = now() + 1000 * atof(arguments[1]);
  while (now() < until || copies.size() < 30) {
    for (int w = 0; w < 4; w++) {
      sink = ways[w](data.data(), data.size());
      for (int i = 0; i < 6; i++) sample(reads[w], [&] { return ways[w](data.data(), data.size()); });
    }
    for (int i = 0; i < 5; i++)
      sample(copies, [&] {
        memcpy(other.data(), data.data(), 4 * data.size());
        return other[data.size() / 2];
      });
  }
  double least = median(reads[0]);
  for (auto& samples : reads) least = std::min(least, median(samples));
  printf("{\"readOnce\":%.4g,\"copy\":%.4g}\n", least, median(copies));
}
