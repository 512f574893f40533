/**
 * docker-compose.yml cannot be run here: it is parsed, and held against the files it mounts and the variables that its images
 * document.
 */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { environment } from '../../src/service/config.js';

const root = new URL('../../../', import.meta.url);
const serviceSchema = z.object({
  image: z.string().regex(/^[a-z][a-z0-9/.-]*(:[\w.-]+)?$/),
  build: z.literal('.').optional(),
  restart: z.string(),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string().regex(/^127\.0\.0\.1:\d+:\d+$/, 'ports are open on this machine only')).default([]),
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
const composeSchema = z.object({
  name: z.string(),
  'x-relay': z.unknown(),
  services: z.record(z.string(), serviceSchema.strict()),
  volumes: z.record(z.string(), z.null()),
});
const compose = composeSchema.strict().parse(parse(readFileSync(new URL('docker-compose.yml', root), 'utf8'), { merge: true }));

/** What each image documents of the variables that are used here. */
const documented: Record<string, string[]> = {
  postgres: ['POSTGRES_USER', 'POSTGRES_PASSWORD', 'POSTGRES_DB'],
  'temporalio/admin-tools': ['SQL_PLUGIN', 'SQL_HOST', 'SQL_PORT', 'SQL_USER', 'SQL_PASSWORD', 'TEMPORAL_ADDRESS'],
  'temporalio/server': [
    'DB',
    'DB_PORT',
    'POSTGRES_SEEDS',
    'POSTGRES_USER',
    'POSTGRES_PWD',
    'BIND_ON_IP',
    'DYNAMIC_CONFIG_FILE_PATH',
  ],
  'temporalio/ui': ['TEMPORAL_ADDRESS', 'TEMPORAL_CODEC_ENDPOINT', 'TEMPORAL_CODEC_INCLUDE_CREDENTIALS'],
  'axllent/mailpit': [],
  relay: [...Object.keys(environment.shape), 'TEMPORAL_NAMESPACE'],
};

describe('docker-compose.yml', () => {
  for (const [name, service] of Object.entries(compose.services)) {
    it(`${name} names an image and only variables that it knows, files that are there, services that can be waited for`, () => {
      const [image = '', tag] = service.image.split(':');
      assert(service.build || tag, 'an image of somebody else needs a tag');
      for (const variable of Object.keys(service.environment))
        assert(documented[image]?.includes(variable), `${image} does not know ${variable}`);
      for (const [source = ''] of service.volumes.map((volume) => volume.split(':'))) {
        if (source.startsWith('./')) assert(existsSync(new URL(source, root)), `${source} is not there`);
        else assert(source in compose.volumes, `the volume ${source} is not declared`);
      }
      for (const [other, { condition }] of Object.entries(service.depends_on)) {
        const waited = compose.services[other];
        assert(waited, `${other} is not a service`);
        if (condition === 'service_healthy') assert(waited.healthcheck, `${other} has no health check`);
        else assert(waited.restart.startsWith('on-failure'), `${other} would be started again and again`);
      }
    });
  }

  it('api and worker run what the build makes, with what they need', () => {
    for (const [name, needed] of Object.entries({
      api: ['DATABASE_URL', 'RELAY_ADMIN_TOKEN', 'TEMPORAL_ADDRESS'],
      worker: ['DATABASE_URL', 'SMTP_URL', 'TEMPORAL_ADDRESS'],
    })) {
      const { command, environment } = compose.services[name] ?? assert.fail(`there is no ${name}`);
      assert(
        existsSync(new URL(`../../${command?.at(-1)?.replace(/^dist\//, '')}`, import.meta.url)),
        `${command?.at(-1)} is not built`,
      );
      for (const variable of needed) assert(environment[variable], `${name} lacks ${variable}`);
    }
  });

  it('has no secret of its own', () => {
    const text = readFileSync(new URL('docker-compose.yml', root), 'utf8');
    for (const [line] of text.matchAll(/^.*(PASSWORD|PWD|TOKEN):.*$/gm)) assert.match(line, /\$\{\w+:\?/);
  });
});

it('the Dockerfile copies what the build and the image need', () => {
  const dockerfile = readFileSync(new URL('Dockerfile', root), 'utf8');
  const ignored = readFileSync(new URL('.dockerignore', root), 'utf8');
  for (const [, sources = ''] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
    for (const source of sources.split(' ')) {
      assert(existsSync(new URL(source, root)), `${source} is not there`);
      assert(ignored.includes(`!${source.replace('./', '')}`), `${source} is ignored`);
    }
  }
  assert.match(dockerfile, /^USER node$/m);
});
