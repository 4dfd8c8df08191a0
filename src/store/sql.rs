//! Every statement, once, for both databases.
//!
//! Imports nothing. What makes one text run on both: `$n` for arguments; TEXT, BIGINT and BLOB/BYTEA alone;
//! `CAST(.. AS BIGINT)` around counts and literals that are read; texts compared by their bytes (SQLite's default,
//! `COLLATE "C"` in the PostgreSQL migrations); lower case made by Rust, since the databases differ beyond ASCII.
//! What only one of them can say stands in `sqlite.rs` and `postgres.rs`.

/// The tenants whose ids are packed into an argument by `rows::pack`, 64 characters each, with those below them: a list
/// as one argument.
macro_rules! trees {
    ($argument:literal) => {
        concat!(
            "(WITH RECURSIVE place(i, n) AS (SELECT 0, length(",
            $argument,
            ") / 64 UNION ALL SELECT i + 1, n FROM place WHERE i + 1 < n),
                tree(id) AS (
                    SELECT t.id FROM place JOIN tenants t ON t.id = rtrim(substr(",
            $argument,
            ", i * 64 + 1, 64))
                    UNION
                    SELECT t.id FROM tree JOIN tenants t ON t.parent = tree.id
                )
                SELECT id FROM tree)"
        )
    };
}

// Resources. Depths are bounded so that a damaged circle ends; `chain.rs` tells it from a chain.

pub(super) const TENANT: &str = "SELECT id, body, sealed, revision FROM tenants WHERE id = $1";
pub(super) const PROFILE: &str = "SELECT ref AS id, body, sealed, revision FROM profiles WHERE ref = $1";
pub(super) const DEVICE: &str = "SELECT mac AS id, body, sealed, revision FROM devices WHERE mac = $1";

pub(super) const TENANTS: &str = concat!(
    "SELECT id, body, sealed, revision FROM tenants WHERE id > $1 AND ($2 IS NULL OR id IN ",
    trees!("$2"),
    ") ORDER BY id LIMIT $3"
);

pub(super) const PROFILES: &str = "SELECT ref AS id, body, sealed, revision FROM profiles
    WHERE tenant = $1 AND id > $2 ORDER BY tenant, profiles.id LIMIT $3";

pub(super) const DEVICES: &str = concat!(
    "SELECT mac AS id, body, sealed, revision FROM devices WHERE mac > $1 AND ($2 IS NULL OR tenant IN ",
    trees!("$2"),
    ") AND ($3 IS NULL OR profile = $3) AND ($4 IS NULL OR vendor = $4) AND ($5 IS NULL OR model = $5)
       AND ($6 IS NULL OR enabled = $6) AND ($7 IS NULL OR search LIKE $7 ESCAPE '!' OR mac LIKE $8 ESCAPE '!')
    ORDER BY mac LIMIT $9"
);

/// The phones' read: a device, its tenants, its profiles, in whatever order. `layer` is 0, 1, 2; `depth` counts from
/// the device. The profile is the device's own, else that of the nearest tenant that has one.
pub(super) const STACK: &str = "WITH RECURSIVE
    tenant_chain(depth, id, parent, profile, body, sealed) AS (
        SELECT 1, t.id, t.parent, t.profile, t.body, t.sealed
        FROM devices d JOIN tenants t ON t.id = d.tenant WHERE d.mac = $1
        UNION ALL
        SELECT c.depth + 1, t.id, t.parent, t.profile, t.body, t.sealed
        FROM tenant_chain c JOIN tenants t ON t.id = c.parent WHERE c.depth < 8
    ),
    profile_chain(depth, ref, extends, body, sealed) AS (
        SELECT 1, p.ref, p.extends, p.body, p.sealed
        FROM profiles p WHERE p.ref = (
            SELECT COALESCE(d.profile, (SELECT c.profile FROM tenant_chain c WHERE c.profile IS NOT NULL ORDER BY c.depth LIMIT 1))
            FROM devices d WHERE d.mac = $1
        )
        UNION ALL
        SELECT c.depth + 1, p.ref, p.extends, p.body, p.sealed
        FROM profile_chain c JOIN profiles p ON p.ref = c.extends WHERE c.depth < 16
    )
    SELECT CAST(0 AS BIGINT) AS layer, CAST(0 AS BIGINT) AS depth, mac AS id, body, sealed, revision FROM devices WHERE mac = $1
    UNION ALL SELECT CAST(1 AS BIGINT), CAST(depth AS BIGINT), id, body, sealed, CAST(0 AS BIGINT) FROM tenant_chain
    UNION ALL SELECT CAST(2 AS BIGINT), CAST(depth AS BIGINT), ref, body, sealed, CAST(0 AS BIGINT) FROM profile_chain";

pub(super) const TENANT_CHAIN: &str = "WITH RECURSIVE chain(depth, id, parent, body, sealed, revision) AS (
        SELECT 1, t.id, t.parent, t.body, t.sealed, t.revision FROM tenants t WHERE t.id = $1
        UNION ALL
        SELECT c.depth + 1, t.id, t.parent, t.body, t.sealed, t.revision
        FROM chain c JOIN tenants t ON t.id = c.parent WHERE c.depth < 8
    )
    SELECT CAST(1 AS BIGINT) AS layer, CAST(depth AS BIGINT) AS depth, id, body, sealed, revision FROM chain";

pub(super) const PROFILE_CHAIN: &str = "WITH RECURSIVE chain(depth, id, extends, body, sealed, revision) AS (
        SELECT 1, p.ref, p.extends, p.body, p.sealed, p.revision FROM profiles p WHERE p.ref = $1
        UNION ALL
        SELECT c.depth + 1, p.ref, p.extends, p.body, p.sealed, p.revision
        FROM chain c JOIN profiles p ON p.ref = c.extends WHERE c.depth < 16
    )
    SELECT CAST(2 AS BIGINT) AS layer, CAST(depth AS BIGINT) AS depth, id, body, sealed, revision FROM chain";

pub(super) const PROFILE_HEIGHT: &str = "WITH RECURSIVE above(ref, height) AS (
        SELECT p.ref, CAST(0 AS BIGINT) FROM profiles p WHERE p.ref = $1
        UNION ALL
        SELECT p.ref, a.height + 1 FROM above a JOIN profiles p ON p.extends = a.ref WHERE a.height < 16
    )
    SELECT CAST(COALESCE(MAX(height), 0) AS BIGINT) FROM above";

pub(super) const TENANT_TREE: &str = "WITH RECURSIVE tree(id) AS (
        SELECT id FROM tenants WHERE id = $1
        UNION
        SELECT t.id FROM tree JOIN tenants t ON t.parent = tree.id
    )
    SELECT id FROM tree ORDER BY id";

pub(super) const WAS_SERVED: &str = "SELECT CAST(COUNT(*) AS BIGINT) AS n FROM served WHERE mac = $1";

pub(super) const TENANT_REFERENCES: &str = "SELECT CAST(COUNT(*) AS BIGINT) AS n FROM (
        SELECT 1 AS one FROM tenants WHERE parent = $1
        UNION ALL SELECT 1 FROM profiles WHERE tenant = $1
        UNION ALL SELECT 1 FROM devices WHERE tenant = $1
        UNION ALL SELECT 1 FROM tokens WHERE tenant = $1
    ) AS referring";

pub(super) const PROFILE_REFERENCES: &str = "SELECT CAST(COUNT(*) AS BIGINT) AS n FROM (
        SELECT 1 AS one FROM tenants WHERE profile = $1
        UNION ALL SELECT 1 FROM profiles WHERE extends = $1
        UNION ALL SELECT 1 FROM devices WHERE profile = $1
    ) AS referring";

pub(super) const DEVICES_IN_REACH_OF_TENANT: &str = "WITH RECURSIVE tree(id) AS (
        SELECT id FROM tenants WHERE id = $1
        UNION
        SELECT t.id FROM tree JOIN tenants t ON t.parent = tree.id
    )
    SELECT mac AS id FROM devices WHERE mac > $2 AND tenant IN (SELECT id FROM tree) ORDER BY mac LIMIT $3";

/// `heir` gives each tenant the profile that its devices have by default.
pub(super) const DEVICES_IN_REACH_OF_PROFILE: &str = "WITH RECURSIVE
    extending(ref) AS (
        SELECT ref FROM profiles WHERE ref = $1
        UNION
        SELECT p.ref FROM extending e JOIN profiles p ON p.extends = e.ref
    ),
    heir(id, profile) AS (
        SELECT id, profile FROM tenants WHERE parent IS NULL
        UNION
        SELECT t.id, COALESCE(t.profile, h.profile) FROM heir h JOIN tenants t ON t.parent = h.id
    )
    SELECT d.mac AS id FROM devices d JOIN heir h ON h.id = d.tenant
    WHERE d.mac > $2 AND COALESCE(d.profile, h.profile) IN (SELECT ref FROM extending) ORDER BY d.mac LIMIT $3";

// Writes of resources.

pub(super) const REVISION: &str = "SELECT n FROM revision";

pub(super) const NEXT_REVISION: &str = "UPDATE revision SET n = n + 1 RETURNING n";

pub(super) const PUT_TENANT: &str = "INSERT INTO tenants (id, body, sealed, revision, parent, profile) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (id) DO UPDATE SET body = excluded.body, sealed = excluded.sealed, revision = excluded.revision,
        parent = excluded.parent, profile = excluded.profile";

pub(super) const PUT_PROFILE: &str =
    "INSERT INTO profiles (ref, body, sealed, revision, tenant, id, extends) VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (ref) DO UPDATE SET body = excluded.body, sealed = excluded.sealed, revision = excluded.revision,
        extends = excluded.extends";

pub(super) const PUT_DEVICE: &str = "INSERT INTO devices (mac, body, sealed, revision, tenant, profile, vendor, model, search, enabled)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    ON CONFLICT (mac) DO UPDATE SET body = excluded.body, sealed = excluded.sealed, revision = excluded.revision,
        tenant = excluded.tenant, profile = excluded.profile, vendor = excluded.vendor, model = excluded.model,
        search = excluded.search, enabled = excluded.enabled";

pub(super) const DELETE_TENANT: &str = "DELETE FROM tenants WHERE id = $1";
pub(super) const DELETE_PROFILE: &str = "DELETE FROM profiles WHERE ref = $1";
pub(super) const DELETE_DEVICE: &str = "DELETE FROM devices WHERE mac = $1";

pub(super) const ADD_HISTORY: &str = "INSERT INTO history
    (n, at, actor, action, kind, id, message, before_body, before_sealed, after_body, after_sealed)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

// The key.

pub(super) const META: &str = "SELECT value FROM meta WHERE key = $1";
pub(super) const ADD_META: &str = "INSERT INTO meta (key, value) VALUES ($1, $2)";

// The record of what phones asked for and were handed. Each write of it names the device through a SELECT: a phone
// whose device was deleted meanwhile leaves no row.

pub(super) const PUT_CHECK_IN: &str = "INSERT INTO check_ins (mac, at, address, user_agent, file, status)
    SELECT mac, $2, $3, $4, $5, $6 FROM devices WHERE mac = $1
    ON CONFLICT (mac) DO UPDATE SET at = excluded.at, address = excluded.address, user_agent = excluded.user_agent,
        file = excluded.file, status = excluded.status";

pub(super) const CHECK_IN: &str = "SELECT at, address, user_agent, file, status FROM check_ins WHERE mac = $1";

/// A content that is held already, current or previous, becomes (or stays) the current one.
pub(super) const SERVE_AGAIN: &str = "UPDATE served SET
        turn = (SELECT MAX(s.turn) + 1 FROM served s WHERE s.mac = $1 AND s.file = $2),
        last_at = $4, count = count + 1, address = $5, user_agent = $6
    WHERE mac = $1 AND file = $2 AND etag = $3";

pub(super) const SERVE_NEW: &str = "INSERT INTO served (mac, file, etag, turn, first_at, last_at, count, address, user_agent, content)
    SELECT mac, $2, $3, (SELECT COALESCE(MAX(s.turn), 0) + 1 FROM served s WHERE s.mac = $1 AND s.file = $2),
        $4, $4, 1, $5, $6, $7
    FROM devices WHERE mac = $1";

/// Keeps the last two contents.
pub(super) const FORGET_SERVED: &str = "DELETE FROM served WHERE mac = $1 AND file = $2 AND turn < (
        SELECT MIN(newest.turn) FROM (
            SELECT s.turn FROM served s WHERE s.mac = $1 AND s.file = $2 ORDER BY s.turn DESC LIMIT 2
        ) AS newest
    )";

pub(super) const SERVED: &str = "SELECT file, etag, first_at, last_at, count, address, user_agent, content FROM served
    WHERE mac = $1 ORDER BY file, turn DESC";

/// `$7`: was it a device of its tenant that was refused?
pub(super) const ADD_REFUSAL: &str = "INSERT INTO refusals (id, at, address, user_agent, path, mac, reason, tenant)
    SELECT COALESCE(MAX(id), 0) + 1, $1, $2, $3, $4, $5, $6, (SELECT d.tenant FROM devices d WHERE d.mac = $5 AND $7 = 1) FROM refusals";

/// Keeps the newest `$1` refusals.
pub(super) const FORGET_REFUSALS: &str = "DELETE FROM refusals WHERE id <= (SELECT MAX(r.id) FROM refusals r) - $1";

pub(super) const REFUSALS: &str = concat!(
    "SELECT at, address, user_agent, path, mac, reason FROM refusals WHERE ($1 IS NULL OR tenant IN ",
    trees!("$1"),
    ") ORDER BY id DESC LIMIT $2"
);

pub(super) const LAST_REFUSAL: &str = concat!(
    "SELECT at, address, user_agent, path, mac, reason FROM refusals WHERE mac = $1 AND ($2 IS NULL OR tenant IN ",
    trees!("$2"),
    ") ORDER BY id DESC LIMIT 1"
);

/// A tenant that is made later under the same id is another one.
pub(super) const DISOWN_REFUSALS: &str = "UPDATE refusals SET tenant = NULL WHERE tenant = $1";

// What phones asked for that is no device's.

pub(super) const ADD_UNCLAIMED: &str = "INSERT INTO unclaimed (mac, first_at, last_at, count, address, user_agent, path)
    SELECT $1, $2, $2, 1, $3, $4, $5 WHERE NOT EXISTS (SELECT 1 FROM devices d WHERE d.mac = $1)
    ON CONFLICT (mac) DO UPDATE SET last_at = excluded.last_at, count = unclaimed.count + 1, address = excluded.address,
        user_agent = excluded.user_agent, path = excluded.path";

/// Keeps the `$1` that asked last. (SQLite takes no OFFSET without a LIMIT.)
pub(super) const FORGET_UNCLAIMED: &str = "DELETE FROM unclaimed WHERE mac IN (
        SELECT u.mac FROM unclaimed u ORDER BY u.last_at DESC, u.mac DESC LIMIT 1000000 OFFSET $1
    )";

pub(super) const CLAIM: &str = "DELETE FROM unclaimed WHERE mac = $1";

macro_rules! unclaimed {
    () => {
        "SELECT mac AS id, first_at, last_at, count, address, user_agent, path, (
            SELECT MAX(h.at) FROM history h WHERE h.kind = 'device' AND h.id = unclaimed.mac AND h.action = 'delete'
        ) AS deleted_at FROM unclaimed "
    };
}

pub(super) const UNCLAIMED: &str = concat!(unclaimed!(), "WHERE mac > $1 ORDER BY mac LIMIT $2");
pub(super) const UNCLAIMED_ONE: &str = concat!(unclaimed!(), "WHERE mac = $1");

// Whose a device is, whatever else of its row is damaged.

pub(super) const OWNER: &str = "SELECT tenant FROM devices WHERE mac = $1";

// Tokens.

/// `$1` is the number of its history entry; tokens of before had numbers of their own.
pub(super) const ADD_TOKEN: &str = "INSERT INTO tokens (id, name, hash, role, tenant, reveal, created_at, expires_at, family)
    SELECT CASE WHEN $1 > COALESCE(MAX(id), 0) THEN $1 ELSE MAX(id) + 1 END, $2, $3, $4, $5, $6, $7, $8, $9 FROM tokens
    RETURNING id";

pub(super) const DELETE_TOKEN: &str = "DELETE FROM tokens WHERE id = $1";

/// Not more often than once after `$3`, by however many servers.
pub(super) const USE_TOKEN: &str = "UPDATE tokens SET used_at = $2 WHERE id = $1 AND (used_at IS NULL OR used_at <= $3)";

macro_rules! tokens {
    () => {
        "SELECT CAST(id AS TEXT) AS id, name, role, tenant, reveal, family, created_at, expires_at, used_at FROM tokens "
    };
}

pub(super) const TOKEN_BY_HASH: &str = concat!(tokens!(), "WHERE hash = $1");
pub(super) const TOKEN: &str = concat!(tokens!(), "WHERE tokens.id = $1");
pub(super) const TOKENS_NAMED: &str = concat!(tokens!(), "WHERE name = $1 OR name = tenant || '/' || $1 ORDER BY tokens.id");

pub(super) const TOKENS: &str =
    concat!(tokens!(), "WHERE tokens.id > $1 AND ($2 IS NULL OR tenant IN ", trees!("$2"), ") ORDER BY tokens.id LIMIT $3");

// Migrations.

pub(super) const APPLIED_MIGRATIONS: &str = "SELECT version FROM _sqlx_migrations WHERE success ORDER BY version";
