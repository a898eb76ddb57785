use super::filler::filled;
use crate::redact;

fn stays(texts: &[&str]) {
    for text in texts {
        let text = filled(text);
        assert_eq!(redact(&text), text);
    }
}

#[test]
fn identifiers_of_other_things() {
    stays(&[
        "git show {40h}",
        "commit {40h}\nAuthor: A <a@b.c>",
        "\"session_id\": \"{8h}-{4h}-{4h}-{4h}-{12h}\"",
        "integrity sha512-{86}==",
        "\"integrity\": \"sha512-{86}==\"",
        "checksum = \"{64h}\"",
        "github.com/x/y v1.2.3 h1:{43}=",
        "FROM rust@sha256:{64h}",
        "data:image/png;base64,{2000}",
        "src/auth/password/token_store.rs",
        "C:\\Users\\me\\token\\secret.txt",
    ]);
}

#[test]
fn prose() {
    stays(&[
        "reset the password form",
        "password: required, at least 12 characters",
        "The token: a short string that proves who you are",
        "Secret: nobody reads this",
        "secretary: Jane",
        "fix(auth): token refresh, secret rotation",
        "Authorization: Basic authentication is off",
        "Cookie: a small file",
        "Wrong password: try again",
        "the bearer of bad news",
        "max tokens: 4096",
        "- token: the session's token",
    ]);
}

#[test]
fn code() {
    stays(&[
        "let token = next_token();",
        "token: Token,",
        "fn f(password: &str, token: Option<String>) {}",
        "def f(password: str, token=None, secret: bytes = b''): pass",
        "login(password=password, token=self.token)",
        "if token == other.token {",
        "assert_eq!(token, Token::Ident);",
        "match token { Token::Eq => 1 }",
        "const token = process.env.GITHUB_TOKEN;",
        "apiKey: config.apiKey,",
        "password: string;",
        "password?: string",
        "secret = secrets.token_hex(32)",
        "<input type=\"password\" name=\"password\" placeholder=\"Password\">",
        "{\"token\": \"string\", \"password\": \"Password\"}",
        "json:\"password\"",
        "token_count = 12345678",
        "tokenize='porter unicode61'",
        "tokenizer=AutoTokenizer.from_pretrained('gpt2')",
        "nextToken: \"{40}\"",
        "SELECT password FROM users WHERE token = $1",
        "Password::new(secret)",
        "permissions:\n  id-token: write",
        "secretKeyRef:\n  name: db-credentials\n  key: password",
        "--- PASS: TestLogin_With2Factors/case_01 (0.02s)",
        "privateKey: Uint8Array;",
        "return { privateKey: ed25519PrivateKey };",
        "PASSWORD: 'passwordShare',",
        "verdict: ok ? 'pass' : 'fail'",
        "-Pass `one2three` to it",
        "`PASSWORD`: enable=true, priority=3",
        "write(\"DB_PASSWORD=\" + \"x1y2z3\")",
        "a.pass = b.pass; compass=north; bypass=true",
    ]);
}

#[test]
fn style_sheets() {
    stays(&[".sk-folding-cube{color:#a1b2c3}", "--color-token: #a1b2c3d4;", "--space-token: calc(1px + 2rem)"]);
}

#[test]
fn references_and_placeholders() {
    stays(&[
        "TOKEN=$TOKEN",
        "export TOKEN=\"$(cat token.txt)\"",
        "PASSWORD=${DB_PASSWORD}",
        "--token \"$TOKEN\"",
        "--password <your-password>",
        "TOKEN=<your-token>",
        "API_KEY=xxxxxxxx",
        "api_key: ***",
        "PASSWORD=********",
        "PASSWORD=changeme",
        "POSTGRES_PASSWORD=postgres",
        "TOKEN=your-token-here",
        "TOKEN=test-token",
        "{\"secret\":\"e2e-test-secret-do-not-use-in-production\"}",
        "password: {{ vault_password }}",
        "password: !vault |",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "Authorization: Bearer $TOKEN",
        "-H \"Authorization: Bearer ${TOKEN}\"",
        "-H \"Authorization: token <token>\"",
        "postgres://postgres:postgres@localhost:5432/db",
        "postgres://${DB_USER}:${DB_PASS}@db/x",
        "postgres://user:password@localhost/db",
        "SECRET=op://vault/item/field",
        "TOKEN=/run/secrets/token",
        "TOKEN=",
        "export GITHUB_TOKEN",
        "unset AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN, NPM_TOKEN and API_KEY must be set",
    ]);
}

#[test]
fn flags_that_only_look_like_it() {
    stays(&[
        "print --pwd /home/me/dir",
        "PWD=some-where-v2 make",
        "app --password-file /run/x",
        "app --password-stdin < f",
        "psql --no-password -h db",
        "gh auth login --with-token < token.txt",
        "docker build --secret id=npmrc,src=.npmrc .",
        "docker run -u 1000:1000 -p 8080:80 mysql",
        "docker run --name mysql -p3306:3306 mysql",
        "docker run --user node:node x",
        "rsync -u host:/srv/x .",
        "git push -u origin HEAD:main",
        "mkdir -p a/b && ssh -p 2222 host",
        "mysql -p db",
        "sudo -u postgres psql",
        "systemctl --user status",
        "cargo test -p steadfast-store",
        "grep -rn 'password\\s*=\\s*' src",
        "grep -E \"token=.*[0-9]+\" log",
        "http://localhost:8080/@scope/pkg",
        "git@github.com:owner/repo.git",
        "ssh://git@host.example:22/x",
    ]);
}
