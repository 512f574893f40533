#!/bin/sh
# Creates or updates the schema of Temporal's two databases. Reads SQL_PLUGIN, SQL_HOST, SQL_PORT, SQL_USER and SQL_PASSWORD.
set -eu

schemas=${TEMPORAL_SCHEMAS:-/etc/temporal/schema/postgresql/v12}

bring_up_to_date() {
  temporal-sql-tool --db "$1" update-schema --schema-dir "$schemas/$2/versioned"
}

for pair in temporal:temporal temporal_visibility:visibility; do
  database=${pair%%:*}
  directory=${pair##*:}
  # If the update fails, the database is probably new, and has no schema yet.
  bring_up_to_date "$database" "$directory" || {
    temporal-sql-tool --db "$database" setup-schema --version 0.0
    bring_up_to_date "$database" "$directory"
  }
done
