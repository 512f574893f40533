/** The environment, parsed once, with all defaults. docs/deploying.md explains each variable. */

import { isIP } from 'node:net';
import { z } from 'zod';
import { isEmailAddress } from '../chain/address.js';
import { roles } from '../contract/credential.js';
import { Keyring } from '../contract/encryption.js';
import { httpsUrl } from '../contract/notify.js';

/** The process cannot start. The message tells the person at the terminal what to do. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}

/** A system cannot be reached now, but may be reachable later. */
export class AwayError extends StartError {
  override readonly name = 'AwayError';

  /** @param away - the system, and why it cannot be reached. @param advice - what a person can do. */
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

/** The internal addresses that are allowed: all, none, or a list of host names, addresses and networks (`10.1.0.0/16`). */
export type PrivateNetworks = boolean | readonly string[];

const privateNetworks = z.string().transform((text, { addIssue }): PrivateNetworks => {
  const all = flag.safeParse(text);
  if (all.success) return all.data;
  const entries = text.split(',').map((entry) => entry.trim().toLowerCase());
  const wrong = entries.findIndex((entry) => !isHostOrNetwork(entry)) + 1;
  if (wrong === 0) return entries;
  addIssue(
    `must be true, false, or host names, IP addresses and networks with commas between them: entry ${wrong} is none of these`,
  );
  return z.NEVER;
});

function isHostOrNetwork(entry: string): boolean {
  const [address = '', prefix, ...more] = entry.split('/');
  const bits = { 4: 32, 6: 128 }[isIP(address)];
  // A host name contains a letter. A text without a letter is a mistyped address.
  if (bits === undefined) return /^(?=.*[a-z])[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(entry);
  return (
    !address.includes('%') && more.length === 0 && (prefix === undefined || (/^\d+$/.test(prefix) && Number(prefix) <= bits))
  );
}

const isGrants = 'must be JSON such as {"dispatchers": {"companyId": "acme", "role": "steer"}}';
const grants = z
  .string()
  .transform((text): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined; // the next step of the schema refuses undefined
    }
  })
  .pipe(z.record(z.string(), z.strictObject({ companyId: z.string(), role: z.enum(roles) }, isGrants), isGrants))
  .transform((byGroup) => Object.entries(byGroup).map(([group, grant]) => ({ group, ...grant })));

const mailbox = (error: string) => z.string().refine(isEmailAddress, error);

export const environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(8080),
  RELAY_PUBLIC_URL: url(/^https?$/, 'https://relay.example.com').optional(), // for links; default: `http://HOST:PORT`
  RELAY_DATA_DIR: z.string().default('.relay'),
  /** If unset, the all-in-one process uses an embedded database. Other processes need this variable. */
  DATABASE_URL: url(/^postgres(ql)?$/, 'postgres://user:password@host:5432/relay').optional(),
  /** If unset, the all-in-one process starts Temporal. `@temporalio/envconfig` reads the TEMPORAL_… variables that are not here. */
  TEMPORAL_ADDRESS: z.string().optional(),
  RELAY_TEMPORAL_PORT: port.default(7233),
  RELAY_TEMPORAL_UI_PORT: port.default(8233),
  TEMPORAL_UI_URL: url(/^https?$/, 'https://temporal.example.com').optional(),
  TEMPORAL_DEPLOYMENT_NAME: z.string().min(1).max(200).optional(),
  TEMPORAL_WORKER_BUILD_ID: z.string().min(1).max(200).optional(),
  RELAY_TASK_QUEUE: z.string().min(1).max(200).default('relay'),
  RELAY_ADMIN_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  /** `id:base64,id:base64`. The first key encrypts, and all keys decrypt. If unset, the all-in-one process makes a key. */
  RELAY_ENCRYPTION_KEYS: keyring.optional(),
  /** Secrets with commas between them. The first hashes and signs, all verify. If unset, the all-in-one process makes one. */
  RELAY_SECRET: z
    .string()
    .refine((text) => text.split(',').every((secret) => secret.trim() === secret && secret.length >= 32), {
      error: 'must be a secret of at least 32 characters, or several such secrets with only commas between them',
    })
    .optional(),
  /** Lets the API and workers start without RELAY_ENCRYPTION_KEYS and RELAY_SECRET. */
  RELAY_ALLOW_PLAIN_STORAGE: flag.default(false),
  SMTP_URL: url(/^smtps?$/, 'smtp://user:password@host:587').optional(),
  RELAY_SMTP_PORT: port.default(1025),
  RELAY_MAIL_UI_PORT: port.default(8025),
  MAIL_FROM: mailbox('must be an e-mail address such as Relay <relay@example.com>').default('Relay <relay@localhost>'),
  RELAY_OPERATOR_EMAIL: mailbox('must be an e-mail address').optional(), // gets notices that reach no contact
  /** The OpenID Connect service where people sign in. The relay is a client of this service. */
  RELAY_OIDC_ISSUER: httpsUrl('people sign in there').optional(),
  RELAY_OIDC_CLIENT_ID: z.string().optional(),
  RELAY_OIDC_CLIENT_SECRET: z.string().optional(),
  /** If set, only people with a verified address of these domains can sign in at this service. */
  RELAY_OIDC_DOMAINS: z
    .string()
    .toLowerCase()
    .transform((text) => text.split(/[ ,]+/))
    .optional(),
  /** The role that each group of the service gives. Default: only people whom a company lists can sign in. */
  RELAY_OIDC_GROUPS: grants.optional(),
  RELAY_SANDBOX_PORT: port.default(8090),
  /** How long an effect is retried before its action needs attention. Time without workers does not count. */
  RELAY_RETRY_BUDGET_SECONDS: seconds(600),
  RELAY_ATTENTION_WINDOW_SECONDS: seconds(259_200),
  /** After the first notice, actions that fail in the same way within this time share a notice. With 0, no notice is shared. */
  RELAY_NOTICE_DIGEST_SECONDS: seconds(60),
  /**
   * The maximum number of notices for each company in ten minutes. A quarter of this number is only for digests, which contain
   * several notices.
   */
  RELAY_NOTICES_PER_TEN_MINUTES: count(20),
  // The limits of docs/limits.md.
  RELAY_RATE_LIMIT_PER_MINUTE: count(600),
  RELAY_LISTS_PER_MINUTE: count(240),
  RELAY_READS_PER_MINUTE: count(300),
  RELAY_STEERING_PER_MINUTE: count(300),
  RELAY_ACTIONS_PER_DAY: count(200_000),
  RELAY_RECIPIENTS_PER_DAY: count(50_000),
  RELAY_OPEN_CHAINS: count(100_000),
  RELAY_MAX_CONNECTIONS: count(1000), // the maximum number of connections to the API
  /** After the signal to stop, the API serves requests for this long. Meanwhile `/readyz` answers 503. */
  RELAY_DRAIN_SECONDS: seconds(0),
  /** Internal addresses that admins may set, and that the relay may call. Default: all in the all-in-one process, else none. */
  RELAY_ALLOW_PRIVATE_NETWORKS: privateNetworks.optional(),
  RELAY_METRICS_PORT: port.optional(), // the port of a worker's metrics; if unset, the worker does not serve metrics
  /** With this token, other machines can read `/metrics` of the API and of workers. */
  RELAY_METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  RELAY_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info'),
});

export type Config = z.infer<typeof environment>;

/** An empty variable counts as unset. @throws StartError with one line for each wrong variable, without its value. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const parsed = environment.safeParse(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')));
  if (parsed.success) return parsed.data;
  throw new StartError(parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('\n'));
}

const unlessPlain =
  'set the same value for every process, and keep it apart from backups; to start without it, set RELAY_ALLOW_PLAIN_STORAGE=true';
const secrets = {
  RELAY_SECRET: `hashes of tokens and sessions would be weaker without a secret; make a secret with: openssl rand -hex 32 (${unlessPlain})`,
  RELAY_ENCRYPTION_KEYS: `secrets and texts would not be encrypted; make a key with: echo "first:$(openssl rand -base64 32)" (${unlessPlain})`,
};

/** Requires the variables in `names`, for the reasons there. Unless plain storage is on, also the secrets. @throws StartError */
export function needed<Name extends keyof Config>(config: Config, names: Record<Name, string>) {
  const all: [string, string][] = Object.entries({ ...names, ...(!config.RELAY_ALLOW_PLAIN_STORAGE && secrets) });
  const missing = all.filter(([name]) => config[name as Name] === undefined);
  if (missing.length > 0) throw new StartError(missing.map(([name, why]) => `${name} is not set: ${why}`).join('\n'));
  return config as Config & Required<Pick<Config, Name>>;
}
