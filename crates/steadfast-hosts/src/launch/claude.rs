use std::ffi::OsString;

use super::{DUMMY_KEY, Launch, LaunchOptions};

/// Builds `claude -p` with events as JSON lines on stdout.
pub fn claude(options: &LaunchOptions) -> Launch {
    let mut args: Vec<OsString> = ["-p", "--output-format", "stream-json", "--verbose"].map(OsString::from).to_vec();
    if options.unasked {
        args.push("--dangerously-skip-permissions".into());
    }
    if let Some(settings) = &options.settings {
        args.extend(["--settings".into(), settings.into()]);
    }
    // A prompt may begin with a dash.
    args.extend(["--".into(), OsString::from(&options.prompt)]);
    let launch = Launch::new(options, args);
    match &options.alone {
        None => launch,
        Some(alone) => launch
            .with_env("ANTHROPIC_BASE_URL", &alone.model_url)
            .with_env("ANTHROPIC_API_KEY", DUMMY_KEY)
            .with_env("DISABLE_AUTOUPDATER", "1")
            .with_env("DISABLE_TELEMETRY", "1")
            .with_env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            // Without it Claude Code refuses to skip permissions as root, the user in containers.
            .with_env("IS_SANDBOX", "1"),
    }
}
