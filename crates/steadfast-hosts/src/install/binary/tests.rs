use std::ffi::OsString;

use tempfile::TempDir;

use super::*;

fn program(folder: &Path, name: &str) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, "#!/bin/sh\n").unwrap();
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    path
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(folder.path()).unwrap();
    (folder, path)
}

#[test]
fn a_bare_name_is_looked_up_on_the_path() {
    let (_folder, root) = folder();
    let installed = program(&root.join("bin"), "steadfast");
    let path_var = OsString::from(format!("/nowhere:{}", root.join("bin").display()));
    let found = find_binary(OsStr::new("steadfast"), &installed, Some(&path_var), Path::new("/"));
    assert_eq!(found, Ok(installed));
}

#[test]
fn a_relative_name_is_made_absolute() {
    let (_folder, root) = folder();
    let installed = program(&root.join("bin"), "steadfast");
    assert_eq!(find_binary(OsStr::new("./bin/steadfast"), &installed, None, &root), Ok(installed));
}

#[test]
fn a_link_keeps_its_own_path() {
    let (_folder, root) = folder();
    let cellar = program(&root.join("cellar/1.2.3"), "steadfast");
    let link = root.join("steadfast");
    std::os::unix::fs::symlink(&cellar, &link).unwrap();
    assert_eq!(find_binary(link.as_os_str(), &cellar, None, &root), Ok(link));
}

#[test]
fn a_name_that_leads_to_another_program_is_not_believed() {
    let (_folder, root) = folder();
    let running = program(&root.join("one"), "steadfast");
    let other = program(&root.join("two"), "steadfast");
    assert_eq!(find_binary(other.as_os_str(), &running, None, &root), Ok(running));
}

#[test]
fn a_binary_in_cargos_build_folder_is_refused() {
    let (_folder, root) = folder();
    let built = program(&root.join("target/x86_64-unknown-linux-gnu/release"), "steadfast");
    let refused = BinaryError::BuildFolder { path: built.clone(), folder: built.parent().unwrap().to_owned() };
    assert_eq!(find_binary(built.as_os_str(), &built, None, &root), Err(refused));
}

#[test]
fn a_build_folder_by_another_name_is_known_by_cargos_mark() {
    let (_folder, root) = folder();
    let built = program(&root.join("elsewhere/debug"), "steadfast");
    fs::write(root.join("elsewhere/.rustc_info.json"), "{}").unwrap();
    let refused = BinaryError::BuildFolder { path: built.clone(), folder: root.join("elsewhere") };
    assert_eq!(find_binary(built.as_os_str(), &built, None, &root), Err(refused));
}

#[test]
fn a_link_into_a_build_folder_is_refused() {
    let (_folder, root) = folder();
    let built = program(&root.join("target/release"), "steadfast");
    let link = root.join("steadfast");
    std::os::unix::fs::symlink(&built, &link).unwrap();
    let refused = BinaryError::BuildFolder { path: link.clone(), folder: root.join("target/release") };
    assert_eq!(find_binary(link.as_os_str(), &built, None, &root), Err(refused));
}

#[test]
fn a_refusal_names_the_program_and_the_folder() {
    let refused = BinaryError::BuildFolder { path: "/w/target/debug/steadfast".into(), folder: "/w/target".into() };
    let said = "/w/target/debug/steadfast is inside the build folder /w/target, which the next build changes";
    assert_eq!(refused.to_string(), said);
}

#[test]
fn a_binary_of_another_name_is_refused() {
    let (_folder, root) = folder();
    let renamed = program(&root, "sf");
    assert_eq!(find_binary(renamed.as_os_str(), &renamed, None, &root), Err(BinaryError::Name { path: renamed }));
}

#[test]
fn a_shared_file_finds_the_program_only_where_it_is_on_the_path() {
    let (_folder, root) = folder();
    program(&root, "steadfast");
    assert!(is_on_path(Some(root.as_os_str()), Path::new("/")));
    assert!(!is_on_path(Some(OsStr::new("/nowhere")), Path::new("/")));
}
