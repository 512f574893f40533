/** Builds the addresses of the console's pages, and paths of the API. */

/** A template tag that escapes each value: `path\`/co/${companyId}/chains\``. */
export const path = (fixed: TemplateStringsArray, ...filled: string[]): string =>
  fixed.map((text, place) => text + encodeURIComponent(filled[place] ?? '')).join('');

/** The company of the open page. Only one company is open at a time. */
let companyId = '';
export const openCompany = (id: string) => (companyId = id);
/** Template tags for the API's paths of this company, and for its pages: `co\`/chains/${chainId}\``. */
export const co: typeof path = (...rest) => path`/co/${companyId}` + path(...rest);
export const admin: typeof path = (...rest) => path`/admin/companies/${companyId}` + path(...rest);
const page: typeof path = (...rest) => path`/companies/${companyId}` + path(...rest);

export type Query = Readonly<Record<string, string | undefined>>;

/** For example `?status=failed`. Omits undefined and empty fields. */
export function query(fields: Query): string {
  const given = Object.entries(fields).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

export const pageOf = {
  now: (id: string) => path`/companies/${id}`,
  chains: (filter: Query = {}) => page`/chains` + query(filter),
  cause: (causeId: string) => page`/causes/${causeId}`,
  chain: (chainId: string) => page`/chains/${chainId}`,
  assignment: (assignmentId: string) => page`/assignments/${assignmentId}`,
  rules: () => page`/rules`,
  rule: (relayId: string) => page`/rules/${relayId}`,
  draft: (relayId: string) => page`/rules/${relayId}/draft`,
  versions: (relayId: string) => page`/rules/${relayId}/versions`,
  events: (relayId: string) => page`/rules/${relayId}/events`,
  event: (relayId: string, eventId: string) => page`/rules/${relayId}/events/${eventId}`,
  compose: () => page`/compose`,
  refused: () => page`/refused`,
  refusal: (rejectedId: string) => page`/refused/${rejectedId}`,
  settings: () => page`/settings`,
} as const;
