use crate::draft::Text;

/// What a line below a task says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Type,
    Files,
    Verify,
    Criteria,
    After,
    Status,
    Estimate,
    Notes,
}

impl Field {
    pub(crate) fn named(word: &str) -> Option<Self> {
        let word = word.trim().trim_matches(['*', '_', '`', ':']).trim().to_lowercase();
        Some(match word.as_str() {
            "type" | "kind" => Self::Type,
            "file" | "files" | "paths" | "path" | "dateien" | "datei" | "fichiers" | "archivos" => Self::Files,
            "verify"
            | "verification"
            | "check"
            | "test"
            | "command"
            | "verified by"
            | "verify with"
            | "verify by"
            | "verification command"
            | "test command"
            | "validation"
            | "validate"
            | "how to verify"
            | "prüfung"
            | "prüfen"
            | "vérification"
            | "vérifier"
            | "verificación" => Self::Verify,
            "success criteria"
            | "criteria"
            | "acceptance"
            | "acceptance criteria"
            | "done when"
            | "definition of done"
            | "fertig wenn"
            | "akzeptanzkriterien"
            | "critères d'acceptation" => Self::Criteria,
            "depends on" | "depends" | "depends_on" | "after" | "blocked by" | "dependencies" | "deps"
            | "dependency" | "requires" | "hängt ab von" | "abhängig von" | "dépend de" | "depende de" => {
                Self::After
            }
            "status" => Self::Status,
            "estimate" | "estimated" | "estimated time" | "estimated effort" | "time estimate" | "estimation"
            | "duration" | "effort" | "aufwand" | "dauer" | "schätzung" | "durée" | "duración" => Self::Estimate,
            "note" | "notes" => Self::Notes,
            _ => return None,
        })
    }
}

/// `Files: a, b`, the name perhaps in bold.
pub(crate) fn field(text: &Text) -> Option<(Field, Text)> {
    let (name, value) = text.as_str().split_once(':')?;
    let field = Field::named(name)?;
    let value = value.trim_start_matches(['*', '_']).trim();
    if value.is_empty() {
        return None;
    }
    let start = text.span.start + (value.as_ptr() as usize - text.as_str().as_ptr() as usize);
    Some((field, Text::new(value, start..start + value.len())))
}

/// Names between commas, without backticks.
pub(crate) fn names(text: &Text) -> Vec<Text> {
    let whole = text.as_str();
    whole
        .split([',', ';'])
        .map(|part| part.trim().trim_matches(['`', '*', '[', ']']).trim())
        .filter(|part| !part.is_empty())
        .map(|part| {
            let start = text.span.start + (part.as_ptr() as usize - whole.as_ptr() as usize);
            Text::new(part, start..start + part.len())
        })
        .collect()
}

/// A command without the backticks around it; what stands after them is a remark.
pub(crate) fn unquoted(text: &str) -> String {
    let text = text.trim().trim_start_matches("**").trim();
    match text.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
        Some((command, _)) => command.trim().to_owned(),
        None => text.to_owned(),
    }
}
