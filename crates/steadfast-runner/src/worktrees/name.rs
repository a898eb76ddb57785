/// Turns an id into a part of a branch name and of a folder name. Different ids give different names.
pub(super) fn plain(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name: String = id.chars().take(40).map(|c| if is_plain(c) { c } else { '-' }).collect();
    let trimmed = name.trim_matches('.').replace("..", "-");
    // Git rejects names that end like its locks, and some file systems ignore case.
    let same = trimmed == id && !trimmed.ends_with(".lock") && !id.chars().any(|c| c.is_ascii_uppercase());
    if same && !trimmed.is_empty() {
        return trimmed;
    }
    let hash = steadfast_model::fnv([id.as_bytes()]);
    format!("{trimmed}-{:08x}", hash as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_id_is_its_own_name() {
        assert_eq!(["1.2", "3.1.1", "task_a-1"].map(plain), ["1.2", "3.1.1", "task_a-1"]);
    }

    #[test]
    fn what_git_or_a_file_system_takes_amiss_is_spelled_otherwise_and_stays_apart() {
        let ids = ["a/b", "a-b", "a b", "..", "", "x.lock", "A", "a", ".hidden", "a..b", "ä"];
        let names: Vec<String> = ids.map(plain).to_vec();
        for (id, name) in ids.iter().zip(&names) {
            let fine = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            assert!(name.chars().all(fine) && !name.contains("..") && !name.starts_with('.'), "{id}: {name}");
            assert!(!name.ends_with(".lock") && !name.ends_with('.') && !name.is_empty(), "{id}: {name}");
        }
        let mut apart = names.clone();
        apart.sort_unstable();
        apart.dedup();
        assert_eq!(apart.len(), ids.len(), "{names:?}");
    }
}
