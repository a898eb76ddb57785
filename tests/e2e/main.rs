//! The built binary with the real hosts, against a scripted model. `tests/README.md` says what is covered where.

#![expect(clippy::unwrap_used, reason = "clippy spares only the test functions themselves, not what they call")]
#![expect(clippy::disallowed_methods, reason = "tests start programs and read their environment")]

/// One test per scenario and host: `a_scenario::claude_2_1_325`.
macro_rules! on {
    ($scenario:ident: $($agent:ident),+) => {
        mod $scenario {
            $(
                #[test]
                fn $agent() {
                    if let Some(program) = crate::agents::$agent() {
                        super::$scenario(&program);
                    }
                }
            )+
        }
    };
}

macro_rules! on_every_host {
    ($($scenario:ident),+ $(,)?) => {
        $( on!($scenario: claude_2_1_325, claude_2_1_197, codex_0_166_0); )+
    };
}

mod agents;
mod attacks;
mod authority;
mod binding;
mod captures;
mod constraint;
mod context;
mod copilot;
mod demo;
mod drift;
mod events;
mod gate;
mod headless;
mod host_list;
mod housekeeping;
mod journal;
mod let_go;
mod loops;
mod mcp;
mod owners;
mod permission;
mod plugin;
mod promise;
mod proxy;
mod red_team;
mod run;
mod sandbox;
mod scopes;
mod seal;
mod sender;
mod session;
mod shown;
mod speaker;
mod spec;
mod stop;
mod team;
mod terminal;
mod waiting;
mod wiring;
mod world;

#[test]
fn no_file_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("e2e");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for file in std::fs::read_dir(&folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap_or(&name);
        assert!(name == "main.rs" || main.contains(&format!("\nmod {module};\n")), "`{name}` is no module of e2e");
    }
}
