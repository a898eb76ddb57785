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
fn a_binary_in_the_cache_of_a_package_runner_is_refused() {
    let caches = [
        (".npm/_npx/3f2a/node_modules/steadfast-cli/bin", PackageRunner::Npx),
        (".cache/pnpm/dlx/3f2a/18f/node_modules/steadfast-cli/bin", PackageRunner::Pnpm),
        ("pnpm/dlx-812/node_modules/steadfast-cli/bin", PackageRunner::Pnpm),
        ("xfs-3f2a/dlx-812/node_modules/steadfast-cli/bin", PackageRunner::Yarn),
        (".bun/install/cache/.bunx-1000/steadfast-cli@latest/node_modules/steadfast-cli/bin", PackageRunner::Bun),
        ("bunx-1000-steadfast-cli@latest/node_modules/steadfast-cli/bin", PackageRunner::Bun),
        (".cache/uv/archive-v0/3f2a/bin", PackageRunner::Uv),
        ("elsewhere/environments-v2/steadfast-3f2a/bin", PackageRunner::Uv),
        (".cache/pipx/3f2a/bin", PackageRunner::Pipx),
        (".local/share/pipx/.cache/3f2a/bin", PackageRunner::Pipx),
    ];
    for (cache, runner) in caches {
        let (_folder, root) = folder();
        let cached = program(&root.join(cache), "steadfast");
        let refused = || Err(BinaryError::Cache { path: cached.clone(), runner });
        assert_eq!(find_binary(cached.as_os_str(), &cached, None, &root), refused(), "{cache}");
    }
}

#[test]
fn a_link_into_a_cache_is_refused_and_an_installed_tool_is_not() {
    let (_folder, root) = folder();
    let cached = program(&root.join(".npm/_npx/3f2a/node_modules/steadfast-cli/bin"), "steadfast");
    fs::create_dir(root.join("bin")).unwrap();
    let link = root.join("bin/steadfast");
    std::os::unix::fs::symlink(&cached, &link).unwrap();
    let refused = BinaryError::Cache { path: link.clone(), runner: PackageRunner::Npx };
    assert_eq!(find_binary(link.as_os_str(), &cached, None, &root), Err(refused));

    for stays in [
        "lib/node_modules/steadfast-cli/bin",
        ".local/share/uv/tools/steadfast-cli/bin",
        ".local/share/pipx/venvs/steadfast-cli/bin",
        "archive-vault/bin",
    ] {
        let installed = program(&root.join(stays), "steadfast");
        assert_eq!(find_binary(installed.as_os_str(), &installed, None, &root), Ok(installed), "{stays}");
    }
}

#[test]
fn uvs_cache_is_not_taken_for_a_build_folder() {
    let (_folder, root) = folder();
    let cached = program(&root.join("uv/archive-v0/3f2a/bin"), "steadfast");
    fs::write(root.join("uv/CACHEDIR.TAG"), "").unwrap();
    let refused = find_binary(cached.as_os_str(), &cached, None, &root).unwrap_err();
    let said = format!(
        "{} is in the cache of `uvx`, which deletes it later: hooks would name a missing file",
        cached.display()
    );
    assert_eq!(refused.to_string(), said);
}

#[test]
fn a_tool_that_uv_installed_is_no_build_folder_though_uv_marks_it_as_a_cache() {
    let (_folder, root) = folder();
    let environment = root.join(".local/share/uv/tools/steadfast-cli");
    let installed = program(&environment.join("bin"), "steadfast");
    fs::write(environment.join("CACHEDIR.TAG"), "").unwrap();
    fs::write(environment.join("pyvenv.cfg"), "").unwrap();
    assert_eq!(find_binary(installed.as_os_str(), &installed, None, &root), Ok(installed));
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
