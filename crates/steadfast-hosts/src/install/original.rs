use super::error::SettingsError;
use super::json::{Document, Step};

/// The content of a file before us, as far as it is known. It tells which of the containers that we emptied existed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Original(Option<Document>);

impl Original {
    /// An unreadable text counts as unknown.
    pub(crate) fn from_text(text: Option<&str>) -> Self {
        Self(text.and_then(|text| Document::parse_settings(text).ok()))
    }

    pub(crate) fn document(&self) -> Option<&Document> {
        self.0.as_ref()
    }

    /// Restores the container at `path` after something of ours was removed from it. An empty container becomes what it
    /// was; if it did not exist, it is removed, and so on outwards.
    pub(crate) fn restore(&self, document: &mut Document, path: &[Step<'_>]) -> Result<(), SettingsError> {
        let mut path = path;
        loop {
            if !document.get(path)?.is_some_and(super::json::Node::is_empty) {
                return Ok(());
            }
            let before = self.0.as_ref().and_then(|original| Some((original, original.get(path).ok()??)));
            if let Some((original, node)) = before {
                return if node.is_empty() { document.replace_raw(path, original.raw(node)) } else { Ok(()) };
            }
            let Some((_, parent)) = path.split_last() else { return Ok(()) };
            document.remove(path)?;
            path = parent;
        }
    }
}

/// Returns the containers along `path` and nothing else: enough to restore them, without a copy of the rest of the
/// file.
pub(crate) fn outline(text: &str, path: &[&str]) -> Result<String, SettingsError> {
    let document = Document::parse_settings(text)?;
    let mut outline = String::new();
    let mut closing = String::new();
    for depth in 0..=path.len() {
        let steps: Vec<_> = path[..depth].iter().map(|key| Step::Key(key)).collect();
        let Some(node) = document.get(&steps)?.filter(|node| node.members().is_some()) else { break };
        if depth > 0 {
            outline.push_str(&format!("{}:", serde_json::Value::from(path[depth - 1])));
        }
        if node.is_empty() {
            outline.push_str(document.raw(node));
            return Ok(outline + &closing);
        }
        outline.push('{');
        closing.push('}');
    }
    Ok(outline + &closing)
}
