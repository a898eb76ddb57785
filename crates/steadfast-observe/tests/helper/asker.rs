//! Asks git as the product does, in a process of its own: for tests about its environment or its death. Not a part of the
//! product.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails by panicking")]
#![expect(clippy::print_stdout, reason = "it tells what it found")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use steadfast_model::Fact;
use steadfast_observe::{Checkout, Point};

/// As long as any of it may take.
const LONG: Duration = Duration::from_secs(60);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["answers", root, budget] => answers(Path::new(root), Duration::from_millis(budget.parse().unwrap())),
        ["works-until-killed", root] => works_until_killed(&PathBuf::from(root)),
        _ => panic!("unknown part {arguments:?}"),
    }
}

fn answers(root: &Path, budget: Duration) {
    let repository = Checkout::find(root);
    println!("= {:?}", repository.branch(budget));
    let began = Instant::now();
    println!("= {:?}", repository.changed_since(&Point::Head, budget));
    println!("= {}", began.elapsed().as_millis());
}

fn works_until_killed(root: &Path) {
    let repository = Checkout::find(root);
    for round in 0..10_000 {
        std::fs::write(root.join("busy.txt"), format!("{} {round}", std::process::id())).unwrap();
        let tree = repository.tree_id(&root.join(".git/steadfast/tree"), LONG);
        let changes = repository.changed_since(&Point::Head, LONG);
        // Unknown is right while somebody kills the git that was asked.
        if let (Fact::Known(_), Fact::Known(_)) = (tree, changes) {
            println!("= {round}");
        }
    }
}
