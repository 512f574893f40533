/**
 * The kinds of systems that a company can connect, besides `http`: names, settings and abilities. The API's schemas, the console's
 * forms and the composer's checks use these tables. Every setting is a text.
 */

import type { ChainAction } from './chain.js';
import type { Issue } from './request.js';

export interface Setting {
  label: string; // as on the vendor's pages
  help?: string;
  secret?: true;
  optional?: true;
  /** The form of a setting that is part of a URL. The relay checks the setting, so only the vendor's hosts get credentials. */
  pattern?: { rule: RegExp; example: string };
}

export interface Kind {
  name: string;
  /** Where to find the credentials on the vendor's pages. */
  credentials: string;
  settings: Readonly<Record<string, Setting>>;
}

export interface PlatformKind extends Kind {
  /** The limits of `sendRadius`, in whole miles. Absent if the platform takes no radius. */
  radius?: { min: number; max: number };
  /** An action can give a group by its number or its name. */
  groupsByName?: true;
}

export const platformKinds = {
  workmarket: {
    name: 'WorkMarket',
    credentials: 'In WorkMarket: Settings > API > Manage API access. Create a token and a secret.',
    settings: { token: { label: 'Token', secret: true }, secret: { label: 'Secret', secret: true } },
    radius: { min: 1, max: 100 },
    groupsByName: true,
  },
} as const satisfies Record<string, PlatformKind>;

const host = (rule: RegExp, example: string) => ({ rule, example });

export const ticketingKinds = {
  autotask: {
    name: 'Autotask PSA',
    credentials:
      'In Autotask: Admin > Account Settings & Users > Resources (Users). Add a user with the security level API User.',
    settings: {
      userName: { label: 'Username (Key)' },
      secret: { label: 'Password (Secret)', secret: true },
      integrationCode: {
        label: 'Tracking Identifier',
        help: 'The code of the integration. In Autotask, it is on the page of the API user.',
        secret: true,
      },
    },
  },
  connectwise: {
    name: 'ConnectWise PSA',
    credentials:
      'In ConnectWise: System > Members > API Members. Add a member with API keys. Get the client id at developer.connectwise.com.',
    settings: {
      site: { label: 'Site', pattern: host(/^(?:na|eu|au|aus|za|staging)\.myconnectwise\.net$/, 'na.myconnectwise.net') },
      company: { label: 'Company', help: 'The same company as on the login page.', pattern: host(/^[\w.-]+$/, 'acme') },
      publicKey: { label: 'Public key' },
      privateKey: { label: 'Private key', secret: true },
      clientId: { label: 'Client ID', secret: true },
    },
  },
  servicenow: {
    name: 'ServiceNow',
    credentials:
      'In ServiceNow: User Administration > Users. Add a user that has “Web service access only” and a role that can write to the table.',
    settings: {
      instance: {
        label: 'Instance',
        help: 'The first part of the address, before .service-now.com.',
        pattern: host(/^[a-z0-9-]+$/, 'dev12345'),
      },
      userName: { label: 'User ID' },
      password: { label: 'Password', secret: true },
      table: { label: 'Table', help: 'Default: incident.', optional: true, pattern: host(/^[a-z0-9_]+$/, 'incident') },
    },
  },
  zendesk: {
    name: 'Zendesk',
    credentials: 'In Zendesk: Admin Center > Apps and integrations > APIs > API tokens.',
    settings: {
      subdomain: {
        label: 'Subdomain',
        help: 'The first part of the address, before .zendesk.com.',
        pattern: host(/^[a-z0-9-]+$/, 'acme'),
      },
      email: { label: 'E-mail of the agent' },
      token: { label: 'API token', secret: true },
    },
  },
  jira: {
    name: 'Jira Cloud',
    credentials: 'Sign in as a user who can edit the issues. At id.atlassian.com: Security > API tokens.',
    settings: {
      site: {
        label: 'Site',
        help: 'The first part of the address, before .atlassian.net.',
        pattern: host(/^[a-z0-9-]+$/, 'acme'),
      },
      email: { label: 'E-mail of the user' },
      token: { label: 'API token', secret: true },
    },
  },
} as const satisfies Record<string, Kind>;

/** The settings of a connection, by its kind. `baseUrl` replaces the vendor's address; only an admin token can set it. */
export type ConnectionsOf<Kinds extends Record<string, Kind>> = {
  [Name in keyof Kinds]: { kind: Name; baseUrl?: string } & TextsOf<Kinds[Name]['settings']>;
};
type TextsOf<Settings> = {
  [Name in keyof Settings as Settings[Name] extends { optional: true } ? never : Name]: string;
} & { [Name in keyof Settings as Settings[Name] extends { optional: true } ? Name : never]?: string };
export type TicketingConnections = ConnectionsOf<typeof ticketingKinds>;

/** These settings of a connected platform show what the platform can do. */
interface Connected {
  kind: string;
  templates?: { send?: { path: string; body?: unknown } | undefined } | undefined;
}

/** Returns a warning for each action that would send an assignment in a way that the company's platform does not support. */
export function warningsOfKind(platform: Connected | undefined, actions: readonly ChainAction[]): Issue[] {
  return actions.flatMap((action) => {
    const unable = action.action === 'platform_sendAssignment' && unableToSend(platform, action);
    return unable ? [{ pointer: `/${action.index}`, detail: `cannot be done, because ${unable}` }] : [];
  });
}

/** Returns why the platform cannot send an assignment as the action says. Undefined if the platform can do it. */
export function unableToSend(
  connected: Connected | undefined,
  { radiusMiles: miles, groupIds = [] }: { radiusMiles?: number; groupIds?: string[] },
): string | undefined {
  const send = connected?.templates?.send;
  const takes = (name: string) => !send || JSON.stringify([send.path, send.body]).includes(`{${name}`);
  if (miles !== undefined && !takes('radiusMiles')) return 'the platform does not accept a radius: remove sendRadius';
  if (groupIds.length > 0 && !takes('groupIds')) return 'the platform does not accept groups: remove groupId and sendToGroups';
  const platform: PlatformKind | undefined = Object.entries(platformKinds).find(([name]) => name === connected?.kind)?.[1];
  if (!platform) return undefined;
  const { name, radius, groupsByName } = platform;
  if (miles !== undefined && !radius) return `${name} does not accept a radius: remove sendRadius`;
  if (miles !== undefined && radius && !(Number.isInteger(miles) && miles >= radius.min && miles <= radius.max))
    return `${name} accepts only whole miles from ${radius.min} to ${radius.max} in sendRadius`;
  const wrong = groupsByName ? undefined : groupIds.find((group) => !/^\d+$/.test(group));
  return wrong === undefined ? undefined : `${name} needs the number of each group, and "${wrong}" is not a number`;
}
