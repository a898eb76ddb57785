//! What is shown as a picture, and is none.

use std::fs::{self, File};
use std::os::unix::fs::symlink;

use crate::plans::decided;

#[test]
fn what_is_no_evidence() {
    let sandbox = decided();
    for id in ["2.1a", "2.1"] {
        sandbox.ok(&["task", "done", id, "--force"]);
    }
    let root = sandbox.root();
    fs::create_dir(root.join("folder.png")).unwrap();
    File::create(root.join("huge.png")).unwrap().set_len((64 << 20) + 1).unwrap();
    symlink("circle.png", root.join("circle.png")).unwrap();
    let files: [(&str, &[u8]); 10] = [
        ("empty.png", b""),
        ("words.png", b"no picture"),
        ("headless.png", b"\x89PNG\r\n\x1a\n\0\0\0\0IDAT\0\0\0\0"),
        ("bare.png", b"\x89PNG\r\n\x1a\n\0\0\0\x08IHDR\0\0\0\x04\0\0\0\x04\0\0\0\0\0\0\0\0IEND\0\0\0\0"),
        ("short.png", b"\x89PNG\r\n\x1a\n\0\0"),
        ("torn.jpg", b"\xff\xd8\xff\xe0\0\x04ab?"),
        ("bare.jpg", b"\xff\xd8\xff\xd9"),
        ("sizeless.jpg", b"\xff\xd8\xff\xda"),
        ("bare.gif", b"GIF89a\x04\0\x04\0\0\0\0"),
        ("bare.webp", b"RIFF\x04\0\0\0WEBPJUNK"),
    ];
    for (name, bytes) in files {
        sandbox.write(name, bytes);
    }
    let mut all = String::new();
    for name in ["none.png", "folder.png", "huge.png", "circle.png"].into_iter().chain(files.map(|(name, _)| name)) {
        let (code, said) = sandbox.fails(&["task", "done", "2.1b", "--artifact", name]);
        assert_eq!(code, 1);
        all += said.lines().next().unwrap().trim_start_matches("error: task `2.1b` stays open: ");
        all += "\n";
    }
    insta::assert_snapshot!(all, @r"
    `/repo/none.png` does not exist: give a path in the checkout, or a full path
    `/repo/folder.png` is not a file
    `/repo/huge.png` is larger than 64 MiB: take a smaller picture
    `/repo/circle.png` cannot be read: Too many levels of symbolic links (os error 40)
    `/repo/empty.png` is empty: take the picture again
    `/repo/words.png` is not a PNG, JPEG, GIF or WebP image
    `/repo/headless.png` is a broken PNG: it does not begin with its header; take the picture again
    `/repo/bare.png` is a broken PNG: it has no pixels; take the picture again
    `/repo/short.png` is a broken PNG: it ends too early; take the picture again
    `/repo/torn.jpg` is a broken JPEG: its parts do not follow each other; take the picture again
    `/repo/bare.jpg` is a broken JPEG: it has no pixels; take the picture again
    `/repo/sizeless.jpg` is a broken JPEG: it has no size; take the picture again
    `/repo/bare.gif` is a broken GIF: it has no pixels; take the picture again
    `/repo/bare.webp` is a broken WebP: it has no pixels; take the picture again
    ");
}
