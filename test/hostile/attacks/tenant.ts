/** One company on a shared relay, and the requests that its own key allows. */

import assert from 'node:assert/strict';
import type { CompanyLimits } from '../../../src/contract/company.js';
import type { Role } from '../../../src/contract/credential.js';
import { actor, type Stack } from '../../end-to-end/stack.js';

export async function tenant(stack: Stack, role: Role, limits: CompanyLimits = {}) {
  const company = await stack.company();
  const { companyId } = company;
  await stack.store.companies.put(companyId, (before = assert.fail()) => ({ ...before, limits }), actor);
  const newKey = async () => {
    const made = await stack.store.keys.create(companyId, `key ${performance.now()}`, actor, { role });
    assert(typeof made === 'object');
    return made;
  };
  const { key } = await newKey();
  return {
    ...company,
    key,
    newKey,
    /** @param path - below the company's path */
    ask: (method: string, path: string, body?: unknown, bearer = key): Promise<Response> =>
      fetch(`${stack.links.api}/co/${companyId}${path}`, {
        method,
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
  };
}
