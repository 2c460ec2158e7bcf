/* sha256(*parts): the SHA-256 (FIPS 180-4) of some bytes one after the other, by the processor's own instructions. Twin:
   `canon/digest.py`, which is as fast on long texts; here a short one takes a tenth of what it takes to open a hash of OpenSSL,
   and a record of the audit trail has four. Where the processor has no such instructions the module has no such function. */

#include "speed.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>

#define BLOCK 64

static const uint32_t ROUNDS[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/* What has been taken in so far. The instructions want the eight words as ABEF and CDGH. */
typedef struct {
    __m128i abef, cdgh;
    unsigned char rest[BLOCK];
    size_t held;
    uint64_t size;
} Hash;

__attribute__((target("sha,sse4.1,ssse3"))) static void
take_blocks(Hash *hash, const unsigned char *from, size_t count)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i abef = hash->abef, cdgh = hash->cdgh;
    for (; count; count--, from += BLOCK) {
        __m128i before = abef, behind = cdgh, words[4];
        for (int i = 0; i < 4; i++)
            words[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(from + 16 * i)), swap);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            __m128i some = _mm_add_epi32(words[i & 3], _mm_load_si128((const __m128i *)(ROUNDS + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, some);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(some, 0x0e));
            if (i < 12) {
                __m128i next = _mm_sha256msg1_epu32(words[i & 3], words[(i + 1) & 3]);
                next = _mm_add_epi32(next, _mm_alignr_epi8(words[(i + 3) & 3], words[(i + 2) & 3], 4));
                words[i & 3] = _mm_sha256msg2_epu32(next, words[(i + 3) & 3]);
            }
        }
        abef = _mm_add_epi32(abef, before);
        cdgh = _mm_add_epi32(cdgh, behind);
    }
    hash->abef = abef;
    hash->cdgh = cdgh;
}

static void
begin(Hash *hash)
{
    hash->abef = _mm_set_epi32(0x6a09e667, (int)0xbb67ae85, 0x510e527f, (int)0x9b05688c);
    hash->cdgh = _mm_set_epi32(0x3c6ef372, (int)0xa54ff53a, 0x1f83d9ab, 0x5be0cd19);
    hash->held = 0;
    hash->size = 0;
}

static void
take(Hash *hash, const unsigned char *from, size_t size)
{
    hash->size += size;
    if (hash->held) {
        size_t some = BLOCK - hash->held < size ? BLOCK - hash->held : size;
        memcpy(hash->rest + hash->held, from, some);
        hash->held += some;
        from += some;
        size -= some;
        if (hash->held < BLOCK)
            return;
        take_blocks(hash, hash->rest, 1);
        hash->held = 0;
    }
    take_blocks(hash, from, size / BLOCK);
    hash->held = size % BLOCK;
    memcpy(hash->rest, from + size - hash->held, hash->held);
}

static void
put_word(unsigned char *to, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(word >> (24 - 8 * i));
}

/* The end of the message: a bit, zeros, and its length in bits. Then the words, in the order in which they are told. */
static void
end(Hash *hash, unsigned char *told)
{
    static const unsigned char PADDING[BLOCK] = {0x80};
    unsigned char length[8];
    put_word(length, (uint32_t)(hash->size >> 29));
    put_word(length + 4, (uint32_t)(hash->size << 3));
    take(hash, PADDING, (hash->held < 56 ? 56 : 120) - hash->held);
    take(hash, length, 8);
    uint32_t ends[8]; /* F E B A, then H G D C */
    _mm_storeu_si128((__m128i *)ends, hash->abef);
    _mm_storeu_si128((__m128i *)(ends + 4), hash->cdgh);
    static const int ORDER[8] = {3, 2, 7, 6, 1, 0, 5, 4};
    for (int i = 0; i < 8; i++)
        put_word(told + 4 * i, ends[ORDER[i]]);
}

int
has_sha256(void)
{
    unsigned int a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b >> 29 & 1 && __builtin_cpu_supports("sse4.1");
}

void
hash_bytes(unsigned char *told, const void *prefix, size_t prefix_size, const void *data, size_t size)
{
    Hash hash;
    begin(&hash);
    take(&hash, prefix, prefix_size);
    take(&hash, data, size);
    end(&hash, told);
}

PyObject *
sha256(PyObject *Py_UNUSED(module), PyObject *const *parts, Py_ssize_t count)
{
    Hash hash;
    begin(&hash);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!PyBytes_CheckExact(parts[i])) {
            PyErr_SetString(PyExc_TypeError, "bytes are wanted");
            return NULL;
        }
        take(&hash, (const unsigned char *)PyBytes_AS_STRING(parts[i]), (size_t)PyBytes_GET_SIZE(parts[i]));
    }
    PyObject *told = PyBytes_FromStringAndSize(NULL, HASH);
    if (told != NULL)
        end(&hash, (unsigned char *)PyBytes_AS_STRING(told));
    return told;
}

#else

int
has_sha256(void)
{
    return 0;
}

void
hash_bytes(unsigned char *told, const void *Py_UNUSED(prefix), size_t Py_UNUSED(prefix_size), const void *Py_UNUSED(data),
           size_t Py_UNUSED(size))
{
    (void)told;
    Py_UNREACHABLE();
}

PyObject *
sha256(PyObject *Py_UNUSED(module), PyObject *const *Py_UNUSED(parts), Py_ssize_t Py_UNUSED(count))
{
    Py_UNREACHABLE();
}

#endif
