"""Arithmetic on edwards25519 in plain Python (RFC 8032, section 5.1): points and signatures to attack with."""

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493  # order of the prime-order subgroup
_D = -121665 * pow(121666, -1, P) % P
_SQRT_MINUS_1 = pow(2, (P - 1) // 4, P)

Point = tuple[int, int, int, int]  # extended coordinates X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z
IDENTITY: Point = (0, 1, 1, 0)


def decompress(encoded: bytes) -> Point | None:
    """Return the point that 32 bytes encode, None if they are not the canonical encoding of a point of the curve."""
    if len(encoded) != 32:
        return None
    number = int.from_bytes(encoded, "little")
    y, sign = number & (2**255 - 1), number >> 255
    if y >= P:
        return None
    u, v = (y * y - 1) % P, (_D * y * y + 1) % P
    x = (
        u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    )  # a square root of u/v or of -u/v
    if v * x * x % P != u:
        x = x * _SQRT_MINUS_1 % P
    if v * x * x % P != u or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def add(p: Point, q: Point) -> Point:
    """Return p + q. The formula is complete: it holds for every pair of points of the curve."""
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * p[3] * q[3] * _D % P
    d = 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(scalar: int, point: Point) -> Point:
    """Return scalar * point, for a scalar that is not negative. Not constant in time: for public values only."""
    result = IDENTITY
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point, scalar = add(point, point), scalar >> 1
    return result


def is_identity(point: Point) -> bool:
    """Whether the point is the neutral element."""
    return point[0] % P == 0 and (point[1] - point[2]) % P == 0


def has_prime_order(encoded: bytes) -> bool:
    """Whether the bytes canonically encode a point of order L: neither small nor mixed order, nor the identity."""
    point = decompress(encoded)
    return point is not None and not is_identity(point) and is_identity(multiply(L, point))


def has_small_order(encoded: bytes) -> bool:
    """Whether the bytes canonically encode one of the eight points of small order."""
    point = decompress(encoded)
    return point is not None and is_identity(multiply(8, point))
