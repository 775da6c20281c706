// Makes masks natively, the yardstick for boxwright/masks: the same steps in the same order, 128-bit vectors, one
// thread. Reads a job from standard input, writes the masks to standard output and its times in microseconds to
// standard error, as JSON.
//
//   g++ -O3 -msse4.1 -ffp-contract=off -o masks masks.cpp && ./masks MILLISECONDS < job.bin > masks.bin
//
// The job has these parts, one after the other:
//   i32: count, width and height of the prototypes; count of masks; width and height of the picture; 1 for masks at the
//        size of the prototypes, else 0
//   f64: start, length, low and high of both axes
//   i32: x, y, end x and end y of each mask
//   f32: coefficients of all masks, then the prototypes
#include <smmintrin.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Axis {
  double start, length, low, high;
};
struct Table {
  std::vector<int> near, far;
  std::vector<float> nearWeights, farWeights;
};
struct Window {
  int x, y, endX, endY;
};

static Table tableOf(const Axis& axis, int pixels) {
  Table t{std::vector<int>(pixels), std::vector<int>(pixels), std::vector<float>(pixels), std::vector<float>(pixels)};
  for (int i = 0; i < pixels; i++) {
    const double place = axis.start + ((i + 0.5) * axis.length / pixels - 0.5);
    const double inside = std::min(std::max(place, axis.low), axis.high - 1);
    t.near[i] = static_cast<int>(std::floor(inside));
    t.far[i] = std::min(t.near[i] + 1, static_cast<int>(axis.high) - 1);
    t.farWeights[i] = static_cast<float>(inside - t.near[i]);
    t.nearWeights[i] = 1.0f - t.farWeights[i];
  }
  return t;
}

// Returns the logits of four pixels. Adds the channels in four sums, one for each remainder of the channel by four.
static inline __m128 logits4(const float* p, size_t plane, const float* c, int count) {
  __m128 s0 = _mm_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
  int m = 0;
  for (; m + 4 <= count; m += 4, p += 4 * plane) {
    s0 = _mm_add_ps(s0, _mm_mul_ps(_mm_set1_ps(c[m]), _mm_loadu_ps(p)));
    s1 = _mm_add_ps(s1, _mm_mul_ps(_mm_set1_ps(c[m + 1]), _mm_loadu_ps(p + plane)));
    s2 = _mm_add_ps(s2, _mm_mul_ps(_mm_set1_ps(c[m + 2]), _mm_loadu_ps(p + 2 * plane)));
    s3 = _mm_add_ps(s3, _mm_mul_ps(_mm_set1_ps(c[m + 3]), _mm_loadu_ps(p + 3 * plane)));
  }
  return _mm_add_ps(_mm_add_ps(s0, s1), _mm_add_ps(s2, s3));
}

// Writes the logits of sixteen pixels, one cache line of every plane. Computes two of the four sums at a time.
static inline void logits16(const float* from, size_t plane, const float* c, int count, float* to) {
  for (int k = 0; k < 4; k += 2) {
    __m128 a[4], b[4];
    for (int i = 0; i < 4; i++) a[i] = b[i] = _mm_setzero_ps();
    const float* p = from + k * plane;
    for (int m = k; m < count; m += 4, p += 4 * plane)
      for (int i = 0; i < 4; i++) {
        a[i] = _mm_add_ps(a[i], _mm_mul_ps(_mm_set1_ps(c[m]), _mm_loadu_ps(p + 4 * i)));
        b[i] = _mm_add_ps(b[i], _mm_mul_ps(_mm_set1_ps(c[m + 1]), _mm_loadu_ps(p + plane + 4 * i)));
      }
    for (int i = 0; i < 4; i++) {
      __m128 sum = _mm_add_ps(a[i], b[i]);
      if (k == 2) sum = _mm_add_ps(_mm_loadu_ps(to + 4 * i), sum);
      _mm_storeu_ps(to + 4 * i, sum);
    }
  }
}

int main(int argc, char** argv) {
  const double milliseconds = argc > 1 ? std::atof(argv[1]) : 500;
  int32_t head[7];
  Axis axes[2];
  if (std::fread(head, 4, 7, stdin) != 7 || std::fread(axes, sizeof(Axis), 2, stdin) != 2) return 1;
  const auto [count, width, height, masks, pictureWidth, pictureHeight, isPlain] = head;
  std::vector<Window> windows(masks);
  std::vector<float> coefficients(static_cast<size_t>(masks) * count);
  std::vector<float> prototypes(static_cast<size_t>(count) * width * height + 16);
  if (std::fread(windows.data(), sizeof(Window), masks, stdin) != windows.size() ||
      std::fread(coefficients.data(), 4, coefficients.size(), stdin) != coefficients.size() ||
      std::fread(prototypes.data(), 4, prototypes.size() - 16, stdin) != prototypes.size() - 16)
    return 1;
  const Table columns = tableOf(axes[0], pictureWidth), rows = tableOf(axes[1], pictureHeight);
  const size_t plane = static_cast<size_t>(width) * height;
  std::vector<float> logits(plane + 16), scratch[2];
  for (auto& row : scratch) row.resize(pictureWidth + 16);
  std::vector<std::vector<uint8_t>> results(masks);
  const auto run = [&] {
    for (int i = 0; i < masks; i++) {
      const auto [x, y, endX, endY] = windows[i];
      const int w = endX - x, h = endY - y;
      // Allocate a result for each mask, as the package does.
      std::vector<uint8_t> out(static_cast<size_t>(w) * h + 16);
      const int fromX = isPlain ? x : columns.near[x], toX = isPlain ? endX : columns.far[endX - 1] + 1;
      const int fromY = isPlain ? y : rows.near[y], toY = isPlain ? endY : rows.far[endY - 1] + 1;
      const int span = toX - fromX;
      for (int r = fromY; r < toY; r++) {
        const float* p = prototypes.data() + static_cast<size_t>(r) * width + fromX;
        float* to = logits.data() + static_cast<size_t>(r - fromY) * span;
        int c = 0;
        for (; c + 16 <= span; c += 16) logits16(p + c, plane, &coefficients[i * count], count, to + c);
        for (; c < span; c += 4)
          _mm_storeu_ps(to + c, logits4(p + c, plane, &coefficients[i * count], count));
      }
      if (isPlain)
        for (size_t k = 0; k < static_cast<size_t>(w) * h; k++) out[k] = logits[k] > 0;
      int held[2] = {-1, -1};
      for (int r = 0; r < (isPlain ? 0 : h); r++) {
        const int two[2] = {rows.near[y + r], rows.far[y + r]};
        for (const int row : two)
          if (held[row & 1] != row) {
            held[row & 1] = row;
            const float* from = logits.data() + static_cast<ptrdiff_t>(row - fromY) * span - fromX;
            float* to = scratch[row & 1].data();
            for (int c = 0; c < w; c++)
              to[c] = from[columns.near[x + c]] * columns.nearWeights[x + c] +
                      from[columns.far[x + c]] * columns.farWeights[x + c];
          }
        const float *upper = scratch[two[0] & 1].data(), *lower = scratch[two[1] & 1].data();
        const __m128 a = _mm_set1_ps(rows.nearWeights[y + r]), b = _mm_set1_ps(rows.farWeights[y + r]);
        uint8_t* to = out.data() + static_cast<size_t>(r) * w;
        const auto above = [&](int at) {
          const __m128 mix = _mm_add_ps(_mm_mul_ps(_mm_loadu_ps(upper + at), a), _mm_mul_ps(_mm_loadu_ps(lower + at), b));
          return _mm_castps_si128(_mm_cmpgt_ps(mix, _mm_setzero_ps()));
        };
        // The last vector of a row may write into the next row, which is computed later.
        for (int c = 0; c < w; c += 16) {
          const __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(above(c), above(c + 4)),
                                                _mm_packs_epi32(above(c + 8), above(c + 12)));
          _mm_storeu_si128(reinterpret_cast<__m128i*>(to + c), _mm_and_si128(bytes, _mm_set1_epi8(1)));
        }
      }
      out.resize(static_cast<size_t>(w) * h);
      results[i] = std::move(out);
    }
  };
  std::vector<double> times;
  const auto now = [] {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  for (int i = 0; i < 3; i++) run();
  for (const double end = now() + milliseconds * 1000; now() < end || times.size() < 5;) {
    const double start = now();
    run();
    times.push_back(now() - start);
  }
  std::sort(times.begin(), times.end());
  std::fprintf(stderr, "{\"median\":%.3f,\"min\":%.3f,\"p90\":%.3f}\n", times[times.size() / 2], times[0],
               times[times.size() * 9 / 10]);
  for (const auto& mask : results) std::fwrite(mask.data(), 1, mask.size(), stdout);
}
