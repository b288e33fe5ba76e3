#!/bin/sh
# Takes a base backup of Postgres once a day, and verifies the archive. Postgres itself archives its log
# (archive_command). Configured by PGBACKREST_… (pgbackrest.org/configuration.html) and by PGHOST, PGUSER, PGDATABASE.
set -u
DAY=86400
say() { echo "$(date -u +%FT%TZ) $*"; }
# The database's comment tells the services since when it can be restored. A new database has none.
noted() { psql -XAtc "SELECT substring(shobj_description(oid, 'pg_database') FROM '^base backup ([0-9]+)\$') FROM pg_database WHERE datname = current_database()"; }
note() { psql -Xqc "COMMENT ON DATABASE \"$PGDATABASE\" IS $1"; }
# Codes of pgBackRest: 1 no stanza, 2 no backup. A store that does not answer says neither.
is_empty() { pgbackrest --output=json info | grep -qE '"status":\{"code":[12],'; }
take() {
  pgbackrest stanza-create || pgbackrest stanza-upgrade || return 1
  pgbackrest --type=full backup && pgbackrest verify && note "'base backup $1'"
}
waiting=
pause() { sleep "$1" & waiting=$!; wait "$waiting"; }
trap '[ -z "$waiting" ] || kill "$waiting" 2>/dev/null; exit 0' TERM INT
while :; do
  if is_empty; then note NULL; fi
  now=$(date +%s)
  if taken=$(noted) && [ $((now - ${taken:-0})) -ge $DAY ]; then
    if take "$now"; then say 'base backup taken'; else say 'base backup failed; the next try is in 10 minutes'; pause 540; fi
  fi
  pause 60
done
