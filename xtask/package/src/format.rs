//! The archive formats. The same entries always give the same bytes.

use std::collections::BTreeSet;
use std::io::{Cursor, Write};

use flate2::{Compression, GzBuilder};
use xtask::Result;
use zip::write::SimpleFileOptions;

use crate::{Effort, PackagedFile};

impl Effort {
    fn level(self) -> u32 {
        match self {
            Self::Fast => 1,
            Self::Best => 9,
        }
    }
}

/// Returns a compressed, sorted tar of files. It has entries for folders only if `folders` is `Listed`.
pub(crate) fn tar_gz(entries: &[PackagedFile], folders: TarFolders, seconds: u64, effort: Effort) -> Result<Vec<u8>> {
    // The gzip header has no file name and no time.
    let gzip = GzBuilder::new().write(Vec::new(), Compression::new(effort.level()));
    let mut archive = tar::Builder::new(gzip);
    if folders == TarFolders::Listed {
        let parents: BTreeSet<&str> = entries.iter().flat_map(|entry| parents(&entry.path)).collect();
        for folder in parents {
            let mut header = header(seconds, 0o755, 0);
            header.set_entry_type(tar::EntryType::Directory);
            archive.append_data(&mut header, format!("{folder}/"), std::io::empty())?;
        }
    }
    for entry in sorted(entries) {
        let mut header = header(seconds, entry.mode(), entry.content.len() as u64);
        archive.append_data(&mut header, &entry.path, entry.content.as_slice())?;
    }
    Ok(archive.into_inner()?.finish()?)
}

/// The treatment of folders in an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TarFolders {
    Implied,
    /// dpkg creates only listed folders.
    Listed,
}

fn header(seconds: u64, mode: u32, size: u64) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    header.set_mode(mode);
    header.set_mtime(seconds);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(size);
    header
}

/// Returns every folder above a path, from the outermost.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}

fn sorted(entries: &[PackagedFile]) -> Vec<&PackagedFile> {
    let mut sorted: Vec<&PackagedFile> = entries.iter().collect();
    sorted.sort_by(|one, other| one.path.cmp(&other.path));
    sorted
}

/// Returns a zip in the given order, because the metadata of a wheel must be last. The time of an entry has no zone and
/// begins in 1980, so it is always 1980.
pub(crate) fn zip(entries: &[PackagedFile], effort: Effort) -> Result<Vec<u8>> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for entry in entries {
        let options = SimpleFileOptions::DEFAULT
            .compression_method(zip::CompressionMethod::Deflated)
            .compression_level(Some(i64::from(effort.level())))
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(entry.mode());
        archive.start_file(entry.path.as_str(), options)?;
        archive.write_all(&entry.content)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// Returns the archive format of a `.deb`: a header of 60 bytes before each member, and each member ends at an even
/// byte.
pub(crate) fn ar(members: &[(&str, &[u8])], seconds: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, content) in members {
        let header = format!(
            "{name:<16}{seconds:<12}{owner:<6}{owner:<6}100644  {size:<10}`\n",
            owner = 0,
            size = content.len()
        );
        debug_assert_eq!(header.len(), 60);
        archive.extend(header.as_bytes());
        archive.extend(*content);
        if content.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<PackagedFile> {
        vec![PackagedFile::program("b/bin/x", "x"), PackagedFile::text("a", "1"), PackagedFile::text("b/c", "2")]
    }

    #[test]
    fn the_order_of_the_entries_does_not_matter_to_a_tar() {
        let mut turned = entries();
        turned.reverse();
        let of = |entries: &[PackagedFile]| tar_gz(entries, TarFolders::Listed, 1_700_000_000, Effort::Best).unwrap();
        assert_eq!(of(&entries()), of(&turned));
    }

    #[test]
    fn files_of_a_tar_belong_to_root_and_have_the_given_time() {
        let bytes = tar_gz(&entries(), TarFolders::Listed, 1_700_000_000, Effort::Best).unwrap();
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
        let mut seen = Vec::new();
        for entry in archive.entries().unwrap() {
            let entry = entry.unwrap();
            let header = entry.header();
            assert_eq!((header.uid().unwrap(), header.gid().unwrap(), header.mtime().unwrap()), (0, 0, 1_700_000_000));
            seen.push((entry.path().unwrap().display().to_string(), header.mode().unwrap()));
        }
        let expected = [("b/", 0o755), ("b/bin/", 0o755), ("a", 0o644), ("b/bin/x", 0o755), ("b/c", 0o644)];
        assert_eq!(seen, expected.map(|(path, mode)| (path.to_owned(), mode)));
    }

    #[test]
    fn gzip_names_no_file_and_no_time() {
        let bytes = tar_gz(&entries(), TarFolders::Implied, 1, Effort::Best).unwrap();
        assert_eq!((bytes[3], &bytes[4..8]), (0, [0; 4].as_slice()));
    }

    #[test]
    fn an_odd_member_of_an_ar_is_filled_up() {
        let text = String::from_utf8(ar(&[("odd", b"abc"), ("even", b"de")], 5)).unwrap();
        let line = |name: &str, size: u32| format!("{name:<16}5           0     0     100644  {size:<10}`\n");
        assert_eq!(text, format!("!<arch>\n{}abc\n{}de", line("odd", 3), line("even", 2)));
    }
}
