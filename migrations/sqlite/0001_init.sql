-- Kept in lock-step with migrations/postgres/0001_init.sql. Only TEXT, BIGINT and BLOB; booleans are 0 and 1.
-- "body" is the JSON of the domain type, "sealed" its secrets (AES-256-GCM, the row's identity as associated data);
-- the other columns of a resource repeat what statements need of the body.

CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
);

CREATE TABLE revision (
    n BIGINT NOT NULL
);
INSERT INTO revision (n) VALUES (0);

CREATE TABLE tenants (
    id TEXT NOT NULL PRIMARY KEY,
    parent TEXT REFERENCES tenants (id),
    profile TEXT REFERENCES profiles (ref),
    body TEXT NOT NULL,
    sealed BLOB,
    revision BIGINT NOT NULL
);
CREATE INDEX tenants_parent ON tenants (parent);
CREATE INDEX tenants_profile ON tenants (profile);

CREATE TABLE profiles (
    ref TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    id TEXT NOT NULL,
    extends TEXT REFERENCES profiles (ref),
    body TEXT NOT NULL,
    sealed BLOB,
    revision BIGINT NOT NULL,
    UNIQUE (tenant, id)
);
CREATE INDEX profiles_extends ON profiles (extends);

CREATE TABLE devices (
    mac TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    profile TEXT REFERENCES profiles (ref),
    vendor TEXT NOT NULL,
    model TEXT NOT NULL,
    search TEXT NOT NULL,
    enabled BIGINT NOT NULL,
    body TEXT NOT NULL,
    sealed BLOB,
    revision BIGINT NOT NULL
);
CREATE INDEX devices_tenant ON devices (tenant, mac);
CREATE INDEX devices_profile ON devices (profile, mac);

CREATE TABLE history (
    n BIGINT NOT NULL PRIMARY KEY,
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    message TEXT,
    before_body TEXT,
    before_sealed BLOB,
    after_body TEXT,
    after_sealed BLOB
);
CREATE INDEX history_resource ON history (kind, id, n);

CREATE TABLE check_ins (
    mac TEXT NOT NULL PRIMARY KEY REFERENCES devices (mac) ON DELETE CASCADE,
    at TEXT NOT NULL,
    address TEXT NOT NULL,
    user_agent TEXT,
    file TEXT NOT NULL,
    status BIGINT NOT NULL
);

-- "turn" counts what a phone was handed per file: the content of the highest turn is the current one.
CREATE TABLE served (
    mac TEXT NOT NULL REFERENCES devices (mac) ON DELETE CASCADE,
    file TEXT NOT NULL,
    etag TEXT NOT NULL,
    turn BIGINT NOT NULL,
    first_at TEXT NOT NULL,
    last_at TEXT NOT NULL,
    count BIGINT NOT NULL,
    address TEXT NOT NULL,
    user_agent TEXT,
    content BLOB NOT NULL,
    PRIMARY KEY (mac, file, etag)
);

CREATE TABLE refusals (
    id BIGINT NOT NULL PRIMARY KEY,
    at TEXT NOT NULL,
    address TEXT NOT NULL,
    user_agent TEXT,
    path TEXT NOT NULL,
    mac TEXT,
    reason TEXT NOT NULL
);
CREATE INDEX refusals_mac ON refusals (mac, id);

CREATE TABLE tokens (
    id BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    tenant TEXT REFERENCES tenants (id),
    reveal BIGINT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX tokens_tenant ON tokens (tenant);

INSERT INTO tenants (id, body, revision)
VALUES ('default', '{"id":"default","name":"Default","parent":null,"salt":null,"profile":null,"settings":{},"parameters":{},"resets":[]}', 0);
