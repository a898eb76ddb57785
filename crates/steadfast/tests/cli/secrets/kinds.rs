//! Secrets of 36 kinds, for every test that looks for one where none may be.

/// As the holder of a key writes it: what is said, with the secret at `{}`, and the secret. Of each, letters and digits
/// follow a pattern that nobody issued.
pub(crate) fn kinds() -> Vec<(&'static str, String)> {
    let r = |length: usize| "a1B2c3D4e5F6g7H8i9J0".repeat(8)[..length].to_owned();
    let hex = |length: usize| "0f1e2d3c4b5a69788796".repeat(8)[..length].to_owned();
    vec![
        ("key {} here", format!("AKIA{}", "Q3EGRIJ7KL2MNOP5".to_owned())),
        ("aws_secret_access_key={}", r(40)),
        ("token {} here", format!("ghp_{}", r(36))),
        ("token {} here", format!("gho_{}", r(36))),
        ("token {} here", format!("ghs_{}", r(36))),
        ("token {} here", format!("github_pat_{}_{}", r(22), r(59))),
        ("token {} here", format!("glpat-{}", r(20))),
        ("key {} here", format!("hf_{}", "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH")),
        ("key {} here", format!("hvs.{}", r(95))),
        ("key {} here", format!("sk-ant-api03-{}AA", r(93))),
        ("key {} here", format!("sk-proj-{}T3BlbkFJ{}", r(74), r(74))),
        ("key {} here", format!("sk_live_{}", r(24))),
        ("key {} here", format!("rk_live_{}", r(24))),
        ("hook {} here", format!("xoxb-123456789012-123456789012-{}", r(24))),
        ("key {} here", format!("AIza{}", r(35))),
        ("key {} here", format!("npm_{}", r(36))),
        ("key {} here", format!("pypi-AgEIcHlwaS5vcmc{}", r(80))),
        ("key {} here", format!("SG.{}.{}", r(22), r(43))),
        ("key {} here", format!("dop_v1_{}", hex(64))),
        ("key {} here", format!("lin_api_{}", r(40))),
        ("key {} here", format!("shpat_{}", hex(32))),
        ("key {} here", format!("dckr_pat_{}", r(27))),
        ("key {} here", format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI{}.{}", r(20), r(43))),
        ("-H 'X-Api-Key: {}'", r(32)),
        ("-H 'Authorization: Bearer {}'", r(40)),
        ("-H 'Authorization: Basic {}'", "Ym9iOlRyMHViNGRvcjM0NTY3OA".to_owned()),
        ("curl -u bob:{} https://a.example", "Tr0ub4dor3x".to_owned()),
        ("curl --user bob:{} https://a.example", "Tr0ub4dor4x".to_owned()),
        ("PGPASSWORD={} psql", "c0rrectH0rse7".to_owned()),
        ("password={}", "S3cr3tPass9".to_owned()),
        ("DB_PASSWORD='{}'", "S3cr3tPass8!".to_owned()),
        ("mysql -u root -p{} app", "MyS3cretPw6".to_owned()),
        ("postgres://app:{}@db.example/app", "Pg5ecretW0rd".to_owned()),
        ("--token {}", r(30)),
        ("api_key: \"{}\"", r(33)),
        ("client_secret={}", r(34)),
    ]
}
