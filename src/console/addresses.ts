/** Builds the addresses of the console's pages, and paths of the API. */

/** A template tag that escapes each value: `path\`/co/${companyId}/chains\``. */
export const path = (fixed: TemplateStringsArray, ...filled: string[]): string =>
  fixed.map((text, place) => text + encodeURIComponent(filled[place] ?? '')).join('');

/** For example `?status=failed`. Omits undefined and empty fields. */
export function query(fields: Record<string, string | undefined>): string {
  const given = Object.entries(fields).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

export const pageOf = {
  companies: () => '/companies',
  now: (companyId: string) => path`/companies/${companyId}`,
  chains: (companyId: string, filter: Record<string, string | undefined> = {}) =>
    path`/companies/${companyId}/chains` + query(filter),
  cause: (companyId: string, causeId: string) => path`/companies/${companyId}/causes/${causeId}`,
  chain: (companyId: string, chainId: string) => path`/companies/${companyId}/chains/${chainId}`,
  assignment: (companyId: string, assignmentId: string) => path`/companies/${companyId}/assignments/${assignmentId}`,
  rules: (companyId: string) => path`/companies/${companyId}/rules`,
  rule: (companyId: string, relayId: string) => path`/companies/${companyId}/rules/${relayId}`,
  draft: (companyId: string, relayId: string) => path`/companies/${companyId}/rules/${relayId}/draft`,
  versions: (companyId: string, relayId: string) => path`/companies/${companyId}/rules/${relayId}/versions`,
  events: (companyId: string, relayId: string) => path`/companies/${companyId}/rules/${relayId}/events`,
  event: (companyId: string, relayId: string, eventId: string) =>
    path`/companies/${companyId}/rules/${relayId}/events/${eventId}`,
  compose: (companyId: string) => path`/companies/${companyId}/compose`,
  refused: (companyId: string) => path`/companies/${companyId}/refused`,
  refusal: (companyId: string, rejectedId: string) => path`/companies/${companyId}/refused/${rejectedId}`,
  settings: (companyId: string) => path`/companies/${companyId}/settings`,
  people: (companyId: string) => path`/companies/${companyId}/people`,
} as const;
