// The native reference: what one thread with 128-bit vectors can do with the same bytes. It is the yardstick
// for the WebAssembly kernel, so it uses SSE4.1 and nothing wider, and nothing is left out of the measured
// part: scores to candidates, order, suppression, columns of detections.
//
//   g++ -O3 -msse4.1 -o reference reference.cpp
//   reference KIND FILE THRESHOLD MILLISECONDS COLUMNS_FILE [BOXES]      KIND: v8 v8-f16 v8-int8 v5 v3 nms
//
// A negative MILLISECONDS means that many decodes, unmeasured, for a tool that counts instructions. Prints
// JSON with microseconds: decode, readOnce (every element loaded once and folded into a maximum), copy.

#include <smmintrin.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kClasses = 80;
constexpr int kMax = 300;  // detections
constexpr float kIou = 0.45f;

// ------------------------------------------------------------------------------------------------ candidates

// Columns, so that the order of score is made from the scores alone and boxes are fetched only for those that
// matter.
struct Candidates {
  int count = 0;
  std::vector<float> score;
  std::vector<int32_t> label, source;
  std::vector<float> box;  // cx, cy, w, h or corners
  explicit Candidates(size_t n) : score(n + 8), label(n + 8), source(n + 8), box(4 * n + 32) {}
};

struct Detections {
  int count = 0;
  float box[4 * kMax];
  float score[kMax];
  int32_t label[kMax];
  int32_t source[kMax];
};

// Indices of set lanes go out without a branch: every lane is written, the cursor moves only past those that
// count.
inline int32_t* compact4(int32_t* out, int mask, int32_t at) {
  out[0] = at;
  out += mask & 1;
  out[0] = at + 1;
  out += (mask >> 1) & 1;
  out[0] = at + 2;
  out += (mask >> 2) & 1;
  out[0] = at + 3;
  return out + (mask >> 3);
}

// ------------------------------------------------------------------------------------------------ order of s

// Highest score first, the earlier candidate first among equals. Positive floats are ordered like their bits,
// so score and place fit one 64-bit key. A bucket holds a range of score bits; buckets are put in order at
// once, the keys within one only when suppression gets there: at the cap of detections the rest is never
// sorted.
class Order {
 public:
  explicit Order(size_t n) : keys_(n + 1) {}

  static uint64_t key(float score, uint32_t at) {
    uint32_t bits;
    memcpy(&bits, &score, 4);
    return (uint64_t(~bits) << 32) | at;
  }

  // `place(i)` maps the i-th score to the index that goes into the key.
  template <class Place>
  void start(const float* score, int n, Place place) {
    n_ = n;
    next_ = ready_ = 0;
    if (n == 0) return;
    int32_t low = INT32_MAX, high = 0;
    for (int i = 0; i < n; i++) {
      int32_t bits;
      memcpy(&bits, score + i, 4);
      low = std::min(low, bits);
      high = std::max(high, bits);
    }
    const int want = n < 256 ? 64 : n < 2048 ? 512 : 4096;
    shift_ = 0;
    while ((uint32_t(high - low) >> shift_) >= uint32_t(want)) shift_++;
    top_ = high;
    const int buckets = (uint32_t(high - low) >> shift_) + 1;
    memset(end_, 0, sizeof(uint32_t) * size_t(buckets));
    for (int i = 0; i < n; i++) {
      int32_t bits;
      memcpy(&bits, score + i, 4);
      end_[uint32_t(high - bits) >> shift_]++;
    }
    uint32_t sum = 0;
    for (int b = 0; b < buckets; b++) {
      const uint32_t size = end_[b];
      end_[b] = sum;
      sum += size;
    }
    for (int i = 0; i < n; i++) {
      int32_t bits;
      memcpy(&bits, score + i, 4);
      keys_[end_[uint32_t(high - bits) >> shift_]++] = key(score[i], place(i));
    }
    bucket_ = 0;
  }

  bool next(uint32_t& at) {
    if (next_ == ready_) {
      if (ready_ == uint32_t(n_)) return false;
      while (end_[bucket_] == ready_) bucket_++;
      const uint32_t from = ready_;
      ready_ = end_[bucket_++];
      if (ready_ - from > 32) {
        std::sort(keys_.begin() + from, keys_.begin() + ready_);
      } else {
        for (uint32_t i = from + 1; i < ready_; i++) {
          const uint64_t k = keys_[i];
          uint32_t j = i;
          for (; j > from && keys_[j - 1] > k; j--) keys_[j] = keys_[j - 1];
          keys_[j] = k;
        }
      }
    }
    at = uint32_t(keys_[next_++]);
    return true;
  }

 private:
  std::vector<uint64_t> keys_;
  uint32_t end_[4097];
  int n_ = 0, shift_ = 0, bucket_ = 0;
  int32_t top_ = 0;
  uint32_t next_ = 0, ready_ = 0;
};

// ------------------------------------------------------------------------------------------------ suppressio

// Within a class: the kept boxes of a class form a chain, so that a candidate meets only its own kind.
template <bool kCentre>
void suppress(const Candidates& c, Order& order, float size, Detections& out) {
  order.start(c.score.data(), c.count, [](int i) { return uint32_t(i); });
  int16_t head[kClasses];
  memset(head, 0xff, sizeof head);
  int16_t chain[kMax];
  __m128 kept[kMax];
  float area[kMax];
  int n = 0;
  uint32_t at;
  const float unit = 1 / size;
  while (n < kMax && order.next(at)) {
    __m128 box = _mm_loadu_ps(&c.box[4 * size_t(at)]);
    if (kCentre) {
      const __m128 centre = _mm_movelh_ps(box, box);
      const __m128 half = _mm_mul_ps(_mm_movehl_ps(box, box), _mm_setr_ps(-0.5f, -0.5f, 0.5f, 0.5f));
      box = _mm_add_ps(centre, half);
    }
    const __m128 extent = _mm_sub_ps(_mm_movehl_ps(box, box), box);
    const float own = _mm_cvtss_f32(extent) * _mm_cvtss_f32(_mm_shuffle_ps(extent, extent, 1));
    const int label = c.label[at];
    bool hit = false;
    for (int k = head[label]; k >= 0; k = chain[k]) {
      const __m128 low = _mm_max_ps(box, kept[k]);
      const __m128 high = _mm_min_ps(box, kept[k]);
      const __m128 side = _mm_max_ps(_mm_sub_ps(_mm_movehl_ps(high, high), low), _mm_setzero_ps());
      const float inter = _mm_cvtss_f32(side) * _mm_cvtss_f32(_mm_shuffle_ps(side, side, 1));
      if (inter > kIou * (own + area[k] - inter)) {
        hit = true;
        break;
      }
    }
    if (hit) continue;
    kept[n] = box;
    area[n] = own;
    chain[n] = head[label];
    head[label] = int16_t(n);
    const __m128 scaled = _mm_mul_ps(box, _mm_set1_ps(unit));
    _mm_storeu_ps(out.box + 4 * n, _mm_min_ps(_mm_max_ps(scaled, _mm_setzero_ps()), _mm_set1_ps(1)));
    out.score[n] = c.score[at];
    out.label[n] = label;
    out.source[n] = c.source[at];
    n++;
  }
  out.count = n;
}

// Across all boxes, corners in, indices out: the kept list stands in columns and is met four at a time.
class Nms {
 public:
  Nms(const float* boxes, const float* scores, int n)
      : boxes_(boxes),
        scores_(scores),
        n_(n),
        order_(size_t(n)),
        some_(size_t(n) + 8),
        someScore_(size_t(n) + 8) {}

  void run(Detections& out) {
    kept_ = 0;
    // Few boxes are needed before the cap is reached. A sample of the scores says where about the best 1,024
    // begin; only those are gathered and put in order. If the cap is not reached, four times as many are
    // tried, and so on.
    float above = INFINITY;
    int want = 1024;
    while (kept_ < kMax) {
      const float cut = n_ <= 2 * want ? -1.0f : quantile(want);
      const int m = gather(cut, above);
      order_.start(someScore_.data(), m, [this](int i) { return uint32_t(some_[size_t(i)]); });
      uint32_t at;
      while (kept_ < kMax && order_.next(at)) meet(at);
      if (cut < 0) break;
      above = cut;
      want *= 4;
    }
    out.count = kept_;
    memcpy(out.source, source_, sizeof(int32_t) * size_t(kept_));
  }

 private:
  float quantile(int want) {
    constexpr int kSample = 512;
    float sample[kSample];
    for (int i = 0; i < kSample; i++) sample[i] = scores_[size_t(i) * size_t(n_) / kSample];
    const int rank = std::min(kSample - 1, int(int64_t(want) * kSample / n_));
    std::nth_element(sample, sample + rank, sample + kSample, [](float a, float b) { return a > b; });
    return sample[rank];
  }

  // Scores s with cut <= s < above. A cut below zero takes all that is left.
  int gather(float cut, float above) {
    int32_t* out = some_.data();
    const __m128 low = _mm_set1_ps(cut), high = _mm_set1_ps(above);
    int i = 0;
    for (; i + 4 <= n_; i += 4) {
      const __m128 s = _mm_loadu_ps(scores_ + i);
      const int mask = _mm_movemask_ps(_mm_and_ps(_mm_cmpge_ps(s, low), _mm_cmplt_ps(s, high)));
      if (mask) out = compact4(out, mask, i);
    }
    for (; i < n_; i++) {
      *out = i;
      out += scores_[i] >= cut && scores_[i] < above;
    }
    const int m = int(out - some_.data());
    for (int j = 0; j < m; j++) someScore_[size_t(j)] = scores_[some_[size_t(j)]];
    return m;
  }

  void meet(uint32_t at) {
    const float* b = boxes_ + 4 * size_t(at);
    const float own = (b[2] - b[0]) * (b[3] - b[1]);
    const __m128 x1 = _mm_set1_ps(b[0]), y1 = _mm_set1_ps(b[1]);
    const __m128 x2 = _mm_set1_ps(b[2]), y2 = _mm_set1_ps(b[3]);
    const __m128 areas = _mm_set1_ps(own), zero = _mm_setzero_ps(), limit = _mm_set1_ps(kIou);
    // Columns past the end hold empty boxes far away, so whole steps of eight need no remainder.
    for (int k = 0; k < kept_; k += 8) {
      __m128 hit[2];
      for (int v = 0; v < 2; v++) {
        const int j = k + 4 * v;
        const __m128 w = _mm_max_ps(
            _mm_sub_ps(_mm_min_ps(x2, _mm_load_ps(x2_ + j)), _mm_max_ps(x1, _mm_load_ps(x1_ + j))), zero);
        const __m128 h = _mm_max_ps(
            _mm_sub_ps(_mm_min_ps(y2, _mm_load_ps(y2_ + j)), _mm_max_ps(y1, _mm_load_ps(y1_ + j))), zero);
        const __m128 inter = _mm_mul_ps(w, h);
        const __m128 both = _mm_sub_ps(_mm_add_ps(areas, _mm_load_ps(area_ + j)), inter);
        hit[v] = _mm_cmpgt_ps(inter, _mm_mul_ps(limit, both));
      }
      if (_mm_movemask_ps(_mm_or_ps(hit[0], hit[1]))) return;
    }
    if ((kept_ & 7) == 0) {
      for (int j = kept_; j < kept_ + 8; j++) {
        x1_[j] = y1_[j] = 3e38f;
        x2_[j] = y2_[j] = -3e38f;
        area_[j] = 0;
      }
    }
    x1_[kept_] = b[0];
    y1_[kept_] = b[1];
    x2_[kept_] = b[2];
    y2_[kept_] = b[3];
    area_[kept_] = own;
    source_[kept_++] = int32_t(at);
  }

  const float* boxes_;
  const float* scores_;
  int n_, kept_ = 0;
  Order order_;
  std::vector<int32_t> some_;
  std::vector<float> someScore_;
  alignas(16) float x1_[kMax + 8], y1_[kMax + 8], x2_[kMax + 8], y2_[kMax + 8], area_[kMax + 8];
  int32_t source_[kMax];
};

// ------------------------------------------------------------------------------------------------ element ty

float halfToFloat(uint16_t bits) {
  // Moving the half's fields into a float's and multiplying by 2^112 sets the exponent right, subnormals
  // included.
  uint32_t word = uint32_t(bits & 0x7fff) << 13;
  float value;
  memcpy(&value, &word, 4);
  value *= 0x1p112f;
  return bits & 0x8000 ? -value : value;
}

struct F32 {
  using Element = float;
  static constexpr int kLanes = 4;
  static __m128i max(__m128i a, __m128i b) {
    return _mm_castps_si128(_mm_max_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b)));
  }
  static int above(__m128i a, __m128i b) {
    return _mm_movemask_ps(_mm_cmpgt_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b)));
  }
  static __m128i all(Element x) { return _mm_castps_si128(_mm_set1_ps(x)); }
  static Element raw(float threshold) { return threshold; }
  static float score(Element x) { return x; }
  static float length(Element x) { return x; }
};

// Probabilities are not negative, so halves are ordered like their bits and compared as integers.
struct F16 {
  using Element = int16_t;
  static constexpr int kLanes = 8;
  static __m128i max(__m128i a, __m128i b) { return _mm_max_epi16(a, b); }
  static int above(__m128i a, __m128i b) {
    return _mm_movemask_epi8(_mm_packs_epi16(_mm_cmpgt_epi16(a, b), _mm_setzero_si128()));
  }
  static __m128i all(Element x) { return _mm_set1_epi16(x); }
  // The greatest half that does not pass.
  static Element raw(float threshold) {
    int bits = 0;
    while (bits < 0x7bff && halfToFloat(uint16_t(bits + 1)) <= threshold) bits++;
    return Element(bits);
  }
  static float score(Element x) { return halfToFloat(uint16_t(x)); }
  static float length(Element x) { return halfToFloat(uint16_t(x)); }
};

struct I8 {
  using Element = int8_t;
  static constexpr int kLanes = 16;
  static __m128i max(__m128i a, __m128i b) { return _mm_max_epi8(a, b); }
  static int above(__m128i a, __m128i b) { return _mm_movemask_epi8(_mm_cmpgt_epi8(a, b)); }
  static __m128i all(Element x) { return _mm_set1_epi8(x); }
  static Element raw(float threshold) {
    int value = -128;
    while (value < 127 && score(Element(value + 1)) <= threshold) value++;
    return Element(value);
  }
  static float score(Element x) { return float(x + 128) * (1.0f / 255); }
  static float length(Element x) { return float(x + 128) * (640.0f / 255); }
};

inline void prefetch(const void* at) { _mm_prefetch(static_cast<const char*>(at), _MM_HINT_T0); }

// ------------------------------------------------------------------------------------------------ v8: planes

// A block of cells at a time. The planes are streamed in groups of eight, each group folded into a row of its
// own in L1; then the rows are folded. For the few cells over the threshold the rows say which eight planes
// to search.
template <class T>
class Planes {
 public:
  using Element = typename T::Element;
  static constexpr int kCells = 8400;
  // 15 blocks of f32, 3.75 of i8: the last one is shorter.
  static constexpr int kBlock = 560 * (T::kLanes / 4);
  static constexpr int kGroup = 8;
  static constexpr int kGroups = kClasses / kGroup;

  Planes(const void* data, float threshold)
      : boxes_(static_cast<const Element*>(data)),
        scores_(boxes_ + 4 * kCells),
        threshold_(T::raw(threshold)),
        candidates_(kCells),
        order_(kCells),
        index_(kBlock + 8) {}

  void run(Detections& out) {
    candidates_.count = 0;
    for (int from = 0; from < kCells; from += kBlock) block(from, std::min(kBlock, kCells - from));
    suppress<true>(candidates_, order_, 640, out);
  }

  const Candidates& candidates() const { return candidates_; }

 private:
  static __m128i load(const Element* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }

  void block(int from, int cells) {
    alignas(64) static thread_local Element rows[kGroups][kBlock];
    alignas(64) static thread_local Element best[kBlock];
    const Element* plane = scores_ + from;
    for (int g = 0; g < kGroups; g++, plane += kGroup * kCells) {
      Element* row = rows[g];
      for (int i = 0; i < cells; i += T::kLanes) {
        const __m128i a = T::max(load(plane + i), load(plane + kCells + i));
        const __m128i b = T::max(load(plane + 2 * kCells + i), load(plane + 3 * kCells + i));
        const __m128i c = T::max(load(plane + 4 * kCells + i), load(plane + 5 * kCells + i));
        const __m128i d = T::max(load(plane + 6 * kCells + i), load(plane + 7 * kCells + i));
        _mm_store_si128(reinterpret_cast<__m128i*>(row + i), T::max(T::max(a, b), T::max(c, d)));
      }
    }
    const __m128i gate = T::all(threshold_);
    int32_t* list = index_.data();
    for (int i = 0; i < cells; i += T::kLanes) {
      __m128i m = T::max(load(rows[0] + i), load(rows[1] + i));
      for (int g = 2; g < kGroups; g += 2) m = T::max(m, T::max(load(rows[g] + i), load(rows[g + 1] + i)));
      _mm_store_si128(reinterpret_cast<__m128i*>(best + i), m);
      int mask = T::above(m, gate);
      for (int at = i; mask; mask >>= 4, at += 4) list = compact4(list, mask & 15, at);
    }
    const int n = int(list - index_.data());
    for (int k = 0; k < n; k++) {
      const int i = index_[size_t(k)];
      const Element top = best[i];
      int g = 0;
      while (rows[g][i] != top) g++;
      const Element* p = scores_ + size_t(g) * kGroup * kCells + from + i;
      int label = 0;
      while (p[size_t(label) * kCells] != top) label++;
      const int c = candidates_.count++;
      const Element* box = boxes_ + from + i;
      for (int j = 0; j < 4; j++) candidates_.box[size_t(4 * c + j)] = T::length(box[j * kCells]);
      candidates_.score[size_t(c)] = T::score(top);
      candidates_.label[size_t(c)] = g * kGroup + label;
      candidates_.source[size_t(c)] = from + i;
    }
  }

  const Element* boxes_;
  const Element* scores_;
  Element threshold_;
  Candidates candidates_;
  Order order_;
  std::vector<int32_t> index_;
};

// ------------------------------------------------------------------------------------------------ v5: rows

inline float highest(__m128 v) {
  v = _mm_max_ps(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_max_ss(v, _mm_shuffle_ps(v, v, 1)));
}

// Objectness stands 340 bytes apart, a cache line of its own each time: the scan fetches ahead and writes
// indices without a branch; then only the rows that passed are read, their lines also asked for ahead.
class Rows {
 public:
  static constexpr int kRows = 25200;
  static constexpr int kWidth = 5 + kClasses;

  Rows(const void* data, float threshold)
      : data_(static_cast<const float*>(data)), threshold_(threshold), candidates_(kRows), order_(kRows), index_(kRows + 8) {}

  void run(Detections& out) {
    const float gate = threshold_;
    int32_t* list = index_.data();
    const float* at = data_ + 4;
    constexpr int kAhead = 24;
    for (int row = 0; row < kRows; row += 4, at += 4 * kWidth) {
      // Past the end of the tensor a prefetch does nothing.
      for (int j = 0; j < 4; j++) prefetch(at + (kAhead + j) * kWidth);
      *list = row;
      list += at[0] > gate;
      *list = row + 1;
      list += at[kWidth] > gate;
      *list = row + 2;
      list += at[2 * kWidth] > gate;
      *list = row + 3;
      list += at[3 * kWidth] > gate;
    }
    const int n = int(list - index_.data());
    for (int k = n; k < n + 8; k++) index_[size_t(k)] = n > 0 ? index_[size_t(n - 1)] : 0;
    int count = 0;
    for (int k = 0; k < n; k++) {
      const char* coming = reinterpret_cast<const char*>(data_ + size_t(index_[size_t(k + 4)]) * kWidth);
      for (int line = 0; line < 340; line += 64) prefetch(coming + line);
      const int row = index_[size_t(k)];
      const float* p = data_ + size_t(row) * kWidth;
      const float* s = p + 5;
      __m128 a = _mm_loadu_ps(s), b = _mm_loadu_ps(s + 4), c = _mm_loadu_ps(s + 8), d = _mm_loadu_ps(s + 12);
      for (int i = 16; i < kClasses; i += 16) {
        a = _mm_max_ps(a, _mm_loadu_ps(s + i));
        b = _mm_max_ps(b, _mm_loadu_ps(s + i + 4));
        c = _mm_max_ps(c, _mm_loadu_ps(s + i + 8));
        d = _mm_max_ps(d, _mm_loadu_ps(s + i + 12));
      }
      const float top = highest(_mm_max_ps(_mm_max_ps(a, b), _mm_max_ps(c, d)));
      const float score = p[4] * top;
      candidates_.score[size_t(count)] = score;
      candidates_.source[size_t(count)] = row;
      if (!(score > gate)) continue;
      const __m128 want = _mm_set1_ps(top);
      int label = 0, equal;
      while ((equal = _mm_movemask_ps(_mm_cmpeq_ps(_mm_loadu_ps(s + label), want))) == 0) label += 4;
      label += __builtin_ctz(unsigned(equal));
      candidates_.label[size_t(count)] = label;
      _mm_storeu_ps(&candidates_.box[4 * size_t(count)], _mm_loadu_ps(p));
      count++;
    }
    candidates_.count = count;
    suppress<true>(candidates_, order_, 640, out);
  }

  const Candidates& candidates() const { return candidates_; }

 private:
  const float* data_;
  float threshold_;
  Candidates candidates_;
  Order order_;
  std::vector<int32_t> index_;
};

// ------------------------------------------------------------------------------------------------ v3: anchor

// exp by x = n ln 2 + r: the polynomial is Taylor's, long enough for float on |r| <= ln 2 / 2.
inline __m128 exp4(__m128 x) {
  x = _mm_min_ps(_mm_max_ps(x, _mm_set1_ps(-87)), _mm_set1_ps(88));
  const __m128 n =
      _mm_round_ps(_mm_mul_ps(x, _mm_set1_ps(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  // ln 2 in two parts, the first exact in few bits, so that n times it is exact.
  __m128 r = _mm_sub_ps(x, _mm_mul_ps(n, _mm_set1_ps(0.693359375f)));
  r = _mm_sub_ps(r, _mm_mul_ps(n, _mm_set1_ps(-2.12194440e-4f)));
  __m128 p = _mm_set1_ps(1.0f / 5040);
  for (const float c : {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f})
    p = _mm_add_ps(_mm_mul_ps(p, r), _mm_set1_ps(c));
  const __m128i power = _mm_slli_epi32(_mm_add_epi32(_mm_cvtps_epi32(n), _mm_set1_epi32(127)), 23);
  return _mm_mul_ps(p, _mm_castsi128_ps(power));
}

inline __m128 sigmoid4(__m128 x) {
  const __m128 one = _mm_set1_ps(1);
  return _mm_div_ps(one, _mm_add_ps(one, exp4(_mm_sub_ps(_mm_setzero_ps(), x))));
}

// Objectness planes are gated as logits. The cells that pass are taken four at a time, whatever their places:
// class planes one after the other, four gathered values folded per plane; then exp for the four at once.
class Maps {
 public:
  static constexpr int kWidth = 5 + kClasses;

  Maps(const void* data, float threshold)
      : data_(static_cast<const float*>(data)),
        threshold_(threshold),
        logit_(float(std::log(double(threshold) / (1 - double(threshold))))),
        candidates_(2535),
        order_(2535) {}

  void run(Detections& out) {
    candidates_.count = 0;
    static const float anchors[2][6] = {{23, 27, 37, 58, 81, 82}, {81, 82, 135, 169, 344, 319}};
    for (int a = 0; a < 3; a++) plane<26>(data_ + a * kWidth * 676, anchors[0] + 2 * a, a * 676);
    for (int a = 0; a < 3; a++)
      plane<13>(data_ + 3 * kWidth * 676 + a * kWidth * 169, anchors[1] + 2 * a, 3 * 676 + a * 169);
    suppress<true>(candidates_, order_, 416, out);
  }

  const Candidates& candidates() const { return candidates_; }

 private:
  static __m128 gather(const float* p, const int32_t* i) {
    __m128 v = _mm_load_ss(p + i[0]);
    v = _mm_insert_ps(v, _mm_load_ss(p + i[1]), 0x10);
    v = _mm_insert_ps(v, _mm_load_ss(p + i[2]), 0x20);
    return _mm_insert_ps(v, _mm_load_ss(p + i[3]), 0x30);
  }

  template <int kSide>
  void plane(const float* p, const float* anchor, int source) {
    constexpr int kCells = kSide * kSide;
    constexpr float kStride = 416.0f / kSide;
    int32_t index[kCells + 8];
    int32_t* list = index;
    const float* objectness = p + 4 * kCells;
    // A little below the exact logit; the product decides, and it is below the threshold whenever objectness
    // is.
    const __m128 gate = _mm_set1_ps(logit_ - 1e-5f);
    int i = 0;
    for (; i + 4 <= kCells; i += 4) {
      const int mask = _mm_movemask_ps(_mm_cmpgt_ps(_mm_loadu_ps(objectness + i), gate));
      if (mask) list = compact4(list, mask, i);
    }
    for (; i < kCells; i++) {
      *list = i;
      list += objectness[i] > logit_ - 1e-5f;
    }
    const int n = int(list - index);
    if (n == 0) return;
    for (int k = n; k < n + 3; k++) index[k] = index[n - 1];
    for (int k = 0; k < n; k += 4) {
      const int32_t* at = index + k;
      const float* s = p + 5 * kCells;
      __m128 top = gather(s, at);
      __m128i label = _mm_setzero_si128();
      for (int c = 1; c < kClasses; c++) {
        s += kCells;
        const __m128 v = gather(s, at);
        const __m128 more = _mm_cmpgt_ps(v, top);
        top = _mm_max_ps(v, top);
        label = _mm_blendv_epi8(label, _mm_set1_epi32(c), _mm_castps_si128(more));
      }
      const __m128 score = _mm_mul_ps(sigmoid4(gather(objectness, at)), sigmoid4(top));
      int mask = _mm_movemask_ps(_mm_cmpgt_ps(score, _mm_set1_ps(threshold_))) & (n - k >= 4 ? 15 : (1 << (n - k)) - 1);
      if (mask == 0) continue;
      alignas(16) float cols[4], rows[4];
      for (int j = 0; j < 4; j++) {
        cols[j] = float(at[j] % kSide);
        rows[j] = float(at[j] / kSide);
      }
      const __m128 col = _mm_load_ps(cols), row = _mm_load_ps(rows);
      __m128 cx = _mm_mul_ps(_mm_add_ps(sigmoid4(gather(p, at)), col), _mm_set1_ps(kStride));
      __m128 cy = _mm_mul_ps(_mm_add_ps(sigmoid4(gather(p + kCells, at)), row), _mm_set1_ps(kStride));
      __m128 w = _mm_mul_ps(exp4(gather(p + 2 * kCells, at)), _mm_set1_ps(anchor[0]));
      __m128 h = _mm_mul_ps(exp4(gather(p + 3 * kCells, at)), _mm_set1_ps(anchor[1]));
      _MM_TRANSPOSE4_PS(cx, cy, w, h);
      const __m128 box[4] = {cx, cy, w, h};
      alignas(16) float scores[4];
      alignas(16) int32_t labels[4];
      _mm_store_ps(scores, score);
      _mm_store_si128(reinterpret_cast<__m128i*>(labels), label);
      for (; mask; mask &= mask - 1) {
        const int j = __builtin_ctz(unsigned(mask));
        const size_t c = size_t(candidates_.count++);
        candidates_.score[c] = scores[j];
        candidates_.label[c] = labels[j];
        candidates_.source[c] = source + at[j];
        _mm_storeu_ps(&candidates_.box[4 * c], box[j]);
      }
    }
  }

  const float* data_;
  float threshold_, logit_;
  Candidates candidates_;
  Order order_;
};

// ------------------------------------------------------------------------------------------------ measuring

// Every byte once, sixteen vectors a step, eight maxima. One thread alone does not keep enough lines in flight: which processors are
// helped by asking well ahead (kAhead > 0), and which by reading kStreams places of the tensor in turns, is measured; the fastest counts.
template <class T, int kStreams, int kAhead>
int readOnce(const void* data, size_t bytes) {
  const size_t part = bytes / kStreams / 256 * 256;
  const char* p = static_cast<const char*>(data);
  const char* end = p + part;
  constexpr int kStep = 256 / kStreams;
  __m128i m[8];
  for (auto& v : m) v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  for (; p < end; p += kStep) {
    for (int s = 0; s < kStreams; s++)
      for (int i = 0; i < kStep; i += 64) {
        const char* line = p + s * part + i;
        if (kAhead > 0) prefetch(line + kAhead);
        for (int j = 0; j < 4; j++)
          m[(i / 16 + s * 4 + j) & 7] =
              T::max(m[(i / 16 + s * 4 + j) & 7], _mm_loadu_si128(reinterpret_cast<const __m128i*>(line + 16 * j)));
      }
  }
  for (p += (kStreams - 1) * part, end = static_cast<const char*>(data) + bytes / 16 * 16; p < end; p += 16)
    m[0] = T::max(m[0], _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  for (int i = 1; i < 8; i++) m[0] = T::max(m[0], m[i]);
  return _mm_cvtsi128_si32(m[0]);
}

volatile int sink;

double now() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Stats {
  double median, min, p90;
  int runs;
};

// Short work is repeated within a sample, so that the clock's own cost does not count.
template <class Work>
double sampleOf(Work work, int repeat) {
  const double start = now();
  for (int i = 0; i < repeat; i++) work();
  return (now() - start) / repeat;
}

Stats statsOf(std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  return {samples[samples.size() / 2], samples[0], samples[samples.size() * 9 / 10], int(samples.size())};
}

template <class Work>
int repeats(Work work) {
  const double once = std::min({sampleOf(work, 1), sampleOf(work, 1), sampleOf(work, 1)});
  return std::max(1, int(20 / once));
}

void print(const char* name, Stats s) {
  printf("\"%s\":{\"median\":%.4g,\"min\":%.4g,\"p90\":%.4g,\"runs\":%d},", name, s.median, s.min, s.p90,
         s.runs);
}

// The passes take turns, so that a busy neighbour on the machine slows all of them and the ratios stay.
template <class T, class Decode, class Copy>
void measure(Decode decode, const void* data, size_t bytes, Copy copy, double milliseconds) {
  // For instruction counts: so many decodes and nothing else.
  if (milliseconds < 0) {
    for (int i = 0; i < -milliseconds; i++) decode();
    return;
  }
  int (*const ways[])(const void*, size_t) = {readOnce<T, 1, 0>, readOnce<T, 1, 2048>, readOnce<T, 2, 0>, readOnce<T, 4, 0>};
  constexpr int kWays = sizeof ways / sizeof *ways;
  std::vector<double> d, r[kWays], c;
  const int nd = repeats(decode), nr = repeats([&] { sink = ways[0](data, bytes); }), nc = repeats(copy);
  const double until = now() + milliseconds * 1000;
  for (int i = 0; i < 200; i++) decode();
  while (now() < until || d.size() < 30) {
    decode();
    for (int i = 0; i < 12; i++) d.push_back(sampleOf(decode, nd));
    for (int w = 0; w < kWays; w++) {
      const auto read = [&] { sink = ways[w](data, bytes); };
      read();
      for (int i = 0; i < 6; i++) r[w].push_back(sampleOf(read, nr));
    }
    copy();
    for (int i = 0; i < 4; i++) c.push_back(sampleOf(copy, nc));
  }
  print("decode", statsOf(d));
  Stats read = statsOf(r[0]);
  for (int w = 1; w < kWays; w++) {
    const Stats other = statsOf(r[w]);
    if (other.median < read.median) read = other;
  }
  print("readOnce", read);
  print("copy", statsOf(c));
}

void* readFile(const char* path, size_t& bytes) {
  FILE* f = fopen(path, "rb");
  if (!f) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(2);
  }
  fseek(f, 0, SEEK_END);
  bytes = size_t(ftell(f));
  rewind(f);
  void* data = aligned_alloc(4096, (bytes + 8192) / 4096 * 4096);
  if (fread(data, 1, bytes, f) != bytes) exit(2);
  fclose(f);
  return data;
}

template <class T, class Decoder>
void runDecoder(Decoder& decoder, const void* data, size_t bytes, double milliseconds, const char* columns) {
  static Detections out;
  void* other = aligned_alloc(4096, (bytes + 4096) / 4096 * 4096);
  memset(other, 1, bytes);
  measure<T>([&] { decoder.run(out); sink = out.count; }, data, bytes,
             [&] { memcpy(other, data, bytes); sink = static_cast<const char*>(other)[bytes / 2]; }, milliseconds);
  printf("\"candidates\":%d,\"count\":%d}\n", decoder.candidates().count, out.count);
  FILE* f = fopen(columns, "wb");
  const int32_t n = out.count;
  fwrite(&n, 4, 1, f);
  fwrite(out.box, 16, size_t(n), f);
  fwrite(out.score, 4, size_t(n), f);
  fwrite(out.label, 4, size_t(n), f);
  fwrite(out.source, 4, size_t(n), f);
  fclose(f);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    fprintf(stderr, "usage: reference KIND FILE THRESHOLD MILLISECONDS COLUMNS_FILE [BOXES]\n");
    return 2;
  }
  const std::string kind = argv[1];
  const float threshold = strtof(argv[3], nullptr);
  const double milliseconds = atof(argv[4]);
  size_t bytes;
  const void* data = readFile(argv[2], bytes);
  printf("{");
  if (kind == "v8") {
    Planes<F32> decoder(data, threshold);
    runDecoder<F32>(decoder, data, bytes, milliseconds, argv[5]);
  } else if (kind == "v8-f16") {
    Planes<F16> decoder(data, threshold);
    runDecoder<F16>(decoder, data, bytes, milliseconds, argv[5]);
  } else if (kind == "v8-int8") {
    Planes<I8> decoder(data, threshold);
    runDecoder<I8>(decoder, data, bytes, milliseconds, argv[5]);
  } else if (kind == "v5") {
    Rows decoder(data, threshold);
    runDecoder<F32>(decoder, data, bytes, milliseconds, argv[5]);
  } else if (kind == "v3") {
    Maps decoder(data, threshold);
    runDecoder<F32>(decoder, data, bytes, milliseconds, argv[5]);
  } else if (kind == "nms") {
    const int n = argc > 6 ? atoi(argv[6]) : 0;
    const float* boxes = static_cast<const float*>(data);
    static Detections out;
    Nms nms(boxes, boxes + 4 * size_t(n), n);
    std::vector<float> other(size_t(n) * 5);
    measure<F32>([&] { nms.run(out); sink = out.count; }, data, bytes,
            [&] { memcpy(other.data(), data, bytes); sink = int(other[0]); }, milliseconds);
    printf("\"count\":%d}\n", out.count);
    FILE* f = fopen(argv[5], "wb");
    const int32_t count = out.count;
    fwrite(&count, 4, 1, f);
    fwrite(out.source, 4, size_t(count), f);
    fclose(f);
  } else {
    fprintf(stderr, "unknown kind %s\n", kind.c_str());
    return 2;
  }
}
