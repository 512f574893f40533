/** The environment, parsed once: every variable and its default. docs/deploying.md says what each means to the operator. */

import { z } from 'zod';
import { isEmailAddress } from '../chain/address.js';
import { Keyring } from '../contract/encryption.js';

/** A process cannot start: the message is all that the person at the terminal needs to know and to do about it. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}

/** What the process needs cannot be reached; it may be there later. */
export class AwayError extends StartError {
  override readonly name = 'AwayError';

  /** @param away - what cannot be reached, and why. @param advice - what a person can do about it. */
  constructor(
    readonly away: string,
    advice: string,
    options?: ErrorOptions,
  ) {
    super(`${away}. ${advice}`, options);
  }
}

const port = z.coerce.number('must be a port number').int('must be a port number').min(0).max(65535);
const seconds = (standard: number) =>
  z.coerce.number('must be a number of seconds').int('must be a whole number of seconds').min(0).default(standard);
const count = (standard: number) =>
  z.coerce.number('must be a number').int('must be a whole number').min(1, 'must be at least 1').default(standard);
const flag = z.stringbool({ truthy: ['true', '1', 'yes'], falsy: ['false', '0', 'no'], error: 'must be true or false' });
const url = (protocol: RegExp, example: string) => z.url({ protocol, error: `must be a URL such as ${example}` });
const keyring = z.string().transform((text, { addIssue }) => {
  try {
    return new Keyring(text);
  } catch (error) {
    addIssue(error instanceof Error ? error.message : String(error));
    return z.NEVER;
  }
});
const mailbox = (error: string) => z.string().refine(isEmailAddress, error);

export const environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(8080),
  RELAY_PUBLIC_URL: url(/^https?$/, 'https://relay.example.com').optional(), // for links; unset: `http://HOST:PORT`
  RELAY_DATA_DIR: z.string().default('.relay'),
  DATABASE_URL: url(/^postgres(ql)?$/, 'postgres://user:password@host:5432/relay').optional(), // unset: embedded, all-in-one only
  TEMPORAL_ADDRESS: z.string().optional(), // unset: embedded; `@temporalio/envconfig` reads the other TEMPORAL_…
  RELAY_TEMPORAL_PORT: port.default(7233),
  RELAY_TEMPORAL_UI_PORT: port.default(8233),
  TEMPORAL_UI_URL: url(/^https?$/, 'https://temporal.example.com').optional(),
  TEMPORAL_DEPLOYMENT_NAME: z.string().min(1).max(200).optional(),
  TEMPORAL_WORKER_BUILD_ID: z.string().min(1).max(200).optional(),
  RELAY_TASK_QUEUE: z.string().min(1).max(200).default('relay'),
  RELAY_ADMIN_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  /** `id:base64,id:base64`: the first encrypts what is stored, all decrypt. Unset: embedded, otherwise nothing is encrypted. */
  RELAY_ENCRYPTION_KEYS: keyring.optional(),
  /** Several have commas between them: the first makes hashes and signs, all match hashes. Unset: embedded, otherwise none. */
  RELAY_SECRET: z
    .string()
    .refine((text) => text.split(',').every((secret) => secret.trim() === secret && secret.length >= 32), {
      error: 'must have at least 32 characters, and so must each of several, with nothing but a comma between them',
    })
    .optional(),
  SMTP_URL: url(/^smtps?$/, 'smtp://user:password@host:587').optional(),
  RELAY_SMTP_PORT: port.default(1025),
  RELAY_MAIL_UI_PORT: port.default(8025),
  MAIL_FROM: mailbox('must be an e-mail address such as Relay <relay@example.com>').default('Relay <relay@localhost>'),
  RELAY_OPERATOR_EMAIL: mailbox('must be an e-mail address').optional(), // is told where nobody of a company can be
  RELAY_SANDBOX_PORT: port.default(8090),
  /** How long an effect is tried before its action needs attention: time without workers does not count. */
  RELAY_RETRY_BUDGET_SECONDS: seconds(600),
  RELAY_ATTENTION_WINDOW_SECONDS: seconds(259_200),
  /** Actions that fail for the same reason within this time make one notice, after that of the first; 0: one each. */
  RELAY_NOTICE_DIGEST_SECONDS: seconds(60),
  // The bounds of docs/limits.md.
  RELAY_RATE_LIMIT_PER_MINUTE: count(600),
  RELAY_LISTS_PER_MINUTE: count(60),
  RELAY_READS_PER_MINUTE: count(300),
  RELAY_STEERING_PER_MINUTE: count(300),
  RELAY_ACTIONS_PER_DAY: count(200_000),
  RELAY_RECIPIENTS_PER_DAY: count(50_000),
  RELAY_OPEN_CHAINS: count(100_000),
  RELAY_MAX_CONNECTIONS: count(1000), // of the API, at once
  /** How long an API process that was told to stop goes on with requests, while `/readyz` says so. */
  RELAY_DRAIN_SECONDS: seconds(0),
  RELAY_ALLOW_PRIVATE_NETWORKS: flag.optional(), // for companies' connectors; unset: only in the all-in-one process
  RELAY_METRICS_PORT: port.optional(), // of a worker; unset: it answers nowhere
  /** Opens `/metrics` of API and workers to another machine. */
  RELAY_METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  RELAY_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info'),
});

export type Config = z.infer<typeof environment>;

/**
 * Reads the environment; a variable that is set but empty counts as unset.
 * @throws StartError with one line for each variable that is wrong; never its value, which may be a secret.
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const parsed = environment.safeParse(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')));
  if (parsed.success) return parsed.data;
  throw new StartError(parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('\n'));
}

/** @param names - what a process cannot do without, each with why. @throws StartError for what is not set. */
export function needed<Name extends keyof Config>(config: Config, names: Record<Name, string>) {
  const missing = Object.entries<string>(names).filter(([name]) => config[name as Name] === undefined);
  if (missing.length > 0) throw new StartError(missing.map(([name, why]) => `${name} is not set: ${why}`).join('\n'));
  return config as Config & Required<Pick<Config, Name>>;
}
