//! Links of the documents lead somewhere, and the book has every page.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::page::{Page, pages, root};

/// The targets of `[text](target)` outside of code, with their lines.
fn links(page: &Page) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (line, text) in page.prose() {
        // In backticks nothing is a link.
        let prose: String = text.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for rest in prose.split("](").skip(1) {
            let target = rest.split(')').next().unwrap_or_default();
            links.push((line, target.split(' ').next().unwrap_or_default().to_owned()));
        }
    }
    links
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(page: &Page) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in page.prose() {
        let Some(heading) = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim()) else { continue };
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect();
        let count = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone()).chain(count).find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

/// The path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = normal.pop(),
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

/// The links that lead nowhere, and the number of all.
fn broken(pages: &[Page]) -> (Vec<String>, usize) {
    let (mut broken, mut checked) = (Vec::new(), 0);
    for page in pages {
        for (line, link) in links(page) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => PathBuf::from(&page.path),
                _ => normal(&Path::new(&page.path).parent().unwrap().join(file)),
            };
            let is_there = root().join(&target).exists();
            let has_anchor = || anchors(&Page::read(target.to_str().unwrap())).contains(anchor);
            if !is_there || !anchor.is_empty() && !has_anchor() {
                broken.push(format!("{}:{line}: {link}", page.path));
            }
        }
    }
    (broken, checked)
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let mut all = pages();
    let at_root = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    all.extend(at_root.filter(|name| name.ends_with(".md") && name != "README.md").map(|name| Page::read(&name)));
    let (broken, checked) = broken(&all);
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(checked > 50, "{checked}");
}

#[test]
fn the_book_has_every_page() {
    let summary = Page::read("docs/SUMMARY.md");
    let listed: BTreeSet<String> = links(&summary).into_iter().map(|(_, link)| format!("docs/{link}")).collect();
    let of_the_book = |path: &String| path.starts_with("docs/") && path != "docs/SUMMARY.md";
    let present: BTreeSet<String> = pages().into_iter().map(|page| page.path).filter(of_the_book).collect();
    assert_eq!(listed, present);
}

#[test]
fn a_link_to_a_missing_page_or_heading_is_named() {
    let text = "[a](gone.md) [b](start.md#gone) [c](start.md#1-install) `[d](code.md)`\n";
    let page = Page { path: "docs/x.md".to_owned(), text: text.to_owned() };
    assert_eq!(broken(&[page]), (vec!["docs/x.md:1: gone.md".into(), "docs/x.md:1: start.md#gone".into()], 3));
}
