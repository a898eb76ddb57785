//! Pictures as evidence.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use steadfast_check::artifact::{Artifact, PictureKind, look};
use tempfile::TempDir;

const NOTHING: [&str; 0] = [];

fn png(width: u32, height: u32) -> Vec<u8> {
    let chunk = |name: &[u8; 4], content: &[u8]| {
        [&u32::try_from(content.len()).unwrap().to_be_bytes()[..], name, content, &[0; 4]].concat()
    };
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IHDR", &header), chunk(b"IDAT", &[1, 2]), chunk(b"IEND", &[])].concat()
}

fn jpeg() -> Vec<u8> {
    let mut bytes = vec![0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2];
    bytes.extend([0xff, 0xc0, 0, 11, 8, 0, 240, 1, 64, 1, 0, 0, 0]);
    bytes.extend([0xff, 0xda, 0, 2, 9, 9, 9, 0xff, 0xd9]);
    bytes
}

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

fn at(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000 + seconds, 5);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

fn refusal(bytes: &[u8]) -> String {
    let folder = folder(&[("shot.png", bytes)]);
    look(folder.path(), Path::new("shot.png"), &NOTHING).unwrap_err().to_string()
}

#[test]
fn a_picture_is_known_by_what_is_in_it() {
    let gif = [&b"GIF89a\x40\x01\xf0\0\x80\0\0"[..], &[0; 6], b",rest;"].concat();
    for (kind, bytes) in [(PictureKind::Png, png(320, 240)), (PictureKind::Jpeg, jpeg()), (PictureKind::Gif, gif)] {
        let folder = folder(&[("shot.txt", &bytes)]);
        let found = look(folder.path(), Path::new("shot.txt"), &NOTHING).unwrap();
        assert_eq!((found.kind, found.width, found.height, found.bytes), (kind, 320, 240, bytes.len() as u64));
        assert_eq!(found.id.len(), 64);
    }
}

#[test]
fn the_same_picture_has_the_same_id_wherever_it_lies() {
    let (one, other) = (folder(&[("a.png", &png(9, 9))]), folder(&[("b.png", &png(9, 9)), ("c.png", &png(9, 8))]));
    let id = |look: Result<Artifact, _>| {
        look.map_err(|error: steadfast_check::artifact::NotAnArtifact| error.to_string()).unwrap().id
    };
    let first = id(look(one.path(), Path::new("a.png"), &NOTHING));
    assert_eq!(first, id(look(one.path(), &other.path().join("b.png"), &NOTHING)));
    assert_ne!(first, id(look(one.path(), &other.path().join("c.png"), &NOTHING)));
}

#[test]
fn what_is_no_picture_is_refused_whatever_its_name_says() {
    assert_eq!(refusal(b""), "`shot.png` is empty: take the picture again");
    assert_eq!(refusal(b"<svg/>"), "`shot.png` is not a PNG, JPEG, GIF or WebP image");
    assert_eq!(refusal(b"%PDF-1.7"), "`shot.png` is not a PNG, JPEG, GIF or WebP image");
    assert_eq!(refusal(&png(1, 1)), "`shot.png` has only 1 × 1 pixels, too few to show anything");
    assert_eq!(refusal(&png(0, 800)), "`shot.png` has only 0 × 800 pixels, too few to show anything");
}

#[test]
fn a_picture_that_ends_too_early_is_refused() {
    for whole in [png(320, 240), jpeg()] {
        let refused = refusal(&whole[..whole.len() - 5]);
        assert!(refused.ends_with("it ends too early; take the picture again"), "{refused}");
    }
}

#[test]
fn a_picture_must_be_newer_than_what_it_shows() {
    let folder = folder(&[("shot.png", &png(320, 240)), ("old.css", b"x"), ("new.css", b"x")]);
    let [shot, old, new] = ["shot.png", "old.css", "new.css"].map(|name| folder.path().join(name));
    at(&old, 0);
    at(&shot, 1);
    at(&new, 2);
    let shot = Path::new("shot.png");
    assert!(look(folder.path(), shot, &["old.css", "gone.css", "shot.png"]).is_ok());
    let refused = look(folder.path(), shot, &["old.css", "new.css"]).unwrap_err().to_string();
    assert_eq!(refused, "`shot.png` is older than `new.css`: take the picture after the change");
    at(&new, 1);
    assert!(look(folder.path(), shot, &["new.css"]).is_err(), "the same moment is not later");
}

#[test]
fn a_picture_that_is_not_there_or_no_file_or_elsewhere_is_refused() {
    let outer = folder(&[("shot.png", &png(320, 240))]);
    let root = outer.path().join("checkout");
    fs::create_dir(&root).unwrap();
    let refused = |path: &str| look(&root, Path::new(path), &NOTHING).unwrap_err().to_string();
    assert_eq!(refused("gone.png"), "`gone.png` does not exist: give a path in the checkout, or a full path");
    assert_eq!(refused("../shot.png"), "`../shot.png` is outside of the checkout: give its full path");
    assert_eq!(refused("."), "`.` is not a file");
    assert!(look(&root, &outer.path().join("shot.png"), &NOTHING).is_ok());
}
