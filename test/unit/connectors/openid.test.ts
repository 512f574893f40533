import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOpenId, highest } from '../../../src/connectors/openid.js';
import { readConfig } from '../../../src/service/config.js';

describe('the OpenID Connect service', () => {
  it('is there only with an issuer, which needs a client', () => {
    const api = 'https://relay.example';
    assert.equal(createOpenId(readConfig({}), api), undefined);
    const RELAY_OIDC_ISSUER = 'https://login.example:8443/realm';
    assert.throws(
      () => createOpenId(readConfig({ RELAY_OIDC_ISSUER, RELAY_OIDC_CLIENT_ID: 'relay' }), api),
      /RELAY_OIDC_CLIENT_SECRET/,
    );
    const whole = readConfig({ RELAY_OIDC_ISSUER, RELAY_OIDC_CLIENT_ID: 'relay', RELAY_OIDC_CLIENT_SECRET: 's' });
    assert.equal(createOpenId(whole, api)?.name, 'login.example:8443');
  });

  it('gives the highest role of a person in each company', () => {
    const all = [
      { group: 'a', companyId: 'acme', role: 'read' },
      { group: 'b', companyId: 'acme', role: 'manage' },
      { group: 'c', companyId: 'acme', role: 'manage' },
      { group: 'd', companyId: 'other', role: 'steer' },
    ] as const;
    for (const [groups, given] of [
      [[], []],
      [['x', ''], []],
      [['a'], [all[0]]],
      [['c', 'b', 'a'], [all[1]]],
      [
        ['d', 'a'],
        [all[3], all[0]],
      ],
    ] as const)
      assert.deepEqual(highest(all, groups), given, groups.join());
  });
});
