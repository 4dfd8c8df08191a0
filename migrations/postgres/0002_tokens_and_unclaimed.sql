-- Kept in lock-step with migrations/sqlite/0002_tokens_and_unclaimed.sql.

-- The name of a token that is confined to a tenant is unique in that tenant: it is stored as "<tenant>/<name>".
-- "family" is the id of the token that was handed out first of those that made one another; null: its own id.
ALTER TABLE tokens ADD COLUMN family BIGINT;
ALTER TABLE tokens ADD COLUMN expires_at TEXT COLLATE "C";
ALTER TABLE tokens ADD COLUMN used_at TEXT COLLATE "C";
UPDATE tokens SET name = tenant || '/' || name
WHERE tenant IS NOT NULL AND NOT EXISTS (SELECT 1 FROM tokens t WHERE t.name = tokens.tenant || '/' || tokens.name);

-- Whose device was refused, as it was then; null where it was nobody's.
ALTER TABLE refusals ADD COLUMN tenant TEXT COLLATE "C";
UPDATE refusals SET tenant = (SELECT d.tenant FROM devices d WHERE d.mac = refusals.mac) WHERE reason <> 'unknown_mac';

-- MACs that phones asked for and no device has.
CREATE TABLE unclaimed (
    mac TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    first_at TEXT COLLATE "C" NOT NULL,
    last_at TEXT COLLATE "C" NOT NULL,
    count BIGINT NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
    user_agent TEXT COLLATE "C",
    path TEXT COLLATE "C" NOT NULL
);
CREATE INDEX unclaimed_last ON unclaimed (last_at, mac);
