use std::process::Command;

use crate::Result;
use crate::process::run;

use super::{corpora, own};

/// The required files of the corpus.
const ARCHIVES: [&str; 2] = ["transcripts.tar.zst", "drift.tar.zst"];
const INDEX: &str = "transcripts.index.tsv";

/// `cargo xtask bench drift`: measures how well the drift score separates requested work from other work, beside
/// yardsticks, and with each repository left out once (`--folds`: only that). `--worst` lists the worst errors of each
/// kind. `--refine COMMAND` also measures it with that command in `drift.refine`. The benchmark requires real sessions.
pub(crate) fn drift(arguments: &[&str]) -> Result<()> {
    if !matches!(arguments, [] | ["--folds" | "--worst"] | ["--refine", _]) {
        return Err(format!(
            "`{}` is unexpected, expected `--folds`, `--worst` or `--refine COMMAND`",
            arguments.join(" ")
        )
        .into());
    }
    let corpora = corpora();
    if let Some(missing) = ARCHIVES.iter().chain([&INDEX]).find(|name| !corpora.join(name).exists()) {
        let place = corpora.join(missing);
        eprintln!("SKIPPED: {} is not there; STEADFAST_CORPORA names another folder", place.display());
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let unpacked = ARCHIVES.map(|name| (corpora.join(name), folder.path().join(name)));
    for (archive, place) in &unpacked {
        std::fs::create_dir(place)?;
        if run(Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(place)).is_err() {
            eprintln!("SKIPPED: `tar` cannot unpack {}", archive.display());
            return Ok(());
        }
    }
    let [(_, transcripts), (_, labels)] = &unpacked;
    run(own("drift").arg(transcripts).arg(labels).arg(corpora.join(INDEX)).args(arguments))
}
