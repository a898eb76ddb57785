use std::fmt;

use steadfast_model::Drift;

/// A kind of work, recognised by its files and by the words for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkTopic {
    Style,
    Database,
    Delivery,
    Translation,
}

impl WorkTopic {
    const ALL: [Self; 4] = [Self::Style, Self::Database, Self::Delivery, Self::Translation];

    /// Endings and names of its files.
    fn files(self) -> &'static [&'static str] {
        match self {
            Self::Style => &[".css", ".scss", ".sass", ".less", ".styl"],
            Self::Database => &[".sql", ".prisma", "migrations/", "migrate/"],
            Self::Delivery => {
                &[".github/", ".gitlab-ci", "dockerfile", "docker-compose", ".tf", "helm/", "k8s/", "jenkinsfile"]
            }
            Self::Translation => &["locales/", "i18n/", "translations/", ".po"],
        }
    }

    /// Words of a human that mean it.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Style => words!("style topic").0,
            Self::Database => words!("database topic").0,
            Self::Delivery => words!("delivery topic").0,
            Self::Translation => {
                &["translation", "translate", "locale", "language", "german", "french", "spanish", "text", "wording"]
            }
        }
    }

    fn is(self, path: &str) -> bool {
        let path = path.to_lowercase();
        self.files().iter().any(|mark| {
            if mark.ends_with('/') {
                path.starts_with(mark) || path.contains(&format!("/{mark}"))
            } else if mark.starts_with('.') && !mark.starts_with(".git") {
                path.ends_with(mark)
            } else {
                path.rsplit('/').next().unwrap_or(&path).starts_with(mark)
            }
        })
    }
}

impl fmt::Display for WorkTopic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Style => "styling",
            Self::Database => "the database",
            Self::Delivery => "build and delivery",
            Self::Translation => "translations",
        })
    }
}

/// Returns the kind of work of a path, if neither the human's words nor the work so far are of that kind.
///
/// ```
/// use steadfast_engine::drift::{WorkTopic, off_topic};
/// use steadfast_model::{Drift, Places};
///
/// let work = |words: &[&str], known: &[&str]| Drift {
///     words: words.iter().map(|word| word.to_string()).collect(),
///     places: Places { known: known.iter().map(|path| path.to_string()).collect(), ..Places::default() },
///     ..Drift::default()
/// };
/// // The goal is auth; this is CSS.
/// assert_eq!(off_topic(&work(&["auth", "token"], &["src/auth.rs"]), "web/theme.css"), Some(WorkTopic::Style));
/// // The human spoke of the theme.
/// assert_eq!(off_topic(&work(&["dark", "theme"], &[]), "web/theme.css"), None);
/// // Styles were part of the work from the beginning.
/// assert_eq!(off_topic(&work(&["auth"], &["web/login.css"]), "web/theme.css"), None);
/// ```
pub fn off_topic(memory: &Drift, path: &str) -> Option<WorkTopic> {
    let kind = WorkTopic::ALL.into_iter().find(|kind| kind.is(path))?;
    let meant = memory.words.iter().any(|word| kind.words().contains(&word.as_str()));
    let done = memory.places.known.iter().any(|known| kind.is(known));
    (!meant && !done).then_some(kind)
}
