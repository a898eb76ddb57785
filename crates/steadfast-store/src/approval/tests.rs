use std::cell::Cell;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use steadfast_model::{AddedBy, Approval, Channel, Gate, GateScope, Millis, Profile, SessionId};

use super::record::path;
use super::*;
use crate::{
    Draft, DraftFormat, Place, close_gate, gate_of, gates, keep_draft, kept_aside, seal, seal_breaks, sealed, text_hash,
};

const NOW: Millis = Millis(1_700_000_000_000);
const PLAN: &str = "# A plan\n\n- build it\n";
const APPROVED: &str = "# A plan\n**Approved:** 2023-11-14T22:13:20Z\n\n- build it\n";

struct World {
    _dir: tempfile::TempDir,
    place: Place,
    user: PathBuf,
    scope: GateScope,
    draft: Draft,
}

impl World {
    /// A draft for this path waits before a closed gate.
    fn new(path: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        let place = Place { state: top.join("state"), root: top.join("checkout") };
        fs::create_dir(&place.root).unwrap();
        let draft = Draft {
            hash: text_hash(PLAN),
            text: PLAN.to_owned(),
            format: DraftFormat::Markdown,
            title: "A plan".to_owned(),
            tasks: 1,
            path: path.to_owned(),
            worktree: place.worktree(),
            session: None,
            proposed_at: NOW,
            replaces: None,
        };
        let world =
            Self { user: top.join("user"), scope: GateScope::Session(SessionId::new("s")), draft, place, _dir: dir };
        keep_draft(&world.place, &world.draft).unwrap();
        world
    }

    fn close(&self) {
        self.close_for(&self.scope);
    }

    fn close_for(&self, scope: &GateScope) {
        let gate = Gate {
            root: self.place.worktree(),
            draft: Some(self.draft.line()),
            ..Gate::new(scope.clone(), "not approved", NOW)
        };
        seal(&self.place, &gate, std::time::Duration::ZERO).unwrap();
        close_gate(&self.place, &gate).unwrap();
    }

    fn yes(&self) -> Consent<'_> {
        Consent { scope: &self.scope, hash: &self.draft.hash, channel: Channel::Prompt, session: None, at: NOW }
    }

    fn grant(&self) -> Result<Granted, GrantError> {
        grant(&self.place, Profile::Default, Some(&self.user), &self.yes(), &|draft| text_hash(&draft.text))
    }

    fn verifier(&self) -> Verifier<'_> {
        Verifier::Default { user_state: &self.user }
    }

    fn is_closed(&self) -> bool {
        gate_of(&self.place, &self.scope).is_some()
    }

    fn standing(&self, added_by: AddedBy, required: bool) -> Approval {
        let asked =
            ApprovalQuery { hash: Some(&self.draft.hash), path: Some(&self.draft.path), added_by, required, now: NOW };
        approval_of(&self.place, &asked, &self.verifier())
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.place.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.place.root.join(path)).unwrap()
    }
}

/// A folder where a file has to go: nobody replaces or removes that like a file, not even root.
fn block(path: &Path) {
    let _ = fs::remove_file(path);
    fs::create_dir(path).unwrap();
}

#[test]
fn a_seal_that_cannot_be_renewed_leaves_the_gate_closed_and_is_done_again() {
    let world = World::new("plan.md");
    world.close();
    let folder = world.place.state.join("seals").join(crate::gate::scope_name(&world.scope));
    let copy = folder.join(crate::digest::of_bytes(APPROVED.as_bytes()));
    block(&copy);
    assert!(matches!(world.grant(), Err(GrantError::Seal(_))));
    // The yes is signed and the plan is written; until its seal knows of it the gate does not open.
    assert_eq!((world.read("plan.md"), world.is_closed()), (APPROVED.to_owned(), true));
    assert!(valid_approval(&world.place, &world.draft.hash, &world.verifier()).is_some());
    fs::remove_dir(copy).unwrap();
    assert_eq!(world.grant().unwrap().kept, None);
    assert!(!world.is_closed());
}

#[test]
fn a_gate_that_cannot_be_opened_stays_closed_and_is_opened_later() {
    let world = World::new("plan.md");
    world.close();
    let marker = world.place.state.join("gates").join(crate::gate::scope_name(&world.scope));
    block(&marker);
    assert!(matches!(world.grant(), Err(GrantError::Gate(_))));
    assert_eq!((world.read("plan.md"), gates(&world.place).is_empty()), (APPROVED.to_owned(), false));
    fs::remove_dir(marker).unwrap();
    world.grant().unwrap();
    assert!(gates(&world.place).is_empty());
}

#[test]
fn a_yes_signs_writes_the_plan_and_opens_the_gate() {
    let world = World::new("docs/plan.md");
    world.close();
    let granted = world.grant().unwrap();
    assert_eq!((granted.path, granted.kept), (world.place.root.join("docs/plan.md"), None));
    assert_eq!(valid_approval(&world.place, &world.draft.hash, &world.verifier()), Some(granted.record));
    assert_eq!((world.read("docs/plan.md"), world.is_closed()), (APPROVED.to_owned(), false));
    assert_eq!(sealed(&world.place, &world.scope), None);
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(&approval_key(&world.user)), 0o600);
    assert_eq!(mode(&world.place.root.join("docs/plan.md")) & 0o400, 0o400);
}

#[test]
fn a_yes_may_be_done_again_and_says_the_same() {
    let world = World::new("plan.md");
    world.close();
    let first = world.grant().unwrap();
    // As whoever died before the last step left it.
    world.close();
    let later = Consent { at: Millis(NOW.0 + 5_000), ..world.yes() };
    let hash_of = |draft: &Draft| text_hash(&draft.text);
    assert_eq!(grant(&world.place, Profile::Default, Some(&world.user), &later, &hash_of).unwrap(), first);
    assert_eq!((world.read("plan.md"), kept_aside(&world.place)), (APPROVED.to_owned(), vec![]));
    assert!(!world.is_closed());
}

#[test]
fn what_stood_at_the_plans_path_is_kept_unless_it_is_this_plan() {
    let world = World::new("plan.md");
    world.write("plan.md", "an older plan");
    fs::set_permissions(world.place.root.join("plan.md"), fs::Permissions::from_mode(0o600)).unwrap();
    let kept = world.grant().unwrap().kept.unwrap();
    assert_eq!((fs::read_to_string(kept).unwrap(), world.read("plan.md")), ("an older plan".into(), APPROVED.into()));
    assert_eq!(fs::metadata(world.place.root.join("plan.md")).unwrap().mode() & 0o777, 0o600);
    world.write("plan.md", PLAN);
    assert_eq!(world.grant().unwrap().kept, None);
}

#[test]
fn another_gate_over_the_same_path_stays_closed_and_sees_no_break() {
    let world = World::new("plan.md");
    let worktree = GateScope::Worktree(world.place.worktree());
    world.close();
    world.close_for(&worktree);
    world.grant().unwrap();
    let scopes: Vec<GateScope> = gates(&world.place).into_iter().map(|gate| gate.scope).collect();
    assert_eq!(scopes, std::slice::from_ref(&worktree));
    assert_eq!(seal_breaks(&world.place, &worktree, &world.place.root), []);
}

#[test]
fn a_plan_that_cannot_be_written_leaves_the_gate_closed_until_it_can() {
    let world = World::new("docs/plan.md");
    world.close();
    world.write("docs", "a file where a folder should be");
    assert!(matches!(world.grant(), Err(GrantError::Plan { .. })));
    assert!(world.is_closed());
    fs::remove_file(world.place.root.join("docs")).unwrap();
    world.write("docs/plan.md/x", "a folder where a file should be");
    assert!(matches!(world.grant(), Err(GrantError::Plan { .. })));
    fs::remove_dir_all(world.place.root.join("docs")).unwrap();
    world.grant().unwrap();
    assert_eq!((world.read("docs/plan.md"), world.is_closed()), (APPROVED.to_owned(), false));
}

/// Nothing is only read for the superuser, so then this very test is run by nobody.
#[expect(clippy::disallowed_methods, reason = "another user is another process")]
fn run_by_nobody(test: &str) {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = dir.path().join("program");
    // Another process copies it: what this one has open for writing, a child that another test just forked has too, and
    // then it cannot be executed.
    assert!(Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap().success());
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(program);
    let ran = command.args(["--exact", test]).current_dir("/").uid(65534).gid(65534).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn in_a_checkout_that_is_only_read_everything_else_works() {
    let world = World::new("plan.md");
    world.write("plan.md", "sealed");
    let write = |mode| fs::set_permissions(&world.place.root, fs::Permissions::from_mode(mode)).unwrap();
    write(0o555);
    if fs::write(world.place.root.join("probe"), "").is_ok() {
        return run_by_nobody("approval::tests::in_a_checkout_that_is_only_read_everything_else_works");
    }
    world.close();
    assert_eq!(seal_breaks(&world.place, &world.scope, &world.place.root), []);
    assert!(matches!(world.grant(), Err(GrantError::Plan { .. })));
    assert_eq!((world.is_closed(), world.read("plan.md")), (true, "sealed".to_owned()));
    fs::write(world.place.root.join("plan.md"), "intruder").unwrap();
    let restored = crate::restore(&world.place, &world.scope, &world.place.root, "plan.md", NOW);
    assert_eq!(
        (restored.unwrap_err().kind(), world.read("plan.md")),
        (io::ErrorKind::PermissionDenied, "intruder".into())
    );
    write(0o755);
    world.grant().unwrap();
    assert_eq!(world.read("plan.md"), APPROVED);
}

#[test]
fn a_plan_is_written_behind_a_link_in_the_checkout_and_never_outside() {
    let world = World::new("plan.md");
    world.write("docs/real.md", "old");
    symlink("docs/real.md", world.place.root.join("plan.md")).unwrap();
    world.grant().unwrap();
    assert_eq!(world.read("docs/real.md"), APPROVED);
    assert!(fs::symlink_metadata(world.place.root.join("plan.md")).unwrap().is_symlink());

    for (number, path) in
        ["../plan.md", "out/plan.md", "/etc/plan.md", ".git/hooks/pre-commit", "a/.GIT/x", ""].into_iter().enumerate()
    {
        let world = World::new(path);
        symlink(&world.place.state, world.place.root.join("out")).unwrap();
        world.close();
        assert!(matches!(world.grant(), Err(GrantError::Outside(said)) if said == path), "{path}");
        assert_eq!(approval_record(&world.place, &world.draft.hash), None, "{number}");
        assert!(world.is_closed());
    }
}

#[test]
fn a_draft_that_was_exchanged_is_not_what_was_approved() {
    let world = World::new("plan.md");
    world.close();
    keep_draft(&world.place, &Draft { text: "# Another plan\n".into(), ..world.draft.clone() }).unwrap();
    assert!(matches!(world.grant(), Err(GrantError::OtherDraft(_))));
    fs::remove_dir_all(world.place.state.join("drafts")).unwrap();
    assert!(matches!(world.grant(), Err(GrantError::NoDraft(_))));
    assert!(world.is_closed());
}

#[test]
fn in_the_hardened_profile_a_hook_approves_nothing_and_says_where() {
    let world = World::new("plan.md");
    world.close();
    let refused = grant(&world.place, Profile::Hardened, Some(&world.user), &world.yes(), &|_| unreachable!());
    let said = format!(
        "the approval profile is `hardened`: run `steadfast plan approve {}` in a terminal",
        &world.draft.hash[..8]
    );
    assert_eq!(refused.unwrap_err().to_string(), said);
    assert!(world.is_closed() && !approval_key(&world.user).exists());
}

#[test]
fn a_signature_of_the_hardened_profile_is_made_and_told_elsewhere() {
    let world = World::new("plan.md");
    world.close();
    let seen = Cell::new(0);
    let sign = |bytes: &[u8]| {
        seen.set(bytes.len());
        Ok("signed".to_owned())
    };
    let hash_of = |draft: &Draft| text_hash(&draft.text);
    let refuse = |_: &[u8]| Err(io::Error::other("no touch"));
    let refused = grant_signed(&world.place, &world.yes(), &Signer::Hardened(&refuse), &hash_of);
    assert!(matches!(refused, Err(GrantError::Signing(SigningError::Ssh(_)))) && world.is_closed());

    let record = grant_signed(&world.place, &world.yes(), &Signer::Hardened(&sign), &hash_of).unwrap().record;
    assert_eq!(record.signed_bytes().unwrap().len(), seen.get());
    let verify = |bytes: &[u8], signature: &str| signature == "signed" && bytes.len() == seen.get();
    assert!(record.is_valid(&Verifier::Hardened(&verify)));
    assert!(!record.is_valid(&Verifier::Hardened(&|_, _| false)));
    assert!(!world.is_closed() && !approval_key(&world.user).exists());
}

#[test]
fn the_default_key_does_not_stand_in_for_the_hardened_profile() {
    let world = World::new("plan.md");
    let record = world.grant().unwrap().record;
    assert!(!record.is_valid(&Verifier::Hardened(&|_, _| true)));
    let relabelled = ApprovalRecord { profile: Profile::Hardened, ..record };
    assert!(!relabelled.is_valid(&world.verifier()));
}

#[test]
fn every_word_of_a_record_is_signed() {
    let world = World::new("plan.md");
    let record = world.grant().unwrap().record;
    assert!(record.is_valid(&world.verifier()));
    let forged = [
        ApprovalRecord { hash: "other".into(), ..record.clone() },
        ApprovalRecord { path: "other".into(), ..record.clone() },
        ApprovalRecord { worktree: "other".into(), ..record.clone() },
        ApprovalRecord { at: Millis(0), ..record.clone() },
        ApprovalRecord { channel: Channel::Terminal, ..record.clone() },
        ApprovalRecord { session: Some(SessionId::new("s")), ..record.clone() },
        ApprovalRecord { signature: String::new(), ..record.clone() },
        ApprovalRecord { signature: "é".into(), ..record.clone() },
        ApprovalRecord { signature: record.signature[..62].to_owned(), ..record.clone() },
    ];
    assert_eq!(forged.map(|record| record.is_valid(&world.verifier())), [false; 9]);
}

#[test]
fn what_is_signed_is_the_record_without_its_signature() {
    let world = World::new("plan.md");
    let record = ApprovalRecord { worktree: "/w".into(), hash: "ab".into(), ..world.grant().unwrap().record };
    let bytes = record.signed_bytes().unwrap();
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        r#"{"hash":"ab","path":"plan.md","worktree":"/w","at":1700000000000,"channel":"prompt","profile":"default"}"#
    );
}

#[test]
fn a_record_under_the_name_of_another_plan_or_torn_is_none() {
    let world = World::new("plan.md");
    world.grant().unwrap();
    fs::copy(path(&world.place, &world.draft.hash), path(&world.place, "other")).unwrap();
    assert_eq!(approval_record(&world.place, "other"), None);
    let bytes = fs::read(path(&world.place, &world.draft.hash)).unwrap();
    fs::write(path(&world.place, &world.draft.hash), &bytes[..bytes.len() - 9]).unwrap();
    assert_eq!(approval_record(&world.place, &world.draft.hash), None);
    assert_eq!(world.standing(AddedBy::Human, false), Approval::Unsigned);
    // Said again, it is signed again.
    world.grant().unwrap();
    assert_eq!(world.standing(AddedBy::Human, false), Approval::Approved);
}

#[test]
fn another_key_no_key_and_half_a_key_tell_nothing() {
    let world = World::new("plan.md");
    let record = world.grant().unwrap().record;
    let key = approval_key(&world.user);
    let bytes = fs::read(&key).unwrap();
    for wrong in [&[0; 32][..], &bytes[..31], &[]] {
        fs::write(&key, wrong).unwrap();
        assert!(!record.is_valid(&world.verifier()));
    }
    // Half a key is not replaced: who would know that it was one.
    assert!(matches!(world.grant(), Err(GrantError::Signing(SigningError::Key { .. }))));
    fs::remove_file(&key).unwrap();
    assert!(!record.is_valid(&world.verifier()) && !key.exists());
    assert!(world.grant().unwrap().record.is_valid(&world.verifier()));
}

#[test]
fn of_many_who_make_the_key_at_once_one_does() {
    let world = World::new("plan.md");
    let signed: Vec<ApprovalRecord> = std::thread::scope(|threads| {
        let all: Vec<_> = (0..8).map(|_| threads.spawn(|| world.grant().unwrap().record)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(signed.iter().all(|record| record.is_valid(&world.verifier())));
    assert_eq!(fs::read_dir(&world.user).unwrap().count(), 1);
    assert_eq!(world.read("plan.md"), APPROVED);
}

#[test]
fn a_plan_stands_as_its_record_its_file_and_its_draft_say() {
    let world = World::new("plan.md");
    let agent = |world: &World| world.standing(AddedBy::Agent, true);
    assert_eq!(agent(&world), Approval::Required);
    fs::remove_dir_all(world.place.state.join("drafts")).unwrap();
    assert_eq!(agent(&world), Approval::Required);
    assert_eq!(world.standing(AddedBy::Human, true), Approval::NotRequired);
    assert_eq!(world.standing(AddedBy::Agent, false), Approval::NotRequired);

    world.close();
    assert_eq!(world.standing(AddedBy::Human, false), Approval::NotRequired);
    world.write("plan.md", APPROVED);
    assert_eq!(agent(&world), Approval::Forged);
    crate::open_gate(&world.place, &world.scope).unwrap();
    assert_eq!(agent(&world), Approval::Unsigned);

    keep_draft(&world.place, &world.draft).unwrap();
    world.grant().unwrap();
    assert_eq!(agent(&world), Approval::Approved);
}

#[test]
fn a_marker_from_before_the_gate_is_not_forged() {
    let world = World::new("plan.md");
    world.write("plan.md", "# Another plan\n**Approved:** 2020-01-01\n");
    world.close();
    assert_eq!(world.standing(AddedBy::Agent, false), Approval::Unsigned);
    world.write("plan.md", "# Another plan\n");
    assert_eq!(world.standing(AddedBy::Agent, false), Approval::Required);
}

#[test]
fn nobody_puts_back_what_was_there_before_the_approved_plan() {
    for _ in 0..10 {
        let world = World::new("plan.md");
        let worktree = GateScope::Worktree(world.place.worktree());
        world.write("plan.md", "an older plan");
        world.close();
        world.close_for(&worktree);
        let over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    for broken in seal_breaks(&world.place, &worktree, &world.place.root) {
                        crate::restore(&world.place, &worktree, &world.place.root, &broken.path, NOW).unwrap();
                    }
                }
            });
            world.grant().unwrap();
            over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert_eq!(world.read("plan.md"), APPROVED);
    }
}

#[test]
fn a_gate_that_expired_or_stands_elsewhere_makes_no_forgery() {
    let expired = |gate: &mut Gate| gate.expires_at = Some(NOW);
    let elsewhere = |gate: &mut Gate| gate.root = "/elsewhere".to_owned();
    for change in [expired as fn(&mut Gate), elsewhere] {
        let world = World::new("plan.md");
        world.close();
        world.write("plan.md", APPROVED);
        assert_eq!(world.standing(AddedBy::Agent, false), Approval::Forged);
        let mut gate = gate_of(&world.place, &world.scope).unwrap();
        change(&mut gate);
        close_gate(&world.place, &gate).unwrap();
        assert_eq!(world.standing(AddedBy::Agent, false), Approval::Unsigned);
    }
}
