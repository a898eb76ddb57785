//! The token formats, one line each: name, anchor, body, check, texts it finds, texts it leaves.
//!
//! In the examples `{36}` stands for 36 letters and digits, `{36h}` for hex digits, `{36d}` for digits, `{36u}` for
//! upper case and digits, `{36s}` for base64url; a test fills them in. So no line here looks like a live key to secret
//! scanners. A longer anchor comes before a shorter one that it begins with.

use super::Anchor::{After, Behind, Prefix};
use super::Check::{Mixed, Random, Shape};
use super::Class::{Alnum, Base64, Credential, Digit, Dotted, Hex, Slug, Upper, Word};
use super::Part::{PrivateKeyBlock, Run, Text};
use super::{ANY, Rule};

macro_rules! rules {
    ($($name:literal $anchor:expr, [$($part:expr),*], $check:ident, [$($finds:literal),+], [$($leaves:literal),*];)+) => {
        pub(in super::super) const RULES: &[Rule] = &[$(Rule {
            name: $name,
            anchor: $anchor,
            body: &[$($part),*],
            check: $check,
            #[cfg(test)]
            finds: &[$($finds),+],
            #[cfg(test)]
            leaves: &[$($leaves),*],
        }),+];
    };
}

rules! {
    // Clouds
    "aws-access-key" Prefix("AKIA"), [Run(Upper, 16, 16)], Shape, ["AKIA{16u}"], ["AKIA{9u}EXAMPLE", "AKIA{17u}", "xAKIA{16u}"];
    "aws-access-key" Prefix("ASIA"), [Run(Upper, 16, 16)], Mixed, ["ASIA{16u}"], ["ASIA", "ASIAN MARKETS"];
    "aws-access-key" Prefix("ABIA"), [Run(Upper, 16, 16)], Mixed, ["ABIA{16u}"], ["ABIA{8u}"];
    "aws-access-key" Prefix("ACCA"), [Run(Upper, 16, 16)], Mixed, ["ACCA{16u}"], ["ACCA"];
    "aws-bedrock-key" Prefix("ABSK"), [Run(Base64, 109, ANY)], Mixed, ["ABSK{109}"], ["ABSK{20}"];
    "alibaba-access-key" Prefix("LTAI"), [Run(Alnum, 20, 20)], Mixed, ["LTAI{20}"], ["LTAI{8}"];
    "google-api-key" Prefix("AIza"), [Run(Slug, 35, 35)], Shape, ["AIza{35s}", "?key=AIza{35}&q=1"], ["AIza{20}"];
    "google-oauth" Prefix("ya29."), [Run(Dotted, 20, ANY)], Mixed, ["ya29.{68s}"], ["ya29.md"];
    "google-oauth" Prefix("GOCSPX-"), [Run(Slug, 28, 28)], Shape, ["GOCSPX-{28}"], ["GOCSPX-secret"];
    "google-oauth" Prefix("1//0"), [Run(Slug, 40, ANY)], Mixed, ["1//0{60s}"], ["1//04", "2021//0"];
    "azure-sas" After("sig="), [Run(Credential, 40, ANY)], Mixed, ["&sig={43}%3D"], ["sig=handler"];
    "digitalocean-token" Prefix("dop_v1_"), [Run(Hex, 64, 64)], Shape, ["dop_v1_{64h}"], ["dop_v1_{32h}"];
    "digitalocean-token" Prefix("doo_v1_"), [Run(Hex, 64, 64)], Shape, ["doo_v1_{64h}"], ["doo_v1_"];
    "digitalocean-token" Prefix("dor_v1_"), [Run(Hex, 64, 64)], Shape, ["dor_v1_{64h}"], ["dor_v1_"];
    "heroku-key" Prefix("HRKU-"), [Run(Slug, 36, ANY)], Mixed, ["HRKU-{60s}", "HRKU-{8h}-{4h}-{4h}-{4h}-{12h}"], ["HRKU-1"];
    "fly-token" Prefix("fo1_"), [Run(Slug, 43, ANY)], Mixed, ["fo1_{43}"], ["fo1_bar"];
    "fly-token" Prefix("fm1r_"), [Run(Base64, 60, ANY)], Mixed, ["fm1r_{100}"], ["fm1r_{10}"];
    "fly-token" Prefix("fm2_"), [Run(Base64, 60, ANY)], Mixed, ["FlyV1 fm2_{100}"], ["fm2_{10}"];
    "netlify-token" Prefix("nfp_"), [Run(Alnum, 36, ANY)], Mixed, ["nfp_{40}"], ["nfp_config"];
    "vercel-token" Prefix("vcp_"), [Run(Alnum, 24, ANY)], Mixed, ["vcp_{56}"], ["vcp_{10}"];
    "render-token" Prefix("rnd_"), [Run(Alnum, 32, ANY)], Random, ["rnd_{32}"], ["rnd_seed"];
    "pulumi-token" Prefix("pul-"), [Run(Hex, 40, 40)], Mixed, ["pul-{40h}"], ["pul-request"];
    "terraform-token" Behind(Alnum, 14, 14, b'.', "atlasv1."), [Run(Slug, 60, ANY)], Shape, ["{14}.atlasv1.{67}"], ["x.atlasv1.{67}"];
    "planetscale-token" Prefix("pscale_tkn_"), [Run(Dotted, 32, ANY)], Shape, ["pscale_tkn_{43s}"], ["pscale_tkn_id"];
    "planetscale-token" Prefix("pscale_pw_"), [Run(Dotted, 32, ANY)], Shape, ["pscale_pw_{43s}"], ["pscale_pw_"];
    "supabase-token" Prefix("sbp_"), [Run(Word, 40, ANY)], Mixed, ["sbp_{40h}"], ["sbp_{12h}"];
    "supabase-token" Prefix("sb_secret_"), [Run(Slug, 24, ANY)], Shape, ["sb_secret_{31s}"], ["sb_secret_key"];
    "neon-key" Prefix("napi_"), [Run(Alnum, 60, ANY)], Mixed, ["napi_{64}"], ["napi_create_function"];
    "databricks-token" Prefix("dapi"), [Run(Hex, 32, 32)], Mixed, ["dapi{32h}", "dapi{32h}-2"], ["dapi{31h}", "dapi"];
    "dynatrace-token" Prefix("dt0c01."), [Run(Alnum, 24, 24), Text("."), Run(Alnum, 64, 64)], Shape, ["dt0c01.{24u}.{64u}"], ["dt0c01.x"];

    // Code and packages
    "github-token" Prefix("ghp_"), [Run(Alnum, 36, ANY)], Shape, ["ghp_{36}", "https://ghp_{36}@github.com/o/r"], ["ghp_{12}", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"];
    "github-token" Prefix("gho_"), [Run(Alnum, 36, ANY)], Shape, ["gho_{36}"], ["gho_token", "test(\"secret|key|gho_|github_pat_\")"];
    "github-token" Prefix("ghu_"), [Run(Alnum, 36, ANY)], Shape, ["ghu_{36}"], ["ghu_"];
    "github-token" Prefix("ghs_"), [Run(Alnum, 36, ANY)], Shape, ["ghs_{36}"], ["ghs_"];
    "github-token" Prefix("ghr_"), [Run(Alnum, 36, ANY)], Shape, ["ghr_{76}"], ["ghr_"];
    "github-token" Prefix("github_pat_"), [Run(Word, 60, ANY)], Mixed, ["github_pat_{22}_{59}"], ["github_pat_{10}", "github_pat_your_token"];
    "gitlab-token" Prefix("glpat-"), [Run(Dotted, 20, ANY)], Mixed, ["glpat-{20s}", "glpat-{27s}.01.{9h}"], ["glpat-xxxxxxxxxxxxxxxxxxxx", "glpat-"];
    "gitlab-token" Prefix("gldt-"), [Run(Slug, 20, ANY)], Mixed, ["gldt-{20s}"], ["gldt-x"];
    "gitlab-token" Prefix("glrt-"), [Run(Dotted, 20, ANY)], Mixed, ["glrt-{20s}"], ["glrt-x"];
    "gitlab-token" Prefix("glrtr-"), [Run(Slug, 20, ANY)], Mixed, ["glrtr-{20s}"], ["glrtr-x"];
    "gitlab-token" Prefix("glcbt-"), [Run(Slug, 20, ANY)], Mixed, ["glcbt-{2h}_{20s}"], ["glcbt-x"];
    "gitlab-token" Prefix("glptt-"), [Run(Slug, 20, ANY)], Mixed, ["glptt-{40h}"], ["glptt-x"];
    "gitlab-token" Prefix("glft-"), [Run(Slug, 20, ANY)], Mixed, ["glft-{20s}"], ["glft-x"];
    "gitlab-token" Prefix("glimt-"), [Run(Slug, 20, ANY)], Mixed, ["glimt-{25s}"], ["glimt-x"];
    "gitlab-token" Prefix("glagent-"), [Run(Slug, 40, ANY)], Mixed, ["glagent-{50s}"], ["glagent-x"];
    "gitlab-token" Prefix("gloas-"), [Run(Slug, 40, ANY)], Mixed, ["gloas-{64s}"], ["gloas-x"];
    "gitlab-token" Prefix("glsoat-"), [Run(Slug, 20, ANY)], Mixed, ["glsoat-{20s}"], ["glsoat-x"];
    "gitlab-token" Prefix("glffct-"), [Run(Slug, 20, ANY)], Mixed, ["glffct-{20s}"], ["glffct-x"];
    "gitlab-token" Prefix("GR1348941"), [Run(Slug, 20, 20)], Shape, ["GR1348941{20}"], ["GR1348941"];
    "npm-token" Prefix("npm_"), [Run(Alnum, 36, ANY)], Mixed, ["npm_{36}", "\\npm_{36}"], ["npm_config_registry", "npm_lifecycle_event"];
    "pypi-token" Prefix("pypi-AgE"), [Run(Slug, 50, ANY)], Shape, ["pypi-AgEIcHlwaS5vcmc{70s}"], ["pypi-AgE", "pypi-publish"];
    "crates-io-token" Prefix("cio"), [Run(Alnum, 32, 32)], Random, ["cio{32}"], ["cio", "cio{20}"];
    "rubygems-key" Prefix("rubygems_"), [Run(Hex, 48, 48)], Mixed, ["rubygems_{48h}"], ["rubygems_api"];
    "nuget-key" Prefix("oy2"), [Run(Alnum, 43, 43)], Mixed, ["oy2{43h}"], ["oy2{20h}"];
    "jfrog-key" Prefix("AKCp"), [Run(Alnum, 69, 69)], Shape, ["AKCp{69}"], ["AKCp8"];
    "docker-token" Prefix("dckr_pat_"), [Run(Slug, 27, ANY)], Shape, ["dckr_pat_{27s}"], ["dckr_pat_x"];
    "docker-token" Prefix("dckr_oat_"), [Run(Slug, 27, ANY)], Shape, ["dckr_oat_{32s}"], ["dckr_oat_x"];
    "circleci-token" Prefix("CCIPAT_"), [Run(Word, 40, ANY)], Shape, ["CCIPAT_{22}_{40h}"], ["CCIPAT_x"];
    "buildkite-token" Prefix("bkua_"), [Run(Hex, 40, 40)], Mixed, ["bkua_{40h}"], ["bkua_x"];
    "sourcegraph-token" Prefix("sgp_"), [Run(Word, 40, ANY)], Mixed, ["sgp_{16h}_{40h}"], ["sgp_x"];
    "postman-key" Prefix("PMAK-"), [Run(Hex, 24, 24), Text("-"), Run(Hex, 34, 34)], Shape, ["PMAK-{24h}-{34h}"], ["PMAK-{24h}"];

    // Language models
    "anthropic-key" Prefix("sk-ant-"), [Run(Slug, 20, ANY)], Mixed, ["sk-ant-api03-{93s}", "sk-ant-oat01-{93s}"], ["sk-ant-...", "sk-ant-your-key-goes-here-123"];
    "openrouter-key" Prefix("sk-or-v1-"), [Run(Hex, 64, 64)], Mixed, ["sk-or-v1-{64h}"], ["sk-or-v1-"];
    "openai-key" Prefix("sk-proj-"), [Run(Slug, 20, ANY)], Mixed, ["sk-proj-{156s}"], ["sk-proj-xxxx", "sk-proj-"];
    "openai-key" Prefix("sk-svcacct-"), [Run(Slug, 20, ANY)], Mixed, ["sk-svcacct-{156s}"], ["sk-svcacct-"];
    "openai-key" Prefix("sk-admin-"), [Run(Slug, 20, ANY)], Random, ["sk-admin-{120s}"], ["sk-admin-panel-column-wide-2"];
    "openai-key" Prefix("sk-"), [Run(Slug, 32, ANY)], Mixed, ["sk-{48}", "sk-{32h}"], ["sk-folding-cube-container-very-large", "sk-1234"];
    "huggingface-token" Prefix("hf_"), [Run(Alnum, 30, ANY)], Shape, ["hf_{34}"], ["hf_hub_download", "hf_token"];
    "huggingface-token" Prefix("api_org_"), [Run(Alnum, 34, 34)], Shape, ["api_org_{34}"], ["api_org_id"];
    "replicate-token" Prefix("r8_"), [Run(Alnum, 37, 37)], Mixed, ["r8_{37}"], ["r8_unorm"];
    "perplexity-key" Prefix("pplx-"), [Run(Alnum, 40, ANY)], Mixed, ["pplx-{48}"], ["pplx-api"];
    "groq-key" Prefix("gsk_"), [Run(Alnum, 40, ANY)], Mixed, ["gsk_{52}"], ["gsk_render_node"];
    "xai-key" Prefix("xai-"), [Run(Alnum, 60, ANY)], Mixed, ["xai-{80}"], ["xai-grok"];
    "langsmith-key" Prefix("lsv2_"), [Run(Word, 40, ANY)], Mixed, ["lsv2_pt_{32h}_{10h}"], ["lsv2_x"];
    "tavily-key" Prefix("tvly-"), [Run(Slug, 32, ANY)], Random, ["tvly-dev-{32}"], ["tvly-client"];

    // Chat and mail
    "slack-token" Prefix("xoxb-"), [Run(Slug, 20, ANY)], Mixed, ["xoxb-{12d}-{12d}-{24}"], ["xoxb-your-token", "xoxb-"];
    "slack-token" Prefix("xoxp-"), [Run(Slug, 20, ANY)], Mixed, ["xoxp-{12d}-{12d}-{12d}-{32h}"], ["xoxp-"];
    "slack-token" Prefix("xoxa-"), [Run(Slug, 20, ANY)], Mixed, ["xoxa-2-{12d}-{12d}-{32h}"], ["xoxa-"];
    "slack-token" Prefix("xoxr-"), [Run(Slug, 20, ANY)], Mixed, ["xoxr-{12d}-{12d}-{24}"], ["xoxr-"];
    "slack-token" Prefix("xoxs-"), [Run(Slug, 20, ANY)], Mixed, ["xoxs-{12d}-{12d}-{24}"], ["xoxs-"];
    "slack-token" Prefix("xoxc-"), [Run(Slug, 20, ANY)], Mixed, ["xoxc-{12d}-{12d}-{64h}"], ["xoxc-"];
    "slack-token" Prefix("xoxd-"), [Run(Credential, 20, ANY)], Mixed, ["xoxd-{40}%2B{40}"], ["xoxd-"];
    "slack-token" Prefix("xoxe"), [Run(Dotted, 40, ANY)], Mixed, ["xoxe.xoxp-1-{163}", "xoxe-1-{147}"], ["xoxe"];
    "slack-token" Prefix("xapp-"), [Run(Slug, 30, ANY)], Mixed, ["xapp-1-A{10u}-{13d}-{64h}"], ["xapp-1-x"];
    "slack-webhook" After("hooks.slack.com/services/"), [Run(Base64, 30, ANY)], Mixed, ["https://hooks.slack.com/services/T{8u}/B{8u}/{24}"], ["hooks.slack.com/services/", "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"];
    "slack-webhook" After("hooks.slack.com/workflows/"), [Run(Base64, 30, ANY)], Mixed, ["https://hooks.slack.com/workflows/T{8u}/A{8u}/{17d}/{24}"], ["hooks.slack.com/workflows/"];
    "teams-webhook" After("webhook.office.com/webhookb2/"), [Run(Credential, 36, ANY), Text("@"), Run(Credential, 36, ANY)], Mixed, ["https://x.webhook.office.com/webhookb2/{36h}@{36h}/IncomingWebhook/{32h}/{36h}"], ["webhook.office.com/webhookb2/"];
    "discord-webhook" After("discord.com/api/webhooks/"), [Run(Digit, 17, 20), Text("/"), Run(Slug, 60, ANY)], Shape, ["https://discord.com/api/webhooks/{18d}/{68s}"], ["discord.com/api/webhooks/123"];
    "discord-webhook" After("discordapp.com/api/webhooks/"), [Run(Digit, 17, 20), Text("/"), Run(Slug, 60, ANY)], Shape, ["discordapp.com/api/webhooks/{18d}/{68s}"], ["discordapp.com/api/webhooks/"];
    // A bot token begins with its numeric id in base64: a digit, then the upper half of another digit.
    "discord-token" Prefix("MT"), [Run(Slug, 21, 26), Text("."), Run(Slug, 6, 6), Text("."), Run(Slug, 27, 40)], Mixed, ["MT{22}.{6}.{27s}"], ["MT{22}.{5}.{27s}", "MTU size"];
    "discord-token" Prefix("Mj"), [Run(Slug, 21, 26), Text("."), Run(Slug, 6, 6), Text("."), Run(Slug, 27, 40)], Mixed, ["Mj{22}.{6}.{38s}"], ["Mj"];
    "discord-token" Prefix("Mz"), [Run(Slug, 21, 26), Text("."), Run(Slug, 6, 6), Text("."), Run(Slug, 27, 40)], Mixed, ["Mz{22}.{6}.{38s}"], ["Mz"];
    "discord-token" Prefix("ND"), [Run(Slug, 21, 26), Text("."), Run(Slug, 6, 6), Text("."), Run(Slug, 27, 40)], Mixed, ["ND{22}.{6}.{27s}"], ["NDJSON"];
    "discord-token" Prefix("NT"), [Run(Slug, 21, 26), Text("."), Run(Slug, 6, 6), Text("."), Run(Slug, 27, 40)], Mixed, ["NT{22}.{6}.{27s}"], ["NTFS"];
    "discord-token" Prefix("Nj"), [Run(Slug, 21, 26), Text("."), Run(Slug, 6, 6), Text("."), Run(Slug, 27, 40)], Mixed, ["Nj{22}.{6}.{27s}"], ["Nj"];
    "discord-token" Prefix("Nz"), [Run(Slug, 21, 26), Text("."), Run(Slug, 6, 6), Text("."), Run(Slug, 27, 40)], Mixed, ["Nz{22}.{6}.{27s}"], ["Nz"];
    "discord-token" Prefix("OD"), [Run(Slug, 21, 26), Text("."), Run(Slug, 6, 6), Text("."), Run(Slug, 27, 40)], Mixed, ["OD{22}.{6}.{27s}"], ["ODBC"];
    "discord-token" Prefix("OT"), [Run(Slug, 21, 26), Text("."), Run(Slug, 6, 6), Text("."), Run(Slug, 27, 40)], Mixed, ["OT{22}.{6}.{27s}"], ["OTEL_EXPORTER"];
    "telegram-token" Behind(Digit, 8, 10, b':', "AA"), [Run(Slug, 33, 33)], Shape, ["{10d}:AA{33s}", "https://api.telegram.org/bot{9d}:AA{33}/getMe"], ["{5d}:AA{33s}", "12345678:AA{12}"];
    "sendgrid-key" Prefix("SG."), [Run(Slug, 22, 22), Text("."), Run(Slug, 43, 43)], Shape, ["SG.{22s}.{43s}"], ["SG.md", "SG.{22s}"];
    "mailgun-key" Prefix("key-"), [Run(Hex, 32, 32)], Mixed, ["key-{32h}"], ["key-value", "key-{12h}"];
    "mailchimp-key" Behind(Hex, 32, 32, b'-', "us"), [Run(Digit, 1, 2)], Shape, ["{32h}-us12"], ["region-us1", "{12h}-us1"];
    "brevo-key" Prefix("xkeysib-"), [Run(Slug, 64, ANY)], Mixed, ["xkeysib-{64h}-{16}"], ["xkeysib-"];
    "twilio-key" Prefix("SK"), [Run(Hex, 32, 32)], Mixed, ["SK{32h}"], ["SK{12h}", "SKIP"];

    // Payment and shops
    "stripe-key" Prefix("sk_live_"), [Run(Alnum, 16, ANY)], Mixed, ["sk_live_{24}", "sk_live_{99}"], ["sk_live_xxxxxxxxxxxxxxxxxxxxxxxx", "sk_live_key"];
    "stripe-key" Prefix("sk_test_"), [Run(Alnum, 16, ANY)], Mixed, ["sk_test_{24}"], ["sk_test_key"];
    "stripe-key" Prefix("rk_live_"), [Run(Alnum, 16, ANY)], Mixed, ["rk_live_{24}"], ["rk_live_"];
    "stripe-key" Prefix("rk_test_"), [Run(Alnum, 16, ANY)], Mixed, ["rk_test_{24}"], ["rk_test_"];
    "stripe-key" Prefix("whsec_"), [Run(Base64, 24, ANY)], Mixed, ["whsec_{32}"], ["whsec_test"];
    "shopify-token" Prefix("shpat_"), [Run(Hex, 32, 32)], Mixed, ["shpat_{32h}"], ["shpat_"];
    "shopify-token" Prefix("shpca_"), [Run(Hex, 32, 32)], Mixed, ["shpca_{32h}"], ["shpca_"];
    "shopify-token" Prefix("shppa_"), [Run(Hex, 32, 32)], Mixed, ["shppa_{32h}"], ["shppa_"];
    "shopify-token" Prefix("shpss_"), [Run(Hex, 32, 32)], Mixed, ["shpss_{32h}"], ["shpss_"];
    "square-token" Prefix("sq0atp-"), [Run(Slug, 22, ANY)], Shape, ["sq0atp-{22s}"], ["sq0atp-"];
    "square-token" Prefix("sq0csp-"), [Run(Slug, 43, ANY)], Shape, ["sq0csp-{43s}"], ["sq0csp-"];
    "square-token" Prefix("EAAA"), [Run(Slug, 60, 60)], Random, ["EAAA{60s}"], ["EAAA"];

    // Work tools and monitoring
    "linear-key" Prefix("lin_api_"), [Run(Alnum, 32, ANY)], Mixed, ["lin_api_{40}"], ["lin_api_key"];
    "linear-key" Prefix("lin_oauth_"), [Run(Alnum, 32, ANY)], Mixed, ["lin_oauth_{64h}"], ["lin_oauth_"];
    "notion-token" Prefix("secret_"), [Run(Alnum, 43, 43)], Random, ["secret_{43}"], ["secret_key_base", "secret_name"];
    "notion-token" Prefix("ntn_"), [Run(Alnum, 40, ANY)], Mixed, ["ntn_{11d}{35}"], ["ntn_"];
    "atlassian-token" Prefix("ATATT3"), [Run(Credential, 100, ANY)], Mixed, ["ATATT3{178s}={8u}"], ["ATATT3"];
    "atlassian-token" Prefix("ATCTT3"), [Run(Credential, 100, ANY)], Mixed, ["ATCTT3{178s}={8u}"], ["ATCTT3"];
    "bitbucket-token" Prefix("ATBB"), [Run(Alnum, 32, 32)], Random, ["ATBB{32}"], ["ATBB"];
    "airtable-token" Prefix("pat"), [Run(Alnum, 14, 14), Text("."), Run(Alnum, 64, 64)], Mixed, ["pat{14}.{64h}"], ["patch.diff", "path.to"];
    "figma-token" Prefix("figd_"), [Run(Slug, 36, ANY)], Mixed, ["figd_{40s}"], ["figd_"];
    "grafana-token" Prefix("glsa_"), [Run(Word, 41, 41)], Mixed, ["glsa_{32}_{8h}"], ["glsa_"];
    "grafana-token" Prefix("glc_"), [Run(Base64, 32, ANY)], Mixed, ["glc_{80}"], ["glc_init"];
    "sentry-token" Prefix("sntrys_"), [Run(Credential, 60, ANY)], Mixed, ["sntrys_eyJ{120}=_{43}"], ["sntrys_"];
    "sentry-token" Prefix("sntryu_"), [Run(Hex, 64, 64)], Mixed, ["sntryu_{64h}"], ["sntryu_your_token_here"];
    "new-relic-key" Prefix("NRAK-"), [Run(Alnum, 27, 27)], Shape, ["NRAK-{27u}"], ["NRAK-x"];
    "new-relic-key" Prefix("NRII-"), [Run(Slug, 32, 32)], Shape, ["NRII-{32s}"], ["NRII-x"];
    "doppler-token" Prefix("dp.pt."), [Run(Alnum, 40, 44)], Shape, ["dp.pt.{43}"], ["dp.pt.x"];
    "doppler-token" Prefix("dp.ct."), [Run(Alnum, 40, 44)], Shape, ["dp.ct.{43}"], ["dp.ct.x"];
    "doppler-token" Prefix("dp.sa."), [Run(Alnum, 40, 44)], Shape, ["dp.sa.{43}"], ["dp.sa.x"];
    "doppler-token" Prefix("dp.st."), [Run(Dotted, 40, ANY)], Mixed, ["dp.st.{43}", "dp.st.prd.{43}"], ["dp.st.x"];
    "vault-token" Prefix("hvs."), [Run(Slug, 24, ANY)], Mixed, ["hvs.{95s}"], ["hvs.x"];
    "vault-token" Prefix("hvb."), [Run(Slug, 24, ANY)], Mixed, ["hvb.{140s}"], ["hvb.x"];
    "vault-token" Prefix("hvr."), [Run(Slug, 24, ANY)], Mixed, ["hvr.{95s}"], ["hvr.x"];
    "tailscale-key" Prefix("tskey-"), [Run(Slug, 20, ANY)], Mixed, ["tskey-auth-{12}CNTRL-{32}"], ["tskey-auth"];
    "1password-token" Prefix("ops_eyJ"), [Run(Base64, 200, ANY)], Mixed, ["ops_eyJ{260}"], ["ops_eyJ"];
    "age-key" Prefix("AGE-SECRET-KEY-1"), [Run(Upper, 58, 58)], Shape, ["AGE-SECRET-KEY-1{58u}"], ["AGE-SECRET-KEY-1..."];

    // General
    "private-key" Prefix("BEGIN "), [PrivateKeyBlock], Shape,
        ["-----BEGIN RSA PRIVATE KEY-----\n{64}\n{64}\n-----END RSA PRIVATE KEY-----", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{64}\n-----END PGP PRIVATE KEY BLOCK-----",
         "-----BEGIN OPENSSH PRIVATE KEY-----\n{64}", "\"-----BEGIN PRIVATE KEY-----\\n{64}\\n-----END PRIVATE KEY-----\\n\"", "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{64}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----"],
        ["-----BEGIN CERTIFICATE-----\n{64}\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\n{64}", "grep -r -- '-----BEGIN RSA PRIVATE KEY-----' .", "BEGIN PRIVATE KEY"];
    "jwt" Prefix("eyJ"), [Run(Slug, 10, ANY), Text(".eyJ"), Run(Slug, 10, ANY), Text("."), Run(Slug, 16, ANY)], Mixed, ["eyJ{33}.eyJ{60}.{43s}"], ["eyJ{33}", "eyJ{33}.eyJ{60}"];
    "bearer-token" After("Bearer "), [Run(Credential, 16, ANY)], Mixed, ["Bearer {40}", "`Bearer {24s}`"], ["Bearer authentication-schemes", "Bearer $TOKEN"];
    "bearer-token" After("bearer "), [Run(Credential, 16, ANY)], Mixed, ["bearer {40}"], ["bearer of good news"];
}
