//! The timer of a hook. On SIGALRM, the process executes a fallback that answers without evaluating the event.
//!
//! A thread could keep the time without `unsafe`. But a process with two threads ends only after both got a core once
//! more, and on a busy machine the host waits longer for that than for all the rest. A signal costs one system call.
//!
//! A process that waits for a network file system whose server is gone receives no signal. Then the time limit of the host
//! applies.

#![expect(unsafe_code, reason = "std has no signal handlers and no timers")]

use std::ffi::{CString, OsString, c_char, c_int};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;
use std::{io, mem, ptr};

/// Time limit of the fallback process: the second SIGALRM kills it, or makes it print its last word.
const FALLBACK_LIMIT: Duration = Duration::from_millis(250);

/// The fallback program, as arguments of `execv`.
struct Fallback {
    program: CString,
    /// The last is null.
    arguments: Vec<*const c_char>,
}

/// Null until an alarm is set, and never freed: the handler may run as long as the process lives.
static FALLBACK: AtomicPtr<Fallback> = AtomicPtr::new(ptr::null_mut());

/// Sets a timer that replaces this process with this program and other arguments.
pub(crate) fn set(bound: Duration, arguments: impl IntoIterator<Item = OsString>) -> io::Result<()> {
    let program = CString::new(program()?.into_os_string().into_vec())?;
    let words: Vec<CString> =
        arguments.into_iter().map(|word| CString::new(word.into_vec())).collect::<Result<_, _>>()?;
    let arguments = words.into_iter().map(|word| word.into_raw().cast_const()).chain([ptr::null()]).collect();
    FALLBACK.store(Box::leak(Box::new(Fallback { program, arguments })), Ordering::Release);
    // SAFETY: zeroes are a `sigaction` without flags, with an empty mask.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = on_first_alarm as extern "C" fn(c_int) as libc::sighandler_t;
    // The signal stays blocked in the fallback until that is ready for the second SIGALRM.
    // SAFETY: `on_first_alarm` does only what a handler may do.
    check(unsafe { libc::sigaction(libc::SIGALRM, &raw const action, ptr::null_mut()) })?;
    unblock()?;
    start(bound, FALLBACK_LIMIT)
}

/// The answer that the fallback prints on the second SIGALRM: the timer survives `execv`.
static LAST_WORD: AtomicPtr<String> = AtomicPtr::new(ptr::null_mut());

/// Makes the next SIGALRM write this text to standard output and end the process with exit code 0.
pub(crate) fn set_last_word(said: String) -> io::Result<()> {
    LAST_WORD.store(Box::leak(Box::new(said)), Ordering::Release);
    // SAFETY: zeroes are a `sigaction` without flags, with an empty mask.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = on_second_alarm as extern "C" fn(c_int) as libc::sighandler_t;
    // SAFETY: `on_second_alarm` does only what a handler may do.
    check(unsafe { libc::sigaction(libc::SIGALRM, &raw const action, ptr::null_mut()) })?;
    unblock()
}

/// A signal handler: nothing here allocates, locks or panics.
extern "C" fn on_second_alarm(_: c_int) {
    // SAFETY: set before the handler was, never changed and never freed; `write` and `_exit` may be called in a handler.
    unsafe {
        let said = &*LAST_WORD.load(Ordering::Acquire);
        libc::write(libc::STDOUT_FILENO, said.as_ptr().cast(), said.len());
        libc::_exit(0);
    }
}

/// Unblocks SIGALRM: a host that blocks it passes the mask on to its hooks.
pub(crate) fn unblock() -> io::Result<()> {
    // SAFETY: `sigemptyset` initializes the zeroed set before it is read.
    unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        check(libc::sigemptyset(&raw mut set))?;
        check(libc::sigaddset(&raw mut set, libc::SIGALRM))?;
        check(libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, ptr::null_mut()))
    }
}

/// Stops the timer, so that the answer of this process is the only one.
pub(crate) fn off() {
    // A time of zero is always valid.
    let _ = start(Duration::ZERO, Duration::ZERO);
}

/// The path of this program. On Linux it works even if the file was replaced or removed.
fn program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

fn start(first: Duration, again: Duration) -> io::Result<()> {
    let timer = libc::itimerval { it_value: time(first), it_interval: time(again) };
    // SAFETY: the timer is read, and nothing is written.
    check(unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, ptr::null_mut()) })
}

fn time(time: Duration) -> libc::timeval {
    libc::timeval { tv_sec: time.as_secs() as libc::time_t, tv_usec: time.subsec_micros() as libc::suseconds_t }
}

/// A signal handler: nothing here allocates, locks or panics.
extern "C" fn on_first_alarm(_: c_int) {
    // SAFETY: set before the timer was, never changed and never freed; `execv` and `_exit` may be called in a handler.
    unsafe {
        let fallback = FALLBACK.load(Ordering::Acquire);
        libc::execv((*fallback).program.as_ptr(), (*fallback).arguments.as_ptr());
        libc::_exit(0);
    }
}

fn check(returned: c_int) -> io::Result<()> {
    if returned == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
