//! The clock of a hook. When the time is up, the process becomes one that answers without having looked at the event.
//!
//! A thread could keep the time, and needs no `unsafe`. But a process of two threads is over only when both had a core once
//! more, and on a busy machine the host waits for that longer than for all the rest. A signal costs one system call.
//!
//! What no signal reaches is a process that waits for a file system of another machine which is gone. There the time that
//! the host itself allows decides.

#![expect(unsafe_code, reason = "there is no other way to hear a timer")]

use std::ffi::{CString, OsString, c_char, c_int};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;
use std::{io, mem, ptr};

/// How long the process that answers instead may take: it does not hear the second ring and is ended by it.
const SECOND_RING: Duration = Duration::from_millis(250);

/// What the process becomes, as `execv` takes it.
struct Instead {
    program: CString,
    /// The last is null.
    arguments: Vec<*const c_char>,
}

/// Null until an alarm is set, and never freed: it may ring as long as the process lives.
static INSTEAD: AtomicPtr<Instead> = AtomicPtr::new(ptr::null_mut());

/// Rings after so long: in the place of this process, this program is then started with other arguments.
pub(crate) fn set(bound: Duration, arguments: impl IntoIterator<Item = OsString>) -> io::Result<()> {
    let program = CString::new(program()?.into_os_string().into_vec())?;
    let words: Vec<CString> =
        arguments.into_iter().map(|word| CString::new(word.into_vec())).collect::<Result<_, _>>()?;
    let arguments = words.into_iter().map(|word| word.into_raw().cast_const()).chain([ptr::null()]).collect();
    INSTEAD.store(Box::leak(Box::new(Instead { program, arguments })), Ordering::Release);
    // SAFETY: zeroes are a `sigaction` without flags, with an empty mask.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = ring as extern "C" fn(c_int) as libc::sighandler_t;
    // The signal stays blocked in what the process becomes, until that is ready for the second ring.
    // SAFETY: `ring` does only what a handler may do.
    check(unsafe { libc::sigaction(libc::SIGALRM, &raw const action, ptr::null_mut()) })?;
    unblock()?;
    start(bound, SECOND_RING)
}

/// What is said when it rings once more, in a process that was begun by the first ring: the timer goes on across that.
static LAST_WORD: AtomicPtr<String> = AtomicPtr::new(ptr::null_mut());

/// From now on a ring writes this to standard output and ends the process well.
pub(crate) fn set_last_word(said: String) -> io::Result<()> {
    LAST_WORD.store(Box::leak(Box::new(said)), Ordering::Release);
    // SAFETY: zeroes are a `sigaction` without flags, with an empty mask.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = say_last_word as extern "C" fn(c_int) as libc::sighandler_t;
    // SAFETY: `say_last_word` does only what a handler may do.
    check(unsafe { libc::sigaction(libc::SIGALRM, &raw const action, ptr::null_mut()) })?;
    unblock()
}

/// Runs in the middle of whatever the process does: nothing here allocates, locks or panics.
extern "C" fn say_last_word(_: c_int) {
    // SAFETY: set before the handler was, never changed and never freed; `write` and `_exit` may be called in a handler.
    unsafe {
        let said = &*LAST_WORD.load(Ordering::Acquire);
        libc::write(libc::STDOUT_FILENO, said.as_ptr().cast(), said.len());
        libc::_exit(0);
    }
}

/// A host that does not hear the signal itself has left us deaf to it.
pub(crate) fn unblock() -> io::Result<()> {
    // SAFETY: zeroes are room for a set, which is made one before it is read.
    unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        check(libc::sigemptyset(&raw mut set))?;
        check(libc::sigaddset(&raw mut set, libc::SIGALRM))?;
        check(libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, ptr::null_mut()))
    }
}

/// Never rings again: what is said from here on is the answer.
pub(crate) fn off() {
    // Nothing can be wrong with a time of zero.
    let _ = start(Duration::ZERO, Duration::ZERO);
}

/// This program, on Linux also when its file has been replaced or removed since.
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

/// Runs in the middle of whatever the process does: nothing here allocates, locks or panics.
extern "C" fn ring(_: c_int) {
    // SAFETY: set before the timer was, never changed and never freed; `execv` and `_exit` may be called in a handler.
    unsafe {
        let instead = INSTEAD.load(Ordering::Acquire);
        libc::execv((*instead).program.as_ptr(), (*instead).arguments.as_ptr());
        libc::_exit(0);
    }
}

fn check(returned: c_int) -> io::Result<()> {
    if returned == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
