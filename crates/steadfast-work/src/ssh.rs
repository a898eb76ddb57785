//! Signatures of the hardened profile, by `ssh-keygen` with a key of the user, ideally one that requires a touch or a
//! passphrase. `ssh-keygen` may ask on the terminal.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The purpose of the signature, so that one for a commit or a mail is not valid here.
const NAMESPACE: &str = "steadfast";

/// The principal in the list of allowed signers.
const NAME: &str = "steadfast";

pub fn sign(key: &Path, bytes: &[u8]) -> io::Result<String> {
    let mut keygen = keygen(["-Y", "sign", "-q", "-n", NAMESPACE, "-f"]);
    // Questions and errors go to the human.
    let mut child = keygen.arg(key).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
    // Without a key it exits without reading; its exit status says more than the broken pipe.
    let written = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(bytes));
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("`ssh-keygen -Y sign` ended with {}", output.status)));
    }
    written?;
    String::from_utf8(output.stdout).map_err(io::Error::other)
}

/// Returns true if this key signed these bytes. A signature that cannot be verified does not count.
pub fn is_signed(key: &Path, bytes: &[u8], signature: &str) -> bool {
    verify(key, bytes, signature).unwrap_or(false)
}

fn verify(key: &Path, bytes: &[u8], signature: &str) -> io::Result<bool> {
    let public = fs::read_to_string(public_key(key))?;
    let folder = tempfile::tempdir()?;
    let (signers, signed) = (folder.path().join("signers"), folder.path().join("signature"));
    fs::write(&signers, format!("{NAME} namespaces=\"{NAMESPACE}\" {}\n", public.trim()))?;
    fs::write(&signed, signature)?;
    let mut keygen = keygen(["-Y", "verify", "-q", "-n", NAMESPACE, "-I", NAME, "-f"]);
    keygen.arg(&signers).arg("-s").arg(&signed).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = keygen.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(bytes)?;
    }
    Ok(child.wait()?.success())
}

/// The public key beside a private key. The setting may name the public key itself if an SSH agent has the private one.
pub fn public_key(key: &Path) -> PathBuf {
    if key.extension().is_some_and(|extension| extension == "pub") {
        return key.to_owned();
    }
    let mut name = key.as_os_str().to_owned();
    name.push(".pub");
    PathBuf::from(name)
}

/// The usual paths. The `PATH` comes last, because inside an agent's call the agent controls it.
const PROGRAMS: [&str; 4] = [
    "/usr/bin/ssh-keygen",
    "/usr/local/bin/ssh-keygen",
    "/opt/homebrew/bin/ssh-keygen",
    "/run/current-system/sw/bin/ssh-keygen",
];

fn keygen<const N: usize>(arguments: [&str; N]) -> Command {
    let program = PROGRAMS.into_iter().find(|program| Path::new(program).exists()).unwrap_or("ssh-keygen");
    let mut command = steadfast_system::program(program);
    command.args(arguments);
    command
}
