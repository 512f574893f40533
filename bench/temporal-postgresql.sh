#!/usr/bin/env bash
# Temporal's full server on PostgreSQL, for `npm run bench -- --temporal 127.0.0.1:7300`. The script builds the server once (with Go), creates new
# databases, and runs the server in the foreground. PGHOST, PGPORT, PGUSER and PGPASSWORD select the PostgreSQL server. The argument is the port.
# The server also uses the next nine ports. With a second argument, `again`, the script keeps the databases of an earlier run.
set -euo pipefail

port=${1:-7300} again=${2:-}
version=v1.29.1
folder=${XDG_CACHE_HOME:-$HOME/.cache}/relay-bench
host=${PGHOST:-127.0.0.1} pgport=${PGPORT:-5432} user=${PGUSER:-postgres} password=${PGPASSWORD:-}
export GOBIN=$folder/$version

[ -x "$GOBIN/server" ] && [ -x "$GOBIN/sql" ] ||
  go install "go.temporal.io/server/cmd/server@$version" "go.temporal.io/server/cmd/tools/sql@$version"
schemas=$(go env GOMODCACHE)/go.temporal.io/server@$version/schema/postgresql/v12
[ "$again" ] || for name in temporal visibility; do
  sql=("$GOBIN/sql" --plugin postgres12 --endpoint "$host" --port "$pgport" --user "$user" --password "$password" --database "bench_$name")
  "${sql[@]}" drop --force || true
  "${sql[@]}" create
  "${sql[@]}" setup-schema --version 0.0
  "${sql[@]}" update-schema --schema-dir "$schemas/$name/versioned"
done > "$folder/schema.log" 2>&1 || { tail "$folder/schema.log" >&2; exit 1; }

store() {
  echo "{ sql: { pluginName: postgres12, databaseName: bench_$1, connectAddr: '$host:$pgport', connectProtocol: tcp, user: '$user', password: '$password', maxConns: 20, maxIdleConns: 20 } }"
}
service() {
  echo "{ rpc: { grpcPort: $1, membershipPort: $2, bindOnLocalHost: true } }"
}
# `npm start` uses the same settings for the dev server.
printf 'matching.enableFairness:\n  - value: true\nfrontend.enableServerVersionCheck:\n  - value: false\n' > "$folder/dynamic.yaml"
cat > "$folder/bench.yaml" <<YAML
log: { stdout: true, level: warn }
persistence:
  defaultStore: history
  visibilityStore: visibility
  numHistoryShards: 4
  datastores: { history: $(store temporal), visibility: $(store visibility) }
global: { membership: { maxJoinDuration: 30s, broadcastAddress: 127.0.0.1 } }
services:
  frontend: $(service "$port" "$((port + 1))")
  matching: $(service "$((port + 2))" "$((port + 3))")
  history: $(service "$((port + 4))" "$((port + 5))")
  worker: $(service "$((port + 6))" "$((port + 7))")
clusterMetadata:
  enableGlobalNamespace: false
  failoverVersionIncrement: 10
  masterClusterName: active
  currentClusterName: active
  clusterInformation: { active: { enabled: true, initialFailoverVersion: 1, rpcName: frontend, rpcAddress: '127.0.0.1:$port' } }
publicClient: { hostPort: '127.0.0.1:$port' }
dynamicConfigClient: { filepath: $folder/dynamic.yaml, pollInterval: 60s }
YAML

namespace() { temporal operator namespace "$@" --address "127.0.0.1:$port" default > /dev/null 2>&1; }
[ "$again" ] || (until namespace create --retention 1d || namespace describe; do sleep 1; done; echo ready) &
exec "$GOBIN/server" --root / --config "$folder" --env bench --allow-no-auth start
