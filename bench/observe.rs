//! Measures the time of each fact beside git's own answer, on generated repositories.
//!
//! `cargo xtask bench observe [FILES]...` runs it (default: 1000, 10000 and 100000). Steadfast and git run in turn, so
//! that other load affects both. The table shows medians, their ratio, and the median of the pairs' differences.
#![expect(clippy::unwrap_used, reason = "a measurement that cannot be made is none")]
#![expect(clippy::disallowed_methods, reason = "git's own time is what we compare with")]
#![expect(clippy::print_stdout, reason = "the table is the result")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use steadfast_model::Fact;
use steadfast_observe::{Checkout, Point, TOOL_EVENT};

const LONG: Duration = Duration::from_secs(120);

type Asked<'a> = Box<dyn Fn() + 'a>;

struct Bench {
    root: PathBuf,
    files: usize,
}

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).map(|count| count.parse().unwrap()).collect();
    let sizes = if given.is_empty() { vec![1_000, 10_000, 100_000] } else { given };
    println!("| files | fact | ours, ms | git, ms | ratio | difference, ms |");
    println!("| ---: | --- | ---: | ---: | ---: | ---: |");
    for files in sizes {
        let dir = tempfile::tempdir().unwrap();
        let bench = Bench { root: fs::canonicalize(dir.path()).unwrap().join("root"), files };
        bench.generate();
        bench.table(&dir.path().join("private"), &dir.path().join("control"));
    }
}

impl Bench {
    /// Creates a hundred files per folder in one commit, then changes three files, removes one and adds two.
    fn generate(&self) {
        for n in 0..self.files {
            let dir = self.root.join(format!("d{}/e{}", n / 1_000, n / 100 % 10));
            if n % 100 == 0 {
                fs::create_dir_all(&dir).unwrap();
            }
            fs::write(dir.join(format!("f{}.txt", n % 100)), format!("{n}\n")).unwrap();
        }
        self.git(&["init", "--quiet"]);
        // The commit would start a clean-up in the background, beside the measurements.
        self.git(&["config", "gc.auto", "0"]);
        self.git(&["config", "maintenance.auto", "false"]);
        self.git(&["add", "--all"]);
        self.git(&["-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "--message=x"]);
        self.git(&["update-index", "--refresh"]);
        (0..3).for_each(|n| fs::write(self.root.join(format!("d0/e0/f{n}.txt")), "changed").unwrap());
        fs::remove_file(self.root.join("d0/e0/f9.txt")).unwrap();
        (0..2).for_each(|n| fs::write(self.root.join(format!("d0/e1/new{n}.txt")), "new").unwrap());
    }

    fn table(&self, private: &Path, control: &Path) {
        let repository = Checkout::find(&self.root);
        let commit = self.git(&["rev-parse", "HEAD"]).trim().to_owned();
        let ten: Vec<String> = (10..20).map(|n| format!("d0/e0/f{n}.txt")).collect();
        let list = ten.join("\n") + "\n";
        let tree = known(repository.tree_id(private, LONG));
        self.tree_by_hand(control, true);
        let status: [&str; 5] = ["status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all"];
        let normal: [&str; 5] = ["status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=normal"];
        let others: [&str; 4] = ["ls-files", "--others", "--exclude-standard", "-z"];
        let diff = |point: &str| drop(self.git(&["diff", "--name-status", "-z", "--no-renames", point]));

        let find = || drop(Checkout::find(&self.root.join("d0/e0")));
        let whereabouts = ["rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"];
        self.row("find", &[Box::new(find), Box::new(|| drop(self.git(&whereabouts)))]);
        let branch = || drop(known(repository.branch(LONG)));
        self.row("branch", &[Box::new(branch), Box::new(|| drop(self.git(&["symbolic-ref", "HEAD"])))]);
        let stat = || drop(repository.stat(&ten, LONG));
        self.row("stat, 10 paths", &[Box::new(stat), Box::new(|| drop(self.git(&["ls-files", "--debug", "d0/e0"])))]);
        let ids = || drop(known(repository.object_ids(&ten, LONG)));
        self.row("object ids, 10 files", &[Box::new(ids), Box::new(|| self.hash(&list))]);
        let head = || drop(known(repository.changed_since(&Point::Head, LONG)));
        let by_status = || drop(self.git(&status));
        self.row("changed since HEAD", &[Box::new(head), Box::new(by_status)]);
        // The measured difference of two identical commands.
        self.row("git beside itself", &[Box::new(by_status), Box::new(by_status)]);
        let point = Point::Commit(commit.parse().unwrap());
        let since = || drop(known(repository.changed_since(&point, LONG)));
        let by_diff = || {
            diff(&commit);
            self.git(&others);
        };
        self.row("changed since a commit", &[Box::new(since), Box::new(by_diff)]);
        let point = Point::Tree { id: tree, private_dir: private.to_owned() };
        let since = || drop(known(repository.changed_since(&point, LONG)));
        let by_tree = || drop(self.tree_by_hand(control, false));
        self.row("changed since a tree", &[Box::new(since), Box::new(by_tree)]);
        let ours = || drop(known(repository.tree_id(private, LONG)));
        self.row("tree id, kept index", &[Box::new(ours), Box::new(by_tree)]);
        let fresh = || {
            let _ = fs::remove_file(private.join("base"));
            ours();
        };
        let by_copy = || drop(self.tree_by_hand(control, true));
        self.row("tree id, new copy", &[Box::new(fresh), Box::new(by_copy)]);

        self.git(&["config", "core.untrackedCache", "true"]);
        self.git(&["update-index", "--untracked-cache"]);
        // The cache is filled by the first status that may write.
        (0..2).for_each(|_| drop(self.git_with_locks(&["status"])));
        self.row("changed since HEAD, untracked cache", &[Box::new(head), Box::new(|| drop(self.git(&normal)))]);
        self.git(&["config", "core.untrackedCache", "false"]);
        self.worst_of_tool_events(&repository);
    }

    fn row(&self, name: &str, asked: &[Asked<'_>; 2]) {
        let rounds = if self.files > 50_000 { 61 } else { 101 };
        let mut times = [vec![], vec![]];
        for round in 0..rounds {
            for which in [round % 2, 1 - round % 2] {
                let began = Instant::now();
                asked[which]();
                times[which].push(began.elapsed().as_secs_f64() * 1e3);
            }
        }
        let pairs = times[0].iter().zip(&times[1]).map(|(ours, git)| ours - git).collect();
        let [ours, git] = times.map(median);
        println!("| {} | {name} | {ours:.2} | {git:.2} | {:.2} | {:+.2} |", self.files, ours / git, median(pairs));
    }

    /// Measures the longest time that a tool event waits, with or without an answer. For comparison, it measures a
    /// sleep of the same length on this machine, beside a running git.
    fn worst_of_tool_events(&self, repository: &Checkout) {
        let (mut worst, mut asleep, mut over) = (Duration::ZERO, Duration::ZERO, 0);
        for _ in 0..50 {
            let began = Instant::now();
            over += u32::from(matches!(repository.changed_since(&Point::Head, TOOL_EVENT), Fact::Unknown(_)));
            worst = worst.max(began.elapsed());
            let mut status = Command::new("git");
            status.env("GIT_OPTIONAL_LOCKS", "0").current_dir(&self.root).arg("status").stdout(Stdio::null());
            let mut beside = status.spawn().unwrap();
            let began = Instant::now();
            std::thread::sleep(TOOL_EVENT);
            asleep = asleep.max(began.elapsed());
            beside.wait().unwrap();
        }
        let [worst, asleep] = [worst, asleep].map(|time| time.as_secs_f64() * 1e3);
        let name = format!("worst of 50 with {} ms to spend, {over} unknown; a sleep", TOOL_EVENT.as_millis());
        println!(
            "| {} | {name} | {worst:.2} | {asleep:.2} | {:.2} | {:+.2} |",
            self.files,
            worst / asleep,
            worst - asleep
        );
    }

    fn git(&self, args: &[&str]) -> String {
        self.run(Command::new("git").env("GIT_OPTIONAL_LOCKS", "0").args(args))
    }

    fn git_with_locks(&self, args: &[&str]) -> String {
        self.run(Command::new("git").args(args))
    }

    fn hash(&self, list: &str) {
        let mut command = Command::new("git");
        command.current_dir(&self.root).args(["hash-object", "--stdin-paths"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(list.as_bytes()).unwrap();
        assert!(child.wait_with_output().unwrap().status.success());
    }

    /// Computes the same with plain git commands, on its own index.
    fn tree_by_hand(&self, dir: &Path, copy: bool) -> String {
        if copy {
            fs::create_dir_all(dir.join("objects")).unwrap();
            fs::copy(self.root.join(".git/index"), dir.join("index")).unwrap();
        }
        let git = |args: &[&str]| {
            let mut command = Command::new("git");
            command
                .env("GIT_INDEX_FILE", dir.join("index"))
                .env("GIT_OBJECT_DIRECTORY", dir.join("objects"))
                .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.root.join(".git/objects"));
            self.run(command.args(args))
        };
        git(&["add", "--all"]);
        git(&["write-tree"])
    }

    fn run(&self, command: &mut Command) -> String {
        let output = command.current_dir(&self.root).output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn known<T>(fact: Fact<T>) -> T {
    match fact {
        Fact::Known(value) => value,
        Fact::Unknown(why) => panic!("unknown: {why}"),
        Fact::NotAsked => panic!("not asked"),
    }
}
