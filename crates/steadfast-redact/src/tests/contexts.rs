//! Secrets known by what stands around them. `{…}` is filled in as in the table of rules.

use super::filler::filled;
use crate::{contains_secret, redact};

fn becomes(text: &str, clean: &str) {
    let text = filled(text);
    assert_eq!(redact(&text), clean, "from {text}");
    assert!(contains_secret(&text));
}

#[test]
fn assignments_in_a_shell() {
    becomes("PGPASSWORD=hunter psql -h db", "PGPASSWORD=[redacted:password] psql -h db");
    becomes("MYSQL_PWD=hunter2 mysql", "MYSQL_PWD=[redacted:password] mysql");
    becomes("export DB_PASSWORD='two words'", "export DB_PASSWORD='[redacted:password]'");
    becomes("FOO_TOKEN={20} make", "FOO_TOKEN=[redacted:token] make");
    becomes("export GITHUB_TOKEN=ghp_{36}; x", "export GITHUB_TOKEN=[redacted:github-token]; x");
    becomes("env API_KEY_PROD=\"{24}\" ./run", "env API_KEY_PROD=\"[redacted:api-key]\" ./run");
    becomes("AWS_SECRET_ACCESS_KEY={20}/{19} aws s3 ls", "AWS_SECRET_ACCESS_KEY=[redacted:aws-secret-key] aws s3 ls");
    becomes("DD_API_KEY={32h}", "DD_API_KEY=[redacted:datadog-key]");
    becomes("CLOUDFLARE_API_TOKEN={40s}", "CLOUDFLARE_API_TOKEN=[redacted:cloudflare-key]");
    becomes("HEROKU_API_KEY={8h}-{4h}-{4h}-{4h}-{12h}", "HEROKU_API_KEY=[redacted:api-key]");
    becomes("CLIENT_SECRET=supersecret", "CLIENT_SECRET=[redacted:secret]");
    becomes("DB_PASSWORD_2=hunter2", "DB_PASSWORD_2=[redacted:password]");
}

#[test]
fn flags() {
    becomes("app --password hunter --verbose", "app --password [redacted:password] --verbose");
    becomes("app --password='p w d!' x", "app --password='[redacted:password]' x");
    becomes("app --token={20}", "app --token=[redacted:token]");
    becomes("app -token {20} y", "app -token [redacted:token] y");
    becomes("app --api-key \"{20}\"", "app --api-key \"[redacted:api-key]\"");
    becomes("[\"--password\", \"hunter2\"]", "[\"--password\", \"[redacted:password]\"]");
    becomes("curl -u alice:hunter2 https://x", "curl -u alice:[redacted:password] https://x");
    becomes("curl --user 'alice:hun ter2' x", "curl --user 'alice:[redacted:password]' x");
    becomes("curl --user=alice:hunter2", "curl --user=alice:[redacted:password]");
    becomes("curl https://api.stripe.com -u sk_test_{24}:", "curl https://api.stripe.com -u [redacted:stripe-key]:");
    becomes("curl -u AKIA{16u}:{20}", "curl -u [redacted:aws-access-key]:[redacted:password]");
    becomes("mysql -uroot -phunter2 db", "mysql -uroot -p[redacted:password] db");
    becomes("mysqldump -u root -p'hunter2' db", "mysqldump -u root -p'[redacted:password]' db");
    becomes("sshpass -p hunter2 ssh -p 2222 h", "sshpass -p [redacted:password] ssh -p 2222 h");
    becomes("docker login -u me -p hunter2", "docker login -u me -p [redacted:password]");
    becomes("redis-cli -h r -a hunter2 ping", "redis-cli -h r -a [redacted:password] ping");
}

#[test]
fn headers() {
    becomes("-H 'Authorization: Bearer {12}'", "-H 'Authorization: Bearer [redacted:authorization]'");
    becomes("-H \"Authorization: token {40h}\"", "-H \"Authorization: token [redacted:authorization]\"");
    becomes("authorization: Basic {20}==", "authorization: Basic [redacted:authorization]");
    becomes("{\"Authorization\": \"Bearer {20}\"}", "{\"Authorization\": \"Bearer [redacted:authorization]\"}");
    becomes("Proxy-Authorization: Basic {20}", "Proxy-Authorization: Basic [redacted:authorization]");
    becomes("X-Api-Key: {32h}", "X-Api-Key: [redacted:api-key]");
    becomes("DD-API-KEY: {32h}", "DD-API-KEY: [redacted:datadog-key]");
    becomes("X-Auth-Key: {37h}", "X-Auth-Key: [redacted:cloudflare-key]");
    becomes("PRIVATE-TOKEN: glpat-{20s}", "PRIVATE-TOKEN: [redacted:gitlab-token]");
    becomes("-H 'Cookie: theme=dark; sid={32h}' x", "-H 'Cookie: [redacted:cookie]' x");
    becomes("Set-Cookie: session={40}; Path=/\nHost: x", "Set-Cookie: [redacted:cookie]\nHost: x");
    becomes("curl --cookie \"PHPSESSID={26}\" x", "curl --cookie \"[redacted:cookie]\" x");
}

#[test]
fn urls_and_connection_strings() {
    becomes("postgres://app:hunter@db:5432/x", "postgres://app:[redacted:url-password]@db:5432/x");
    becomes("mongodb+srv://a.b:p@ss@c.net/x", "mongodb+srv://a.b:[redacted:url-password]@c.net/x");
    becomes("amqps://u%40d:hunter2@mq", "amqps://u%40d:[redacted:url-password]@mq");
    becomes("redis://:hunter2@cache:6379", "redis://:[redacted:url-password]@cache:6379");
    becomes("https://$U:hunter2@git.io/x.git", "https://$U:[redacted:url-password]@git.io/x.git");
    becomes("https://x-access-token:ghs_{36}@github.com", "https://x-access-token:[redacted:github-token]@github.com");
    becomes("Server=db;User Id=sa;Password=hunter;X=1", "Server=db;User Id=sa;Password=[redacted:password];X=1");
    becomes("Server=db;Uid=sa;Pwd=hunter;", "Server=db;Uid=sa;Pwd=[redacted:password];");
    becomes("AccountName=a;AccountKey={86}==;x", "AccountName=a;AccountKey=[redacted:azure-key];x");
    becomes("https://x/y?a=1&access_token={20}&b=2", "https://x/y?a=1&access_token=[redacted:token]&b=2");
    becomes("?X-Amz-Signature={64h}", "?X-Amz-Signature=[redacted:signature]");
}

#[test]
fn files_and_code() {
    becomes("{\"password\": \"hunter\"}", "{\"password\": \"[redacted:password]\"}");
    becomes("{\\\"password\\\":\\\"hunter2\\\"}", "{\\\"password\\\":\\\"[redacted:password]\\\"}");
    becomes("db:\n  password: hunter2\n  port: 1", "db:\n  password: [redacted:password]\n  port: 1");
    becomes("  passwd: 'hunter'", "  passwd: '[redacted:password]'");
    becomes("aws_secret_access_key = {20}/{19}", "aws_secret_access_key = [redacted:aws-secret-key]");
    becomes("auth: { user: 'me', pass: 'hunter2' }", "auth: { user: 'me', pass: '[redacted:password]' }");
    becomes("const apiKey = '{24}';", "const apiKey = '[redacted:api-key]';");
    becomes("token := \"{24}\"", "token := \"[redacted:token]\"");
    becomes("let password: &str = \"hunter2\";", "let password: &str = \"[redacted:password]\";");
    becomes("'client_secret' => '{24}'", "'client_secret' => '[redacted:secret]'");
    becomes("os.environ[\"TOKEN\"] = \"{24}\"", "os.environ[\"TOKEN\"] = \"[redacted:token]\"");
    becomes("//r.npmjs.org/:_authToken={36}", "//r.npmjs.org/:_authToken=[redacted:token]");
    becomes("spring.datasource.password=hunter2", "spring.datasource.password=[redacted:password]");
    becomes("error: invalid token={32h}, try", "error: invalid token=[redacted:token], try");
}

#[test]
fn keys_behind_escapes_begin_where_the_escape_ends() {
    becomes("printf 'x\\nghp_{36}\\n'", "printf 'x\\n[redacted:github-token]\\n'");
    becomes("?q=a%3Dghp_{36}", "?q=a%3D[redacted:github-token]");
    becomes("\u{1b}[31mghp_{36}\u{1b}[0m", "\u{1b}[31m[redacted:github-token]\u{1b}[0m");
}

#[test]
fn a_cut_private_key_goes_on_to_the_end() {
    becomes("cat k\n-----BEGIN RSA PRIVATE KEY-----\n{64}\n{9}", "cat k\n[redacted:private-key]");
}

#[test]
fn the_text_around_several_secrets_stays() {
    becomes("a ghp_{36} b npm_{36} c", "a [redacted:github-token] b [redacted:npm-token] c");
}

#[test]
fn text_without_secrets_is_borrowed() {
    assert!(matches!(redact("cargo test -p steadfast-store"), std::borrow::Cow::Borrowed(_)));
}
