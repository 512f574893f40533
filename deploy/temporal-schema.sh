#!/bin/sh
# Sets up the schema of Temporal's two databases, or brings it up to date. Reads SQL_PLUGIN, SQL_HOST, SQL_PORT, SQL_USER and SQL_PASSWORD.
set -eu

schemas=${TEMPORAL_SCHEMAS:-/etc/temporal/schema/postgresql/v12}

bring_up_to_date() {
  temporal-sql-tool --db "$1" update-schema --schema-dir "$schemas/$2/versioned"
}

for pair in temporal:temporal temporal_visibility:visibility; do
  database=${pair%%:*}
  directory=${pair##*:}
  # A database without a schema version has never been set up.
  bring_up_to_date "$database" "$directory" || {
    temporal-sql-tool --db "$database" setup-schema --version 0.0
    bring_up_to_date "$database" "$directory"
  }
done
