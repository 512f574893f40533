/** How people name a chain: by its id, or by the id of its workflow, as Temporal and the notices show it. */

/** @returns `ID` for `relay:acme:ID` and for the delayed `relay:acme:ID:2` where that is of this company; anything else as it is. */
export function chainIdOf(companyId: string, given: string): string {
  const [relay, company, chainId, firstIndex = '0', ...more] = given.split(':');
  const named = relay === 'relay' && company === companyId && chainId && /^\d+$/.test(firstIndex) && more.length === 0;
  return named ? chainId : given;
}
