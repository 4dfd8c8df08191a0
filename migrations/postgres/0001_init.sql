-- Kept in lock-step with migrations/sqlite/0001_init.sql. Only TEXT, BIGINT and BYTEA; booleans are 0 and 1.
-- TEXT is COLLATE "C": lists have one order on both databases, whatever locale the database was made with.
-- "body" is the JSON of the domain type, "sealed" its secrets (AES-256-GCM, the row's identity as associated data);
-- the other columns of a resource repeat what statements need of the body.

CREATE TABLE meta (
    key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value BYTEA NOT NULL
);

CREATE TABLE revision (
    n BIGINT NOT NULL
);
INSERT INTO revision (n) VALUES (0);

CREATE TABLE tenants (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    parent TEXT COLLATE "C" REFERENCES tenants (id),
    profile TEXT COLLATE "C",
    body TEXT COLLATE "C" NOT NULL,
    sealed BYTEA,
    revision BIGINT NOT NULL
);
CREATE INDEX tenants_parent ON tenants (parent);
CREATE INDEX tenants_profile ON tenants (profile);

CREATE TABLE profiles (
    ref TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id TEXT COLLATE "C" NOT NULL,
    extends TEXT COLLATE "C" REFERENCES profiles (ref),
    body TEXT COLLATE "C" NOT NULL,
    sealed BYTEA,
    revision BIGINT NOT NULL,
    UNIQUE (tenant, id)
);
ALTER TABLE tenants ADD FOREIGN KEY (profile) REFERENCES profiles (ref);
CREATE INDEX profiles_extends ON profiles (extends);

CREATE TABLE devices (
    mac TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    profile TEXT COLLATE "C" REFERENCES profiles (ref),
    vendor TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    search TEXT COLLATE "C" NOT NULL,
    enabled BIGINT NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    sealed BYTEA,
    revision BIGINT NOT NULL
);
CREATE INDEX devices_tenant ON devices (tenant, mac);
CREATE INDEX devices_profile ON devices (profile, mac);

CREATE TABLE history (
    n BIGINT NOT NULL PRIMARY KEY,
    at TEXT COLLATE "C" NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    message TEXT COLLATE "C",
    before_body TEXT COLLATE "C",
    before_sealed BYTEA,
    after_body TEXT COLLATE "C",
    after_sealed BYTEA
);
CREATE INDEX history_resource ON history (kind, id, n);

CREATE TABLE check_ins (
    mac TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES devices (mac) ON DELETE CASCADE,
    at TEXT COLLATE "C" NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
    user_agent TEXT COLLATE "C",
    file TEXT COLLATE "C" NOT NULL,
    status BIGINT NOT NULL
);

-- "turn" counts what a phone was handed per file: the content of the highest turn is the current one.
CREATE TABLE served (
    mac TEXT COLLATE "C" NOT NULL REFERENCES devices (mac) ON DELETE CASCADE,
    file TEXT COLLATE "C" NOT NULL,
    etag TEXT COLLATE "C" NOT NULL,
    turn BIGINT NOT NULL,
    first_at TEXT COLLATE "C" NOT NULL,
    last_at TEXT COLLATE "C" NOT NULL,
    count BIGINT NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
    user_agent TEXT COLLATE "C",
    content BYTEA NOT NULL,
    PRIMARY KEY (mac, file, etag)
);

CREATE TABLE refusals (
    id BIGINT NOT NULL PRIMARY KEY,
    at TEXT COLLATE "C" NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
    user_agent TEXT COLLATE "C",
    path TEXT COLLATE "C" NOT NULL,
    mac TEXT COLLATE "C",
    reason TEXT COLLATE "C" NOT NULL
);
CREATE INDEX refusals_mac ON refusals (mac, id);

CREATE TABLE tokens (
    id BIGINT NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    hash TEXT COLLATE "C" NOT NULL UNIQUE,
    role TEXT COLLATE "C" NOT NULL,
    tenant TEXT COLLATE "C" REFERENCES tenants (id),
    reveal BIGINT NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL
);
CREATE INDEX tokens_tenant ON tokens (tenant);

INSERT INTO tenants (id, body, revision)
VALUES ('default', '{"id":"default","name":"Default","parent":null,"salt":null,"profile":null,"settings":{},"parameters":{},"resets":[]}', 0);
