/// FNV-1a, 64 bit: the same on every machine and in every version. For names and comparisons, not for secrets.
pub fn fnv<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        // The separator keeps ("ab", "c") and ("a", "bc") apart; it is no byte of any UTF-8 text.
        for byte in part.iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}
