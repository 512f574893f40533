/** The environment, parsed once: every variable, its default and its meaning. */

import { z } from 'zod';
import { isEmailAddress } from '../chain/address.js';
import type { Links } from '../chain/chain.js';

/** A process cannot start: the message is all that the person at the terminal needs, what is wrong and what to do about it. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}

const port = z.coerce.number('must be a port number').int('must be a port number').min(0).max(65535);
const seconds = (standard: number) =>
  z.coerce.number('must be a number of seconds').int('must be a whole number of seconds').min(0).default(standard);
const flag = z
  .enum(['true', 'false', '1', '0', 'yes', 'no'], 'must be true or false')
  .transform((text) => ['true', '1', 'yes'].includes(text));
const url = (protocol: RegExp, example: string) => z.url({ protocol, error: `must be a URL such as ${example}` });

const environment = z.object({
  /** Where the API listens. */
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(8080),
  /** How people reach the API, for the links in answers and notices. Default: `http://HOST:PORT`. */
  RELAY_PUBLIC_URL: url(/^https?$/, 'https://relay.example.com').optional(),
  /** State of the all-in-one process. */
  RELAY_DATA_DIR: z.string().default('.relay'),
  /** PostgreSQL. Unset: embedded, all-in-one only. */
  DATABASE_URL: url(/^postgres(ql)?$/, 'postgres://user:password@host:5432/relay').optional(),
  /** The Temporal server, with TEMPORAL_NAMESPACE, TEMPORAL_TLS_… as `@temporalio/envconfig` reads them. Unset: embedded. */
  TEMPORAL_ADDRESS: z.string().optional(),
  RELAY_TEMPORAL_PORT: port.default(7233),
  RELAY_TEMPORAL_UI_PORT: port.default(8233),
  /** Address of Temporal's Web UI, for links. */
  TEMPORAL_UI_URL: url(/^https?$/, 'https://temporal.example.com').optional(),
  /** With TEMPORAL_WORKER_BUILD_ID: the worker is a version of this Worker Deployment. Unset: it is not versioned. */
  TEMPORAL_DEPLOYMENT_NAME: z.string().min(1).max(200).optional(),
  TEMPORAL_WORKER_BUILD_ID: z.string().min(1).max(200).optional(),
  RELAY_TASK_QUEUE: z.string().min(1).max(200).default('relay'),
  RELAY_ADMIN_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  SMTP_URL: url(/^smtps?$/, 'smtp://user:password@host:587').optional(),
  RELAY_SMTP_PORT: port.default(1025),
  RELAY_MAIL_UI_PORT: port.default(8025),
  MAIL_FROM: z
    .string()
    .refine(isEmailAddress, 'must be an e-mail address such as Relay <relay@example.com>')
    .default('Relay <relay@localhost>'),
  /** Gets the notices for which a company has no contact that can be reached. */
  RELAY_OPERATOR_EMAIL: z.string().refine(isEmailAddress, 'must be an e-mail address').optional(),
  RELAY_SANDBOX_PORT: port.default(8090),
  /** How long an effect is tried before its action needs attention, in attempts' time: time without workers does not count. */
  RELAY_RETRY_BUDGET_SECONDS: seconds(600),
  /** How long a held action waits for a decision. */
  RELAY_ATTENTION_WINDOW_SECONDS: seconds(259_200),
  /** Actions that fail for the same reason within this time make one notice, after that of the first; 0: each its own. */
  RELAY_NOTICE_DIGEST_SECONDS: seconds(60),
  /** Requests a minute, for each company. */
  RELAY_RATE_LIMIT_PER_MINUTE: z.coerce.number('must be a number').int('must be a whole number').min(1).default(600),
  /** Whether companies' connectors may call private addresses. Default: only in the all-in-one process. */
  RELAY_ALLOW_PRIVATE_NETWORKS: flag.optional(),
  /** Where a worker answers /healthz, /readyz and /metrics. Unset: nowhere; the API answers them on its own port. */
  RELAY_METRICS_PORT: port.optional(),
  RELAY_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info'),
});

export type Config = z.infer<typeof environment>;

/** The names of all variables that the relay reads itself. */
export const environmentVariables = Object.keys(environment.shape);

/**
 * Reads the environment; a variable that is set but empty counts as unset.
 * @throws StartError with one line for each variable that is wrong; never its value, which may be a secret.
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const parsed = environment.safeParse(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')));
  if (parsed.success) return parsed.data;
  throw new StartError(parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('\n'));
}

/**
 * What a process cannot do without.
 * @throws StartError that names what is not set, and why it is needed.
 */
export function needed<Name extends keyof Config>(
  config: Config,
  names: Record<Name, string>,
): { [Key in Name]: NonNullable<Config[Key]> } {
  const missing = Object.entries<string>(names).filter(([name]) => config[name as Name] === undefined);
  if (missing.length > 0) throw new StartError(missing.map(([name, why]) => `${name} is not set: ${why}`).join('\n'));
  return config as { [Key in Name]: NonNullable<Config[Key]> };
}

/**
 * The version of a Worker Deployment that the worker is.
 * @throws StartError where only half of it is said.
 */
export function deploymentVersion(config: Config): { deploymentName: string; buildId: string } | undefined {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = config;
  if (deploymentName !== undefined && buildId !== undefined) return { deploymentName, buildId };
  if (deploymentName === undefined && buildId === undefined) return undefined;
  throw new StartError(
    'TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID make a versioned worker together: set both, or none',
  );
}

export function linksOf(config: Config, namespace: string, webUi = config.TEMPORAL_UI_URL): Links {
  const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST;
  return {
    api: (config.RELAY_PUBLIC_URL ?? `http://${host}:${config.PORT}`).replace(/\/+$/, ''),
    webUi: webUi && `${webUi.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}`,
  };
}
