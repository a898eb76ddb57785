//! Prompts in other languages that look as if they forbid something. Nothing is read out of them: the human is told once
//! that this was not understood.
//!
//! A word that denies has to stand near one for what is denied, in a clause that is no question and describes nothing.

/// Where a long text is looked at, in bytes from both of its ends.
const LOOKED_AT: usize = 8_000;
/// How far apart the two words may be.
const NEAR: usize = 4;

const LANGUAGES: &str = include_str!("languages.txt");

/// The language in which a text seems to forbid something.
pub(crate) fn forbids(text: &str) -> Option<&'static str> {
    let text = if text.len() > 2 * LOOKED_AT {
        let (head, tail) = (text.floor_char_boundary(LOOKED_AT), text.ceil_char_boundary(text.len() - LOOKED_AT));
        format!("{}\n{}", &text[..head], &text[tail..])
    } else {
        text.to_owned()
    };
    let text = without_code(&text).to_lowercase();
    let clauses = clauses(&text);
    let spaced = || {
        let languages = LANGUAGES.lines().filter(|line| !line.starts_with('#')).filter_map(Language::of);
        languages
            .into_iter()
            .find(|language| clauses.iter().any(|clause| language.is_denied(clause)))
            .map(|found| found.name)
    };
    if clauses.iter().any(|clause| chinese(clause)) {
        return Some("Chinese");
    }
    if clauses.iter().any(|clause| japanese(clause)) {
        return Some("Japanese");
    }
    spaced()
}

/// What stands in backticks, fences and quotes is spoken of.
fn without_code(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.trim_start().starts_with('>') {
            let parts = line.split('`').enumerate();
            kept.extend(parts.filter(|(at, _)| at % 2 == 0).map(|(_, part)| part));
            kept.push('\n');
        }
    }
    kept
}

/// The clauses of a text, those of questions apart.
fn clauses(text: &str) -> Vec<&str> {
    const ENDS: [char; 8] = ['.', '!', '\n', '。', '！', ';', '；', '…'];
    let mut found = Vec::new();
    for sentence in text.split_inclusive(|c: char| ENDS.contains(&c) || c == '?' || c == '？') {
        if sentence.trim_end().ends_with(['?', '？']) || sentence.contains('¿') {
            continue;
        }
        found.extend(sentence.split([',', '，', '、', ':', '：', '—', '–']).map(str::trim));
    }
    found
}

struct Language {
    name: &'static str,
    denies: Vec<&'static str>,
    denied: Vec<&'static str>,
    about: Vec<&'static str>,
}

impl Language {
    fn of(line: &'static str) -> Option<Self> {
        let mut fields = line.split('\t');
        let name = fields.next()?;
        let mut words = || fields.next().map(|words| words.split(' ').collect());
        Some(Self { name, denies: words()?, denied: words()?, about: words()? })
    }

    fn is_denied(&self, clause: &str) -> bool {
        let words: Vec<&str> = clause
            .split(|c: char| !c.is_alphanumeric() && c != '/' && c != '-')
            .filter(|word| !word.is_empty())
            .collect();
        let own = self.own(&words);
        // `no hay`, `es gibt keine`: how it is.
        if own.iter().any(|word| ["hay", "existe", "existen", "gibt", "нет"].contains(word)) {
            return false;
        }
        if own.first().is_none_or(|word| self.about.contains(word)) {
            return false;
        }
        let denied = |word: &str| {
            self.denied.iter().any(|other| match other.strip_suffix('*') {
                Some(stem) => word.starts_with(stem),
                None => word == *other,
            })
        };
        // `nur src/auth ändern`: a path is as good as a noun.
        let place = |word: &str| word.contains('/');
        let at = |is: &dyn Fn(&str) -> bool| -> Vec<usize> {
            own.iter().enumerate().filter(|(_, word)| is(word)).map(|(at, _)| at).collect()
        };
        let (denies, done) = (at(&|word| self.denies.contains(&word)), at(&|word| denied(word) || place(word)));
        // One word of another language is no sentence in this one.
        denies.iter().any(|deny| done.iter().any(|done| deny.abs_diff(*done) <= NEAR && deny != done))
            && self.is_its(own)
    }

    /// The clause without the words that only begin it.
    fn own<'w, 'a>(&self, words: &'w [&'a str]) -> &'w [&'a str] {
        const BEGIN: [&str; 30] = [
            "bitte",
            "und",
            "aber",
            "dann",
            "jetzt",
            "also",
            "doch",
            "repariere",
            "s'il",
            "te",
            "plaît",
            "stp",
            "mais",
            "et",
            "puis",
            "alors",
            "por",
            "favor",
            "pero",
            "y",
            "luego",
            "entonces",
            "пожалуйста",
            "но",
            "и",
            "а",
            "затем",
            "потом",
            "ok",
            "okay",
        ];
        let from = words.iter().position(|word| !BEGIN.contains(word)).unwrap_or(words.len());
        &words[from..]
    }

    /// Whether it has a word that is this language's alone.
    fn is_its(&self, words: &[&str]) -> bool {
        const SHARED: [&str; 24] = [
            "no",
            "solo",
            "que",
            "commit",
            "commits",
            "push",
            "merge",
            "branch",
            "branches",
            "pr",
            "prs",
            "pull",
            "tests",
            "test",
            "code",
            "start",
            "an",
            "internet",
            "dependencies",
            "dependency",
            "install",
            "change",
            "n",
            "edit",
        ];
        words.iter().any(|word| !SHARED.contains(word) && self.denies.contains(word))
            || words.iter().filter(|word| !word.is_ascii()).count() > 0
            || words.iter().any(|word| {
                !SHARED.contains(word)
                    && self.denied.iter().any(|other| match other.strip_suffix('*') {
                        Some(stem) => word.starts_with(stem) && !english(word),
                        None => word == other && !english(word),
                    })
            })
    }
}

/// Words that English has, too.
fn english(word: &str) -> bool {
    const ENGLISH: [&str; 24] = [
        "commit",
        "commits",
        "committed",
        "committing",
        "push",
        "pushes",
        "pushed",
        "pushing",
        "merge",
        "merged",
        "merges",
        "install",
        "installed",
        "installing",
        "deploy",
        "deploys",
        "deployed",
        "deployment",
        "change",
        "changed",
        "changes",
        "edit",
        "edited",
        "editing",
    ];
    ENGLISH.contains(&word) || word.ends_with("ing") || word.ends_with("tion")
}

fn chinese(clause: &str) -> bool {
    const DENIES: [&str; 14] =
        ["不要", "别", "不准", "不许", "禁止", "请勿", "切勿", "不得", "不可以", "不能", "仅", "只能", "只", "无需"];
    const DENIED: [&str; 26] = [
        "提交",
        "推送",
        "push",
        "commit",
        "合并",
        "部署",
        "安装",
        "依赖",
        "删",
        "修改",
        "改",
        "动",
        "碰",
        "更改",
        "新建",
        "创建",
        "运行",
        "执行",
        "跑",
        "发布",
        "重命名",
        "分支",
        "编辑",
        "添加",
        "写",
        "引入",
    ];
    const BEFORE: [&str; 29] = [
        "同意", "许可", "之前", "请", "但", "但是", "先", "你", "也", "都", "千万", "绝对", "暂时", "目前", "现在",
        "并", "并且", "而且", "同时", "然后", "不过", "还", "还是", "一定", "记住", "务必", "修复", "后", "即可",
    ];
    let Some((at, deny)) = DENIES.iter().filter_map(|deny| Some((clause.find(deny)?, *deny))).min() else {
        return false;
    };
    // `用户不能删除…`: somebody else cannot.
    let lead = clause[..at].trim();
    let own = lead.is_empty() || BEFORE.iter().any(|word| lead.ends_with(word)) || lead.is_ascii();
    let rest = &clause[at + deny.len()..];
    let near: String = rest.chars().take(10).collect();
    own && (DENIED.iter().any(|word| near.contains(word)))
}

fn japanese(clause: &str) -> bool {
    const DENIES: [&str; 13] = [
        "ないで",
        "ないこと",
        "てはいけ",
        "てはなら",
        "ではいけ",
        "禁止",
        "するな",
        "触るな",
        "ちゃだめ",
        "ちゃダメ",
        "なしで",
        "ずに",
        "以外は",
    ];
    const DENIED: [&str; 26] = [
        "コミット",
        "プッシュ",
        "commit",
        "push",
        "マージ",
        "デプロイ",
        "インストール",
        "依存",
        "削除",
        "変更",
        "触",
        "編集",
        "追加",
        "テスト",
        "実行",
        "ブランチ",
        "プルリク",
        "リネーム",
        "作ら",
        "作成",
        "書き換え",
        "消さ",
        "変え",
        "いじ",
        "公開",
        "移動",
    ];
    // `表示されないです` says how it is; `ユーザーが…` who does it.
    let clause = clause.replace("ないです", "").replace("ないでしょう", "");
    let Some(at) = DENIES.iter().filter_map(|deny| clause.rfind(deny)).max() else { return false };
    let before = &clause[..at];
    let kana = clause.chars().any(|c| ('\u{3040}'..='\u{30ff}').contains(&c));
    let denied = DENIED.iter().any(|word| before.contains(word) || clause[at..].starts_with("触"));
    kana && denied && !before.contains('が')
}
