#!/bin/sh
# Serves the archived database as of RESTORE_TO, in a folder of its own that is emptied before and after.
# RESTORE_TO: "YYYY-MM-DD hh:mm:ss+zone", or "newest". Configured by PGBACKREST_… as base-backups.sh.
# Arguments: further settings of Postgres.
set -eu
folder=$PGBACKREST_PG1_PATH
clear() { find "$folder" -mindepth 1 -delete; }
clear
case ${RESTORE_TO:-} in
newest) pgbackrest --type=default restore ;;
[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]\ [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*[+-][0-9]*)
  pgbackrest --type=time "--target=$RESTORE_TO" --target-action=promote restore ;;
*)
  echo "RESTORE_TO must be newest, or a time like 2026-04-12 10:15:00+08; it is '${RESTORE_TO:-}'" >&2
  exit 2
  ;;
esac
# Archiving from here would mix its log with the log of the database in use. A hot standby would need its max_connections.
postgres -D "$folder" -c archive_mode=off -c hot_standby=off "$@" &
server=$!
trap 'kill -INT $server' TERM INT
wait $server || wait $server || true
clear
