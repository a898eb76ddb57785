//! The process at the other end of standard input, as the kernel reports it.

#![expect(unsafe_code, reason = "std has no stable way to ask, and rustix takes a pid of 0 for one that cannot be")]

/// The process that created the socket on standard input. `None` if it is not a socket, or if the process is outside
/// this PID namespace.
#[cfg(target_os = "linux")]
pub(crate) fn of_stdin() -> Option<u32> {
    let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = libc::socklen_t::try_from(size_of::<libc::ucred>()).ok()?;
    // SAFETY: the kernel writes at most `length` bytes into `credentials`, which is plain data of that size.
    let failed = unsafe {
        libc::getsockopt(0, libc::SOL_SOCKET, libc::SO_PEERCRED, (&raw mut credentials).cast(), &raw mut length)
    };
    u32::try_from(credentials.pid).ok().filter(|pid| failed == 0 && *pid != 0)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn of_stdin() -> Option<u32> {
    None
}
