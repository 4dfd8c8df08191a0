-- Kept in lock-step with migrations/postgres/0002_tokens_and_unclaimed.sql.

-- The name of a token that is confined to a tenant is unique in that tenant: it is stored as "<tenant>/<name>".
-- "family" is the id of the token that was handed out first of those that made one another; null: its own id.
ALTER TABLE tokens ADD COLUMN family BIGINT;
ALTER TABLE tokens ADD COLUMN expires_at TEXT;
ALTER TABLE tokens ADD COLUMN used_at TEXT;
UPDATE tokens SET name = tenant || '/' || name
WHERE tenant IS NOT NULL AND NOT EXISTS (SELECT 1 FROM tokens t WHERE t.name = tokens.tenant || '/' || tokens.name);

-- Whose device was refused, as it was then; null where it was nobody's.
ALTER TABLE refusals ADD COLUMN tenant TEXT;
UPDATE refusals SET tenant = (SELECT d.tenant FROM devices d WHERE d.mac = refusals.mac) WHERE reason <> 'unknown_mac';

-- MACs that phones asked for and no device has.
CREATE TABLE unclaimed (
    mac TEXT NOT NULL PRIMARY KEY,
    first_at TEXT NOT NULL,
    last_at TEXT NOT NULL,
    count BIGINT NOT NULL,
    address TEXT NOT NULL,
    user_agent TEXT,
    path TEXT NOT NULL
);
CREATE INDEX unclaimed_last ON unclaimed (last_at, mac);
