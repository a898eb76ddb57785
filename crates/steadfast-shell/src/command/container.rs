//! Containers: paths inside do not affect the host, except in mounted folders.

use crate::expand::Arg;
use crate::table::data::{has, words_of};
use crate::text::{ANY, resolve};
use crate::walk::{NO_STDIN, Walk};

const TEXT: &str = include_str!("words.txt");

/// Options of `docker run` that take a value.
static VALUED: &[&str] = words_of!(TEXT, "docker run");

impl Walk {
    /// Reads the arguments of `docker`: for `run`, with the mounted folders.
    pub(crate) fn container(&mut self, args: &[Arg]) {
        let Some(at) = args.iter().position(|arg| arg.text == "run") else { return };
        let mut mounts = Vec::new();
        let mut folder = "/".to_owned();
        let mut rest = args[at + 1..].iter().enumerate();
        let mut image = None;
        while let Some((at, arg)) = rest.next() {
            let (option, value) = match arg.text.split_once('=') {
                Some((option, value)) if option.starts_with("--") => (option, Some(value.to_owned())),
                _ => (arg.text.as_str(), None),
            };
            if !option.starts_with('-') {
                image = Some(at);
                break;
            }
            let takes = matches!(option, "-v" | "--volume" | "--mount" | "-w" | "--workdir") || has(VALUED, option);
            let value = if takes { value.or_else(|| rest.next().map(|(_, arg)| arg.text.clone())) } else { value };
            match (option, value) {
                ("-v" | "--volume", Some(value)) => mounts.extend(volume(&value)),
                ("--mount", Some(value)) => mounts.extend(mount(&value)),
                ("-w" | "--workdir", Some(value)) => folder = value,
                _ => {}
            }
        }
        let Some(image) = image else { return };
        let command = args.get(at + 2 + image..).unwrap_or_default().to_vec();
        let mounts: Vec<(String, String)> =
            mounts.into_iter().map(|(host, inside)| (inside, resolve(&host, &self.state.cwd))).collect();
        let known = self.links.len();
        let before = self.effects.len();
        self.links.extend(mounts.iter().cloned());
        self.in_subshell(|walk| {
            walk.state.cwd = folder;
            walk.run(&command, NO_STDIN);
        });
        self.links.truncate(known);
        // Other writes stay inside the container.
        let any = shown_any();
        let mut at = 0;
        self.effects.retain(|effect| {
            at += 1;
            let outside =
                |path: &String| mounts.iter().any(|(_, host)| path.starts_with(host.as_str()) || path.starts_with(any));
            at <= before || effect.path.as_ref().is_none_or(outside)
        });
    }
}

fn shown_any() -> &'static str {
    debug_assert_eq!(crate::text::shown(&ANY.to_string()), "**");
    "**"
}

/// Reads `host:inside[:options]`. A host side without a slash is the name of a volume.
fn volume(value: &str) -> Option<(String, String)> {
    let mut parts = value.split(':');
    let (host, inside) = (parts.next()?, parts.next()?);
    let read_only = parts.next().is_some_and(|options| options.split(',').any(|option| option == "ro"));
    let is_path = host.contains('/') || host.starts_with(['.', '~', ANY]);
    (is_path && !read_only).then(|| (host.to_owned(), inside.trim_end_matches('/').to_owned()))
}

/// Reads `type=bind,source=…,target=…`.
fn mount(value: &str) -> Option<(String, String)> {
    let field = |names: &[&str]| {
        value
            .split(',')
            .filter_map(|field| field.split_once('='))
            .find(|(name, _)| names.contains(name))
            .map(|(_, v)| v)
    };
    let read_only = value.split(',').any(|field| matches!(field, "readonly" | "ro" | "readonly=true"));
    let (host, inside) = (field(&["source", "src"])?, field(&["target", "dst", "destination"])?);
    (!read_only).then(|| (host.to_owned(), inside.trim_end_matches('/').to_owned()))
}
