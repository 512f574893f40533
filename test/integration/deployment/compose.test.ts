/**
 * docker-compose.yml cannot run here. The tests parse it and check the restrictions of every container, the mounted files, and
 * the variables against the images' documentation. The script for PostgreSQL runs.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { parse } from 'yaml';
import { z } from 'zod';
import { environment, needed, readConfig } from '../../../src/service/config.js';
import { openPostgres } from '../../../src/store/postgres.js';
import { startPostgresql } from '../../postgresql.js';

const root = new URL('../../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

const serviceSchema = z.object({
  image: z.string().regex(/^[a-z][a-z0-9/.-]*(:[\w.-]+)?$/),
  build: z.literal('.').optional(),
  restart: z.string(),
  user: z.string().optional(),
  read_only: z.boolean().optional(),
  tmpfs: z.array(z.string()).optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  logging: z.object({ driver: z.string(), options: z.record(z.string(), z.string()) }).optional(),
  mem_limit: z.string().optional(),
  cpus: z.number().optional(),
  pids_limit: z.number().optional(),
  networks: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  command: z.array(z.string()).optional(),
  entrypoint: z.array(z.string()).optional(),
  stop_grace_period: z.string().optional(),
  healthcheck: z
    .object({
      test: z.array(z.string()).min(2),
      interval: z.string(),
      timeout: z.string(),
      retries: z.number(),
      start_period: z.string(),
    })
    .strict()
    .optional(),
  depends_on: z
    .record(z.string(), z.object({ condition: z.enum(['service_healthy', 'service_completed_successfully']) }))
    .default({}),
});
type Service = z.infer<typeof serviceSchema>;
const composeSchema = z.object({
  name: z.string(),
  'x-closed': z.unknown(),
  'x-relay': z.unknown(),
  services: z.record(z.string(), serviceSchema.strict()),
  networks: z.record(z.string(), z.object({ internal: z.boolean().default(false) }).strict()),
  volumes: z.record(z.string(), z.null()),
});
const text = read('docker-compose.yml');
const compose = composeSchema.strict().parse(parse(text, { merge: true }));

/** The documented variables of each image that this deployment uses. */
const documented: Record<string, string[]> = {
  postgres: ['POSTGRES_PASSWORD'],
  'temporalio/admin-tools': ['SQL_PLUGIN', 'SQL_HOST', 'SQL_PORT', 'SQL_USER', 'SQL_PASSWORD', 'TEMPORAL_ADDRESS'],
  'temporalio/server': [
    'DB',
    'DB_PORT',
    'POSTGRES_SEEDS',
    'POSTGRES_USER',
    'POSTGRES_PWD',
    'BIND_ON_IP',
    'TEMPORAL_BROADCAST_ADDRESS',
    'DYNAMIC_CONFIG_FILE_PATH',
  ],
  'temporalio/ui': ['TEMPORAL_ADDRESS', 'TEMPORAL_CODEC_ENDPOINT', 'TEMPORAL_CODEC_INCLUDE_CREDENTIALS', 'TEMPORAL_CORS_ORIGINS'],
  'axllent/mailpit': [],
  relay: [...Object.keys(environment.shape), 'TEMPORAL_NAMESPACE'],
};

/** Images that run as root unless `user` is set. */
const rootImages = ['postgres', 'axllent/mailpit'];
const imageOf = ({ image }: Service) => image.split(':')[0] ?? '';
const isInternal = (network: string) => compose.networks[network]?.internal;

const mustHold: Record<string, (service: Service) => unknown> = {
  'cannot write to its image': ({ read_only, tmpfs }) => read_only && tmpfs?.some((mount) => mount.startsWith('/tmp:size=')),
  'has no capabilities, and cannot gain any': ({ cap_drop, security_opt }) =>
    cap_drop?.includes('ALL') && security_opt?.includes('no-new-privileges:true'),
  'does not run as root': (service) =>
    !rootImages.includes(imageOf(service)) || /^(postgres|[1-9]\d*:\d+)$/.test(service.user ?? ''),
  'has limits for memory, CPUs, processes and logs': ({ mem_limit, cpus, pids_limit, logging }) =>
    mem_limit && cpus && pids_limit && logging?.options['max-size'] && logging.options['max-file'],
  'is in named networks only': ({ networks }) => networks?.length && networks.every((network) => network in compose.networks),
  'publishes its ports on this machine only': ({ ports }) => ports.every((port) => /^127\.0\.0\.1:\d+:\d+$/.test(port)),
  'publishes ports only if its networks allow access': ({ ports, networks }) =>
    ports.length === 0 || !networks?.every(isInternal),
  'restarts or ends, and reports its health': ({ restart, healthcheck }) =>
    restart.startsWith('on-failure:') || (restart === 'unless-stopped' && healthcheck),
  'has a pinned version, or is built here': ({ image, build }) => build || /:v?\d+\.\d+/.test(image),
};

describe('docker-compose.yml', () => {
  for (const [name, service] of Object.entries(compose.services)) {
    for (const [property, holds] of Object.entries(mustHold)) {
      it(`${name} ${property}`, () => assert(holds(service)));
    }

    it(`${name} uses only known variables, existing files, and services with a health check`, () => {
      const mounted = service.volumes.map((volume) => volume.split(':')[0] ?? '').filter((source) => source.startsWith('./'));
      for (const source of mounted) {
        assert(existsSync(new URL(source, root)), `${source} is not there`);
        assert(statSync(new URL(source, root)).mode & 0o004, `${source} cannot be read by the container's user`);
      }
      for (const variable of Object.keys(service.environment)) {
        const known = documented[imageOf(service)]?.includes(variable) || mounted.some((file) => read(file).includes(variable));
        assert(known, `${service.image} does not know ${variable}`);
      }
      for (const [source = ''] of service.volumes.map((volume) => volume.split(':')))
        assert(mounted.includes(source) || source in compose.volumes, `the volume ${source} is not declared`);
      for (const [other, { condition }] of Object.entries(service.depends_on)) {
        const waited = compose.services[other];
        assert(waited, `${other} is not a service`);
        assert(
          waited.networks?.some((network) => service.networks?.includes(network)),
          `${name} cannot reach ${other}`,
        );
        if (condition === 'service_healthy') assert(waited.healthcheck, `${other} has no health check`);
        else assert(waited.restart.startsWith('on-failure'), `${other} would be started again and again`);
      }
    });
  }

  for (const [name, neighbours] of Object.entries({
    postgresql: ['api', 'temporal', 'temporal-schema', 'worker'],
    temporal: ['api', 'postgresql', 'temporal-namespace', 'temporal-schema', 'temporal-ui', 'worker'],
  })) {
    it(`${name} has no internet access and no published port, and only ${neighbours.join(', ')} can reach it`, () => {
      const { networks = [], ports } = compose.services[name] ?? assert.fail(`there is no ${name}`);
      assert.deepEqual(ports, []);
      assert(networks.every(isInternal));
      const sharing = Object.entries(compose.services).filter(([, other]) => other.networks?.some((n) => networks.includes(n)));
      assert.deepEqual(
        sharing
          .map(([other]) => other)
          .filter((other) => other !== name)
          .sort(),
        neighbours,
      );
    });
  }

  it("api and worker run the build's output, with the variables that they need", () => {
    const both = ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'RELAY_ENCRYPTION_KEYS', 'RELAY_SECRET'];
    for (const [name, needed] of Object.entries({
      api: [...both, 'RELAY_ADMIN_TOKEN', 'SMTP_URL'],
      worker: [...both, 'SMTP_URL'],
    })) {
      const { command, environment } = compose.services[name] ?? assert.fail(`there is no ${name}`);
      assert(
        existsSync(new URL(`../../../${command?.at(-1)?.replace(/^dist\//, '')}`, import.meta.url)),
        `${command?.at(-1)} is not built`,
      );
      for (const variable of needed) assert(environment[variable], `${name} lacks ${variable}`);
      assert(!('RELAY_ALLOW_PLAIN_STORAGE' in environment), `${name} would start without secrets`);
    }
    assert(!compose.services.worker?.environment.RELAY_ADMIN_TOKEN, 'the worker needs no admin token');
  });

  it('uses one version of the Temporal server and its tools', () => {
    const images = Object.values(compose.services).map(({ image }) => image);
    const versions = images
      .filter((image) => /^temporalio\/(server|admin-tools):/.test(image))
      .map((image) => image.split(':')[1]);
    assert.equal(new Set(versions).size, 1);
  });

  it('contains no secret', () => {
    for (const [line] of text.matchAll(/^.*(PASSWORD|PWD|TOKEN|KEYS|SECRET|DATABASE_URL):.*$/gm))
      assert.match(line, /\$\{\w+:\?/);
  });

  it('requires secrets that the commands in docs/deploying.md create in a form that the relay accepts', () => {
    const command = /^```sh\n(\(umask 077[\s\S]*?)^```$/m.exec(read('docs/deploying.md'))?.[1] ?? assert.fail('no command');
    const directory = mkdtempSync(join(tmpdir(), 'relay-compose-'));
    try {
      execFileSync('sh', ['-c', command], { cwd: directory });
      const file = join(directory, '.env');
      assert.equal(statSync(file).mode & 0o777, 0o600);
      const made = Object.fromEntries(
        readFileSync(file, 'utf8')
          .trim()
          .split('\n')
          .map((line) => line.split(/=(.*)/s)),
      );
      assert.deepEqual(Object.keys(made).sort(), [...new Set(text.match(/(?<=\$\{)\w+(?=:\?)/g))].sort());
      const url = `postgres://relay:${made.RELAY_DATABASE_PASSWORD}@postgresql:5432/relay`;
      assert(needed(readConfig({ ...made, DATABASE_URL: url }), {}));
      assert.equal(new Set(Object.values(made)).size, Object.keys(made).length);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

const postgresql = await startPostgresql();
describe('deploy/databases.sql', { skip: postgresql === undefined && 'PostgreSQL is not installed' }, () => {
  const server = postgresql ?? { url: '', psql: '', stop: async () => {} };
  after(() => server.stop());
  const urlOf = (role: string, database: string) => {
    const url = new URL(server.url);
    url.username = role;
    url.pathname = database;
    return url.href;
  };
  const query = async (role: string, database: string, statement: string) => {
    const client = new pg.Client({ connectionString: urlOf(role, database) });
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  };

  it('creates roles with the given passwords, without rights over the server', async () => {
    execFileSync(
      server.psql,
      ['-v', 'ON_ERROR_STOP=1', '-q', '-d', server.url, '-f', fileURLToPath(new URL('deploy/databases.sql', root))],
      {
        env: { ...process.env, RELAY_DATABASE_PASSWORD: "rel'ay", TEMPORAL_DATABASE_PASSWORD: 'temporal' },
      },
    );
    const rights = `SELECT rolname AS name, rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS power,
        rolpassword LIKE 'SCRAM-SHA-256%' AS password
      FROM pg_authid WHERE rolname IN ('relay', 'temporal') ORDER BY 1`;
    assert.deepEqual(await query('postgres', 'postgres', rights), [
      { name: 'relay', power: false, password: true },
      { name: 'temporal', power: false, password: true },
    ]);
  });

  it('gives the relay a database in which it can create its schema', async () => {
    await (await openPostgres(urlOf('relay', 'relay'))).close();
    assert.equal((await query('relay', 'relay', 'SELECT version FROM relay_schema')).length, 1);
  });

  it('gives Temporal databases in which it can create tables, and the extension for its search', async () => {
    await query('temporal', 'temporal', 'CREATE TABLE executions (id text)');
    await query('temporal', 'temporal_visibility', 'CREATE EXTENSION btree_gin');
  });

  for (const [role, databases] of Object.entries({
    relay: ['temporal', 'temporal_visibility', 'postgres', 'template1'],
    temporal: ['relay', 'postgres', 'template1'],
  })) {
    for (const database of databases) {
      it(`keeps ${role} out of the database ${database}`, () =>
        assert.rejects(query(role, database, 'SELECT 1'), /permission denied for database/));
    }
  }
});

describe('the Dockerfile', () => {
  const dockerfile = read('Dockerfile');

  it('copies what the build and the image need', () => {
    const ignored = read('.dockerignore');
    for (const [, sources = ''] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
      for (const source of sources.split(' ')) {
        assert(existsSync(new URL(source, root)), `${source} is not there`);
        assert(ignored.includes(`!${source.replace('./', '')}`), `${source} is ignored`);
      }
    }
  });

  it('has its version in its labels', () => {
    const { version, name, description } = JSON.parse(read('package.json'));
    const labels = dockerfile.matchAll(/org\.opencontainers\.image\.(\w+)="([^"]*)"/g);
    const said = Object.fromEntries(Array.from(labels, ([, label, value]) => [label, value]));
    assert.deepEqual(said, { title: name, version, description });
  });

  it('uses the same base image in every stage, with a full version number', () => {
    const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image);
    assert.equal(new Set(images).size, 1);
    for (const image of images) assert.match(image, /:\d+\.\d+\.\d+-/);
  });

  for (const [what, line] of Object.entries({
    'runs as an unprivileged user': /^USER node$/m,
    'runs no install script of a dependency': /^RUN npm ci --ignore-scripts$/m,
    'excludes development dependencies': /^RUN .*npm prune --omit=dev --ignore-scripts$/m,
    'excludes the sandbox': /^RUN npm run build && rm -r dist\/src\/sandbox /m,
  })) {
    it(what, () => assert.match(dockerfile, line));
  }
});
